//! Calls of unary methods that are begun in place: what handlers that are ready at once answer is there when the call
//! has been made, and nothing was allocated for it. The others become tasks.

use super::{AbortOnDrop, ForeignCaller, ForeignMethod, ForeignMethods, InProgress};
use crate::api::middleware::CallKind;
use crate::api::request::Origin;
use crate::deadline::{self, Inherited};
use crate::endpoint::in_place::InPlace;
use crate::endpoint::table::Served;
use crate::observe::TraceContext;
use crate::observe::watching::Watched;
use crate::service::erased::{Body, Calling};
use crate::service::failures::{nobody_waits, note, panicked};
use crate::service::places::{Place, Placed};
use crate::service::unary::held_to;
use crate::{Code, Policy, Request, Response, Status};
use bytes::Bytes;
use frisbee::support::{Cell, Parked, Polled};
use parking_lot::MutexGuard;
use std::fmt;
use std::time::Instant;
use tokio::runtime::EnterGuard;

impl ForeignMethods {
    /// Begins a turn, in which calls are begun on one thread, one behind the other, at `now`. Within it the current
    /// runtime is that of handlers. A client has one turn at a time: a second one waits for its end.
    #[doc(hidden)]
    pub fn turn(&self, now: Instant) -> ForeignTurn<'_> {
        let caller = &*self.caller;
        let _entered = caller.connection.runtime_handle().enter();
        ForeignTurn { caller, in_place: caller.in_place.lock(), began: now, _entered }
    }
}

/// Calls that are begun one behind the other.
#[doc(hidden)]
pub struct ForeignTurn<'a> {
    caller: &'a ForeignCaller,
    in_place: MutexGuard<'a, InPlace>,
    began: Instant,
    _entered: EnterGuard<'a>,
}

impl Drop for ForeignTurn<'_> {
    fn drop(&mut self) {
        self.caller.connection.set_routed(0);
        let clock = || tokio::time::Instant::now().into_std();
        // The log tells of single methods that hold up their thread.
        self.in_place.end_turn(self.began, clock, || self.caller.connection.turn_max());
    }
}

impl fmt::Debug for ForeignTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignTurn").field("began", &self.began).finish_non_exhaustive()
    }
}

impl ForeignMethod {
    /// A place for calls of this method in a format; `None` if it streams or lacks the format.
    #[doc(hidden)]
    pub fn place(&self, format: &'static str) -> Option<ForeignPlace> {
        let Served { entry, chain, .. } = self.served();
        if self.kind() != CallKind::Unary {
            return None;
        }
        let place = entry.face.place(format, &self.methods.offer.terms)?;
        let place = chain.is_none().then_some(place);
        Some(ForeignPlace { method: self.clone(), format, place })
    }
}

/// A place for the calls of one method in one format.
#[doc(hidden)]
pub struct ForeignPlace {
    method: ForeignMethod,
    format: &'static str,
    /// Of a method without middleware.
    place: Option<Box<dyn Place>>,
}

/// How a call has begun.
#[doc(hidden)]
#[derive(Debug)]
pub enum ForeignCalled {
    /// It is over. The message of the response has been appended to the output.
    Ready(Result<Response<()>, Status>),
    /// Its handler waits. The result is given to the function.
    InProgress(ForeignTask),
}

/// A call in progress, which ends when this is dropped.
#[doc(hidden)]
pub struct ForeignTask {
    _task: AbortOnDrop<()>,
}

impl fmt::Debug for ForeignTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignTask").finish_non_exhaustive()
    }
}

impl ForeignPlace {
    /// Calls the method. If its handler is ready at once, the response is appended to `out`, to which nothing is added
    /// otherwise; if not, `make` makes the function that gets the result, in a task on the runtime of the server.
    pub fn call<D>(
        &mut self,
        turn: &mut ForeignTurn<'_>,
        request: Request<Bytes>,
        out: &mut Vec<u8>,
        make: impl FnOnce() -> D,
    ) -> ForeignCalled
    where
        D: FnOnce(Result<Response<Bytes>, Status>) + Send + 'static,
    {
        let came = request.traceparent();
        let watched = self.method.served().watcher.as_ref().map(|watcher| watcher.begin(came));
        let begun = self.begin(turn, request, out, Watched::passed_on(watched.as_ref(), came));
        let pending = match begun {
            Begun::Ready(result) => {
                if let Err(status) = &result {
                    note(status, self.method.served().entry.method.full_name(), &self.method.methods.caller.connection);
                }
                if let Some(watched) = watched {
                    watched.end(result.as_ref().map_or_else(Status::code, |_| Code::Ok), 0);
                }
                return ForeignCalled::Ready(result);
            }
            Begun::Pending(pending) => pending,
        };
        match self.method.go_on(pending, watched, make) {
            Ok(task) => ForeignCalled::InProgress(task),
            Err(status) => ForeignCalled::Ready(Err(status)),
        }
    }

