//! Serves the UDP socket in a single task. The task receives datagrams, makes their calls and sends the replies. It
//! also polls the calls that did not complete immediately.

use super::Udp;
use super::rates::Rates;
use super::sources::{Source, Sources};
use crate::Gateway;
use crate::clock::now;
use crate::json_rpc::{Session, fitting};
use bytes::Bytes;
use frisbee::rpc::{CallShares, ConnectionExt};
use frpc::{AdapterContext, AdapterPeers, Metadata};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::time::Sleep;

/// Maximum size of a received datagram in bytes.
const DATAGRAM_MAX: usize = 64 * 1024;

/// Maximum number of datagrams per poll. Afterwards, the task yields.
const DATAGRAMS_PER_POLL: usize = 64;

/// How long a peer's datagrams are dropped after the connection hook has rejected the peer. The hook then runs again,
/// because a UDP client cannot reconnect.
const REFUSED: Duration = Duration::from_secs(10);

/// Pause after a receive error.
const PAUSE: Duration = Duration::from_millis(10);

/// Serves a UDP socket until the server stops, then waits for the calls in progress.
pub(crate) async fn serve(gateway: Arc<Gateway>, udp: Udp, peers: AdapterPeers) {
    let opened = udp.socket.try_clone().and_then(UdpSocket::from_std);
    let socket = match opened {
        Ok(socket) => socket,
        Err(error) => {
            return tracing::error!(target: "frpc::server", address = %udp.local, %error, "datagrams cannot be received");
        }
    };
    let mut listener = Listener {
        rates: Rates::new(udp.rate, now()),
        sources: Sources::default(),
        pending: FuturesUnordered::new(),
        shares: CallShares::default(),
        buffer: vec![0; DATAGRAM_MAX].into(),
        pause: None,
        is_stopping: false,
        gateway,
        socket,
        udp,
        peers: peers.clone(),
    };
    let mut stopping = pin!(peers.stopping());
    poll_fn(|task| {
        if !listener.is_stopping && stopping.as_mut().poll(task).is_ready() {
            listener.is_stopping = true;
        }
        listener.poll(task)
    })
    .await;
}

struct Listener {
    gateway: Arc<Gateway>,
    udp: Udp,
    peers: AdapterPeers,
    socket: UdpSocket,
    rates: Rates,
    sources: Sources,
    pending: FuturesUnordered<BoxFuture<'static, Ended>>,
    /// Datagrams with pending calls per network of their sources.
    shares: CallShares,
    buffer: Box<[u8]>,
    pause: Option<Pin<Box<Sleep>>>,
    is_stopping: bool,
}

impl Listener {
    /// Completes once the server has stopped and no call is in progress.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<()> {
        // Yield to the executor after `DATAGRAMS_PER_POLL` datagrams, so that a flood cannot starve other tasks.
        for _ in 0..DATAGRAMS_PER_POLL {
            let received = !self.is_stopping && self.poll_receive(task).is_ready();
            let mut has_ended = false;
            while let Poll::Ready(Some(ended)) = self.pending.poll_next_unpin(task) {
                has_ended = true;
                let Ended { peer, network, limit, session } = ended;
                self.shares.release(network);
                if let Some(mut session) = session {
                    self.reply(peer, &mut session, limit);
                    if !has_expired(&session.context) {
                        self.sources.put_back(peer, session);
                    }
                }
            }
            if !received && !has_ended {
                return if self.is_stopping && self.pending.is_empty() { Poll::Ready(()) } else { Poll::Pending };
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }

    /// Receives one datagram and handles it.
    fn poll_receive(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(task));
            self.pause = None;
        }
        let mut buffer = ReadBuf::new(&mut self.buffer);
        match ready!(self.socket.poll_recv_from(task, &mut buffer)) {
            Ok(peer) => {
                let length = buffer.filled().len();
                self.handle(peer, length);
            }
            // Ignore `ConnectionReset`, with which some systems report that an earlier reply could not be delivered.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) => {
                tracing::debug!(%error, "receiving a datagram failed");
                self.pause = Some(Box::pin(tokio::time::sleep(PAUSE)));
            }
        }
        Poll::Ready(())
    }

    /// Handles the datagram in the receive buffer.
    fn handle(&mut self, peer: SocketAddr, length: usize) {
        let Self { gateway, udp, peers, rates, sources, pending, shares, buffer, .. } = self;
        let now = now();
        // Drop datagrams from port 0, which cannot receive a reply.
        if length == 0 || peer.port() == 0 || !rates.admit(peer.ip(), now) {
            return;
        }
        let Some(datagram) = buffer.get(..length) else { return };
        let make = || Source { context: peers.enter(peer, Some(udp.local)).ok_or(now), session: None };
        let source = sources.get(peer, make);
        let is_outdated = match &source.context {
            Ok(context) => has_expired(context),
            Err(refused) => now >= *refused + REFUSED,
        };
        if is_outdated {
            *source = make();
        }
        let Ok(context) = &source.context else { return };
        // Count the bytes before the checks, so that dropped datagrams are counted too.
        context.count_bytes(length, 0);
        if context.is_throttled() {
            return;
        }
        if context.is_overloaded() {
            return context.connection().count_rejected();
        }
        let limit = udp.reply_limit(length);
        let mut session = source.session.take().unwrap_or_else(|| session(gateway, context));
        session.set_reply_max(limit);
        session.handle(&Bytes::copy_from_slice(datagram));
        if session.calls() == 0 {
            self.reply(peer, &mut session, limit);
            return self.sources.put_back(peer, session);
        }
        let network = context.connection().caller_network();
        // Only calls that stay in progress take a share. Most datagrams have been answered at this point.
        if !shares.take(network, udp.calls_max.saturating_sub(shares.total())) {
            // Drop the session, which cancels its calls.
            return context.connection().count_rejected();
        }
        let timeout = udp.call_timeout;
        pending.push(Box::pin(async move {
            let finished = tokio::time::timeout(timeout, session.finish()).await;
            // After a timeout, drop the session, which cancels its calls. The peer gets no reply.
            Ended { peer, network, limit, session: finished.is_ok().then_some(session) }
        }));
    }

    /// Sends the replies of a session, one datagram each. Replies that are too long or cannot be sent immediately are
    /// dropped, as if lost in transit.
    fn reply(&self, peer: SocketAddr, session: &mut Session, limit: usize) {
        let output = std::mem::take(session.output());
        session.charge_output();
        for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Some(reply) = fitting(line, limit) else { continue };
            match self.socket.try_send_to(&reply, peer) {
                Ok(sent) => session.context.count_bytes(0, sent),
                Err(error) => tracing::debug!(%peer, %error, "a reply was not sent"),
            }
        }
    }
}

/// Returns whether the identity of a peer has expired. The connection hook has set this identity, because datagrams
/// carry no token.
fn has_expired(context: &AdapterContext) -> bool {
    context.methods().check_caller(&Metadata::new()).is_err()
}

fn session(gateway: &Gateway, context: &AdapterContext) -> Session {
    Session::new(gateway, context, Metadata::new()).without_notices().for_datagrams()
}

/// Calls of one datagram that have completed or timed out.
struct Ended {
    peer: SocketAddr,
    network: Option<IpAddr>,
    /// Maximum size of a reply.
    limit: usize,
    /// Session with the replies, or `None` if the calls timed out.
    session: Option<Session>,
}
