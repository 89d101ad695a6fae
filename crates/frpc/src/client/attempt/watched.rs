//! The end of calls that are observed.

use super::{Failure, Held, PendingCall, Sent, read};
use crate::calls::watched::Over;
use crate::calls::{Ended, Ticket};
use crate::observe::About;
use crate::observe::watching::{Begun, Sizes};
use crate::wire::body;
use crate::{Code, Response, Status};
use bytes::Bytes;
use polyglot::Message;
use std::task::{Context, Poll};
use std::time::Instant;

impl<B> PendingCall<B> {
    /// Counts a call that is over, and tells of it.
    #[cold]
    pub(super) fn count_over(&self, code: Code, over: &Over) {
        self.link.calls.calls.lock().count(self.method, code, over);
        self.tell_over(code, over);
    }

    /// Tells of a call that is over, if an observer is told of each.
    #[inline]
    fn tell_over(&self, code: Code, over: &Over) {
        if let Some(watching) = &self.link.told {
            watching.tell_end(&About::of_unary(self.method), over.told.token, code, over.told.sizes);
        }
    }
}

impl<B: Message> PendingCall<B> {
    /// Polls a call that is observed, or whose reply has been taken.
    #[inline(never)]
    pub(super) fn poll_watched(&mut self, context: &mut Context<'_>) -> Poll<Result<Response<B>, Box<Failure>>> {
        let Held::Watched(ticket) = self.ticket else { return Poll::Pending };
        if self.link.told.is_some() {
            return self.poll_told(ticket, context);
        }
        let (nesting, method) = (self.link.nesting, self.method);
        let (mut reply, mut unread, mut over, mut until) = (None, None, None, None);
        let ended = self.link.calls.with(|calls| {
            let ended = calls.take_reply(ticket, context, |body| read(body, nesting, &mut reply, &mut unread));
            if matches!(reply, Some(Ok(_))) {
                calls.count_ok(ticket, method);
            } else if let Poll::Ready(ended) = &ended {
                over = calls.over_as(ended, ticket);
                until = calls.deadline(ticket);
            }
            ended
        });
        let Poll::Ready(ended) = ended else { return Poll::Pending };
        self.ticket = Held::No;
        match over {
            None => Poll::Ready(self.result(ticket, reply, ended, until)),
            Some(over) => Poll::Ready(self.counted(ticket, reply, unread, ended, until, &over)),
        }
    }

    /// Polls a call of which an observer is told.
    #[inline(never)]
    fn poll_told(&mut self, ticket: Ticket, context: &mut Context<'_>) -> Poll<Result<Response<B>, Box<Failure>>> {
        let (nesting, method) = (self.link.nesting, self.method);
        let (mut reply, mut unread, mut over, mut told, mut length, mut until) = (None, None, None, None, 0, None);
        let ended = self.link.calls.with(|calls| {
            let ended = calls.take_reply(ticket, context, |body| {
                length = body.len();
                read(body, nesting, &mut reply, &mut unread);
            });
            if matches!(reply, Some(Ok(_))) {
                told = calls.told_ok(ticket, method);
            } else if let Poll::Ready(ended) = &ended {
                over = calls.over_as(ended, ticket);
                until = calls.deadline(ticket);
            }
            ended
        });
        let Poll::Ready(ended) = ended else { return Poll::Pending };
        self.ticket = Held::No;
        if let (Some((token, request)), Some(watching)) = (told, &self.link.told) {
            watching.tell_end(&About::of_unary(method), token, Code::Ok, Sizes { request, reply: length as u64 });
        }
        let Some(mut over) = over else { return Poll::Ready(self.result(ticket, reply, ended, until)) };
        over.told.sizes.reply = length as u64;
        Poll::Ready(self.counted(ticket, reply, unread, ended, until, &over))
    }

    /// The result of a call that is observed and has ended otherwise than most: it is counted and told of here.
    #[cold]
    fn counted(
        &self,
        ticket: Ticket,
        mut reply: Option<Result<Response<B>, Status>>,
        unread: Option<Bytes>,
        ended: Ended<()>,
        until: Option<Instant>,
        over: &Over,
    ) -> Result<Response<B>, Box<Failure>> {
        if let Some(body) = unread {
            reply = Some(body::any_reply(&body, self.reading(), &self.link.connection));
        }
        self.told(self.result(ticket, reply, ended, until), over)
    }

    /// Counts the end of a call that is observed, and tells of it. A call whose connection was lost may be made again,
    /// and goes on.
    #[cold]
    #[inline(never)]
    fn told(&self, mut result: Result<Response<B>, Box<Failure>>, over: &Over) -> Result<Response<B>, Box<Failure>> {
        match &mut result {
            Ok(_) => self.count_over(Code::Ok, over),
            Err(failure) if matches!(failure.sent, Sent::Lost { .. } | Sent::Refused { .. }) => {
                failure.begun = Some(Begun { at: over.begun, token: over.told.token, trace: over.told.trace });
            }
            Err(failure) => self.count_over(failure.status.code(), over),
        }
        result
    }
}
