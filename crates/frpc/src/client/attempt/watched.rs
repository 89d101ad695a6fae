//! The end of calls that are observed.

use super::{Failure, Held, PendingCall, Sent, Unusual, read};
use crate::calls::watched::Over;
use crate::observe::About;
use crate::observe::watching::{Begun, Sizes};
use crate::{Code, Response};
use polyglot::Message;
use std::task::{Context, Poll};

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
    /// Polls a call of which an observer is told, or whose reply has been taken.
    #[inline(never)]
    pub(super) fn poll_told(&mut self, context: &mut Context<'_>) -> Poll<Result<Response<B>, Box<Failure>>> {
        let Held::Told(ticket) = self.ticket else { return Poll::Pending };
        let nesting = self.link.nesting;
        let (mut reply, mut unread, mut unusual, mut told, mut length) = (None, None, None, None, 0);
        self.link.calls.with(|calls| {
            let ended = calls.take_reply(ticket, context, |body| {
                length = body.len();
                read(body, nesting, &mut reply, &mut unread);
            });
            if matches!(reply, Some(Ok(_))) {
                told = calls.told_ok(ticket);
            } else if let Poll::Ready(ended) = ended {
                unusual = Some(Unusual::new(ended, self.ticket, calls));
            }
        });
        if let Some(mut unusual) = unusual {
            if let Some(over) = &mut unusual.over {
                over.told.sizes.reply = length as u64;
            }
            return Poll::Ready(self.handle_unusual(ticket, *unusual, unread, reply));
        }
        let Some(Ok(reply)) = reply else { return Poll::Pending };
        self.ticket = Held::No;
        self.link.calls.handle_answer(Code::Ok);
        if let (Some((token, request)), Some(watching)) = (told, &self.link.told) {
            let sizes = Sizes { request, reply: length as u64 };
            watching.tell_end(&About::of_unary(self.method), token, Code::Ok, sizes);
        }
        Poll::Ready(Ok(reply))
    }

    /// Counts the end of a call that is observed, and tells of it. A call whose connection was lost may be made again,
    /// and goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn told(
        &self,
        mut result: Result<Response<B>, Box<Failure>>,
        over: &Over,
    ) -> Result<Response<B>, Box<Failure>> {
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
