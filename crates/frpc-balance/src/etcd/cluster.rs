//! The connections to etcd and the calls of its API.

use super::api::{
    KvClient, LeaseClient, LeaseGrantRequest, LeaseKeepAliveRequest, LeaseRevokeRequest, PutRequest, RangeRequest,
    RangeResponse, WatchClient, WatchCreateRequest, WatchRequest, WatchResponse,
};
use frpc::{Channel, Config, Request, Status, Streaming};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};

/// Timeout for connecting to an etcd member and for short calls. When it expires, the next member is used.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Interval of keepalive pings, which terminate watches on dead machines.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Maximum size of a response in bytes, many times larger than the largest set of endpoints.
const ANSWER_MAX: u32 = 16 << 20;

/// A client of an etcd cluster. Clones share their connections, which are made on demand and replaced when lost.
#[derive(Clone, Debug)]
pub struct Etcd {
    members: Arc<[Channel]>,
    /// Index of the etcd member that requests are sent to. Advances after a failure.
    at: Arc<AtomicUsize>,
}

impl Etcd {
    /// Creates a client from the addresses of the etcd members, such as `http://10.0.0.7:2379`, without connecting.
    ///
    /// # Errors
    /// If the list is empty or contains an invalid address.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connections.
    pub fn new<A: Into<String>>(addresses: impl IntoIterator<Item = A>) -> io::Result<Self> {
        let member = |address: A| {
            let address = address.into();
            let Some(authority) = address.strip_prefix("http://") else {
                return Err(invalid(format!("{address}: not an address of etcd, such as http://10.0.0.7:2379")));
            };
            Channel::builder()
                .config(Config::default().body_max(ANSWER_MAX))
                .connect_timeout(TIMEOUT)
                .grpc_keepalive(SIGN_OF_LIFE, TIMEOUT)
                .connect_lazy(format!("grpc://{authority}"))
                .map_err(invalid)
        };
        Self::from_channels(addresses.into_iter().map(member).collect::<io::Result<Vec<_>>>()?)
    }

    /// Creates a client from one gRPC channel per etcd member, which allows for TLS (`grpcs://`) and authentication.
    /// The channels should send [keepalive pings](frpc::ChannelBuilder::grpc_keepalive), so that watches on dead
    /// machines terminate.
    ///
    /// # Errors
    /// If the list is empty.
    pub fn from_channels(members: impl IntoIterator<Item = Channel>) -> io::Result<Self> {
        let members: Arc<[_]> = members.into_iter().collect();
        if members.is_empty() {
            return Err(invalid("no address of etcd"));
        }
        Ok(Self { members, at: Arc::default() })
    }

