//! The call inside of all middleware, and its reusable memory.

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

/// Maximum number of slots of inner middleware that are kept with a call. Exceeds the length of typical chains.
const SLOTS_MAX: usize = 32;

/// The call inside of all middleware, and the memory that later calls reuse. It is passed inwards through the chain
/// with the call and returned with the response.
pub(super) struct InnermostCall {
    pub(super) call: Pin<Box<dyn MakeCall>>,
    /// The properties that middleware has access to. `None` while a middleware holds them.
    pub(super) parts: Option<Box<Parts>>,
    /// Whether the call has not been started.
    pub(super) is_coming: bool,
    /// Whether the call is made by this end, rather than received from a client.
    pub(super) is_own: bool,
    /// Remaining middleware between the holder of the call and the call.
    pub(super) rest: Option<InnerChain>,
    /// Whether the call has run or may have run. Shared with the outermost middleware, because an inner one may drop
    /// the call.
    pub(super) has_run: Arc<AtomicBool>,
    /// Metadata and extensions of the response.
    pub(super) extras: OptionalExtras,
    /// Free slots for the middleware inside of the outermost one, used as a stack.
    pub(super) slots: Vec<Pin<Box<RunnerSlot>>>,
}

impl InnermostCall {
    /// Keeps the slot of a completed middleware for later calls.
    pub(super) fn keep_slot(&mut self, slot: Pin<Box<RunnerSlot>>) {
        if self.slots.len() < SLOTS_MAX {
            self.slots.push(slot);
        }
    }
}

/// The call inside of all middleware, with the types of its messages erased.
pub(super) trait MakeCall: Send {
    /// Polls the call, after starting it if `parts` are given. When it is ready, it stores the message of the response
    /// in itself and the other parts of the response in `extras`.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<&mut Parts>,
        extras: &mut OptionalExtras,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Status>>;

    /// Returns the slot for the input of the next call: an `Option` of a function and its message.
    fn slot(self: Pin<&mut Self>) -> &mut dyn Any;

    /// Returns the message of the response, as an `Option` of its type.
    fn reply(self: Pin<&mut Self>) -> &mut dyn Any;
}

pin_project_lite::pin_project! {
    /// Progress of a call: its input before the start, then its future, then its response.
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
    /// Creates a call that has not been started, in the memory of a completed one if given. `make` creates the future
    /// from the message.
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
            // The memory belongs to a call of another method, so its type differs.
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
