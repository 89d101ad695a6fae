//! Examples whose programs have tests. A program of each would link the same libraries again.

#[path = "../../examples/protocols/test.rs"]
mod protocols;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/secured/main.rs"]
mod secured;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/traced/main.rs"]
mod traced;
