//! Accepts connections and assigns them to workers.
//!
//! A server with its own threads accepts on the first of them. That thread also drives the connection unless another
//! thread has fewer connections, so a connection to an idle server wakes a single thread. Other servers accept in a
//! task of the runtime, and the runtime's threads drive the connections.
//!
//! # Decisions
//!
//! Accepting in the task that awaits `serve` woke two more threads per connection to an idle server: the awaiting
//! thread and the driving thread. Accepting on the thread that polls the sockets avoids this.

use super::Listener;
use crate::Router;
use crate::acceptor::{AcceptedConnection, ServerShared};
use crate::executor::workers::worker::wake_last;
use crate::executor::workers::{Worker, wake_queue};
use crate::inspect::open_connections::{OpenConnection, OpenConnections};
use crate::runtime::pool::WorkerPool;
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Initial and maximum pause after accepting a connection has failed, for example because file descriptors are
/// exhausted.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// Maximum number of connections that are accepted before other tasks of the thread run. Accepting one takes about 10
/// us.
const AT_ONCE: usize = 32;

/// A listening socket, which is closed when dropped.
pub(super) struct Listening<L> {
    listener: Arc<Mutex<Option<L>>>,
    /// Dropping this sender stops the future that accepts connections.
    _closed: oneshot::Sender<()>,
}

impl<L: Listener> Listening<L> {
    /// Creates the listener, and a future that accepts connections. If there are workers, the future should run on the
    /// first of them.
    pub(super) fn new<R: Router>(
        mut listener: L,
        host: &Arc<ServerShared<R>>,
        pool: &Arc<WorkerPool>,
    ) -> io::Result<(Self, impl Future<Output = ()> + Send + use<L, R>)> {
        if let Some(worker) = pool.first() {
            let _entered = worker.handle().enter();
            listener.move_to_current_runtime()?;
        }
        let (closed, is_closed) = oneshot::channel();
        let listener = Arc::new(Mutex::new(Some(listener)));
        // Hold the pool weakly, because it must end with its server even if one of its threads is still accepting.
        let accepting = accept(listener.clone(), is_closed, host.clone(), Arc::downgrade(pool));
        Ok((Self { listener, _closed: closed }, accepting))
    }
}

impl<L> Drop for Listening<L> {
    /// Closes the listening socket immediately, even if a thread is accepting a connection.
    fn drop(&mut self) {
        let listener = self.listener.lock().take();
        drop(listener);
    }
}

