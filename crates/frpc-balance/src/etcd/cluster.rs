//! The connection to etcd and the calls of its API.
//!
//! The crate `etcd-client` would replace this file and `messages.rs`, about 330 lines. Its build script (up to version
//! 0.21) requires `protoc`, which this workspace does not need otherwise.

use super::messages::{
    LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse, LeaseRevokeRequest,
    LeaseRevokeResponse, PutRequest, PutResponse, RangeRequest, RangeResponse, WatchCreateRequest, WatchRequest,
    WatchResponse,
};
use prost::Message;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

/// Timeout for connecting to an etcd member and for short calls. When it expires, the next member is used.
const PATIENCE: Duration = Duration::from_secs(3);

/// Interval of keepalive pings, which terminate watches on dead machines.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Maximum size of a response in bytes, many times larger than the largest set of endpoints.
const ANSWER_MAX: usize = 16 << 20;

/// A client of an etcd cluster. Clones share their connections, which are made on demand and replaced when lost.
#[derive(Clone, Debug)]
pub struct Etcd {
    members: Arc<[Channel]>,
    /// Index of the etcd member to which requests are sent. Advances after a failure.
    at: Arc<AtomicUsize>,
}

impl Etcd {
    /// Creates a client from the addresses of the etcd members, such as `http://10.0.0.7:2379`, without connecting.
    ///
    /// # Errors
    /// If the list is empty or contains an invalid URI.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connections.
    pub fn new<A: Into<String>>(addresses: impl IntoIterator<Item = A>) -> io::Result<Self> {
        let member = |address: A| {
            let endpoint = Endpoint::from_shared(address.into()).map_err(invalid)?;
            let endpoint = endpoint.connect_timeout(PATIENCE).keep_alive_while_idle(true);
            Ok(endpoint.http2_keep_alive_interval(SIGN_OF_LIFE).keep_alive_timeout(PATIENCE).connect_lazy())
        };
        let members: Vec<_> = addresses.into_iter().map(member).collect::<io::Result<_>>()?;
        if members.is_empty() {
            return Err(invalid("no address of etcd"));
        }
        Ok(Self { members: members.into(), at: Arc::default() })
    }

    /// Creates a client from a tonic channel, which allows for TLS and authentication. The channel should send
    /// keepalive pings, so that watches on dead machines terminate.
    pub fn from_channel(channel: Channel) -> Self {
        Self { members: Arc::new([channel]), at: Arc::default() }
    }

    /// Returns the number of etcd members.
    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// Returns a client for an etcd member that is not known to be unreachable.
    async fn ready(&self) -> io::Result<Grpc<Channel>> {
        let at = self.at.load(Ordering::Relaxed) % self.members.len();
        let mut grpc = Grpc::new(self.members[at].clone()).max_decoding_message_size(ANSWER_MAX);
        grpc.ready().await.map_err(failed)?;
        Ok(grpc)
    }

