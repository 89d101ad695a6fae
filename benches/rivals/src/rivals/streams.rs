//! Streaming contestants, based on [`crate::flows`].

use super::tonic::Accepted;
use crate::BoxError;
use crate::background::{Bound, on_each_core};
use crate::contest::Load;
use crate::flows::{Flows, bare, ours, tonics};
use crate::proto::flows::FlowsClient;
use crate::proto::flows::tonic::flows_client::FlowsClient as TonicClient;
use frpc::Workers;
use std::str::FromStr;
use tonic::transport::Channel;

/// A way of streaming messages.
pub trait Streams: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// A connection.
    type Client: Flows;

    /// Serves on a free port of the loopback until dropped.
    fn serve(bound: Bound) -> impl Future<Output = Result<(), BoxError>>;
}

/// fRPC with one thread per core, at both ends.
#[derive(Debug)]
pub struct PerCore;

impl Streams for PerCore {
    const NAME: &'static str = "frpc-cores";
    type Client = FlowsClient;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        ours::serve(Workers::PerCore, bound).await
    }
}

/// fRPC with its defaults, and clients in tokio's multi-thread runtime.
#[derive(Debug)]
pub struct Plain;

impl Streams for Plain {
    const NAME: &'static str = "frpc";
    type Client = FlowsClient;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        ours::serve(Workers::default(), bound).await
    }
}

/// tonic on its default runtime.
#[derive(Debug)]
pub struct Tonic;

impl Streams for Tonic {
    const NAME: &'static str = "tonic";
    type Client = TonicClient<Channel>;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        Self::Client::serve(bound).await
    }
}

/// tonic with one runtime per core, at both ends.
#[derive(Debug)]
pub struct TonicPerCore;

impl Streams for TonicPerCore {
    const NAME: &'static str = "tonic-cores";
    type Client = TonicClient<Channel>;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        on_each_core(bound, |connections| tonics::serve_with(Accepted(connections))).await
    }
}

/// frisbee's streams without calls, with one thread per core.
#[derive(Debug)]
pub struct Bare;

impl Streams for Bare {
    const NAME: &'static str = "frisbee";
    type Client = bare::Bare;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        Self::Client::serve(bound).await
    }
}

/// The direction of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To the client.
    Down,
    /// To the server.
    Up,
    /// To the server and back.
    Both,
    /// To the server and back, each when the previous one has returned.
    PingPong,
}

impl Way {
    /// All directions.
    pub const ALL: [Self; 4] = [Self::Down, Self::Up, Self::Both, Self::PingPong];
}

impl FromStr for Way {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|way| format!("{way:?}") == name);
        found.ok_or_else(|| format!("messages do not go the way {name}"))
    }
}

/// Number of bytes per stream, and maximum number of messages, so that a window contains many streams.
const BYTES: usize = 16 << 20;
const MESSAGES: usize = 20_000;

/// Streams messages while the meter runs. Returns the number of messages in streams that ended within the window.
///
/// # Errors
/// If a stream fails.
pub async fn drive<F: Flows>(client: F, way: Way, load: Load) -> Result<u64, BoxError> {
    let text = "x".repeat(load.length);
    let most = if way == Way::PingPong { MESSAGES / 100 } else { MESSAGES };
    let messages = (BYTES / load.length).clamp(1, most) as u64;
    let mut tally = load.meter.tally(load.number);
    while tally.runs() {
        let begun = tally.begin();
        let bytes = match way {
            Way::Down => client.stream_down(messages, &text).await?,
            Way::Up => client.stream_up(messages, &text).await?,
            Way::Both => client.stream_both(messages, &text).await?,
            Way::PingPong => client.ping_pong(messages, &text).await?,
        };
        if bytes != messages * load.length as u64 {
            return Err(format!("{bytes} bytes of {messages} messages").into());
        }
        tally.end_many(begun, messages);
    }
    Ok(tally.counted())
}
