//! The resolver: reads the keys below a prefix and follows their changes.

use super::api::{Event, KeyValue, WatchResponse, event::EventType};
use super::cluster::{Etcd, failed};
use crate::resolve::{ENDPOINTS_MAX, Endpoint, Resolver};
use frpc::Streaming;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use tokio::time::sleep;

/// Maximum delay before a new watch is started after the previous one ended. An etcd member that shuts down ends the
/// watches of all clients at the same time. A member ends a watch immediately if it does not permit watches or has
/// compacted the requested revision.
const PAUSE: Duration = Duration::from_secs(1);

/// A resolver of the endpoints below a prefix, for [`connect_resolved`](crate::FleetBuilder::connect_resolved).
///
/// All keys are read once and then watched. They are read again if the watch ends because etcd became unreachable or
/// compacted its history. Invalid values are ignored. Of more than 10 000 keys, the rest is ignored until a sixteenth of
/// the known endpoints has been removed.
#[derive(Debug)]
pub struct EtcdResolver {
    etcd: Etcd,
    prefix: String,
    endpoints: BTreeMap<Vec<u8>, Endpoint>,
    watched: Option<Streaming<WatchResponse>>,
    /// Number of endpoints below which all keys are read again, because keys were ignored when the maximum number of
    /// endpoints was reached. 0 if no keys were ignored.
    reread_below: usize,
    /// Number of consecutive failures, each at another etcd member.
    failures: usize,
}

impl EtcdResolver {
    /// Creates a resolver for all keys with this prefix, such as `shop/`.
    pub fn new(etcd: &Etcd, prefix: impl Into<String>) -> Self {
        let (etcd, prefix) = (etcd.clone(), prefix.into());
        Self { etcd, prefix, endpoints: BTreeMap::new(), watched: None, reread_below: 0, failures: 0 }
    }

    /// Reads all keys and starts watching them for changes.
    async fn read(&mut self) -> io::Result<()> {
        let all = self.etcd.range(self.prefix.as_bytes(), ENDPOINTS_MAX).await?;
        let revision = all.header.map_or(0, |header| header.revision);
        self.watched = Some(self.etcd.watch(self.prefix.as_bytes(), revision.saturating_add(1)).await?);
        self.endpoints = all.kvs.into_iter().filter_map(|kv| parse(&kv).map(|endpoint| (kv.key, endpoint))).collect();
        self.reread_below = if all.more { reread_below(self.endpoints.len()) } else { 0 };
        Ok(())
    }

    /// Waits for the next change of a key. Returns `false` if all keys must be read again.
    async fn changed(&mut self) -> io::Result<bool> {
        let Some(watched) = &mut self.watched else { return Ok(false) };
        loop {
            let message = watched.message().await.map_err(|status| failed(&status))?;
            let response = message.ok_or_else(|| io::Error::other("watch ended by etcd"))?;
            if response.compact_revision != 0 {
                self.watched = None;
                pause().await;
                return Ok(false);
            }
            if response.canceled {
                return Err(io::Error::other(format!("watch ended by etcd: {}", response.cancel_reason)));
            }
            if !response.events.is_empty() {
                return Ok(self.apply_all(response.events));
            }
        }
    }

    /// Applies watch events to the set of endpoints. Returns `false` if enough endpoints were removed since keys were
    /// ignored, so that all keys should be read again.
    fn apply_all(&mut self, events: Vec<Event>) -> bool {
        let before = self.endpoints.len();
        for event in events {
            if !apply(&mut self.endpoints, event) {
                self.reread_below = reread_below(self.endpoints.len());
            }
        }
        self.endpoints.len() >= self.reread_below.min(before)
    }
}

/// Returns the number of endpoints below which the keys are read again if only the first `known` endpoints fit. Reading
/// all keys after each removal would cost etcd thousands of keys per removal.
fn reread_below(known: usize) -> usize {
    known - known / 16
}

