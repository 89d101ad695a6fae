//! `frpc trace`: a proxy that observes calls and prints each one when it ends.

use crate::arguments::TraceArguments;
use crate::decode::frames::{FrameEvent, Step, WatchedConnection};
use crate::decode::proxy;
use crate::failure::Failure;
use crate::show::Screen;
use crate::source::Context;
use frisbee_core::Role;
use frpc::Code;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Maximum number of calls that are observed on one connection at a time, equal to the number of call ids.
const FOLLOWED: usize = 65_536;

/// Maximum number of frames that are stored for each call.
const FRAMES_KEPT: usize = 1000;

/// Prints calls until the user interrupts the trace or enough calls have been shown.
pub(crate) async fn trace(arguments: TraceArguments, context: &Context) -> Result<(), Failure> {
    if arguments.count == Some(0) {
        return Ok(());
    }
    // Without a schema, methods are shown as numbers.
    let schema = context.schema_if_shown(true).await?;
    let target = context.target()?;
    let (listen, wanted) = (arguments.listen.clone(), arguments.count);
    let (filter, screen, shown, enough) =
        (Arc::new(arguments), context.screen, Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let watch = |number| {
        let trace = Trace::new(WatchedConnection::new(schema.clone(), None), filter.frames);
        let (filter, shown, enough) = (filter.clone(), shown.clone(), enough.clone());
        let show = move |call: Call| {
            if !call.passes(number, &filter) {
                return;
            }
            let before = shown.fetch_add(1, Ordering::Relaxed);
            if wanted.is_none_or(|wanted| before < wanted) {
                // Ignore the error, because bytes must be forwarded even if standard output is closed.
                drop(call.show(number, &screen));
            }
            if wanted.is_some_and(|wanted| before + 1 >= wanted) {
                enough.notify_one();
            }
        };
        let mut observer = Observer { trace, show };
        move |side, bytes: &[u8]| observer.feed(side, bytes)
    };
    tokio::select! {
        ended = proxy(&listen, target, watch) => ended,
        () = enough.notified() => Ok(()),
    }
}

/// Shows the calls of a connection. It is dropped when the connection has ended.
struct Observer<S: FnMut(Call)> {
    trace: Trace,
    show: S,
}

impl<S: FnMut(Call)> Observer<S> {
    fn feed(&mut self, side: Role, bytes: &[u8]) {
        self.trace.feed(side, bytes, Instant::now()).into_iter().for_each(&mut self.show);
    }
}

impl<S: FnMut(Call)> Drop for Observer<S> {
    fn drop(&mut self) {
        self.trace.interrupt(Instant::now()).into_iter().for_each(&mut self.show);
    }
}

/// Tracks the calls that are in progress on an observed connection.
struct Trace {
    conversation: WatchedConnection,
    keeps_frames: bool,
    /// Calls in progress, by whether the server made the call, whether the call is a stream, and its id.
    calls: HashMap<(bool, bool, u16), Call>,
}

/// State of a call that is in progress on an observed connection.
#[derive(Clone, Debug)]
struct Call {
    method: String,
    started: Instant,
    took: Duration,
    status: Option<Code>,
    is_cancelled: bool,
    /// Number of messages and number of bytes that were sent, first by the caller and then by the other end.
    sent: [(u64, u64); 2],
    frames: Vec<String>,
}

impl Trace {
    fn new(conversation: WatchedConnection, keeps_frames: bool) -> Self {
        Self { conversation, keeps_frames, calls: HashMap::new() }
    }

    /// Processes bytes that one end of the connection has sent. Returns the calls that these bytes ended.
    fn feed(&mut self, side: Role, bytes: &[u8], now: Instant) -> Vec<Call> {
        let frames = self.conversation.feed(side, bytes);
        frames.iter().filter_map(|frame| self.step(side, frame.text(), frame.step?, now)).collect()
    }

    fn step(&mut self, side: Role, text: String, step: Step, now: Instant) -> Option<Call> {
        let key = (step.opener == Role::Server, step.is_stream, step.id);
        if matches!(step.what, FrameEvent::Began(_)) && self.calls.len() < FOLLOWED {
            let method = self.conversation.name(step.operation);
            self.calls.insert(key, Call::new(method, now));
        }
        let call = self.calls.get_mut(&key)?;
        if self.keeps_frames && call.frames.len() < FRAMES_KEPT {
            call.frames.push(text);
        }
        let (status, bytes) = match step.what {
            FrameEvent::Began(bytes) => (None, bytes),
            FrameEvent::Sent(status, bytes) | FrameEvent::Replied(status, bytes) => (status, bytes),
            FrameEvent::Ended(status) => (status, 0),
            FrameEvent::Cancelled => {
                call.is_cancelled = true;
                (None, 0)
            }
        };
        if let Some(count) = call.sent.get_mut(usize::from(side != step.opener)).filter(|_| bytes > 0) {
            *count = (count.0 + 1, count.1 + bytes as u64);
        }
        call.status = call.status.or(status);
        if !matches!(step.what, FrameEvent::Replied(..) | FrameEvent::Ended(_)) {
            return None;
        }
        let mut call = self.calls.remove(&key)?;
        call.took = now.saturating_duration_since(call.started);
        Some(call)
    }

    /// Returns the calls that are in progress when the connection ends, in the order in which they started.
    fn interrupt(&mut self, now: Instant) -> Vec<Call> {
        let mut calls: Vec<_> = self.calls.drain().collect();
        // Sort by the key too, because calls may start at the same time.
        calls.sort_by_key(|(key, call)| (call.started, *key));
        let mut calls: Vec<Call> = calls.into_iter().map(|(_, call)| call).collect();
        for call in &mut calls {
            let code = if call.is_cancelled { Code::Cancelled } else { Code::Unavailable };
            call.status = call.status.or(Some(code));
            call.took = now.saturating_duration_since(call.started);
        }
        calls
    }
}

impl Call {
    fn new(method: String, started: Instant) -> Self {
        let sent = [(0, 0); 2];
        Self { method, started, took: Duration::ZERO, status: None, is_cancelled: false, sent, frames: Vec::new() }
    }

    fn code(&self) -> Code {
        self.status.unwrap_or(Code::Ok)
    }

    /// Returns whether a call matches the filters of the command line.
    fn passes(&self, connection: u64, filter: &TraceArguments) -> bool {
        filter.connection.is_none_or(|wanted| wanted == connection)
            && filter.method.as_ref().is_none_or(|method| self.method.contains(method))
            && filter.slow.is_none_or(|slow| self.took >= slow)
            && (!filter.failed || self.code() != Code::Ok)
    }

    fn show(&self, connection: u64, screen: &Screen) -> Result<(), Failure> {
        let [(up_messages, up), (down_messages, down)] = self.sent;
        let json = json!({
            "connection": connection, "method": self.method, "code": self.code().name(),
            "micros": u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
            "cancelled": self.is_cancelled, "sent": up, "received": down,
            "sentMessages": up_messages, "receivedMessages": down_messages, "frames": self.frames,
        });
        let cancelled = if self.is_cancelled { ", cancelled" } else { "" };
        let millis = self.took.as_secs_f64() * 1e3;
        let mut text = format!("{connection}: {} {} {millis:.3} ms", self.method, self.code().name());
        text += &format!(", sent {up_messages} of {up} bytes, received {down_messages} of {down} bytes{cancelled}");
        for frame in &self.frames {
            text += &format!("\n    {}", frame.replace('\n', "\n    "));
        }
        screen.show(|| json.to_string(), || text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: u16, operation: u16, body: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0x0f];
        out.extend(id.to_be_bytes());
        out.extend(operation.to_be_bytes());
        out.extend(u32::try_from(body.len()).expect("body length should fit into 32 bits").to_be_bytes());
        out.extend(body);
        out
    }

    fn trace() -> Trace {
        Trace::new(WatchedConnection::new(None, None), true)
    }

    #[test]
    fn traced_call_has_duration_status_and_bytes() {
        let (mut trace, started) = (trace(), Instant::now());
        assert!(trace.feed(Role::Client, &frame(7, 10, b"\x08\x00"), started).is_empty());
        assert!(trace.feed(Role::Client, &frame(8, 11, b"\x08\x00"), started).is_empty());
        assert!(trace.feed(Role::Client, &frame(7, 6, b"\x0a"), started).is_empty());
        let later = started + Duration::from_millis(12);
        let ended = trace.feed(Role::Server, &frame(7, 10, b"\x10\x03\x03\x01\x01\x06\x05\x0a\x02no"), later);
        let [call] = &ended[..] else { panic!("one call should have ended: {ended:?}") };
        assert_eq!((call.method.as_str(), call.code(), call.took), ("operation 10", Code::Cancelled, later - started));
        assert!(call.is_cancelled && call.sent == [(1, 2), (1, 11)] && call.frames.len() == 3, "{call:?}");
        let ended = trace.feed(Role::Server, &frame(8, 11, b"\x08\x00"), later);
        assert_eq!(ended.first().map(Call::code), Some(Code::Ok));
        assert!(trace.calls.is_empty());
        assert!(
            trace.feed(Role::Server, &frame(8, 11, b"\x08\x00"), later).is_empty(),
            "no call should have been traced"
        );
    }

    /// Regression test: calls with long requests or replies, which are sent in fragments, were missing.
    #[test]
    fn call_with_fragments_is_traced() {
        let (mut trace, now) = (trace(), Instant::now());
        trace.feed(Role::Client, &[frame(7, 3, b"\0\x0a\x07\x02\x08"), frame(7, 3, b"\0\0")].concat(), now);
        let ended = trace.feed(Role::Server, &frame(7, 3, b"\x02\x0a\x07\x02\x08\0"), now);
        assert_eq!(ended.iter().map(|call| (call.code(), call.sent)).collect::<Vec<_>>(), [(Code::Ok, [(1, 2); 2])]);
    }

    /// Regression test: calls in progress at the end of the connection, such as one that crashed the server, were missing.
    #[test]
    fn call_ends_with_its_connection() {
        let mut ended = Vec::new();
        let mut observer =
            Observer { trace: trace(), show: |call: Call| ended.push((call.method.clone(), call.code())) };
        for (id, operation) in [(7, 10), (8, 11), (9, 12)] {
            observer.feed(Role::Client, &frame(id, operation, b"\x08\x00"));
        }
        observer.feed(Role::Client, &frame(8, 6, b"\x0b"));
        observer.feed(Role::Server, &frame(9, 12, b"\x08\x00"));
        drop(observer);
        let codes = ["12", "10", "11"].into_iter().zip([Code::Ok, Code::Unavailable, Code::Cancelled]);
        assert!(ended.into_iter().eq(codes.map(|(operation, code)| (format!("operation {operation}"), code))));
    }

    #[test]
    fn traced_stream_ends_when_server_ends() {
        let (mut trace, now) = (trace(), Instant::now());
        trace.feed(Role::Client, &[frame(1, 2, b"\x09\x15"), frame(1, 2, b"\x08\x00"), frame(1, 7, b"")].concat(), now);
        let down = [frame(1, 2, b"\x08\x01"), frame(1, 2, b"\x10\x03\x03\x01\x05\x06\x05\x0a\x02no")].concat();
        assert!(trace.feed(Role::Server, &down, now).is_empty());
        let ended = trace.feed(Role::Server, &frame(1, 7, b""), now);
        let [call] = &ended[..] else { panic!("one call should have ended: {ended:?}") };
        assert_eq!((call.code(), call.sent), (Code::NotFound, [(1, 2), (2, 13)]));
        // The client closes the stream after ending its direction.
        assert!(trace.feed(Role::Client, &frame(1, 2, b""), now).is_empty());
    }

    #[test]
    fn filters_match_method_status_time_and_connection() {
        let mut call = Call::new("greet.Greeter/Greet".to_owned(), Instant::now());
        call.took = Duration::from_millis(5);
        let filter = |change: fn(&mut TraceArguments)| {
            let mut filter = TraceArguments {
                method: None,
                listen: String::new(),
                connection: None,
                failed: false,
                slow: None,
                frames: false,
                count: None,
            };
            change(&mut filter);
            filter
        };
        assert!(call.passes(0, &filter(|_| {})));
        assert!(call.passes(0, &filter(|filter| filter.method = Some("Greeter/".to_owned()))));
        assert!(!call.passes(0, &filter(|filter| filter.method = Some("Recite".to_owned()))));
        assert!(!call.passes(0, &filter(|filter| filter.failed = true)));
        assert!(!call.passes(0, &filter(|filter| filter.slow = Some(Duration::from_millis(6)))));
        assert!(!call.passes(0, &filter(|filter| filter.connection = Some(1))));
        call.status = Some(Code::Internal);
        assert!(call.passes(1, &filter(|filter| (filter.failed, filter.connection) = (true, Some(1)))));
    }
}
