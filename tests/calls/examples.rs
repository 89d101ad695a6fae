//! Tests of example programs. They share one binary, because each separate binary would link the same libraries again.

#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/evolve/main.rs"]
mod evolve;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/fleet/main.rs"]
mod fleet;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/exchange/main.rs"]
mod market_of_browsers;
#[path = "../../examples/protocols/test.rs"]
mod protocols;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/secured/main.rs"]
mod secured;
#[allow(dead_code, reason = "the program has a main function")]
#[path = "../../examples/traced/main.rs"]
mod traced;

#[tokio::test]
async fn rolling_restart_through_versions_fails_no_call() {
    // Without Go, only the clients in Rust run.
    let go = crate::interop::go::build(".", "./cmd/shop");
    let clients = 3 + usize::from(go.is_some());
    let rounds = evolve::restart(go).await.expect("no call should fail");
    assert!(rounds.len() == clients && rounds.iter().all(|rounds| *rounds >= 7 * evolve::ROUNDS), "{rounds:?}");
}
