//! Streaming calls: items in both directions as notifications, credit-based flow control, and cancellation.
//!
//! Request items are queued for the handler, and the client is granted credit for as many as the handler has consumed.
//! Response items are sent through the mailbox, a few at a time, within the credit of the client.

use super::{Call, CallTask, Inner, NAMED, POSITIONAL, ParsedCall, reply};
use crate::charge::{check_room, overloaded};
use crate::json_rpc::envelope::Request;
use crate::json_rpc::mailbox::{CallNumber, SessionMailbox, SessionMessage};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::json::{DecodeError, Options, Reader};
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

/// Initial number of items that a client may send. Sufficient for a distant client to send continuously, if items have
/// some kilobytes and the handler keeps up.
const ITEMS_FIRST: u32 = 16;

/// Number of consumed items after which a client is granted more, so that one notification covers several.
const ITEMS_EACH: u32 = ITEMS_FIRST / 2;

/// Maximum number of bytes of response items that wait for the connection. A single item may exceed it. The handler's
/// next item is polled when the connection has accepted these.
const WINDOW: usize = 64 * 1024;

/// Number of bytes that each item takes of the window in addition to its content.
const ITEM_COST: usize = 64;

/// Memory of an open stream in bytes: its task, its entries in the session, and its queues.
const STREAM_COST: usize = 4 * 1024;

/// Memory in bytes that is reserved before the handler produces the first response item. For later items, the length of
/// the largest recent item is reserved, up to [`WINDOW`].
const FIRST_ITEM: usize = 1024;

/// The session's side of a streaming call.
pub(super) struct StreamEnds {
    _hold: MemoryCharge,
    /// Queue of request items for the handler. `None` once the client sends no more items.
    requests: Option<UnboundedSender<Result<(Bytes, MemoryCharge), Status>>>,
    /// Number of items that the client may still send.
    granted: u32,
    /// Number of bytes of items queued for the handler.
    queued: Arc<AtomicUsize>,
    /// One permit per byte of response items that may wait to be written to the connection.
    pub(super) window: Arc<Semaphore>,
    /// One permit per item that the client accepts, if it uses flow control.
    credit: Option<Arc<Semaphore>>,
}

/// The task of a stream, which is aborted with the call.
pub(super) struct StreamTask(AbortHandle);

