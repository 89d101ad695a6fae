//! [`StartedCall`]: a call whose reply goes to a function of C.

use crate::client::{Prepared, unary};
use crate::raw::UserData;
use crate::reply::frisbee_reply;
use crate::runtime;
use frpc::Status;
use std::cell::Cell;
use std::ffi::c_void;

/// A call with a completion.
pub(crate) struct StartedCall {
    pub(crate) call: Prepared,
    pub(crate) completion: extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply),
    pub(crate) user: UserData,
}

/// The completion that a thread runs.
struct Running {
    is_active: Cell<bool>,
    /// The first call that the completion begins: the task of the ended call makes it, without a task of its own.
    successor: Cell<Option<StartedCall>>,
}

thread_local! {
    static RUNNING: Running = const { Running { is_active: Cell::new(false), successor: Cell::new(None) } };
}

/// Whether this thread runs a completion. It holds a thread of the runtime, so functions that block are refused.
pub(crate) fn is_running() -> bool {
    // A thread that ends, and has destroyed its variables, runs none.
    RUNNING.try_with(|running| running.is_active.get()).unwrap_or(false)
}

impl StartedCall {
    pub(crate) fn start(self) -> Result<(), Status> {
        let mut left = Some(self);
        let _ = RUNNING.try_with(|running| {
            if running.is_active.get() {
                left = running.successor.replace(left.take());
                if left.is_some() {
                    // The completion has begun another call before.
                    left = running.successor.replace(left.take());
                }
            }
        });
        left.map_or(Ok(()), Self::spawn)
    }

    fn spawn(self) -> Result<(), Status> {
        let Self { call, mut completion, mut user } = self;
        runtime::handle()?.spawn(unary(call, move |reply| {
            let successor = complete(completion, user, reply)?;
            (completion, user) = (successor.completion, successor.user);
            Some(successor.call)
        }));
        Ok(())
    }
}

/// Runs a completion, and returns the first call that it began.
fn complete(
    completion: extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply),
    user: UserData,
    reply: frisbee_reply,
) -> Option<StartedCall> {
    let reply = reply.into_handle();
    RUNNING.with(|running| {
        running.is_active.set(true);
        completion(user.get(), reply);
        running.is_active.set(false);
        running.successor.take()
    })
}
