//! The call inside of all middleware, and its box, which serves one call after the other.

use super::Parts;
use super::chain::InnerChain;
use super::runner::RunnerSlot;
use crate::api::extras::OptionalExtras;
use crate::{Request, Response, Status};
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

/// The most slots of inner middleware that are kept with a call: more than chains have.
const SLOTS_MAX: usize = 32;

/// The call inside of all middleware, and the state kept with it between two calls. It travels through the chain with
/// the call, and returns with the reply.
pub(super) struct InnermostCall {
    pub(super) call: Pin<Box<dyn MakeCall>>,
    /// The middleware's view, unless it has it.
    pub(super) parts: Option<Box<Parts>>,
    /// The call has not begun.
    pub(super) is_coming: bool,
    /// The call is made by this end.
    pub(super) is_own: bool,
    /// The inside of the middleware that has the call, if that is more than the call itself.
    pub(super) rest: Option<InnerChain>,
    /// Whether the call has run, or may have, for its outermost middleware, which may drop the call.
    pub(super) has_run: Arc<AtomicBool>,
    /// The metadata and extensions of the reply.
    pub(super) extras: OptionalExtras,
    /// Slots of the middleware inside the outermost, whose slot is elsewhere. They are taken and returned at the
    /// end.
    pub(super) slots: Vec<Pin<Box<RunnerSlot>>>,
}

impl InnermostCall {
    /// Keeps the slot of a middleware that has ended.
    pub(super) fn keep_slot(&mut self, slot: Pin<Box<RunnerSlot>>) {
        if self.slots.len() < SLOTS_MAX {
            self.slots.push(slot);
        }
    }
}

/// The call inside of all middleware.
pub(super) trait MakeCall: Send {
    /// Makes the call of the parts, if they are given, and polls it. Ready when it has ended. Then the message of its
    /// reply stays here, and its other parts in `extras`.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<&mut Parts>,
        extras: &mut OptionalExtras,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Status>>;

    /// Where the next call begins: an `Option` of the function and its message.
    fn slot(self: Pin<&mut Self>) -> &mut dyn Any;

    /// The reply: an `Option` of the type of the message.
    fn reply(self: Pin<&mut Self>) -> &mut dyn Any;
}

pin_project_lite::pin_project! {
    /// A call with its request, then its future, then its reply.
    struct CallStage<A, B, L, F> {
        make: Option<(L, A)>,
        #[pin]
        making: Option<F>,
        reply: Option<B>,
    }
}

impl<A, B, L, F> MakeCall for CallStage<A, B, L, F>
where
    A: Send + 'static,
    B: Send + 'static,
    L: FnOnce(Request<A>) -> F + Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send,
{
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<&mut Parts>,
        extras: &mut OptionalExtras,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Status>> {
        let mut this = self.project();
        if let Some(parts) = coming
            && let Some((make, message)) = this.make.take()
        {
            let (timeout, origin, request_extras) = parts.take();
            this.making.set(Some(make(Request::from_parts_with_extras(message, timeout, origin, request_extras))));
        }
        let Some(making) = this.making.as_mut().as_pin_mut() else { return Poll::Pending };
        let ended = ready!(making.poll(context));
        this.making.set(None);
        Poll::Ready(match ended {
            Ok(response) => {
                let (message, reply_extras) = response.into_parts_with_extras();
                (*this.reply, *extras) = (Some(message), reply_extras);
                Ok(())
            }
            Err(status) => Err(status),
        })
    }

    fn slot(self: Pin<&mut Self>) -> &mut dyn Any {
        self.project().make
    }

    fn reply(self: Pin<&mut Self>) -> &mut dyn Any {
        self.project().reply
    }
}

impl InnermostCall {
    /// A call that has yet to begin, in the boxes of one that has ended if there is one. `make` makes it of its request.
    pub(super) fn new<A, B, L, F>(spare: Option<Box<Self>>, make: L, message: A) -> Box<Self>
    where
        A: Send + 'static,
        B: Send + 'static,
        L: FnOnce(Request<A>) -> F + Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let Some(mut spare) = spare else { return Self::of(CallStage::boxed(make, message)) };
        match spare.call.as_mut().slot().downcast_mut::<Option<(L, A)>>() {
            Some(slot) => *slot = Some((make, message)),
            // It was one of another method.
            None => spare.call = CallStage::boxed(make, message),
        }
        spare.is_coming = true;
        spare.has_run.store(false, Ordering::Relaxed);
        spare
    }

    fn of(call: Pin<Box<dyn MakeCall>>) -> Box<Self> {
        let extras = OptionalExtras::default();
        let (has_run, slots) = (Arc::default(), Vec::new());
        Box::new(Self { call, parts: None, is_coming: true, is_own: true, rest: None, has_run, extras, slots })
    }
}

impl<A, B, L, F> CallStage<A, B, L, F>
where
    A: Send + 'static,
    B: Send + 'static,
    L: FnOnce(Request<A>) -> F + Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn boxed(make: L, message: A) -> Pin<Box<dyn MakeCall>> {
        Box::pin(Self { make: Some((make, message)), making: None, reply: None })
    }
}