/// Accepts connections until the listening socket is closed.
async fn accept<L: Listener, R: Router>(
    listener: Arc<Mutex<Option<L>>>,
    mut is_closed: oneshot::Receiver<()>,
    host: Arc<ServerShared<R>>,
    pool: Weak<WorkerPool>,
) {
    let is_of_worker = pool.upgrade().is_some_and(|pool| pool.first().is_some());
    let mut pause = PAUSE.0;
    let mut accepted = 0;
    let mut has_let_others = false;
    loop {
        let next = poll_fn(|context| {
            if is_of_worker && !std::mem::replace(&mut has_let_others, true) {
                // Yield first: connections that have ended would otherwise be counted when the next one is assigned.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if accepted == AT_ONCE {
                accepted = 0;
                // Yield explicitly on workers, because only tokio tasks have a cooperative budget and yield
                // automatically.
                if wake_last(context.waker()) {
                    return Poll::Pending;
                }
            }
            if std::pin::Pin::new(&mut is_closed).poll(context).is_ready() {
                return Poll::Ready(None);
            }
            let listener = listener.lock();
            let Some(listener) = &*listener else { return Poll::Ready(None) };
            // Register an accepted connection before the listener can be closed, because a shutdown must wait for it.
            let admitted = |(socket, ends)| (socket, ends, OpenConnections::admit(&host.open));
            let polled = listener.poll_accept(context).map_ok(admitted).map(Some);
            has_let_others = polled.is_ready();
            polled
        });
        match next.await {
            None => return,
            Some(Ok((socket, ends, entry))) => {
                accepted += 1;
                pause = PAUSE.0;
                let (Some(entry), Some(pool)) = (entry, pool.upgrade()) else { return };
                dispatch(&host, &pool, socket, ends, entry);
            }
            Some(Err(error)) if is_connection_error(&error) => {
                tracing::debug!(%error, "a connection ended before it was accepted");
            }
            Some(Err(error)) => {
                // Evict silent clients to release file descriptors.
                if host.pending_handshakes.make_room() {
                    pause = PAUSE.0;
                }
                host.budget.counts.count_unaccepted(&error, pause, Instant::now());
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
        }
    }
}

/// Drives a connection on io_uring, on a worker, or in the caller's runtime.
fn dispatch<R: Router>(
    host: &Arc<ServerShared<R>>,
    pool: &WorkerPool,
    socket: Transport,
    ends: EndpointInfo,
    entry: OpenConnection,
) {
    let Ok(admission) = host.admit(&ends) else { return };
    #[cfg(all(feature = "uring", target_os = "linux"))]
    if let WorkerPool::Rings(rings) = pool {
        let Transport::Tcp(socket) = socket else { unreachable!("io_uring drives only TCP sockets") };
        let Some(engine) = host.connect(ends, admission, &entry) else { return };
        match socket.into_std() {
            Ok(socket) => rings.drive(socket, engine, host.runtime.clone(), host.busy_poll, entry),
            Err(error) => {
                tracing::warn!(target: "frisbee::listener", %error, "a connection could not be passed to its ring");
            }
        }
        return;
    }
    let worker = pool.least();
    let (driven, is_here) = (worker.map(Worker::driven), worker.is_none_or(Worker::is_current));
    let (runtime, host) = (host.runtime.clone(), host.clone());
    let arrived = Box::new(AcceptedConnection { io: socket, ends, admission, entry });
    let driving = async move {
        // Hold nothing of the connection across this await, because an idle connection would keep it allocated.
        let context = driven.as_ref().map(|_| host.runtime.clone());
        let Some(arrived) = in_runtime(arrived, is_here) else { return };
        host.serve(arrived, context).await;
    };
    wake_queue::spawn(&runtime, worker, driving);
}

/// Registers the socket of the connection with the runtime of its task. Until then, the socket is registered with the
/// reactor of the accepting thread.
fn in_runtime(arrived: Box<AcceptedConnection>, is_here: bool) -> Option<Box<AcceptedConnection>> {
    if is_here {
        return Some(arrived);
    }
    let moved = arrived.moved().inspect_err(|error| {
        tracing::warn!(target: "frisbee::listener", %error, "a connection could not be passed to its worker");
    });
    moved.ok().map(Box::new)
}

/// Returns whether the error concerns only one incoming connection, so that accepting the next one may succeed
/// immediately.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests {
    use crate::server::Listener;
    use crate::tests::echo::{EchoClient, echo};
    use crate::transport::Transport;
    use crate::{Handlers, Server};
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn connections_do_not_wake_serving_task() {
        let server = Server::builder().bind("127.0.0.1:0", echo()).await.expect("server should bind to a free address");
        let address = server.local_addr();
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = polls.clone();
        tokio::spawn(async move {
            let mut serving = pin!(server.serve());
            poll_fn(|context| {
                counted.fetch_add(1, Ordering::Relaxed);
                serving.as_mut().poll(context)
            })
            .await
        });
        for _ in 0..3 {
            assert_eq!(EchoClient::connect(address).await.ask("hello").await, "hello");
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn accepted_sockets_send_without_delay() {
        let passed = std::net::TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let passed = Server::builder().listen_on(passed, Handlers::new()).expect("server settings should be valid");
        let bound =
            Server::builder().bind("127.0.0.1:0", Handlers::new()).await.expect("server should bind to a free address");
        for server in [passed, bound] {
            let _client =
                tokio::net::TcpStream::connect(server.local_addr()).await.expect("server should accept the connection");
            let accepted = poll_fn(|context| Listener::poll_accept(&server.listener, context)).await;
            assert!(
                matches!(accepted, Ok((Transport::Tcp(socket), _)) if socket.nodelay().expect("accepted socket should report whether TCP_NODELAY is set"))
            );
        }
    }
}
