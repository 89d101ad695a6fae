//! Queue of tasks that wait for a permit: a slot for a call or a stream. The queue has neither a lock nor a clock. Its
//! owner counts the permits in use and calls the queue under the owner's lock.
//!
//! # Decisions
//!
//! A released permit is granted to the first waiting task. Tasks that arrive later cannot take it. Otherwise a task
//! that ends a call and immediately makes another would always take the permit before the woken task does, and the
//! waiting tasks would starve.
//!
//! A task may never be polled after it was granted a permit, for example because another branch of its `select!` has
//! completed. After [`GRANT_TIME`], the permit is granted to the next task, and the first task is skipped until it is
//! polled again. If the first task kept its place, each permit would be delayed by that time.

use std::collections::BTreeMap;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// How long a granted permit may remain unused before it is revoked. A busy worker polls a woken task within this time.
/// A task that is never polled blocks one permit for this time, once. `unpolled_task_delays_one_permit_once` measures
/// the cost: 10 of the 16 000 calls of 1 ms that 16 permits serve in a second.
pub(crate) const GRANT_TIME: Duration = Duration::from_millis(10);

/// Number of bits below the rank in a task's number. These bits keep up to 65 536 tasks of the same rank in order of
/// arrival.
const RANK_SHIFT: u32 = 16;

/// Tasks that wait for permits, in the order of their arrival.
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
    /// Queue of waiting tasks. Boxed because on most connections no task ever waits.
    Option<Box<Queue>>,
);

#[derive(Debug, Default)]
struct Queue {
    /// Waiting tasks by number, which increases with each arrival.
    tasks: BTreeMap<u64, Waiting>,
    /// Number of the task that arrived last.
    last: u64,
    /// Number of waiting tasks that were granted a permit.
    granted: usize,
}

/// Place of a task in a [`PermitQueue`]. The owner must [remove](PermitQueue::leave) the task when it stops waiting.
#[derive(Debug, Default)]
pub struct PermitPlace(u64);

/// ```text
///            grant                expire, withdraw
///   Queued ---------> Granted(at) ----------------> PassedOver
///      ^                                                |
///      +------------------- enter ----------------------+
/// ```
#[derive(Debug)]
enum Waiting {
    Queued(Waker),
    Granted(Instant),
    PassedOver,
}

impl PermitPlace {
    /// Returns whether the task has had to wait for its permit.
    #[inline]
    pub fn has_waited(&self) -> bool {
        self.0 != 0
    }

    /// Returns the rank of a task that has [entered](PermitQueue::enter_at) the queue.
    pub(super) fn rank(&self) -> u64 {
        self.0 >> RANK_SHIFT
    }
}

