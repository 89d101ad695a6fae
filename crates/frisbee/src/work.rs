//! The work that a connection has given rise to, which ends with it: jobs, and the tasks that do them.

mod carrier;
#[cfg(test)]
mod tests;

use crate::sync::Mutex;
use crate::{Operation, PacketId};
pub(crate) use carrier::Carrier;
pub use carrier::Job;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The key by which a peer knows a call: the id and operation of its packets.
pub(crate) type Call = (PacketId, Operation);

/// Tasks without work that a connection keeps until it is idle. Each takes half a kilobyte.
const SPARE_MAX: usize = 64;

/// Where handlers run.
///
/// ```
/// use frisbee::{Handlers, Operation, Policy};
///
/// let resize = Operation::user(10).expect("users have 10 and up");
/// // Each connection has at most two pictures at work; its further requests wait.
/// let handlers = Handlers::new().on_with(resize, Policy::AtMost(2), |_connection, picture| async {
///     let resized = tokio::task::spawn_blocking(|| picture).await;
///     resized.ok()
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Each is polled once in place, and gets a task of its own only if it has to wait. The cheapest, and the
    /// default.
    ///
    /// A handler that computes or blocks for long holds up its connection. With [workers](crate::Workers) the other
    /// connections of its thread go on in another thread within 12 ms, and its method is served as with
    /// [`Concurrent`](Self::Concurrent) for a second, and for longer each time that happens again soon: replies then
    /// come in any order. The method is named in the log the first time. If the runtime that serves has a single
    /// thread, the method stays in place. Services of frpc are also served so for a while if three turns of a
    /// connection have each taken more than a millisecond.
    #[default]
    Inline,
    /// Each gets a task of its own at once. For handlers that compute for long, or block by `block_in_place`.
    Concurrent,
    /// As [`Concurrent`](Self::Concurrent), and no more than so many of one operation run at one time on one
    /// connection; further requests wait their turn, in order. Other connections have as many of their own.
    AtMost(usize),
}

/// The tasks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Work(Mutex<Tasks>);

#[derive(Debug, Default)]
struct Tasks {
    /// In a box, since most connections have none.
    places: Option<Box<Places>>,
    /// The number of the job that began last. It is never used again on this connection, whatever becomes of the
    /// places: a job that is cancelled in the middle of a poll may end at any later time, and must not free the place
    /// of another one then.
    last: u64,
    /// The connection has ended: nothing begins any more.
    ended: bool,
}

#[derive(Debug, Default)]
struct Places {
    all: Vec<Place>,
    /// The places that are free. Those with a task are taken first: they are at the back.
    free: VecDeque<usize>,
    /// Jobs that the peer can cancel. Looked up in order, since the keys are the peer's: no choice of them is slow.
    calls: BTreeMap<Call, Taken>,
}

#[derive(Debug, Default)]
struct Place {
    /// The number of the job that has taken it; 0 while it is free.
    job: u64,
    /// Also while the place is free.
    carrier: Option<Arc<Carrier>>,
    /// The call that the job answers.
    call: Option<Call>,
}

/// A place taken for a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    place: usize,
    /// The number of the job.
    job: u64,
}

/// The result of asking for a place.
pub(crate) enum Begun {
    /// There may be a task already, which waits for what it is given.
    Yes(Taken, Option<Arc<Carrier>>),
    /// As many are taken as may be.
    Full,
    /// The connection has ended.
    Ended,
}

/// The remains of a job that has ended.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ended {
    /// It answers a call that has not been cancelled.
    pub(crate) had_call: bool,
    /// No other job is being done.
    pub(crate) was_last: bool,
}

impl Work {
    /// Takes a place for a job, if fewer than so many are taken. The job may answer a `call`, which the peer can
    /// cancel.
    pub(crate) fn begin(&self, max: usize, call: Option<Call>) -> Begun {
        let mut tasks = self.0.lock();
        let Tasks { places, last, ended } = &mut *tasks;
        if *ended {
            return Begun::Ended;
        }
        let places = places.get_or_insert_default();
        if places.taken() >= max {
            return Begun::Full;
        }
        let index = places.free.pop_back().unwrap_or_else(|| {
            places.all.push(Place::default());
            places.all.len() - 1
        });
        let place = &mut places.all[index];
        *last += 1;
        place.job = *last;
        place.call = call;
        let taken = Taken { place: index, job: place.job };
        let spare = place.carrier.clone();
        if let Some(call) = call {
            places.calls.insert(call, taken);
        }
        Begun::Yes(taken, spare)
    }

    /// Tells which task does the job in a place. The job may have ended meanwhile, and so may the connection.
    pub(crate) fn started(&self, taken: Taken, carrier: Arc<Carrier>) {
        let mut tasks = self.0.lock();
        match tasks.place(taken) {
            Some(place) => place.carrier = Some(carrier),
            None => {
                drop(tasks);
                carrier.end();
            }
        }
    }

