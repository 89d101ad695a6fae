//! Schemas with everything of proto3: round trips, calls, views, options and JSON.

#[macro_use]
mod first;

mod calls;
mod golden;
mod json;
mod options;
mod random;
mod redacted;
mod round_trips;
mod views;