impl PermitQueue {
    /// Returns whether no tasks are waiting for a permit.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tasks that are waiting for a permit.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| queue.tasks.len())
    }

    /// Takes one of the `free` permits for the task and removes the task from the queue. Returns `false` if all free
    /// permits have been granted to other tasks.
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

    /// Returns the number of permits that were granted but have not been taken.
    pub(super) fn granted(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| queue.granted)
    }

    /// Adds a task that did not get a permit to the queue, or replaces its waker. Returns the previous waker, which
    /// must be dropped without holding a lock.
    #[must_use]
    pub fn enter(&mut self, place: &mut PermitPlace, context: &Context<'_>) -> Option<Waker> {
        self.0.get_or_insert_default().enter(place, context)
    }

    /// Like [`enter`](Self::enter), but places the task behind all tasks of the same or a lower rank.
    #[must_use]
    pub(super) fn enter_at(&mut self, rank: u64, place: &mut PermitPlace, context: &Context<'_>) -> Option<Waker> {
        let queue = self.0.get_or_insert_default();
        if place.0 == 0 {
            queue.last += 1;
            // At least 1, because 0 stands for a task that is not waiting.
            place.0 = ((rank << RANK_SHIFT) | (queue.last % (1 << RANK_SHIFT))).max(1);
            // The lower bits wrap around, so an older task of the same rank may still have this number.
            while queue.tasks.contains_key(&place.0) {
                place.0 += 1;
            }
        }
        queue.enter(place, context)
    }

    /// Grants free permits to the tasks that have waited longest. Returns their wakers, which the caller must wake
    /// after releasing the lock.
    #[must_use]
    pub fn grant(&mut self, free: usize, now: impl FnOnce() -> Instant) -> Vec<Waker> {
        let mut woken = Vec::new();
        let Some(queue) = self.0.as_mut().filter(|queue| free > queue.granted) else { return woken };
        let mut queued = queue.tasks.values_mut().filter(|task| matches!(task, Waiting::Queued(_))).peekable();
        // Skip the clock read if no task is queued: all have a grant or were passed over.
        if queued.peek().is_none() {
            return woken;
        }
        let now = now();
        for task in queued.take(free - queue.granted) {
            queue.granted += 1;
            if let Waiting::Queued(waker) = std::mem::replace(task, Waiting::Granted(now)) {
                woken.push(waker);
            }
        }
        woken
    }

    /// Returns the earliest time at which a granted but unused permit expires.
    pub fn due(&self) -> Option<Instant> {
        let queue = self.0.as_ref().filter(|queue| queue.granted > 0)?;
        // Look only at the first grant, because grants usually expire in the order of arrival. If a task was skipped
        // before, its grant may expire earlier, which is noticed when the first one expires.
        queue
            .tasks
            .values()
            .find_map(|task| if let Waiting::Granted(at) = task { at.checked_add(GRANT_TIME) } else { None })
    }

    /// Revokes the granted permits that have expired at `now`. The caller must call [`grant`](Self::grant) afterwards.
    pub fn expire(&mut self, now: Instant) {
        let Some(queue) = &mut self.0 else { return };
        for task in queue.tasks.values_mut() {
            if let Waiting::Granted(at) = task
                && now.saturating_duration_since(*at) >= GRANT_TIME
            {
                // Keep the entry, so that the task resumes its old place in the queue when it is polled again.
                *task = Waiting::PassedOver;
                queue.granted -= 1;
            }
        }
    }

    /// Removes a task that no longer waits. If the task held a granted permit, the caller must call
    /// [`grant`](Self::grant) afterwards, which passes the permit to the next task. Drop the returned waker without
    /// holding a lock.
    #[must_use]
    pub fn leave(&mut self, place: &mut PermitPlace) -> Option<Waker> {
        self.0.as_mut()?.remove(place)
    }

    /// Removes all tasks from the queue because no more permits will be granted. The caller must wake the returned
    /// wakers.
    pub fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        // Continue the numbering, because the places of the removed tasks may still exist.
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
        // `granted` includes the grant of this task, which does not reduce the permits available to it.
        let takes = free > self.granted - usize::from(has_grant);
        if takes {
            self.remove(place);
        } else if has_grant {
            // The number of permits was reduced after the grant. Withdraw the grant, so that the task is queued again
            // and woken for the next free permit.
            self.tasks.insert(place.0, Waiting::PassedOver);
            self.granted -= 1;
        }
        takes
    }

    fn enter(&mut self, place: &mut PermitPlace, context: &Context<'_>) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = self.last;
        }
        match self.tasks.get_mut(&place.0) {
            // A permit was granted to this task while it was waiting for something else. Keep the permit.
            Some(Waiting::Granted(_)) => None,
            Some(Waiting::Queued(waker)) if waker.will_wake(context.waker()) => None,
            _ => match self.tasks.insert(place.0, Waiting::Queued(context.waker().clone())) {
                Some(Waiting::Queued(earlier)) => Some(earlier),
                _ => None,
            },
        }
    }

    fn remove(&mut self, place: &mut PermitPlace) -> Option<Waker> {
        // Reset the number, so that the task is queued behind the others if it waits again.
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
