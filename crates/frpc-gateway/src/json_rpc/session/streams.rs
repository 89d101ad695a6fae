//! Streaming calls: items in both directions as notifications, credit-based flow control, and cancellation.
//!
//! Request items are queued for the handler, and the client is granted credit for the items that the handler has
//! consumed. Response items are sent through the mailbox, a few at a time, within the client's credit.

use super::{Call, CallTask, Inner, NAMED, POSITIONAL, ParsedCall, reply};
use crate::charge::{check_room, rejected, try_charge};
use crate::json_rpc::envelope::{Request, members};
use crate::json_rpc::mailbox::{CallNumber, SessionMailbox, SessionMessage};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frisbee::rpc::ConnectionExt;
use frpc::json::DecodeError;
use frpc::{AdapterContext, AdapterMethod, AdapterResponses, CallKind, Response, Status};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

/// Initial number of request items that a client may send. With items of a few kilobytes, a distant client can send
/// continuously while the handler keeps up.
const ITEMS_FIRST: u32 = 16;

/// Number of consumed items before the client is granted new credit, so that one notification covers several items.
const ITEMS_EACH: u32 = ITEMS_FIRST / 2;

/// Maximum number of bytes of response items buffered per stream. A single item may exceed it. The handler's stream is
/// not polled while the buffer is full.
const WINDOW: usize = 64 * 1024;

/// Fixed cost of a response item in bytes, in addition to its content, that counts towards the window.
const ITEM_COST: usize = 64;

/// Memory charge of an open stream in bytes, for its task, session entries and queues.
const STREAM_COST: usize = 4 * 1024;

/// Number of bytes reserved for the first response item before it is produced. For later items, the size of the largest
/// recent item is reserved, up to [`WINDOW`].
const FIRST_ITEM: usize = 1024;

/// State that the session keeps for a streaming call.
pub(super) struct StreamEnds {
    _hold: MemoryCharge,
    /// Queue of request items for the handler. `None` once the client has ended the request stream.
    requests: Option<UnboundedSender<Result<(Bytes, MemoryCharge), Status>>>,
    /// Number of request items that the client may still send.
    granted: u32,
    /// Number of bytes of request items that wait for the handler.
    queued: Arc<AtomicUsize>,
    /// Permits for buffering response items, one per byte. The handler's stream is not polled while too few permits are
    /// left.
    pub(super) window: Arc<Semaphore>,
    /// Permits for response items that the client accepts, one per item. `None` if the client does not use flow
    /// control.
    credit: Option<Arc<Semaphore>>,
}

/// Task of a streaming call. Aborted when the call ends.
pub(super) struct StreamTask(AbortHandle);

impl Drop for StreamTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Inner {
    /// Starts a call of a streaming method. Its items are sent and received as notifications.
    pub(super) fn open(
        &mut self,
        at: usize,
        call: ParsedCall<'_>,
        request: &Request<'_>,
        context: &AdapterContext,
    ) -> Result<(), Status> {
        let ParsedCall { id, batch, shows_metadata, request: params, is_positional, .. } = call;
        let Some(id) = id.filter(|id| *id != reply::NO_ID && batch.is_none() && self.has_notices) else {
            return Err(Status::unimplemented(
                "a streaming call requires an id and TCP or WebSocket, and must not be part of a batch",
            ));
        };
        if self.ids.get(id).is_some() {
            return Err(Status::already_exists("another call in progress has the id of the streaming call"));
        }
        // Do all checks before spawning the task, so that a refusal need not abort it.
        check_room(context, id.len())?;
        let hold = self.charge_stream(context)?;
        let Some(called) = self.called.get(at) else { return Ok(()) };
        let (method, number) = (called.method.clone(), self.next);
        let takes_items = matches!(method.kind(), CallKind::ClientStreaming | CallKind::Streaming);
        let is_empty = |params: &[u8]| params.iter().filter(|byte| !byte.is_ascii_whitespace()).count() == 2;
        if takes_items && !is_empty(params.get_ref()) {
            return Err(Status::invalid_argument("a call with a request stream has no params: send rpc.item"));
        }
        let (sender, receiver) = unbounded_channel();
        let queued = Arc::<AtomicUsize>::default();
        let items = Items { receiver, queued: queued.clone(), mailbox: self.mailbox.clone(), number, consumed: 0 };
        let ends = StreamEnds {
            _hold: hold,
            requests: takes_items.then_some(sender),
            granted: ITEMS_FIRST,
            queued,
            window: Arc::new(Semaphore::new(WINDOW)),
            credit: request.credit.map(|items| {
                let credit = Semaphore::new(0);
                add_credit(&credit, items.into());
                Arc::new(credit)
            }),
        };
        let out = ResponseSink {
            number,
            mailbox: self.mailbox.clone(),
            window: ends.window.clone(),
            credit: ends.credit.clone(),
            item_max: self.reply_max,
            context: context.clone(),
        };
        let format = if is_positional { POSITIONAL } else { NAMED };
        let items = takes_items.then_some(items);
        // Spawning the task before `begin` is fine: it sends to the mailbox, which the session reads only after
        // `begin`.
        let task = context.connection().runtime_handle().spawn(out.run(method, params, items, format));
        // Advance `next` first, because `begin` registers the call as `next - 1`.
        self.next += 1;
        self.streams += 1;
        let work = CallTask::Stream(ends, StreamTask(task.abort_handle()));
        self.begin(Some(id), None, shows_metadata, work, context);
        Ok(())
    }