    /// Returns the number of etcd members.
    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// Makes a call to an etcd member that is not known to be unreachable. After a failure or the timeout, the next
    /// call uses the next member.
    async fn call<T>(&self, call: impl AsyncFnOnce(Channel) -> Result<T, Status>) -> io::Result<T> {
        let member = &self.members[self.at.load(Ordering::Relaxed) % self.members.len()];
        let reply = tokio::time::timeout(TIMEOUT, call(member.clone())).await;
        let reply =
            reply.map_or_else(|_| Err(io::ErrorKind::TimedOut.into()), |reply| reply.map_err(|status| failed(&status)));
        reply.inspect_err(|_| {
            // Concurrent failures may skip a member, which is harmless.
            self.at.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Reads all keys with this prefix, up to a limit.
    pub(crate) async fn range(&self, prefix: &[u8], limit: usize) -> io::Result<RangeResponse> {
        let (key, range_end) = range(prefix);
        self.read(RangeRequest { key, range_end, limit: i64::try_from(limit).unwrap_or(i64::MAX) }).await
    }

    async fn read(&self, request: RangeRequest) -> io::Result<RangeResponse> {
        self.call(async |member| Ok(KvClient::new(member).range(request).await?.into_inner())).await
    }

    /// Returns whether a key exists in etcd.
    pub(crate) async fn has(&self, key: &str) -> io::Result<bool> {
        let found = self.read(RangeRequest { key: key.into(), range_end: Vec::new(), limit: 1 }).await?;
        Ok(!found.kvs.is_empty())
    }

    pub(crate) async fn put(&self, key: Vec<u8>, value: Vec<u8>, lease: i64) -> io::Result<()> {
        let request = PutRequest { key, value, lease };
        self.call(async |member| KvClient::new(member).put(request).await.map(drop)).await
    }

    /// Requests a lease with this id and time to live.
    pub(crate) async fn grant(&self, id: i64, ttl: Duration) -> io::Result<()> {
        let request = LeaseGrantRequest { ttl: i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX), id };
        self.call(async |member| LeaseClient::new(member).lease_grant(request).await.map(drop)).await
    }

    /// Revokes a lease, which deletes the keys attached to it.
    pub(crate) async fn revoke(&self, id: i64) -> io::Result<()> {
        let request = LeaseRevokeRequest { id };
        self.call(async |member| LeaseClient::new(member).lease_revoke(request).await.map(drop)).await
    }

    /// Renews a lease. Returns `false` if it has already expired.
    pub(crate) async fn keep_alive(&self, id: i64) -> io::Result<bool> {
        // Send one request per stream, because a longer stream would not detect unreachable members earlier.
        let requests = frpc::iter([LeaseKeepAliveRequest { id }]);
        self.call(async |member| {
            let mut replies = LeaseClient::new(member).lease_keep_alive(requests).await?.into_inner();
            let reply = replies.message().await?;
            reply.map(|reply| reply.ttl > 0).ok_or_else(|| Status::unavailable("the stream has no reply"))
        })
        .await
    }

    /// Watches the keys with this prefix, starting at a revision.
    pub(crate) async fn watch(&self, prefix: &[u8], start_revision: i64) -> io::Result<Streaming<WatchResponse>> {
        let (key, range_end) = range(prefix);
        let create = WatchCreateRequest { key, range_end, start_revision };
        let request = watching(WatchRequest { create_request: Some(create) });
        self.call(async |member| {
            let mut watched = WatchClient::new(member).watch(request).await?.into_inner();
            watched.opened().await?;
            Ok(watched)
        })
        .await
    }
}

/// Builds the request for a watch. An etcd member terminates the watch when it loses contact with its cluster, because
/// it would miss changes.
fn watching(request: WatchRequest) -> Request<impl Stream<Item = WatchRequest>> {
    // Keep the request stream open, because etcd would otherwise end the watch.
    let mut request = Request::new(tokio_stream::once(request).chain(tokio_stream::pending()));
    request.metadata_mut().insert("hasleader", "true").expect("constants should be valid metadata");
    request
}

/// Returns the range that contains all keys with a prefix. The range of all keys starts at a zero byte, because keys
/// are not empty.
fn range(prefix: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let first = if prefix.is_empty() { vec![0] } else { prefix.to_vec() };
    (first, prefix_end(prefix))
}

/// Returns the first key after all keys with the prefix. A single zero byte stands for the end of all keys.
fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return end;
        }
    }
    vec![0]
}

fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

pub(crate) fn failed(status: &Status) -> io::Error {
    io::Error::other(format!("etcd: {status}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_end_is_next_greater_prefix() {
        assert_eq!(prefix_end(b"shop/"), b"shop0");
        assert_eq!(prefix_end(b"a\xff\xff"), b"b");
        assert_eq!(prefix_end(b"\xff"), [0]);
        assert_eq!(range(b""), (vec![0], vec![0]));
    }

    #[test]
    fn watch_requires_member_with_leader() {
        let request = watching(WatchRequest::default());
        assert_eq!(request.metadata().get("hasleader"), Some("true"));
    }

    #[tokio::test]
    async fn addresses_are_validated_before_any_request() {
        assert!(Etcd::new(["10.0.0.7"]).is_err());
        assert!(Etcd::new([""; 0]).is_err());
        assert!(Etcd::new(["http://127.0.0.1:2379"]).is_ok());
    }
}
