//! Simulated worlds: their faults, their size, and their repetition.

mod environment;
mod faults;
mod hashes;
mod repeatable;
mod worlds;
