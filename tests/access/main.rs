//! Who calls, and who may: the same rules at every door.

mod connections;
mod doors;
mod support;
mod tokens;
mod topics;