impl Drop for StreamTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Inner {
    /// Starts a call of a streaming method, whose items are exchanged by notifications.
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
                "a method that streams is called with an id, in no batch, over TCP or WebSocket",
            ));
        };
        if self.ids.get(id).is_some() {
            return Err(Status::already_exists("the id of the stream is that of a call in progress"));
        }
        check_room(context, id.len())?;
        let streams_max = context.config().streams_max;
        if self.streams >= streams_max {
            return Err(Status::resource_exhausted(format!("the limit of {streams_max} streams is reached")));
        }
        let Some(hold) = context.connection().try_charge(STREAM_COST) else {
            context.connection().count_rejected();
            return Err(overloaded());
        };
        let Some(called) = self.called.get(at) else { return Ok(()) };
        let (method, number) = (called.method.clone(), self.next);
        let takes_items = matches!(method.kind(), CallKind::ClientStreaming | CallKind::Streaming);
        let is_empty = |params: &[u8]| params.iter().filter(|byte| !byte.is_ascii_whitespace()).count() == 2;
        if takes_items && !is_empty(params.get_ref()) {
            return Err(Status::invalid_argument("a method that takes items has no params: send them by rpc.item"));
        }
        let (sender, receiver) = unbounded_channel();
        let queued = Arc::<AtomicUsize>::default();
        let items = Items { receiver, queued: queued.clone(), mail: self.mail.clone(), number, consumed: 0 };
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
            mail: self.mail.clone(),
            window: ends.window.clone(),
            credit: ends.credit.clone(),
            item_max: self.reply_max,
            context: context.clone(),
        };
        let format = if is_positional { POSITIONAL } else { NAMED };
        let task = context.connection().runtime_handle().spawn(async move {
            let kind = method.kind();
            let called = if takes_items {
                method.streaming(params.map(|_| items), NAMED).await
            } else {
                call_with_one(&method, params, format).await
            };
            let result = match called {
                Ok(responses) => out.send(responses, kind).await,
                Err(status) => Err(status),
            };
            out.mail.finish(number, result, &out.context);
        });
        self.next += 1;
        self.streams += 1;
        let work = CallTask::Stream(ends, StreamTask(task.abort_handle()));
        self.begin(Some(id), None, shows_metadata, work, context);
        Ok(())
    }

    /// Handles a notification about a call. Notifications about ended calls are late and ignored.
    pub(super) fn handle_notice(&mut self, request: &Request<'_>, message: &Bytes, context: &AdapterContext) {
        let Some(Ok(notice)) = request.params.map(Notice::read) else { return };
        let Some(number) = notice.id.and_then(|id| self.ids.get(id.as_bytes())) else { return };
        if request.method == "rpc.cancel" {
            return self.finish(number, Status::cancelled("cancelled by the caller"), context);
        }
        let Some(Call { work: CallTask::Stream(ends, _), .. }) = self.calls.get_mut(&number) else { return };
        match &*request.method {
            "rpc.item" => {
                let consumed = match notice.item {
                    Some(item) => ends.take(message.slice_ref(item.as_bytes()), context),
                    None => Err(Status::invalid_argument("rpc.item needs an item")),
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
                    let status = Status::invalid_argument("rpc.credit: items must be a number of items");
                    self.finish(number, status, context);
                }
            },
            _ => {}
        }
    }

    /// Ends the request items of all streams with an error, because no more can arrive and the received ones may be
    /// incomplete.
    pub(super) fn cut_off(&mut self, status: &Status) {
        for call in self.calls.values_mut() {
            let CallTask::Stream(ends, _) = &mut call.work else { continue };
            if let Some(requests) = ends.requests.take() {
                let _ = requests.send(Err(status.clone()));
            }
        }
    }

    /// Ends a call before its handler has completed, and replies with `status`.
    pub(super) fn finish(&mut self, number: CallNumber, status: Status, context: &AdapterContext) {
        if let Some(call) = self.end(number) {
            self.answer(call, Err(status), context);
        }
    }

    /// Appends a response item.
    pub(super) fn put_item(&mut self, number: CallNumber, item: &Bytes, permits: usize) {
        let Some(Call { id: Some(id), work: CallTask::Stream(ends, _), .. }) = self.calls.get(&number) else { return };
        reply::begin_notice(&mut self.output, "rpc.item", id, "item");
        self.output.extend_from_slice(item);
        reply::end_notice(&mut self.output);
        self.output.push(b'\n');
        ends.window.add_permits(permits);
    }

    /// Grants the client credit for the items that its handler has consumed.
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

/// Maximum credit, more than any client needs. Half of the maximum number of semaphore permits on 32-bit targets.
const CREDIT_MAX: usize = 1 << 28;

/// Adds credit granted by a client, up to [`CREDIT_MAX`]. Only the session adds credit, so the sum cannot exceed it.
fn add_credit(credit: &Semaphore, items: u64) {
    let room = CREDIT_MAX.saturating_sub(credit.available_permits());
    credit.add_permits(usize::try_from(items).unwrap_or(CREDIT_MAX).min(room));
}

impl StreamEnds {
    /// Queues a request item for the handler.
    fn take(&mut self, item: Bytes, context: &AdapterContext) -> Result<(), Status> {
        let Some(requests) = &self.requests else { return Ok(()) };
        let Some(granted) = self.granted.checked_sub(1) else {
            return Err(Status::resource_exhausted("more items than the handler accepts: wait for rpc.credit"));
        };
        let length = item.len();
        let queued = self.queued.fetch_add(length, Ordering::Relaxed);
        // A single item may exceed the limit, like a single message of a native stream.
        let charge = context.connection().try_charge(length);
        let Some(charge) = charge.filter(|_| queued <= context.config().stream_buffer_max) else {
            context.connection().count_rejected();
            return Err(Status::resource_exhausted("the memory limit for unread items is reached"));
        };
        self.granted = granted;
        // Fails if the handler has completed, in which case its reply is already on the way.
        let _ = requests.send(Ok((item, charge)));
        Ok(())
    }
}