    /// Charges a new stream, if the limits of streams and of memory allow another one.
    fn charge_stream(&self, context: &AdapterContext) -> Result<MemoryCharge, Status> {
        let streams_max = context.config().streams_max;
        if self.streams >= streams_max {
            context.charge_abuse(0);
            return Err(Status::resource_exhausted(format!("the limit of {streams_max} streams is reached")));
        }
        try_charge(context, STREAM_COST)
    }

    /// Handles a notification about a call. Ignores it if the call has ended, because the notification was late.
    pub(super) fn handle_notice(&mut self, request: &Request<'_>, context: &AdapterContext) {
        let Some(Ok(notice)) = request.params.map(Notice::read) else { return };
        let Some(number) = notice.id.and_then(|id| self.ids.get(id.as_bytes())) else { return };
        if request.method == "rpc.cancel" {
            return self.finish(number, Status::cancelled("cancelled by the caller"), context);
        }
        let Some(Call { work: CallTask::Stream(ends, _), .. }) = self.calls.get_mut(&number) else { return };
        match &*request.method {
            "rpc.item" => {
                let consumed = match notice.item {
                    Some(item) => ends.take(item.as_bytes(), context),
                    None => Err(Status::invalid_argument("rpc.item requires an item")),
                };
                if let Err(status) = consumed {
                    self.finish(number, status, context);
                }
            }
            "rpc.end" => ends.requests = None,
            "rpc.credit" => match (notice.items, &ends.credit) {
                (Some(items), Some(credit)) => add_credit(credit, items),
                (Some(_), None) => {}
                (None, _) => {
                    let status = Status::invalid_argument("rpc.credit requires a number of items");
                    self.finish(number, status, context);
                }
            },
            _ => {}
        }
    }

    /// Ends all request streams with an error, because no more input will arrive and the received items may be
    /// incomplete.
    pub(super) fn cut_off(&mut self, status: &Status) {
        for call in self.calls.values_mut() {
            let CallTask::Stream(ends, _) = &mut call.work else { continue };
            if let Some(requests) = ends.requests.take() {
                let _ = requests.send(Err(status.clone()));
            }
        }
    }

    /// Ends a call before its handler has completed. The reply contains `status`.
    pub(super) fn finish(&mut self, number: CallNumber, status: Status, context: &AdapterContext) {
        if let Some(call) = self.end(number) {
            self.answer(call, Err(status), context);
        }
    }

    /// Appends a response item of a stream as a notification.
    pub(super) fn put_item(&mut self, number: CallNumber, item: &Bytes, permits: usize) {
        let Some(Call { id: Some(id), work: CallTask::Stream(ends, _), .. }) = self.calls.get(&number) else { return };
        reply::begin_notice(&mut self.output, "rpc.item", id, "item");
        self.output.extend_from_slice(item);
        reply::end_notice(&mut self.output);
        self.output.push(b'\n');
        ends.window.add_permits(permits);
    }

