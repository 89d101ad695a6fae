//! What the repository says of itself: the page of promises, names of tests, errors of the compiler, cancel safety.

mod cancel_safety;
mod diagnostics;
mod names;
mod promises;
