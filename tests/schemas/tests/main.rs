//! Tests of schemas that use all features of proto3: round trips, calls, views, options and JSON, random values of many
//! schemas, and the code that the console copies.

#[macro_use]
mod first;

mod calls;
#[path = "../../conformance/conformance.rs"]
mod conformance;
mod copied;
mod golden;
mod json;
mod options;
mod random;
mod redacted;
mod round_trips;
mod views;
