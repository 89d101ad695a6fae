//! Tests of the plugin and of the code generated for other languages.

mod golden;
mod plugin;