    /// Waits for an answer. After a failure or the timeout, the next call uses the next member.
    async fn within<T>(&self, asking: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let answer = tokio::time::timeout(PATIENCE, asking).await;
        answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).inspect_err(|_| {
            self.at.fetch_add(1, Ordering::Relaxed);
        })
    }

    async fn call<A, B>(&self, path: &'static str, request: A) -> io::Result<B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Default + Send + Sync + 'static,
    {
        let asking = async {
            let mut grpc = self.ready().await?;
            let (path, codec) = (PathAndQuery::from_static(path), ProstCodec::<A, B>::default());
            grpc.unary(Request::new(request), path, codec).await.map_err(failed)
        };
        self.within(asking).await.map(tonic::Response::into_inner)
    }

    /// Reads all keys with this prefix, up to a limit.
    pub(crate) async fn range(&self, prefix: &[u8], limit: usize) -> io::Result<RangeResponse> {
        let (key, range_end) = range(prefix);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.call("/etcdserverpb.KV/Range", RangeRequest { key, range_end, limit }).await
    }

    /// Returns whether a key exists in etcd.
    pub(crate) async fn has(&self, key: &str) -> io::Result<bool> {
        let request = RangeRequest { key: key.into(), range_end: Vec::new(), limit: 1 };
        let found: RangeResponse = self.call("/etcdserverpb.KV/Range", request).await?;
        Ok(!found.kvs.is_empty())
    }

    pub(crate) async fn put(&self, key: Vec<u8>, value: Vec<u8>, lease: i64) -> io::Result<()> {
        let PutResponse {} = self.call("/etcdserverpb.KV/Put", PutRequest { key, value, lease }).await?;
        Ok(())
    }

    /// Requests a lease with this id and time to live.
    pub(crate) async fn grant(&self, id: i64, ttl: Duration) -> io::Result<()> {
        let ttl = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
        let LeaseGrantResponse {} = self.call("/etcdserverpb.Lease/LeaseGrant", LeaseGrantRequest { ttl, id }).await?;
        Ok(())
    }

    /// Revokes a lease, which deletes the keys attached to it.
    pub(crate) async fn revoke(&self, id: i64) -> io::Result<()> {
        let LeaseRevokeResponse {} = self.call("/etcdserverpb.Lease/LeaseRevoke", LeaseRevokeRequest { id }).await?;
        Ok(())
    }

    /// Renews a lease. Returns `false` if it has already expired.
    pub(crate) async fn keep_alive(&self, id: i64) -> io::Result<bool> {
        let asking = async {
            let mut grpc = self.ready().await?;
            let path = PathAndQuery::from_static("/etcdserverpb.Lease/LeaseKeepAlive");
            let codec = ProstCodec::<LeaseKeepAliveRequest, LeaseKeepAliveResponse>::default();
            // Send one request per stream, because a longer stream would not detect unreachable members earlier.
            let request = Request::new(tokio_stream::once(LeaseKeepAliveRequest { id }));
            let mut answers = grpc.streaming(request, path, codec).await.map_err(failed)?.into_inner();
            let answer = answers.message().await.map_err(failed)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            Ok(answer.ttl > 0)
        };
        self.within(asking).await
    }

    /// Watches the keys with this prefix, starting at a revision.
    pub(crate) async fn watch(&self, prefix: &[u8], start_revision: i64) -> io::Result<Streaming<WatchResponse>> {
        let (key, range_end) = range(prefix);
        let create = WatchCreateRequest { key, range_end, start_revision };
        let request = WatchRequest { create_request: Some(create) };
        let asking = async {
            let mut grpc = self.ready().await?;
            let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
            let codec = ProstCodec::<WatchRequest, WatchResponse>::default();
            let watched = grpc.streaming(watching(request), path, codec).await.map_err(failed)?;
            Ok(watched.into_inner())
        };
        self.within(asking).await
    }
}

/// Builds the request for a watch. An etcd member terminates the watch when it loses contact with its cluster, because
/// it would miss changes.
fn watching(request: WatchRequest) -> Request<impl Stream<Item = WatchRequest>> {
    // Keep the request stream open, because etcd would otherwise end the watch.
    let mut request = Request::new(tokio_stream::once(request).chain(tokio_stream::pending()));
    request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
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

/// Converts the error of a call, including its causes, which the error texts of tonic omit.
pub(crate) fn failed(error: impl std::error::Error) -> io::Error {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(because) = cause {
        text = format!("{text}: {because}");
        cause = because.source();
    }
    io::Error::other(format!("etcd: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_the_next_of_its_kind() {
        assert_eq!(prefix_end(b"shop/"), b"shop0");
        assert_eq!(prefix_end(b"a\xff\xff"), b"b");
        assert_eq!(prefix_end(b"\xff"), [0]);
        assert_eq!(range(b""), (vec![0], vec![0]));
    }

    #[test]
    fn a_watch_requires_a_member_with_a_leader() {
        let request = watching(WatchRequest::default());
        assert_eq!(request.metadata().get("hasleader").map(MetadataValue::as_bytes), Some(&b"true"[..]));
    }

    #[tokio::test]
    async fn addresses_are_validated_before_any_request() {
        assert!(Etcd::new(["no uri at all"]).is_err());
        assert!(Etcd::new([""; 0]).is_err());
        assert!(Etcd::new(["http://127.0.0.1:2379"]).is_ok());
    }
}
