//! The queue of tasks that wait for a permit, which is a call slot or a stream slot of a connection. A queue has
//! neither a lock nor a clock. Its owner counts the permits in use and calls the queue under its own lock.
//!
//! # Decisions
//!
//! A released permit is granted to the first waiter and is then taken for later arrivals. Otherwise a task that ends a
//! call and starts the next one at once would always find the permit before the woken waiter does, and the waiters
//! would starve.
//!
//! A granted task may never be polled, for example as the other arm of a `select!`. After [`GRANT_TIME`] its permit is
//! granted to the next task, and the task that lost it is passed over until it is polled again. If that task kept its
//! place, each permit would be delayed by that time.

use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// How long a granted permit waits for its task. This is longer than a busy worker takes to poll a woken task, and
/// short enough that a task which is never polled delays the others by no more than a slow call.
pub(crate) const GRANT_TIME: Duration = Duration::from_millis(10);

/// Tasks that wait for permits, in order of arrival.
///
/// ```
/// use frisbee::{PermitPlace, PermitQueue};
/// use std::task::{Context, Waker};
/// use std::time::Instant;
///
/// let (mut queue, mut place) = (PermitQueue::default(), PermitPlace::default());
/// let context = Context::from_waker(Waker::noop());
/// // All permits are in use, so the task waits.
/// assert!(!queue.take(&mut place, 0));
/// assert!(queue.enter(&mut place, &context).is_none());
/// // One is released: it is granted to the task, and a newcomer does not get it.
/// let woken = queue.grant(1, Instant::now);
/// assert_eq!(woken.len(), 1);
/// assert!(!queue.take(&mut PermitPlace::default(), 1));
/// assert!(queue.take(&mut place, 1));
/// ```
#[derive(Debug, Default)]
pub struct PermitQueue(
    /// The queue, in a box because most connections never have waiting tasks.
    Option<Box<Queue>>,
);

#[derive(Debug, Default)]
struct Queue {
    /// The waiting tasks, by number of arrival.
    tasks: BTreeMap<u64, Waiting>,
    /// The number of the latest arrival.
    last: u64,
    /// Number of tasks with a grant.
    granted: usize,
}

/// The position of a task in a [`PermitQueue`]. The owner must [remove](PermitQueue::leave) it when the task no longer
/// waits.
#[derive(Debug, Default)]
pub struct PermitPlace(u64);

/// ```text
///            grant                 expire
///   Queued ---------> Granted(at) --------> PassedOver
///      ^                                        |
///      +--------------- enter ------------------+
/// ```
#[derive(Debug)]
enum Waiting {
    Queued(Waker),
    Granted(Instant),
    PassedOver,
}

impl PermitPlace {
    /// Returns whether the task has had to wait.
    #[inline]
    pub fn has_waited(&self) -> bool {
        self.0 != 0
    }
}