/// Waits for a random part of [`PAUSE`], but at least half of it.
async fn pause() {
    sleep(PAUSE.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
}

/// Applies a watch event, with the same result as reading the keys again. An invalid value removes the previous
/// endpoint. Returns `false` if the key was ignored because the set is full.
fn apply(endpoints: &mut BTreeMap<Vec<u8>, Endpoint>, event: Event) -> bool {
    let is_deleted = event.r#type() == EventType::Delete;
    let Some(kv) = event.kv else { return true };
    let endpoint = if is_deleted { None } else { parse(&kv) };
    match endpoint {
        None => {
            endpoints.remove(&kv.key);
        }
        Some(_) if endpoints.len() >= ENDPOINTS_MAX && !endpoints.contains_key(&kv.key) => return false,
        Some(endpoint) => {
            endpoints.insert(kv.key, endpoint);
        }
    }
    true
}

fn parse(kv: &KeyValue) -> Option<Endpoint> {
    let endpoint = std::str::from_utf8(&kv.value).ok().and_then(|text| text.parse().ok());
    if endpoint.is_none() {
        tracing::debug!(key = %kv.key.escape_ascii(), "invalid endpoint in the value of a key");
    }
    endpoint
}

impl Resolver for EtcdResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        loop {
            let response = match self.changed().await {
                Ok(true) => Ok(()),
                Ok(false) => self.read().await,
                Err(error) => Err(error),
            };
            match response {
                Ok(()) => {
                    self.failures = 0;
                    return Ok(self.endpoints.values().cloned().collect());
                }
                Err(error) => {
                    if self.watched.take().is_some() {
                        pause().await;
                    }
                    self.failures += 1;
                    // Return the error only after all members have failed in a row, because it makes the channel delay
                    // the next attempt.
                    if self.failures.is_multiple_of(self.etcd.members()) {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn name(&self) -> String {
        format!("etcd below {}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str, value: &str) -> Event {
        Event { r#type: EventType::Put.into(), kv: Some(KeyValue { key: key.into(), value: value.into() }) }
    }

    #[test]
    fn put_of_invalid_endpoint_removes_previous_one() {
        let mut endpoints = BTreeMap::new();
        assert!(apply(&mut endpoints, put("shop/1", "10.0.0.1:80")));
        assert!(apply(&mut endpoints, put("shop/2", "10.0.0.2:80")));
        assert!(apply(&mut endpoints, put("shop/1", "no endpoint at all")));
        let left: Vec<_> = endpoints.values().map(Endpoint::address).collect();
        assert_eq!(left, ["10.0.0.2:80"], "events should have the same result as a new list");
    }

    /// Regression test: while some values were invalid, each event caused all keys to be read again, because the set
    /// was below its maximum.
    #[tokio::test]
    async fn truncated_keys_are_reloaded_after_deletion() {
        let etcd = Etcd::new(["http://127.0.0.1:1"]).expect("text should be the address of an etcd member");
        let mut resolver = EtcdResolver { reread_below: 2, ..EtcdResolver::new(&etcd, "shop/") };
        assert!(resolver.apply_all(vec![put("shop/1", "10.0.0.1:80"), put("shop/2", "10.0.0.2:80")]));
        assert!(
            resolver.apply_all(vec![put("shop/1", "10.0.0.1:80 weight=2")]),
            "change of another key should be applied"
        );
        let gone = Event { r#type: EventType::Delete.into(), ..put("shop/2", "") };
        assert!(
            !resolver.apply_all(vec![gone.clone()]),
            "truncated list should be loaded again, because another key may take the free place"
        );
        assert!(resolver.apply_all(vec![gone]), "deletion of an unknown key should require no new list");
    }

    /// Regression test: if there were more keys than the maximum, all of them were read again after each deletion.
    #[tokio::test]
    async fn few_deletions_cause_no_reload() {
        let etcd = Etcd::new(["http://127.0.0.1:1"]).expect("text should be the address of an etcd member");
        let mut resolver = EtcdResolver::new(&etcd, "shop/");
        let key = |at: usize| put(&format!("shop/{at}"), "10.0.0.1:80");
        assert!(resolver.apply_all((0..=ENDPOINTS_MAX).map(key).collect()));
        let mut deleted = (0..).map(|at| Event { r#type: EventType::Delete.into(), ..key(at) });
        assert_eq!(deleted.position(|event| !resolver.apply_all(vec![event])), Some(ENDPOINTS_MAX / 16));
    }

    #[test]
    fn key_beyond_maximum_is_reported() {
        let mut endpoints = BTreeMap::new();
        for at in 0..ENDPOINTS_MAX {
            assert!(apply(&mut endpoints, put(&format!("shop/{at}"), "10.0.0.1:80")));
        }
        assert!(!apply(&mut endpoints, put("shop/more", "10.0.0.1:80")));
        assert!(apply(&mut endpoints, put("shop/0", "10.0.0.2:80")), "change of a known key should be applied");
    }
}
