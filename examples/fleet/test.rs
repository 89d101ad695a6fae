//! The example as a test: it ends in good order only if no call was lost.

#[path = "main.rs"]
mod fleet;

#[test]
fn the_fleet_loses_no_call() {
    fleet::main().expect("nothing is lost");
}