    /// Grants the client credit for the request items that the handler has consumed.
    pub(super) fn grant(&mut self, number: CallNumber, count: u32) {
        let Some(Call { id: Some(id), work: CallTask::Stream(ends, _), .. }) = self.calls.get_mut(&number) else {
            return;
        };
        if ends.requests.is_none() {
            return;
        }
        ends.granted += count;
        reply::begin_notice(&mut self.output, "rpc.credit", id, "items");
        self.output.extend_from_slice(count.to_string().as_bytes());
        reply::end_notice(&mut self.output);
        self.output.push(b'\n');
    }
}

/// Maximum credit of a client, in items. Half of the semaphore's maximum on 32-bit targets.
const CREDIT_MAX: usize = 1 << 28;

/// Adds credit granted by the client, up to a total of [`CREDIT_MAX`]. Only the session adds credit, so the total
/// cannot exceed the maximum.
fn add_credit(credit: &Semaphore, items: u64) {
    let room = CREDIT_MAX.saturating_sub(credit.available_permits());
    credit.add_permits(usize::try_from(items).unwrap_or(CREDIT_MAX).min(room));
}

impl StreamEnds {
    /// Queues a request item for the handler.
    fn take(&mut self, item: &[u8], context: &AdapterContext) -> Result<(), Status> {
        let Some(requests) = &self.requests else { return Ok(()) };
        let Some(granted) = self.granted.checked_sub(1) else {
            return Err(Status::resource_exhausted("the request stream exceeds its credit: wait for rpc.credit"));
        };
        let length = item.len();
        // Relaxed, because the sum is only compared with a limit.
        let queued = self.queued.fetch_add(length, Ordering::Relaxed);
        // Compare the bytes that were queued before this item with the limit, so that a single item may exceed it, as
        // in native streams.
        let charge = context.connection().try_charge(length);
        let Some(charge) = charge.filter(|_| queued <= context.config().stream_buffer_max) else {
            context.connection().count_rejected();
            return Err(Status::resource_exhausted("the memory limit for unread items is reached"));
        };
        self.granted = granted;
        // Copy the item, because a slice would keep its whole message or the read buffer of the thread, which are not
        // charged. Ignore the error: if the handler has completed, its reply is already being sent.
        let _ = requests.send(Ok((Bytes::copy_from_slice(item), charge)));
        Ok(())
    }
}

/// Stream of request items that the handler polls.
struct Items {
    receiver: UnboundedReceiver<Result<(Bytes, MemoryCharge), Status>>,
    queued: Arc<AtomicUsize>,
    mailbox: Arc<SessionMailbox>,
    number: CallNumber,
    /// Number of consumed items that have not been reported to the session.
    consumed: u32,
}

impl Stream for Items {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (item, _hold) = match ready!(self.receiver.poll_recv(context)) {
            Some(Ok(message)) => message,
            Some(Err(status)) => return Poll::Ready(Some(Err(status))),
            None => return Poll::Ready(None),
        };
        self.queued.fetch_sub(item.len(), Ordering::Relaxed);
        self.consumed += 1;
        // Grant credit once per `ITEMS_EACH` items, so that most items need no credit message.
        if self.consumed == ITEMS_EACH {
            self.consumed = 0;
            self.mailbox.send(SessionMessage::Consumed(self.number, ITEMS_EACH));
        }
        Poll::Ready(Some(Ok(item)))
    }
}

/// Sends a handler's responses to the session, with flow control.
struct ResponseSink {
    number: CallNumber,
    mailbox: Arc<SessionMailbox>,
    window: Arc<Semaphore>,
    credit: Option<Arc<Semaphore>>,
    item_max: usize,
    context: AdapterContext,
}

