//! Calls whose replies go to a function of C.

use crate::client::{Prepared, unary};
use crate::raw::UserData;
use crate::reply::frisbee_reply;
use crate::runtime;
use frpc::Status;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A function that gets a reply.
type Completion = extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply);

/// The first call that a completion begins. The task of the ended call makes it, without a task of its own.
struct Successor<'a> {
    /// Of the task, so that a call is written once. Empty until the completion begins a call.
    place: &'a mut Option<Prepared>,
    completion: Completion,
    user: UserData,
}

thread_local! {
    /// For the completion of this thread; null if none runs. A pointer, so that this has no destructor.
    static SUCCESSOR: Cell<*mut Successor<'static>> = const { Cell::new(null_mut()) };
}

/// Whether this thread runs a completion. It holds a thread of the runtime, so functions that block are refused.
pub(crate) fn is_running() -> bool {
    !SUCCESSOR.get().is_null()
}

/// Begins a call.
#[inline]
pub(crate) fn start(call: Prepared, completion: Completion, user: UserData) -> Result<(), Status> {
    // SAFETY: `complete` of this thread has the successor while the pointer is not null, and uses it only afterwards. No
    // other reference to it exists, since this one ends here.
    match unsafe { SUCCESSOR.get().as_mut() } {
        Some(successor) if successor.place.is_none() => {
            *successor.place = Some(call);
            (successor.completion, successor.user) = (completion, user);
            Ok(())
        }
        _ => spawn(call, completion, user),
    }
}

#[inline(never)]
fn spawn(call: Prepared, mut completion: Completion, mut user: UserData) -> Result<(), Status> {
    runtime::handle()?.spawn(unary(call, move |reply, next| {
        (completion, user) = complete(completion, user, reply, next);
    }));
    Ok(())
}

/// Runs a completion. The first call that it begins is the next one, with the returned completion.
fn complete(
    completion: Completion,
    user: UserData,
    reply: frisbee_reply,
    next: &mut Option<Prepared>,
) -> (Completion, UserData) {
    let reply = reply.into_handle();
    let mut successor = Successor { place: next, completion, user };
    SUCCESSOR.set((&raw mut successor).cast());
    completion(user.get(), reply);
    SUCCESSOR.set(null_mut());
    (successor.completion, successor.user)
}
