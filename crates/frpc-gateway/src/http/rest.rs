//! Everything that is not plain, by hyper: HTTP/2, chunked bodies, compressed ones, `Expect`, streams.

use super::answer::Answer;
use super::calls::Manner;
use super::head::{FIELDS_MAX, HEAD_MAX};
use super::plain::LINGER;
use super::service::Service;
use super::transport::{Rewound, Strict};
use super::written;
use crate::timed::Timed;
use bytes::BytesMut;
use frisbee::RawTransport;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use http::Request;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// The bytes of a response that hyper holds for a stream of HTTP/2 whose client does not take them.
const SEND_BUFFER: usize = 64 * 1024;

/// The bytes that a connection of HTTP/2 may receive before they are read, over all streams: four times what it is for
/// one stream by default.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// Serves a connection of HTTP/1 that begins with `early`.
pub(crate) async fn http1(service: Service, early: BytesMut, transport: Timed<RawTransport>) -> io::Result<()> {
    let (context, requests) = (service.context().clone(), service.requests().clone());
    let io = TokioIo::new(Strict::new(Rewound::new(early, transport), requests.clone()));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(context.first_header_timeout())
        .max_headers(FIELDS_MAX)
        .max_header_size(HEAD_MAX);
    let mut connection = builder.serve_connection(
        io,
        service_fn(move |request: Request<Incoming>| {
            let (service, in_progress) = (service.clone(), service.begin());
            async move { Ok::<_, Infallible>(service.respond(request, in_progress).await) }
        }),
    );
    let mut stopping = pin!(context.stopping());
    let mut is_stopping = false;
    let served = poll_fn(|task| {
        if !is_stopping && (stopping.as_mut().poll(task).is_ready() || context.is_stopping()) {
            is_stopping = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        let polled = Pin::new(&mut connection).poll(task);
        if requests.refused().is_some() { Poll::Ready(Ok(())) } else { polled }
    })
    .await;
    let mut io = connection.into_parts().io.into_inner();
    if let Some(malformed) = requests.refused() {
        let mut output = Vec::new();
        let answer = Answer::refusal(malformed.status(), malformed.text());
        written::put(&mut output, &answer, Manner::last(), true);
        io.write_all(&output).await?;
        io.shutdown().await?;
        Box::pin(linger(&mut io)).await;
        return Ok(());
    }
    served.or_else(|error| ended(&error))?;
    Box::pin(linger(&mut io)).await;
    Ok(())
}

/// Reads what a client still sends, which may be the body of a request that was refused by its head. A socket that is
/// closed with bytes unread takes back what the client has not received.
async fn linger(io: &mut (impl AsyncRead + Unpin)) {
    let mut discarded = [0; 1024];
    let reading = async {
        while let Ok(1..) = io.read(&mut discarded).await {
            tokio::task::yield_now().await;
        }
    };
    // It has ended either way.
    let _ = tokio::time::timeout(LINGER, reading).await;
}

/// Serves a connection of HTTP/2 that begins with `early`.
pub(crate) async fn http2(service: Service, early: BytesMut, transport: Timed<RawTransport>) -> io::Result<()> {
    let context = service.context().clone();
    let config = context.config();
    let io = TokioIo::new(Rewound::new(early, transport));
    let (tasks, mut spawned) = mpsc::unbounded_channel();
    let mut builder = http2::Builder::new(Tasks(tasks));
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(u32::try_from(config.streams_max).unwrap_or(u32::MAX))
        .max_header_list_size(HEAD_MAX as u32)
        .initial_stream_window_size(config.stream_credit)
        .initial_connection_window_size(CONNECTION_WINDOW.max(config.stream_credit))
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(config.idle_timeout)
        .keep_alive_timeout(config.idle_timeout);
    let mut connection = pin!(builder.serve_connection(
        io,
        service_fn(move |request: Request<Incoming>| {
            let (service, in_progress) = (service.clone(), service.begin());
            async move { Ok::<_, Infallible>(service.respond(request, in_progress).await) }
        }),
    ));
    let mut stopping = pin!(context.stopping());
    let mut is_stopping = false;
    // The requests of a connection are served in its task, and end with it.
    let mut running = FuturesUnordered::new();
    poll_fn(|task| {
        if !is_stopping && (stopping.as_mut().poll(task).is_ready() || context.is_stopping()) {
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
            // What they have made is written by the connection.
            let mut has_ended = false;
            while let Poll::Ready(Some(())) = running.poll_next_unpin(task) {
                has_ended = true;
            }
            if !has_ended {
                return Poll::Pending;
            }
        }
    })
    .await
    .or_else(|error| ended(&error))
}

/// The end of a connection, which is an error only for the log.
fn ended(error: &hyper::Error) -> io::Result<()> {
    if let Some(error) = error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        return Err(io::Error::new(error.kind(), error.to_string()));
    }
    let kind = match () {
        () if error.is_timeout() => io::ErrorKind::TimedOut,
        () if error.is_parse() => io::ErrorKind::InvalidData,
        () => io::ErrorKind::ConnectionAborted,
    };
    Err(io::Error::new(kind, error.to_string()))
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
