//! Connections of HTTP/2, which hyper serves.

use super::counted::CountedTransport;
use super::guard::RewoundTransport;
use super::head::HEAD_MAX;
use super::service::Service;
use crate::clock::{FAR, now};
use crate::driver::{AdapterDriver, LINGER, LazyTimer};
use bytes::BytesMut;
use frisbee::RawTransport;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use http::Request;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The bytes of a response that hyper holds for a stream whose client does not take them.
const SEND_BUFFER: usize = 64 * 1024;

/// The bytes that a connection may receive before they are read, over all streams: four times the window of one stream by
/// default.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// Serves a connection that begins with `early`.
pub(crate) async fn serve(
    service: Service,
    idle_timeout: Duration,
    early: BytesMut,
    transport: AdapterDriver<RawTransport>,
) -> io::Result<()> {
    let (context, exchange) = (service.context().clone(), service.exchange().clone());
    let config = context.config();
    let window = CONNECTION_WINDOW.max(config.stream_credit);
    exchange.handle_http2(usize::try_from(window).unwrap_or(usize::MAX), context.connection().charge(0));
    let transport = RewoundTransport::new(early, transport);
    let mut transport = CountedTransport::new(transport, exchange.clone(), context.clone());
    let io = TokioIo::new(&mut transport);
    let (tasks, mut spawned) = mpsc::unbounded_channel();
    let mut builder = http2::Builder::new(Tasks(tasks));
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(u32::try_from(config.streams_max).unwrap_or(u32::MAX))
        .max_header_list_size(HEAD_MAX as u32)
        .initial_stream_window_size(config.stream_credit)
        .initial_connection_window_size(window)
        .max_send_buf_size(SEND_BUFFER)
        // hyper adds them to the time of the last frame.
        .keep_alive_interval(config.idle_timeout.min(FAR))
        .keep_alive_timeout(config.idle_timeout.min(FAR));
    // A block, at whose end hyper releases the transport.
    let served = async {
        let mut connection = pin!(builder.serve_connection(
            io,
            service_fn(move |request: Request<Incoming>| {
                let (service, in_progress) = (service.clone(), service.exchange().begin());
                async move { Ok::<_, Infallible>(service.respond(request, in_progress).await) }
            }),
        ));
        let mut stopping = pin!(context.stopping());
        let mut is_stopping = false;
        let mut alarm = LazyTimer::default();
        let mut closing: Option<Instant> = None;
        // The requests of a connection are served in its task, and end with it.
        let mut running = FuturesUnordered::new();
        poll_fn(|task| {
            if !is_stopping && stopping.as_mut().poll(task).is_ready() {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            loop {
                if let Poll::Ready(served) = connection.as_mut().poll(task) {
                    return Poll::Ready(served);
                }
                while let Poll::Ready(Some(future)) = spawned.poll_recv(task) {
                    running.push(future);
                }
                // The connection writes the responses that have been made.
                let mut has_ended = false;
                while let Poll::Ready(Some(())) = running.poll_next_unpin(task) {
                    has_ended = true;
                }
                if has_ended {
                    continue;
                }
                exchange.handle_flush();
                let Some(idle) = exchange.deadline(idle_timeout, idle_timeout, now()) else {
                    // The client had sent a request before it received GOAWAY.
                    closing = None;
                    return Poll::Pending;
                };
                if alarm.poll(task, closing.unwrap_or(idle.due())).is_pending() {
                    return Poll::Pending;
                }
                if closing.is_some() {
                    return Poll::Ready(Ok(()));
                }
                closing = Some(now() + LINGER);
                connection.as_mut().graceful_shutdown();
            }
        })
        .await
    };
    let served = served.await;
    let mut transport = transport.into_inner();
    // A client grants credit while it takes the last responses. A closed socket would answer that by a reset, which
    // discards them.
    let linger = async {
        transport.shutdown().await?;
        let mut discarded = [0; 1024];
        while let 1.. = timeout(LINGER, transport.read(&mut discarded)).await?? {}
        io::Result::Ok(())
    };
    let linger_max = if served.is_ok() { idle_timeout } else { LINGER };
    // It has ended either way.
    let _ = timeout(linger_max, linger).await;
    served.or_else(|error| super::ended(&error))
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Passes the tasks of hyper to the future that drives the connection.
#[derive(Clone)]
struct Tasks(mpsc::UnboundedSender<Task>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, future: F) {
        // A connection that is over needs no more tasks.
        let _ = self.0.send(Box::pin(future));
    }
}
