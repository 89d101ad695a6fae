//! Checks of the repository itself: the page of promises, names of tests, compiler messages, cancel safety, examples,
//! dependency lines, and the texts of benchmarks.

mod book;
mod cancel_safety;
mod diagnostics;
mod examples;
mod features;
mod install;
mod layers;
mod logs;
mod names;
mod promises;
mod records;
mod texts;
