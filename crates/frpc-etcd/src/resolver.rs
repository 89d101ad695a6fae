//! The resolver: the keys below a prefix, and what happens to them.

use crate::etcd::{Etcd, failed};
use crate::messages::{Event, KeyValue, WatchResponse};
use frpc::resolve::{ENDPOINTS_MAX, Endpoint, Resolver};
use std::collections::BTreeMap;
use std::io;
use tonic::Streaming;

/// The kind of an event by which a key is gone.
const DELETED: i32 = 1;

/// The endpoints of the keys below a prefix, for
/// [`connect_resolved`](frpc::ChannelBuilder::connect_resolved).
///
/// All keys are read once and then watched. When the watch ends, since etcd is away or has forgotten what happened
/// meanwhile, they are read again. A value that is no endpoint is left out.
#[derive(Debug)]
pub struct EtcdResolver {
    etcd: Etcd,
    prefix: String,
    endpoints: BTreeMap<Vec<u8>, Endpoint>,
    watched: Option<Streaming<WatchResponse>>,
    /// How many members of etcd have failed one after the other.
    failures: usize,
}

impl EtcdResolver {
    /// Watches the keys with this prefix, such as `shop/`.
    pub fn new(etcd: &Etcd, prefix: impl Into<String>) -> Self {
        let (etcd, prefix) = (etcd.clone(), prefix.into());
        Self { etcd, prefix, endpoints: BTreeMap::new(), watched: None, failures: 0 }
    }

    /// Reads all keys, and watches them from then on.
    async fn read(&mut self) -> io::Result<()> {
        let all = self.etcd.range(self.prefix.as_bytes(), ENDPOINTS_MAX).await?;
        let revision = all.header.map_or(0, |header| header.revision);
        self.watched = Some(self.etcd.watch(self.prefix.as_bytes(), revision.saturating_add(1)).await?);
        self.endpoints = all.kvs.into_iter().filter_map(endpoint).collect();
        Ok(())
    }

    /// Waits for a change. Returns `false` if the keys have to be read again.
    async fn changed(&mut self) -> io::Result<bool> {
        let Some(watched) = &mut self.watched else { return Ok(false) };
        loop {
            let message = watched.message().await.map_err(failed)?;
            let response = message.ok_or_else(|| io::Error::other("etcd has ended the watch"))?;
            if response.compact_revision != 0 {
                return Ok(false);
            }
            if response.canceled {
                return Err(io::Error::other(format!("etcd has ended the watch: {}", response.cancel_reason)));
            }
            if !response.events.is_empty() {
                response.events.into_iter().for_each(|event| apply(&mut self.endpoints, event));
                return Ok(true);
            }
        }
    }
}

fn apply(endpoints: &mut BTreeMap<Vec<u8>, Endpoint>, event: Event) {
    let Some(kv) = event.kv else { return };
    if event.kind == DELETED {
        endpoints.remove(&kv.key);
    } else if let Some((key, endpoint)) = endpoint(kv)
        && (endpoints.len() < ENDPOINTS_MAX || endpoints.contains_key(&key))
    {
        endpoints.insert(key, endpoint);
    }
}

fn endpoint(kv: KeyValue) -> Option<(Vec<u8>, Endpoint)> {
    let endpoint = std::str::from_utf8(&kv.value).ok().and_then(|text| text.parse().ok());
    if endpoint.is_none() {
        tracing::debug!(key = %kv.key.escape_ascii(), "the value of a key is no endpoint");
    }
    Some((kv.key, endpoint?))
}

impl Resolver for EtcdResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        loop {
            let asked = match self.changed().await {
                Ok(true) => Ok(()),
                Ok(false) => self.read().await,
                Err(error) => Err(error),
            };
            match asked {
                Ok(()) => {
                    self.failures = 0;
                    return Ok(self.endpoints.values().cloned().collect());
                }
                Err(error) => {
                    self.watched = None;
                    self.failures += 1;
                    // The channel pauses when all members have failed in a row.
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
