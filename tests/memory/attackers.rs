//! Peers that make a server hold as much memory as possible, a service with pending handlers, and a healthy client.

use frisbee::{Config, Stats};
use frisbee_tests::interop::{AddRequest, Interop, InteropClient, InteropServer, Payload};
use frisbee_tests::left_to_service;
use frisbee_tests::raw::{encoded, packet};
use frpc::{Acceptor, Channel, Request, Response, Server, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::watch;

/// The operation of [`WaitingService::echo_payload`].
pub(crate) const PAYLOAD: u16 = 17;
pub(crate) const MIB: usize = 1024 * 1024;

/// A service that holds every payload until it is released. It then replies with the given number of bytes.
#[derive(Clone)]
pub(crate) struct WaitingService {
    pub(crate) started: Arc<AtomicUsize>,
    pub(crate) ended: Arc<AtomicUsize>,
    released: watch::Receiver<bool>,
    reply: usize,
}

impl WaitingService {
    /// Returns the service and a sender that releases its handlers.
    pub(crate) fn new(reply: usize) -> (Self, watch::Sender<bool>) {
        let (release, released) = watch::channel(false);
        (Self { started: Arc::default(), ended: Arc::default(), released, reply }, release)
    }
}

/// Counts the end of a handler, no matter why it ends.
struct Ending(Arc<AtomicUsize>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Interop for WaitingService {
    async fn echo_payload(&self, request: Request<Payload>) -> Result<Response<Payload>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let _ending = Ending(self.ended.clone());
        let mut released = self.released.clone();
        let _ = released.wait_for(|released| *released).await;
        Ok(Response::new(Payload { seq: request.get_ref().seq, data: vec![1; self.reply] }))
    }

    left_to_service!(echoes, do_nothing, fail, add, sleep, describe, count_up, sum_up, chat);
}

/// Returns settings with which a peer that does not read keeps its connection, even on a slow machine.
pub(crate) fn unhurried() -> Config {
    const HOUR: Duration = Duration::from_secs(3600);
    Config::default().idle_timeout(HOUR).write_timeout(HOUR).least_rate_window(HOUR)
}

/// Returns a server without sockets and with the given memory limit.
pub(crate) fn server(service: impl Interop, memory_max: usize) -> Acceptor {
    server_with(Config::default(), service, memory_max)
}

pub(crate) fn server_with(config: Config, service: impl Interop, memory_max: usize) -> Acceptor {
    let builder = Server::builder().config(config).memory_max(memory_max);
    builder.add_service(InteropServer::new(service)).build().expect("services should not overlap")
}

/// Returns a peer that reads only as much as the test reads.
pub(crate) fn peer(acceptor: &Acceptor) -> DuplexStream {
    let (here, there) = tokio::io::duplex(1024);
    let acceptor = acceptor.clone();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    here
}

/// Returns a request with a payload of the given length.
pub(crate) fn request(id: u16, length: usize) -> Vec<u8> {
    packet(id, PAYLOAD, &encoded(&Payload { seq: id.into(), data: vec![1; length] }))
}

/// Repeats bytes until `stats` shows the given number of rejected requests.
pub(crate) async fn write_until_rejected(peer: &mut DuplexStream, bytes: &[u8], stats: &Stats, rejected: u64) {
    let watching = async {
        while stats.rejected() < rejected {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        written = peer.write_all(bytes) => written.expect("connection should stay open"),
        () = watching => {}
    }
}

/// A healthy client.
pub(crate) struct Witness(InteropClient);

impl Witness {
    pub(crate) async fn of(acceptor: &Acceptor) -> Self {
        let (here, there) = frpc::memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        Self(InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted")))
    }

    /// Makes the given number of calls, none of which may fail.
    pub(crate) async fn is_served(&self, calls: i64) {
        for number in 0..calls {
            let sum = self.0.add(AddRequest { a: number, b: 1 }).await.expect("call should succeed");
            assert_eq!(sum.get_ref().total, number + 1);
        }
    }
}
