//! Calls whose replies are passed to C callbacks.

use crate::client::CallArguments;
use crate::raw::{UserData, caught};
use crate::reply::{NewReply, frisbee_reply};
use crate::runtime;
use crate::unary::UnaryCall;
use frpc::Status;
use std::cell::Cell;
use std::ffi::c_void;
use std::pin::{Pin, pin};
use std::ptr::null_mut;
use std::task::{Context, Poll, ready};
use tokio::task::coop::consume_budget;

/// A C callback that receives the reply of a call.
type Completion = extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply);

/// A call, followed by the first call that each completion callback starts. The whole chain runs in one task.
struct CallChain {
    /// The call in progress. `None` while its completion callback runs, until the callback starts the next call.
    call: Option<UnaryCall>,
    completion: Completion,
    user: UserData,
}

thread_local! {
    /// The call chain whose completion callback this thread is running, or null. A raw pointer, so that the
    /// thread-local needs no destructor.
    static COMPLETING: Cell<*mut CallChain> = const { Cell::new(null_mut()) };
}

/// Returns whether this thread is running a completion callback. The callback occupies a runtime thread, so blocking
/// functions are rejected.
pub(crate) fn is_running() -> bool {
    !COMPLETING.get().is_null()
}

/// Starts a unary call, whose reply is passed to a completion callback.
#[inline(always)] // Lets the compiler construct the call in place.
pub(crate) fn start(arguments: CallArguments<'_>, completion: Completion, user: UserData) -> Result<(), Status> {
    // SAFETY: While the pointer is not null, `CallChain::complete` of this thread holds the chain, and uses it only
    // afterwards. No other reference to it exists, because this one ends here.
    match unsafe { COMPLETING.get().as_mut() } {
        // Run the first call that a completion callback starts in the callback's own task, which saves spawning
        // another.
        Some(chain) if chain.call.is_none() => {
            UnaryCall::begin(arguments, &mut chain.call)?;
            (chain.completion, chain.user) = (completion, user);
            Ok(())
        }
        _ => spawn(arguments, completion, user),
    }
}

#[inline(never)]
fn spawn(arguments: CallArguments<'_>, completion: Completion, user: UserData) -> Result<(), Status> {
    let mut call = None;
    UnaryCall::begin(arguments, &mut call)?;
    runtime::handle()?.spawn(CallChain { call, completion, user });
    Ok(())
}

impl CallChain {
    /// Runs the completion callback of the call that has ended.
    fn complete(&mut self, reply: NewReply) {
        self.call = None;
        let (completion, user) = (self.completion, self.user);
        COMPLETING.set(self);
        completion(user.get(), reply.into_handle());
        COMPLETING.set(null_mut());
    }
}

impl Future for CallChain {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        while let Some(call) = &mut self.call {
            // Complete a call that panics too, because the program may wait for its completion.
            let polled = caught(|| Ok(Pin::new(call).poll(context)));
            match ready!(polled.unwrap_or_else(|status| Poll::Ready(Err(NewReply::failure(&status))))) {
                Ok(reply) => self.complete(reply),
                Err(reply) => {
                    self.complete(reply);
                    // Consume tokio's budget, because a sequence of calls that fail immediately would starve
                    // connections and timers of this thread. Successful calls yield while they wait for the server.
                    ready!(pin!(consume_budget()).poll(context));
                }
            }
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::frisbee_code;
    use crate::reply::{frisbee_reply_code, frisbee_reply_free};
    use std::future::poll_fn;
    use std::task::Waker;

    extern "C" fn store_code(user: *mut c_void, reply: *mut frisbee_reply) {
        // SAFETY: The pointer refers to the code in the test below.
        unsafe { user.cast::<frisbee_code>().write(frisbee_reply_code(reply)) };
        frisbee_reply_free(reply);
    }

    /// Regression test: the panic ended the task, and the program waited forever for the completion.
    #[test]
    fn call_that_panics_is_completed() {
        let mut code = frisbee_code::FRISBEE_OK;
        let call = UnaryCall::Other(Box::pin(poll_fn(|_| panic!("bug of the library"))));
        let user = UserData((&raw mut code).cast());
        let chain = CallChain { call: Some(call), completion: store_code, user };
        assert!(pin!(chain).poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert_eq!(code, frisbee_code::FRISBEE_INTERNAL);
    }
}
