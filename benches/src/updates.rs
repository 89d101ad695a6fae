//! Updates of a resolver with many endpoints, as applied by a channel.

use crate::BoxError;
use frpc::Channel;
use frpc_balance::resolve::{Endpoint, WatchResolver};
use frpc_balance::{Balance, FleetView};
use std::time::Duration;

/// Number of endpoints per update.
pub const ENDPOINTS: usize = 1000;

/// Applies `answers` updates to a channel, each with a changed weight of one endpoint. The endpoints have no listeners,
/// because the cost of connections is not measured.
pub async fn updated(answers: u64) -> Result<(), BoxError> {
    let (sets, resolver) = WatchResolver::new(endpoints(0));
    let channel =
        Channel::builder().balance().connection_spread(Duration::from_secs(3600)).connect_resolved_lazy(resolver)?;
    for answer in 0..answers {
        sets.send_replace(endpoints(answer as usize % ENDPOINTS));
        // Only the task that follows the resolver is woken.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
    let fleet = FleetView::of(&channel).ok_or("it follows a resolver")?;
    let last = endpoints(answers.saturating_sub(1) as usize % ENDPOINTS);
    let is_last = fleet.servers.iter().all(|server| last.contains(&server.endpoint));
    if is_last && fleet.servers.len() == ENDPOINTS { Ok(()) } else { Err("the last answer is not taken in".into()) }
}

/// Returns the endpoints. One of them has a higher weight.
fn endpoints(heavy: usize) -> Vec<Endpoint> {
    let endpoint = |number: usize| Endpoint::new(format!("127.1.{}.{}:1", number / 250, number % 250 + 1));
    (0..ENDPOINTS).map(|number| endpoint(number).with_weight(if number == heavy { 2 } else { 1 })).collect()
}
