//! Simulated worlds: their faults, their size, and their repetition.

mod faults;
mod large;
mod repeatable;
mod worlds;