    #[inline]
    fn begin(
        &mut self,
        turn: &mut ForeignTurn<'_>,
        request: Request<Bytes>,
        out: &mut Vec<u8>,
        trace: Option<TraceContext>,
    ) -> Begun {
        let Self { method, format, place } = self;
        let Served { entry, running, chain, .. } = method.served();
        let ForeignMethods { caller, offer } = &method.methods;
        let timeout = request.timeout();
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Begun::Ready(Err(nobody_waits()));
        }
        let memory = request.get_ref().len();
        if let Err(status) = caller.check(memory) {
            return Begun::Ready(Err(status));
        }
        let (message, _, _, mut extras) = request.apart();
        if let Err(status) = method.admit(&mut extras) {
            return Begun::Ready(Err(status));
        }
        let deadline = timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        let inherited = Inherited { deadline, trace };
        let origin = Origin::Foreign(caller.connection.clone());
        let is_inline = running.policy == Policy::Inline && running.trust.is_kept() && turn.in_place.begin();
        caller.connection.set_routed(method.operation);
        let panicked = |panic| Begun::Ready(Err(panicked(panic, entry.method.full_name(), &caller.connection)));
        if let Some(place) = place.as_mut().filter(|_| is_inline) {
            let request = Request::together(message, timeout, origin, extras);
            return match place.call(request, inherited, out) {
                Placed::Ready(result) => Begun::Ready(result.map(|extras| Response::together((), extras))),
                Placed::Pending(calling) => {
                    Begun::Pending(Pending { calling: Parked::new(calling), inherited, memory })
                }
                Placed::Panicked(panic) => panicked(&*panic),
            };
        }
        let request = Request::together(Body::One(message), timeout, origin, extras);
        let Some(calling) = entry.face.call(chain.clone(), request, format, &offer.terms) else {
            return Begun::Ready(Err(Status::unimplemented(format!("{} has no messages in {format}", entry.method))));
        };
        if !is_inline {
            return Begun::Pending(Pending { calling: Parked::new(calling), inherited, memory });
        }
        let polled = deadline::within(inherited, || Cell::default().poll(|| calling));
        match polled {
            Polled::Ready(result) => Begun::Ready(result.and_then(|response| {
                let (body, extras) = response.apart();
                out.extend_from_slice(&single(body)?);
                Ok(Response::together((), extras))
            })),
            Polled::Pending(calling) => Begun::Pending(Pending { calling, inherited, memory }),
            Polled::Panicked(panic) => panicked(&*panic),
        }
    }
}

enum Begun {
    Ready(Result<Response<()>, Status>),
    Pending(Pending),
}

/// A call whose handler waits, or has not been polled.
struct Pending {
    calling: Parked<Calling>,
    inherited: Inherited,
    memory: usize,
}

impl ForeignMethod {
    /// Goes on with a call as a task.
    fn go_on<D>(
        &self,
        pending: Pending,
        watched: Option<Watched>,
        make: impl FnOnce() -> D,
    ) -> Result<ForeignTask, Status>
    where
        D: FnOnce(Result<Response<Bytes>, Status>) + Send + 'static,
    {
        let Served { entry, running, .. } = self.served();
        let Pending { calling, inherited, memory } = pending;
        let caller = &self.methods.caller;
        let mut call = match InProgress::begin(caller) {
            Ok(call) => call,
            Err(status) => {
                watched.into_iter().for_each(|watched| watched.end(status.code(), 0));
                return Err(status);
            }
        };
        call.watched = watched.map(Box::new);
        let hold = caller.connection.hold(memory);
        let permits = match running.policy {
            Policy::AtMost(count) => Some(caller.permits(self.operation, count)),
            _ => None,
        };
        let (name, done) = (entry.method.full_name(), make());
        let task = caller.connection.runtime_handle().spawn(async move {
            let worked = held_to(permits, inherited, calling).await;
            let connection = &call.caller.connection;
            let response = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, connection)));
            if let Err(status) = &response {
                note(status, name, connection);
            }
            let response = response.and_then(|response| {
                let (body, extras) = response.apart();
                Ok(Response::together(single(body)?, extras))
            });
            call.end(response.as_ref().map_or_else(Status::code, |_| Code::Ok));
            // Whoever learns of the result may begin another call at once.
            drop((hold, call));
            done(response);
        });
        Ok(ForeignTask { _task: AbortOnDrop(task) })
    }
}

fn single(body: Body) -> Result<Bytes, Status> {
    match body {
        Body::One(message) => Ok(message),
        Body::Many(_) => Err(Status::internal("a unary method has answered with a stream")),
    }
}
