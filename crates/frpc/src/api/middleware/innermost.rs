//! The innermost call of a middleware chain, with allocations that later calls reuse.

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

/// Maximum number of slots for inner middleware that a call keeps for reuse. More than a typical chain needs.
const SLOTS_MAX: usize = 32;

/// The innermost call, with memory that later calls reuse. It is passed inwards through the middleware chain and
/// returned with the response.
pub(super) struct InnermostCall {
    pub(super) call: Pin<Box<dyn MakeCall>>,
    /// Properties of the call that middleware can access. `None` while a middleware holds them.
    pub(super) parts: Option<Box<Parts>>,
    /// Whether the call has not been started yet.
    pub(super) is_coming: bool,
    /// Whether this process is the caller rather than the server of the call.
    pub(super) is_own: bool,
    /// The remaining middleware between the current owner of the call and the call itself.
    pub(super) rest: Option<InnerChain>,
    /// Whether the call has run or may have run. Shared with the outermost middleware, because an inner middleware may
    /// drop the call.
    pub(super) has_run: Arc<AtomicBool>,
    /// Metadata and extensions of the response, set when the call completes.
    pub(super) extras: OptionalExtras,
    /// Stack of free slots for the futures of inner middleware.
    pub(super) slots: Vec<Pin<Box<RunnerSlot>>>,
}

impl InnermostCall {
    /// Keeps the slot of a completed middleware for reuse by later calls.
    pub(super) fn keep_slot(&mut self, slot: Pin<Box<RunnerSlot>>) {
        if self.slots.len() < SLOTS_MAX {
            self.slots.push(slot);
        }
    }
}

/// The innermost call, with its message types erased.
pub(super) trait MakeCall: Send {
    /// Polls the call, starting it first if `coming` has the properties of a call to start. On completion, the call
    /// keeps its response message and stores the response's metadata and extensions in `extras`.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<&mut Parts>,
        extras: &mut OptionalExtras,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Status>>;

    /// Returns the input slot for the next call: an `Option` of a function and its request message.
    fn slot(self: Pin<&mut Self>) -> &mut dyn Any;

    /// Returns the response message as a type-erased `Option`.
    fn reply(self: Pin<&mut Self>) -> &mut dyn Any;
}

pin_project_lite::pin_project! {
    /// Stage of a call, which holds first its input, then its future, and finally its response.
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
        // Drop the future now. Otherwise, its captured values would live until the memory is reused.
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
    /// Creates a call that has not been started, in the memory of the completed call `spare` if possible. `make`
    /// creates the call's future from the request message.
    pub(super) fn new<A, B, L, F>(spare: Option<Box<Self>>, make: L, message: A) -> Box<Self>
    where
        A: Send + 'static,
        B: Send + 'static,
        L: FnOnce(Request<A>) -> F + Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let boxed = |make, message| -> Pin<Box<dyn MakeCall>> {
            Box::pin(CallStage::<A, B, L, F> { make: Some((make, message)), making: None, reply: None })
        };
        let Some(mut spare) = spare else { return Self::of(boxed(make, message)) };
        match spare.call.as_mut().slot().downcast_mut::<Option<(L, A)>>() {
            Some(slot) => *slot = Some((make, message)),
            // The memory belongs to a call of another type. Allocate instead.
            None => spare.call = boxed(make, message),
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
