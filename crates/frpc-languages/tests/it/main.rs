//! Tests of the plugin and of the code generated for other languages.

mod cycles;
mod golden;
mod plugin;
