//! Tests of tools for agents.

mod calls;
mod lines;
mod list;
mod refused;
mod rules;
mod support;
