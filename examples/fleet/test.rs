//! The example as a test: it ends in good order only if no call was lost, and no message.

#[path = "main.rs"]
mod fleet;

#[test]
fn the_fleet_loses_no_call_and_no_message() {
    fleet::main().expect("nothing is lost");
}