impl PermitQueue {
    /// Returns whether no task waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of waiting tasks.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| queue.tasks.len())
    }

    /// Returns whether the task may take one of the `free` permits, and removes the task from the queue if so. A task
    /// without a grant may take only permits that are not granted to another task.
    #[inline]
    pub fn take(&mut self, place: &mut PermitPlace, free: usize) -> bool {
        match &mut self.0 {
            Some(queue) if !queue.tasks.is_empty() => queue.take_in_turn(place, free),
            _ => {
                place.0 = 0;
                free > 0
            }
        }
    }

    #[cfg(all(test, not(frisbee_loom)))]
    fn granted(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| queue.granted)
    }

    /// Adds a task that got no permit, or replaces its waker. Returns a waker, which must be dropped without a lock.
    #[must_use]
    pub fn enter(&mut self, place: &mut PermitPlace, context: &Context<'_>) -> Option<Waker> {
        self.0.get_or_insert_default().enter(place, context)
    }

    /// Grants free permits to the tasks that have waited longest. Returns their wakers, which the caller must wake
    /// after releasing the lock.
    #[must_use]
    pub fn grant(&mut self, free: usize, now: impl FnOnce() -> Instant) -> Vec<Waker> {
        self.0.as_mut().map_or_else(Vec::new, |queue| queue.grant(free, now))
    }

    /// Returns the time at which the first granted task loses its grant.
    pub fn due(&self) -> Option<Instant> {
        self.0.as_ref()?.due()
    }

    /// Passes over tasks that have not used their grants in time. The caller must call [`grant`](Self::grant)
    /// afterwards.
    pub fn expire(&mut self, now: Instant) {
        if let Some(queue) = &mut self.0 {
            queue.expire(now);
        }
    }

    /// Removes a task that no longer waits. Its grant, if any, is for the next one: the caller must call
    /// [`grant`](Self::grant) afterwards. Returns a waker, which must be dropped without a lock.
    #[must_use]
    pub fn leave(&mut self, place: &mut PermitPlace) -> Option<Waker> {
        self.0.as_mut()?.remove(place)
    }

    /// Removes all tasks, because there will be no more permits. The caller must wake them.
    pub fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        // Numbering continues, because places of removed tasks may still exist.
        let tasks = self.0.as_mut().map(|queue| {
            queue.granted = 0;
            std::mem::take(&mut queue.tasks)
        });
        tasks.unwrap_or_default().into_values().filter_map(|task| match task {
            Waiting::Queued(waker) => Some(waker),
            Waiting::Granted(_) | Waiting::PassedOver => None,
        })
    }
}

impl Queue {
    #[cold]
    fn take_in_turn(&mut self, place: &mut PermitPlace, free: usize) -> bool {
        let has_grant = matches!(self.tasks.get(&place.0), Some(Waiting::Granted(_)));
        let takes = free > self.granted - usize::from(has_grant);
        if takes {
            self.remove(place);
        }
        takes
    }

    fn enter(&mut self, place: &mut PermitPlace, context: &Context<'_>) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = self.last;
        }
        match self.tasks.get_mut(&place.0) {
            // The task got its grant while something else kept it waiting.
            Some(Waiting::Granted(_)) => None,
            Some(Waiting::Queued(waker)) if waker.will_wake(context.waker()) => None,
            _ => match self.tasks.insert(place.0, Waiting::Queued(context.waker().clone())) {
                Some(Waiting::Queued(earlier)) => Some(earlier),
                _ => None,
            },
        }
    }

    fn grant(&mut self, free: usize, now: impl FnOnce() -> Instant) -> Vec<Waker> {
        let mut woken = Vec::new();
        if free <= self.granted || self.tasks.is_empty() {
            return woken;
        }
        let mut left = free - self.granted;
        let mut queued = self.tasks.values_mut().filter(|task| matches!(task, Waiting::Queued(_))).peekable();
        if queued.peek().is_none() {
            return woken;
        }
        let now = now();
        for task in queued {
            if left == 0 {
                break;
            }
            left -= 1;
            self.granted += 1;
            if let Waiting::Queued(waker) = std::mem::replace(task, Waiting::Granted(now)) {
                woken.push(waker);
            }
        }
        woken
    }

    fn due(&self) -> Option<Instant> {
        if self.granted == 0 {
            return None;
        }
        // Grants are in order of arrival, except for tasks that were passed over before. An earlier expiry is noticed
        // together with this one.
        self.tasks
            .values()
            .find_map(|task| if let Waiting::Granted(at) = task { at.checked_add(GRANT_TIME) } else { None })
    }

    fn expire(&mut self, now: Instant) {
        for task in self.tasks.values_mut() {
            if let Waiting::Granted(at) = task
                && now.saturating_duration_since(*at) >= GRANT_TIME
            {
                *task = Waiting::PassedOver;
                self.granted -= 1;
            }
        }
    }

    fn remove(&mut self, place: &mut PermitPlace) -> Option<Waker> {
        match self.tasks.remove(&std::mem::take(&mut place.0))? {
            Waiting::Queued(waker) => Some(waker),
            Waiting::Granted(_) => {
                self.granted -= 1;
                None
            }
            Waiting::PassedOver => None,
        }
    }
}

#[cfg(all(test, not(frisbee_loom)))]
mod tests;