impl ResponseSink {
    /// Calls a method with a stream of items, or else with the message of the request. Sends its responses, and then
    /// the result of the call.
    async fn run(
        self,
        method: AdapterMethod,
        request: frpc::Request<Bytes>,
        items: Option<Items>,
        format: &'static str,
    ) {
        let called = match items {
            Some(items) => method.streaming(request.map(|_| items), NAMED).await,
            None => method.streaming(request.map(|message| frpc::iter([Ok(message)])), format).await,
        };
        let result = match called {
            Ok(responses) => self.send(responses, method.kind()).await,
            Err(status) => Err(status),
        };
        self.mailbox.finish(self.number, result, &self.context);
    }

    /// Sends responses as stream items. Returns the result of the call: the response of a client-streaming method, or
    /// `null`.
    async fn send(&self, responses: Response<AdapterResponses>, kind: CallKind) -> Result<Response<Bytes>, Status> {
        let mut result = Bytes::from_static(b"null");
        let mut responses = responses;
        let is_single = kind == CallKind::ClientStreaming;
        if let Some(credit) = self.credit.as_ref().filter(|_| !is_single) {
            // Wait for credit first, so that a client that accepts no items yet costs nothing.
            let _ = unless_expired(responses.get_mut(), credit.acquire()).await?;
        }
        let (mut waiter, mut usual) = (self.context.connection().memory_waiter(), FIRST_ITEM);
        loop {
            // The handler waits while unread items exceed the client's share of memory. One item is taken ahead of the
            // client's credit, because the end of the stream needs no credit.
            let next = poll_fn(|context| {
                let responses = responses.get_mut();
                let Poll::Ready(hold) = waiter.poll_reserve(context, usual) else {
                    return responses.poll_expired(context).map(Err);
                };
                Pin::new(responses).poll_next(context).map(|item| Ok((item.transpose()?, hold)))
            });
            let (Some(item), mut hold) = next.await? else { break };
            if is_single {
                result = item;
                continue;
            }
            if item.len() > self.item_max {
                return Err(super::too_long(item.len(), self.item_max));
            }
            if !hold.try_resize(item.len()) {
                return Err(rejected(&self.context));
            }
            usual = item.len().max(usual - usual / 8).min(WINDOW);
            let permits = (item.len() + ITEM_COST).min(WINDOW);
            unless_expired(responses.get_mut(), self.permit(permits)).await?;
            self.mailbox.send(SessionMessage::Item(self.number, item, permits, hold));
        }
        Ok(responses.map(|_| result))
    }

    /// Waits until the client accepts another item and the buffer has space for its bytes.
    async fn permit(&self, bytes: usize) {
        let needed = self.credit.iter().map(|credit| (credit, 1)).chain([(&self.window, bytes)]);
        for (permits, count) in needed {
            // The number fits into 32 bits, and the semaphore is never closed.
            if let Ok(permit) = permits.acquire_many(count as u32).await {
                permit.forget();
            }
        }
    }
}

/// Returns the result of `work`, or `DEADLINE_EXCEEDED` if the call's deadline passes first.
async fn unless_expired<T>(responses: &mut AdapterResponses, work: impl Future<Output = T>) -> Result<T, Status> {
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Ok(done)),
        Poll::Pending => responses.poll_expired(context).map(Err),
    })
    .await
}

/// Params of a notification about a call.
#[derive(Default)]
struct Notice<'a> {
    id: Option<&'a str>,
    item: Option<&'a str>,
    items: Option<u64>,
}

impl<'a> Notice<'a> {
    fn read(params: &'a str) -> Result<Self, DecodeError> {
        let mut notice = Self::default();
        members(params, |key, value| {
            match key {
                "id" => notice.id = Some(value),
                "item" => notice.item = Some(value),
                "items" => notice.items = value.parse().ok(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_credit_is_capped_at_maximum() {
        let credit = Semaphore::new(0);
        for items in [1, u64::from(u32::MAX), u64::MAX] {
            add_credit(&credit, items);
            assert!(credit.available_permits() <= CREDIT_MAX, "after {items}");
        }
        assert_eq!(credit.available_permits(), CREDIT_MAX);
        assert!(CREDIT_MAX <= u32::MAX as usize >> 3, "a semaphore of a 32-bit target takes no more");
    }
}