/// Stream of request items, as polled by the handler.
struct Items {
    receiver: UnboundedReceiver<Result<(Bytes, MemoryCharge), Status>>,
    queued: Arc<AtomicUsize>,
    mail: Arc<SessionMailbox>,
    number: CallNumber,
    /// Number of consumed items for which no credit was granted yet.
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
        if self.consumed == ITEMS_EACH {
            self.consumed = 0;
            self.mail.send(SessionMessage::Consumed(self.number, ITEMS_EACH));
        }
        Poll::Ready(Some(Ok(item)))
    }
}

/// Calls a method with a single request message.
async fn call_with_one(
    method: &AdapterMethod,
    request: frpc::Request<Bytes>,
    format: &str,
) -> Result<Response<AdapterResponses>, Status> {
    let request = request.map(|message| frpc::iter([Ok(message)]));
    method.streaming(request, format).await
}

/// Sends the responses of a handler to the session, with flow control.
struct ResponseSink {
    number: CallNumber,
    mail: Arc<SessionMailbox>,
    window: Arc<Semaphore>,
    credit: Option<Arc<Semaphore>>,
    item_max: usize,
    context: AdapterContext,
}

impl ResponseSink {
    /// Sends responses as items. Returns the single response of a client-streaming method, and `null` otherwise.
    async fn send(&self, responses: Response<AdapterResponses>, kind: CallKind) -> Result<Response<Bytes>, Status> {
        let mut result = Bytes::from_static(b"null");
        let mut responses = responses;
        let is_single = kind == CallKind::ClientStreaming;
        if let Some(credit) = self.credit.as_ref().filter(|_| !is_single) {
            // A client that wants no items yet costs none.
            let _ = unless_expired(responses.get_mut(), credit.acquire()).await?;
        }
        let (mut waiter, mut usual) = (self.context.connection().memory_waiter(), FIRST_ITEM);
        loop {
            // The handler waits while unread items exceed the client's share of memory. One item is taken in advance of
            // the client's credit, because the end of the stream costs none.
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
                self.context.connection().count_rejected();
                return Err(overloaded());
            }
            usual = item.len().max(usual - usual / 8).min(WINDOW);
            let permits = (item.len() + ITEM_COST).min(WINDOW);
            unless_expired(responses.get_mut(), self.permit(permits)).await?;
            self.mail.send(SessionMessage::Item(self.number, item, permits, hold));
        }
        Ok(responses.map(|_| result))
    }

    /// Waits until the client accepts another item and the window has space for its bytes.
    async fn permit(&self, bytes: usize) {
        let needed = self.credit.iter().map(|credit| (credit, 1)).chain([(&self.window, bytes)]);
        for (permits, count) in needed {
            // The number fits in 32 bits, and the semaphore is never closed.
            if let Ok(permit) = permits.acquire_many(count as u32).await {
                permit.forget();
            }
        }
    }
}

/// Returns the result of `work`, or the deadline status of the call if that comes first.
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
        let options = Options::new().nesting_max(u32::MAX);
        let mut reader = Reader::new(params.as_bytes(), &options)?;
        let mut notice = Self::default();
        reader.object(|key, reader| {
            let value = reader.raw()?;
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
    fn credit_of_any_number_stays_within_its_maximum() {
        let credit = Semaphore::new(0);
        for items in [1, u64::from(u32::MAX), u64::MAX] {
            add_credit(&credit, items);
            assert!(credit.available_permits() <= CREDIT_MAX, "after {items}");
        }
        assert_eq!(credit.available_permits(), CREDIT_MAX);
        assert!(CREDIT_MAX <= u32::MAX as usize >> 3, "a semaphore of a 32-bit target takes no more");
    }
}
