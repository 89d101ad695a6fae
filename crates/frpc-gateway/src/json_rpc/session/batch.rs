//! JSON-RPC batches. The replies of a batch are sent together and share one size limit.

use super::{calls::MessageBatch, reply};
use crate::charge::Charge;
use crate::json_rpc::envelope::Item;
use bytes::Bytes;
use frpc::{AdapterContext, Status};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// JSON-RPC batches of a session that are in progress, by number.
#[derive(Default)]
pub(super) struct Batches {
    open: HashMap<usize, Batch>,
    next: usize,
}

/// A JSON-RPC batch. Its replies are collected until the last call has completed.
#[derive(Default)]
struct Batch {
    /// Collected replies, each followed by a comma.
    replies: Vec<u8>,
    /// Number of calls in progress, plus one while the elements of the batch are being handled.
    left: usize,
    charge: Charge,
    /// Whether the replies exceed the size limit although errors have replaced some of them.
    is_too_long: bool,
}

impl MessageBatch<'_> {
    /// Handles the elements of a batch in order.
    pub(super) fn handle_batch(&mut self, items: Vec<Item<'_>>, message: &Bytes) {
        if items.is_empty() {
            self.context.charge_abuse(message.len());
            if !self.inner.answers_invalid {
                return;
            }
            reply::error(&mut self.inner.output, reply::NO_ID, reply::INVALID_REQUEST, "the batch is empty");
            return self.inner.output.push(b'\n');
        }
        let number = self.inner.batches.begin();
        let mut out = Vec::new();
        for item in items {
            out.clear();
            let id = match &item {
                Item::Request(request) => request.id,
                Item::Invalid(invalid) => invalid.id,
                Item::Response => None,
            };
            self.handle_item(item, message, Some(number), &mut out);
            let put = |replies: &mut Vec<u8>| replies.extend_from_slice(&out);
            self.inner.batches.add(number, id.map(str::as_bytes), self.inner.reply_max, self.context, put);
        }
        // Remove the extra count of `begin`, which kept the batch from completing before its last element.
        self.inner.batches.end(number, &mut self.inner.output);
    }
}

impl Batches {
    fn begin(&mut self) -> usize {
        self.next += 1;
        self.open.insert(self.next, Batch { left: 1, ..Batch::default() });
        self.next
    }

    /// Adds a call in progress to a batch.
    pub(super) fn wait(&mut self, number: usize) {
        if let Some(batch) = self.open.get_mut(&number) {
            batch.left += 1;
        }
    }

    /// Adds the reply that `put` appends, if any. If the collected replies would exceed `max` bytes, an error replaces
    /// the reply. If even the error does not fit, a single error replaces the whole batch.
    pub(super) fn add(
        &mut self,
        number: usize,
        id: Option<&[u8]>,
        max: usize,
        context: &AdapterContext,
        put: impl FnOnce(&mut Vec<u8>),
    ) {
        let Some(batch) = self.open.get_mut(&number).filter(|batch| !batch.is_too_long) else { return };
        let start = batch.replies.len();
        put(&mut batch.replies);
        if batch.replies.len() == start {
            return;
        }
        if batch.replies.len() > max {
            batch.replies.truncate(start);
            let text = format!("the replies of the batch exceed the limit of {max} bytes");
            reply::failure(&mut batch.replies, id.unwrap_or(reply::NO_ID), &Status::resource_exhausted(text));
        }
        let has_grown = batch.charge.set(context, batch.replies.capacity());
        if batch.replies.len() > max || has_grown && context.is_overloaded() {
            (batch.replies, batch.charge, batch.is_too_long) = (Vec::new(), Charge::default(), true);
            return;
        }
        batch.replies.push(b',');
    }

    /// Records that a call of the batch has ended, or that all its elements were handled. If nothing else is in
    /// progress, appends the collected replies and a line feed to `out`.
    pub(super) fn end(&mut self, number: usize, out: &mut Vec<u8>) {
        let Entry::Occupied(mut open) = self.open.entry(number) else { return };
        open.get_mut().left -= 1;
        if open.get().left > 0 {
            return;
        }
        let Batch { mut replies, is_too_long, .. } = open.remove();
        if is_too_long {
            let status = Status::resource_exhausted("the replies of the batch are too long, even as errors");
            reply::failure(out, reply::NO_ID, &status);
            out.push(b'\n');
        } else if replies.pop().is_some() {
            out.push(b'[');
            out.append(&mut replies);
            out.extend_from_slice(b"]\n");
        }
    }
}
