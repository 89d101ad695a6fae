//! Checks of the repository itself: the page of promises, names of tests, errors of the compiler, cancel safety,
//! examples.

mod book;
mod cancel_safety;
mod diagnostics;
mod examples;
mod features;
mod logs;
mod names;
mod promises;
mod words;