    /// Drops the job that answers a call, with its task, which may be in the middle of it; `false` if there is none, or
    /// it has answered.
    pub(crate) fn cancel(&self, call: Call) -> bool {
        let mut tasks = self.0.lock();
        let Some(places) = tasks.places.as_mut() else { return false };
        let Some(taken) = places.calls.get(&call).copied() else { return false };
        let carrier = places.all[taken.place].carrier.take();
        let had_call = places.leave(taken).is_some_and(Left::finish);
        drop(tasks);
        if let Some(carrier) = carrier {
            carrier.end();
        }
        had_call
    }

    /// Frees a place, unless that has been done.
    pub(crate) fn end(&self, taken: Taken) -> Ended {
        let mut tasks = self.0.lock();
        let Some(places) = tasks.places.as_mut() else { return Ended::default() };
        let left = places.leave(taken);
        let was_last = left.is_some() && places.taken() == 0;
        drop(tasks);
        Ended { had_call: left.is_some_and(Left::finish), was_last }
    }

    /// How many jobs are being done.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().places.as_ref().map_or(0, |places| places.taken())
    }

    /// Gives back memory if no job is being done.
    pub(crate) fn release(&self) {
        let places = self.0.lock().places.take_if(|places| places.free.len() == places.all.len());
        end_all(places);
    }

    /// Aborts every job and lets none begin any more.
    pub(crate) fn abort(&self) {
        let mut tasks = self.0.lock();
        tasks.ended = true;
        let places = tasks.places.take();
        drop(tasks);
        end_all(places);
    }
}

/// Ends the tasks of all places.
fn end_all(places: Option<Box<Places>>) {
    let places = places.unwrap_or_default();
    places.all.into_iter().filter_map(|place| place.carrier).for_each(|carrier| carrier.end());
}

impl Places {
    /// Frees a place, unless that has been done.
    fn leave(&mut self, taken: Taken) -> Option<Left> {
        let spares = self.free.len();
        let place = self.all.get_mut(taken.place).filter(|place| place.job == taken.job)?;
        place.job = 0;
        let surplus = place.carrier.take_if(|_| spares >= SPARE_MAX);
        match place.carrier {
            Some(_) => self.free.push_back(taken.place),
            None => self.free.push_front(taken.place),
        }
        let call = place.call.take();
        // A peer that gives one id to two calls can cancel the later one.
        if let Some(call) = call
            && self.calls.get(&call).is_some_and(|holder| holder.job == taken.job)
        {
            self.calls.remove(&call);
        }
        Some(Left { had_call: call.is_some(), surplus })
    }

    /// How many are taken.
    fn taken(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// The remains of a job that has left its place.
struct Left {
    had_call: bool,
    /// Its task, if it is not kept.
    surplus: Option<Arc<Carrier>>,
}

impl Left {
    /// Ends what is not kept, without the lock; whether the job had a call.
    fn finish(self) -> bool {
        if let Some(carrier) = self.surplus {
            carrier.end();
        }
        self.had_call
    }
}

impl Tasks {
    /// The place of a job, unless that has ended.
    fn place(&mut self, taken: Taken) -> Option<&mut Place> {
        let place = self.places.as_mut()?.all.get_mut(taken.place)?;
        (place.job == taken.job).then_some(place)
    }
}

/// Every interleaving of jobs and those who begin, cancel and end them, as far as the checker's bounds go.
#[cfg(all(test, frisbee_loom))]
mod models {
    use super::*;
    use loom::thread;

    const CALL: Call = (PacketId(1), Operation::FIRST_USER);

    /// Takes the only place, which has to be free.
    fn begin(work: &Work) -> Taken {
        match work.begin(1, Some(CALL)) {
            Begun::Yes(taken, _) => taken,
            Begun::Full | Begun::Ended => panic!("the place is free"),
        }
    }

    #[test]
    fn a_cancelled_job_ends_at_any_time_without_taking_the_answer_of_the_next_one() {
        loom::model(|| {
            let work = loom::sync::Arc::new(Work::default());
            let first = begin(&work);
            work.started(first, Carrier::new());
            // It is in the middle of a poll, in which it answers.
            let answers = thread::spawn({
                let work = work.clone();
                move || work.end(first).had_call
            });
            let cancelled = work.cancel(CALL);
            work.release();
            let second = begin(&work);
            work.started(second, Carrier::new());
            assert!(work.end(second).had_call, "the second call is answered by its own job");
            let answered = answers.join().expect("it does not panic");
            assert!(answered != cancelled, "the first call is answered once");
        });
    }

    #[test]
    fn a_job_that_begins_while_memory_is_given_back_keeps_its_place() {
        loom::model(|| {
            let work = loom::sync::Arc::new(Work::default());
            let first = begin(&work);
            work.started(first, Carrier::new());
            work.end(first);
            let idle = thread::spawn({
                let work = work.clone();
                move || work.release()
            });
            let second = begin(&work);
            work.started(second, Carrier::new());
            assert_eq!(work.len(), 1);
            assert!(work.cancel(CALL), "its task is found");
            idle.join().expect("it does not panic");
            assert_eq!(work.len(), 0);
        });
    }
}
