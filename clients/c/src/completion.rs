//! [`StartedCall`]: a call whose reply goes to a function of C.

use crate::client::{Prepared, unary};
use crate::raw::UserData;
use crate::reply::frisbee_reply;
use crate::runtime;
use frpc::Status;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A call with a completion.
pub(crate) struct StartedCall {
    pub(crate) call: Prepared,
    pub(crate) completion: extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply),
    pub(crate) user: UserData,
}

thread_local! {
    /// The place for the first call that the completion of this thread begins; null if none runs. The task of the ended call
    /// makes that call, without a task of its own. A pointer, so that the call is written once and this has no destructor.
    static SUCCESSOR: Cell<*mut Option<StartedCall>> = const { Cell::new(null_mut()) };
}

/// Whether this thread runs a completion. It holds a thread of the runtime, so functions that block are refused.
pub(crate) fn is_running() -> bool {
    !SUCCESSOR.get().is_null()
}

impl StartedCall {
    pub(crate) fn start(self) -> Result<(), Status> {
        // SAFETY: `complete` of this thread has the place while the pointer is not null, and uses it only afterwards. No
        // other reference to it exists, since this one ends here.
        if let Some(successor @ None) = unsafe { SUCCESSOR.get().as_mut() } {
            *successor = Some(self);
            return Ok(());
        }
        self.spawn()
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
    let mut successor = None;
    SUCCESSOR.set(&raw mut successor);
    completion(user.get(), reply);
    SUCCESSOR.set(null_mut());
    successor
}
