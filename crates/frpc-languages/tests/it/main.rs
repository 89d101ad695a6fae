//! The generated code of other languages, and the plugin.

mod golden;
mod plugin;
