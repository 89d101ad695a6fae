//! HTTP/1 connections that leave the fast path. hyper serves them through a [`Guard`].

use super::calls::ResponseOptions;
use super::exchange::{Deadline, Exchange, InProgress, Upgrading};
use super::guard::Guard;
use super::head::Malformed;
use super::service::{Reply, Service};
use super::written;
use crate::charge::CHARGED_MIN;
use crate::clock::now;
use crate::driver::{AdapterDriver, LazyTimer, drain};
use crate::scratch::READ_MAX;
use bytes::{Bytes, BytesMut};
use frisbee::{MemoryCharge, RawTransport};
use frpc::AdapterContext;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// Response body for hyper. The request counts as in progress until hyper has read the whole body.
struct Outgoing {
    reply: Reply,
    _in_progress: InProgress,
    context: AdapterContext,
    /// Memory charge of a complete response. Released when hyper polls the body.
    hold: Option<MemoryCharge>,
}

/// Part of a response body. hyper holds it until it has been written.
struct ChargedBody(Bytes, #[allow(dead_code)] Option<MemoryCharge>);

impl AsRef<[u8]> for ChargedBody {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn charge(context: &AdapterContext, bytes: usize) -> Option<MemoryCharge> {
    (bytes >= CHARGED_MIN).then(|| context.charge(bytes))
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(frame) = ready!(self.reply.poll_frame(task)) else { return Poll::Ready(None) };
        let frame = frame.map_data(|bytes| {
            // Release the previous charge after the new one, so that the charge never falls below the actual size.
            let hold = charge(&self.context, bytes.len());
            self.hold = None;
            if hold.is_some() { Bytes::from_owner(ChargedBody(bytes, hold)) } else { bytes }
        });
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.reply.is_over()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.reply {
            Reply::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

/// Reason why hyper stopped serving a connection.
enum ConnectionEnd {
    Served(hyper::Result<()>),
    Refused(Malformed),
    Idle,
}

impl ConnectionEnd {
    /// Responds to a malformed request, if there was one, and shuts down the transport unless hyper has done so.
    /// Returns the result of hyper or of the shutdown. Fails if the response cannot be written.
    async fn finish(self, transport: &mut AdapterDriver<RawTransport>) -> io::Result<io::Result<()>> {
        match self {
            // hyper has already shut down the transport.
            Self::Served(served) => return Ok(served.or_else(|error| super::ended(&error))),
            Self::Refused(malformed) => {
                let mut output = Vec::new();
                written::put(&mut output, &malformed.answer(), &ResponseOptions::last(), true);
                transport.write_all(&output).await?;
            }
            Self::Idle => {}
        }
        Ok(transport.shutdown().await)
    }
}

/// Handles a request. The body of the response keeps `in_progress` until hyper has read it.
async fn respond(
    service: Service,
    request: Request<Incoming>,
    mut in_progress: InProgress,
) -> Result<Response<Outgoing>, Infallible> {
    let response = service.respond(request).await;
    in_progress.answer();
    let context = service.context.clone();
    Ok(response.map(|reply| {
        let hold = charge(&context, reply.buffered());
        Outgoing { reply, _in_progress: in_progress, context, hold }
    }))
}

/// Waits until the connection must end because of a malformed request or a timeout. Completes with `None` if a deadline
/// has passed and hyper must be polled again.
fn poll_limits(
    exchange: &Exchange,
    alarm: &mut LazyTimer,
    (idle_timeout, head_timeout): (Duration, Duration),
    task: &mut Context<'_>,
) -> Poll<Option<ConnectionEnd>> {
    if let Some(malformed) = exchange.refused() {
        return Poll::Ready(Some(ConnectionEnd::Refused(malformed)));
    }
    let Some(deadline) = exchange.deadline(idle_timeout, head_timeout, now()) else { return Poll::Pending };
    ready!(alarm.poll(task, deadline.due()));
    Poll::Ready(match deadline {
        Deadline::Idle(_) => Some(ConnectionEnd::Idle),
        Deadline::Head(_) => Some(ConnectionEnd::Refused(Malformed::TooSlow)),
        Deadline::Gone(_) => None,
    })
}

/// Serves an HTTP/1 connection that begins with `early`. If it is upgraded to WebSocket, returns the transport and the
/// bytes that were already read from it. Returns `None` when the connection has ended.
pub(crate) async fn serve(
    service: Service,
    idle_timeout: Duration,
    early: BytesMut,
    transport: AdapterDriver<RawTransport>,
) -> io::Result<Option<(Upgrading, BytesMut, RawTransport)>> {
    let (context, exchange) = (service.context.clone(), service.exchange.clone());
    let head_timeout = context.first_header_timeout();
    let io = TokioIo::new(Guard::new(early, transport, exchange.clone()));
    let mut builder = http1::Builder::new();
    // Disable hyper's timeout, because `Exchange::deadline` computes all timeouts of the connection.
    builder.header_read_timeout(None);
    // Limit hyper's read buffer, which otherwise grows to 400 KiB during a long body and keeps this size afterwards.
    builder.max_buf_size(READ_MAX);
    let mut connection = builder.serve_connection(
        io,
        service_fn(move |request: Request<Incoming>| {
            // Call `begin` outside the future, so that the request counts as in progress if hyper reads more input
            // before it polls the future.
            respond(service.clone(), request, service.exchange.begin())
        }),
    );
    let mut stopping = pin!(context.stopping());
    let mut is_stopping = false;
    let mut alarm = LazyTimer::default();
    let end = poll_fn(|task| {
        loop {
            if let Poll::Ready(served) = Pin::new(&mut connection).poll(task) {
                return Poll::Ready(ConnectionEnd::Served(served));
            }
            // Start the shutdown only after the request in `early` has begun. Before that, hyper would consider the
            // connection idle.
            if !is_stopping && stopping.as_mut().poll(task).is_ready() {
                is_stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
                continue;
            }
            if let Some(end) = ready!(poll_limits(&exchange, &mut alarm, (idle_timeout, head_timeout), task)) {
                return Poll::Ready(end);
            }
        }
    })
    .await;
    let parts = connection.into_parts();
    let (input, mut transport) = parts.io.into_inner().into_parts();
    if let Some(upgrading) = exchange.take_upgrade() {
        // Join in wire order: hyper's buffer holds the oldest bytes, and the guard's buffer those that follow.
        let early = BytesMut::from(&[&parts.read_buf[..], &input].concat()[..]);
        // Remove the limits of the transport, because WebSocket messages have their own timeouts.
        return Ok(Some((upgrading, early, transport.into_inner())));
    }
    let served = end.finish(&mut transport).await?;
    Box::pin(drain(&mut transport)).await;
    served.map(|()| None)
}
