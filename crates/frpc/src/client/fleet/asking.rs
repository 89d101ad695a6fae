//! Asking servers how busy they are before a call. A channel that makes few calls knows of each server only what it was
//! seconds ago: most of what it does at present are calls of others.

use crate::calls::{Body, Ended, Ticket};
use crate::client::fleet::Fleet;
use crate::client::fleet::choice::{Candidate, Chosen};
use crate::client::link::Link;
use crate::deadline;
use crate::schema::method::Method;
use crate::wire::report::{QUESTION, Report};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// How long answers are waited for, at most: a server that never answers delays a call by so much.
const PATIENCE: Duration = Duration::from_millis(5);

/// If none came within that time, the servers are too far away, and none is asked for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// A channel that has made so many calls within so long does not ask: their replies say as much, and cost no time.
const CALLS: usize = 8;
const RECENT: Duration = Duration::from_millis(40);

/// Whether and how many servers are asked.
#[derive(Debug)]
pub(crate) struct Asking {
    /// How many are asked for a call.
    count: usize,
    pace: Mutex<Pace>,
}

#[derive(Debug, Default)]
struct Pace {
    /// When the latest calls were made, the next one in place of the one at `next`.
    calls: [Option<Instant>; CALLS],
    next: usize,
    paused_until: Option<Instant>,
}

impl Asking {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, pace: Mutex::default() }
    }

    /// Counts a call. Whether servers are asked before it.
    fn count(&self, now: Instant) -> bool {
        let mut pace = self.pace.lock();
        let at = pace.next;
        pace.next = (at + 1) % CALLS;
        let Some(oldest) = pace.calls.get_mut(at).map(|place| place.replace(now)) else { return false };
        let is_fast = oldest.is_some_and(|oldest| now.saturating_duration_since(oldest) <= RECENT);
        !is_fast && pace.paused_until.is_none_or(|until| until <= now)
    }

    fn pause(&self, now: Instant) {
        self.pace.lock().paused_until = now.checked_add(PAUSE);
    }
}

impl Fleet {
    /// The connection for a call of this method by what some servers answer that are drawn and asked. `None` if none is
    /// asked, or no answer says that a server can work.
    pub(crate) async fn asked(&self, method: &'static Method, until: Option<Instant>) -> Option<Chosen> {
        let asking = self.asking.as_ref()?;
        let now = deadline::now();
        if !asking.count(now) || !self.clock.has_ever_had_reports() {
            return None;
        }
        self.clock.look();
        let drawn = self.drawn(asking.count);
        let mut questions: Vec<_> = drawn.into_iter().filter_map(|server| Question::put(server, method)).collect();
        if questions.len() < 2 {
            return None;
        }
        // Most of the time of a call is for the call.
        let left = until.map_or(PATIENCE, |until| until.saturating_duration_since(now) / 4);
        let answered = poll_fn(|context| answered(&mut questions, context));
        let is_whole = tokio::time::timeout(left.min(PATIENCE), answered).await.is_ok();
        if !is_whole && questions.iter().all(|question| question.answer.is_none()) {
            asking.pause(deadline::now());
            return None;
        }
        let promised = questions.iter().filter_map(|question| Some((question.promised()?, &question.server)));
        let (_, best) = promised.min_by_key(|(promised, _)| *promised)?;
        self.take(best)
    }
}

/// Ready when all questions are answered.
fn answered(questions: &mut [Question], context: &Context<'_>) -> Poll<()> {
    let are_waiting = questions.iter_mut().map(|question| usize::from(question.poll(context).is_pending()));
    if are_waiting.sum::<usize>() == 0 { Poll::Ready(()) } else { Poll::Pending }
}

/// A server that is asked.
struct Question {
    server: Candidate,
    link: Arc<Link>,
    /// The question among the calls, until it is answered.
    ticket: Option<Ticket>,
    answer: Option<Report>,
}

impl Question {
    /// Asks a server, if it answers questions and there is room.
    fn put(server: Candidate, method: &'static Method) -> Option<Self> {
        let link = server.link().filter(|link| link.calls.answers())?;
        let sent = link.connection.send_now(|outbox| {
            let ticket = link.calls.calls.lock().begin(method.operation, None, None).ok()?;
            let mut packet = outbox.packet(ticket.id, method.operation);
            packet.put_slice(&QUESTION);
            if packet.finish().is_err() {
                link.calls.calls.lock().revoke(ticket);
                return None;
            }
            Some(ticket)
        });
        let ticket = Some(sent.ok().flatten()?);
        Some(Self { server, link, ticket, answer: None })
    }

    /// Ready when there is an answer, or will be none.
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let Some(ticket) = self.ticket else { return Poll::Ready(()) };
        let read = |body: Body<'_>| match body {
            Body::Copied(body) => Report::of_answer(body),
            Body::Shared(body) => Report::of_answer(body),
        };
        match self.link.calls.with(|calls| calls.take_reply(ticket, context, read)) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ended::Reply(answer)) => self.answer = answer,
            Poll::Ready(Ended::Expired | Ended::Lost { .. }) => {}
        }
        self.ticket = None;
        Poll::Ready(())
    }

    /// How long a call is going to take there. `None` if the server has not answered, or cannot work.
    fn promised(&self) -> Option<u64> {
        self.answer.filter(|answer| !answer.is_unable()).map(|answer| self.server.promised(answer))
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.link.give_up(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_asks_unless_it_calls_often_or_nobody_has_answered_of_late() {
        let (asking, begun) = (Asking::new(5), Instant::now());
        let after = |millis| begun + Duration::from_millis(millis);
        assert!((0..8).all(|call| asking.count(after(call * 5))), "these are few yet");
        assert!(!asking.count(after(40)), "the eighth call before was 40 ms ago");
        assert!(asking.count(after(46)), "and that one 41 ms");
        asking.pause(after(1_000));
        assert!(!asking.count(after(1_999)) && asking.count(after(2_000)));
    }
}
