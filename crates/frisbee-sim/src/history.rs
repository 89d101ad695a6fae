//! Histories of client operations, and a checker for linearizability.
//!
//! Uses the algorithm of Wing and Gong with Lowe's cache of visited configurations.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// Sequential specification of an object. A concurrent history is checked against it.
pub trait Model {
    /// Type of the object's operations, including their arguments.
    type Operation: Clone + fmt::Debug;
    /// Type of the results of operations.
    type Outcome: Clone + fmt::Debug;
    /// Type of the object's state.
    type State: Clone + Eq + Hash;

    /// Returns the initial state of the object.
    fn initial(&self) -> Self::State;

    /// Returns the state after an operation, or `None` if the operation cannot have this result in this state. If the
    /// result is unknown because the operation is lost, every result is possible.
    fn step(
        &self,
        state: &Self::State,
        operation: &Self::Operation,
        outcome: Option<&Self::Outcome>,
    ) -> Option<Self::State>;
}

/// Record of concurrent operations: when each began and ended, and its result. Clones share the history.
///
/// ```
/// use frisbee_sim::{History, Register, RegisterOperation as Operation, Verdict};
///
/// let history = History::new();
/// let write = history.begin(Operation::Write(5));
/// history.end(write, None);
/// let read = history.begin(Operation::Read);
/// history.end(read, Some(0)); // It began after 5 had been written.
/// assert!(matches!(history.check(&Register::of(0)), Verdict::Violated(_)));
/// ```
pub struct History<O, R>(Arc<Mutex<Record<O, R>>>);

struct Record<O, R> {
    entries: Vec<Entry<O, R>>,
    /// Number of recorded begins and ends of operations, which serves as the clock of the history.
    moments: usize,
}

impl<O, R> Record<O, R> {
    fn moment(&mut self) -> usize {
        self.moments += 1;
        self.moments
    }
}

/// Id of an operation in a [`History`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperationId(usize);

struct Entry<O, R> {
    operation: O,
    started: usize,
    /// Time and result of the operation's end. `None` if the operation is lost or in progress.
    ended: Option<(usize, R)>,
    is_void: bool,
}

/// Result of checking a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Some order of the operations explains all their results.
    Linearizable,
    /// No order of the operations explains all their results. The text states the first result that fits no order.
    Violated(String),
    /// The search reached its maximum number of configurations without a result.
    Undecided,
}

/// Maximum number of configurations per search, which take some hundred megabytes.
const CONFIGURATIONS_MAX: usize = 2_000_000;

impl<O, R> Default for History<O, R> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Record { entries: Vec::new(), moments: 0 })))
    }
}

impl<O, R> Clone for History<O, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<O, R> fmt::Debug for History<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("operations", &self.0.lock().entries.len()).finish_non_exhaustive()
    }
}

impl<O: Clone + fmt::Debug, R: Clone + fmt::Debug> History<O, R> {
    /// Creates a history without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the start of an operation and returns its id. Unless the operation [ends](Self::end) or is
    /// [void](Self::cancel), it may take effect at any later time, or never. Record no end for a call that [may have
    /// run](frpc::Status::may_have_run).
    pub fn begin(&self, operation: O) -> OperationId {
        let mut record = self.0.lock();
        let started = record.moment();
        record.entries.push(Entry { operation, started, ended: None, is_void: false });
        OperationId(record.entries.len() - 1)
    }

    /// Records that an operation has ended with this result.
    ///
    /// # Panics
    /// If the operation has already ended.
    pub fn end(&self, id: OperationId, outcome: R) {
        let mut record = self.0.lock();
        let now = record.moment();
        let ended = record.entries[id.0].ended.replace((now, outcome));
        drop(record);
        assert!(ended.is_none(), "operation should end only once");
    }

    /// Records that an operation was not executed and never will be.
    pub fn cancel(&self, id: OperationId) {
        self.0.lock().entries[id.0].is_void = true;
    }

    /// Returns the number of recorded operations.
    pub fn len(&self) -> usize {
        self.0.lock().entries.len()
    }

    /// Returns whether the history has no operations.
    pub fn is_empty(&self) -> bool {
        self.0.lock().entries.is_empty()
    }

    /// Checks the history of all operations against a model. The time is exponential in the number of overlapping
    /// operations.
    pub fn check<M: Model<Operation = O, Outcome = R>>(&self, model: &M) -> Verdict {
        self.check_of(model, |_| true)
    }

    /// Checks the history of selected operations. Checking independent objects separately, such as the keys of a store,
    /// is much faster than checking them together.
    pub fn check_of<M: Model<Operation = O, Outcome = R>>(&self, model: &M, is_part: impl Fn(&O) -> bool) -> Verdict {
        let record = self.0.lock();
        let part: Vec<_> = record.entries.iter().filter(|entry| !entry.is_void && is_part(&entry.operation)).collect();
        Search { model, part: &part, visited: HashSet::new(), farthest: None }.run()
    }
}

/// Search for an order of operations that explains their results.
struct Search<'a, M: Model> {
    model: &'a M,
    part: &'a [&'a Entry<M::Operation, M::Outcome>],
    /// Visited configurations: the set of ordered operations and the resulting state.
    visited: HashSet<(Vec<u64>, M::State)>,
    /// Configuration that explains the most results so far: the number of these results, and the set of ordered
    /// operations.
    farthest: Option<(usize, Vec<u64>)>,
}

impl<M: Model> Search<'_, M> {
    fn run(mut self) -> Verdict {
        let certain = self.part.iter().filter(|entry| entry.ended.is_some()).count();
        let none = vec![0; self.part.len().div_ceil(64)];
        // Iterative, because long histories would overflow the stack in a recursion.
        let mut open = vec![(none, self.model.initial(), 0)];
        while let Some((done, state, explained)) = open.pop() {
            if explained == certain {
                return Verdict::Linearizable;
            }
            if self.visited.len() >= CONFIGURATIONS_MAX {
                return Verdict::Undecided;
            }
            if self.farthest.as_ref().is_none_or(|farthest| explained >= farthest.0) {
                self.farthest = Some((explained, done.clone()));
            }
            let left = |at: &usize| done[at / 64] >> (at % 64) & 1 == 0;
            // An operation that began after one of the others had ended cannot be the next one in the order.
            let ends = (0..self.part.len()).filter(left).filter_map(|at| self.part[at].ended.as_ref());
            let first_end = ends.map(|ended| ended.0).min().unwrap_or(usize::MAX);
            for at in (0..self.part.len()).filter(left) {
                let entry = self.part[at];
                if entry.started > first_end {
                    break; // Operations are sorted by their start.
                }
                let outcome = entry.ended.as_ref().map(|ended| &ended.1);
                let Some(next) = self.model.step(&state, &entry.operation, outcome) else { continue };
                if outcome.is_none() && next == state {
                    continue; // The operation does not affect the results.
                }
                let mut with = done.clone();
                with[at / 64] |= 1 << (at % 64);
                if self.visited.insert((with.clone(), next.clone())) {
                    open.push((with, next, explained + usize::from(outcome.is_some())));
                }
            }
        }
        Verdict::Violated(self.explain())
    }

    /// Describes the operation results that no order explains.
    fn explain(&self) -> String {
        let Some((explained, done)) = &self.farthest else { return String::new() };
        let left = self.part.iter().enumerate().filter(|(at, _)| done[at / 64] >> (at % 64) & 1 == 0);
        let first = left
            .filter(|(_, entry)| entry.ended.is_some())
            .min_by_key(|(_, entry)| entry.ended.as_ref().map(|ended| ended.0));
        first.map_or_else(String::new, |(_, entry)| {
            let outcome = entry.ended.as_ref().map(|ended| &ended.1);
            format!("no order explains the result {outcome:?} of {:?}, after {explained} others", entry.operation)
        })
    }
}

/// Model of a register with read, write and compare-and-set.
#[derive(Clone, Debug)]
pub struct Register<V> {
    initial: V,
}

impl<V> Register<V> {
    /// Creates a register with this initial value.
    pub fn of(initial: V) -> Self {
        Self { initial }
    }
}

/// An operation on a [`Register`]. A read returns the value as `Some`. A failed compare-and-set returns the actual
/// value. All other operations return `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RegisterOperation<V> {
    /// Reads the value.
    Read,
    /// Replaces the value.
    Write(V),
    /// Replaces the first value with the second, if the first is the current one.
    CompareAndSet(V, V),
}

impl<V: Clone + Eq + Hash + fmt::Debug> Model for Register<V> {
    type Operation = RegisterOperation<V>;
    type Outcome = Option<V>;
    type State = V;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, operation: &RegisterOperation<V>, outcome: Option<&Option<V>>) -> Option<V> {
        let (next, result) = match operation {
            RegisterOperation::Read => (state, Some(state)),
            RegisterOperation::Write(value) => (value, None),
            RegisterOperation::CompareAndSet(expected, value) if state == expected => (value, None),
            RegisterOperation::CompareAndSet(..) => (state, Some(state)),
        };
        outcome.is_none_or(|outcome| outcome.as_ref() == result).then(|| next.clone())
    }
}

/// A FIFO queue.
#[derive(Clone, Debug, Default)]
pub struct Queue<V>(std::marker::PhantomData<V>);

impl<V> Queue<V> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

/// An operation on a [`Queue`]. A pop returns the value, or `None` if the queue is empty. A push returns `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum QueueOperation<V> {
    /// Appends a value.
    Push(V),
    /// Removes the first value of the queue.
    Pop,
}

impl<V: Clone + Eq + Hash + fmt::Debug> Model for Queue<V> {
    type Operation = QueueOperation<V>;
    type Outcome = Option<V>;
    type State = std::collections::VecDeque<V>;

    fn initial(&self) -> Self::State {
        Self::State::new()
    }

    fn step(
        &self,
        state: &Self::State,
        operation: &QueueOperation<V>,
        outcome: Option<&Option<V>>,
    ) -> Option<Self::State> {
        let mut next = state.clone();
        let result = match operation {
            QueueOperation::Push(value) => {
                next.push_back(value.clone());
                None
            }
            QueueOperation::Pop => next.pop_front(),
        };
        outcome.is_none_or(|outcome| *outcome == result).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RegisterOperation::{CompareAndSet, Read, Write};

    #[test]
    fn read_overlapping_write_returns_either_value() {
        for value in [0, 1] {
            let history = History::new();
            let write = history.begin(Write(1));
            let read = history.begin(Read);
            history.end(read, Some(value));
            history.end(write, None);
            assert_eq!(history.check(&Register::of(0)), Verdict::Linearizable);
        }
    }

    #[test]
    fn later_read_never_returns_older_value() {
        let history = History::new();
        let write = history.begin(Write(1));
        for value in [1, 0] {
            let read = history.begin(Read);
            history.end(read, Some(value));
        }
        history.end(write, None);
        let Verdict::Violated(text) = history.check(&Register::of(0)) else {
            panic!("second read should be reported as stale")
        };
        assert!(text.contains("Some(0)") && text.contains("Read"), "{text}");
    }

    #[test]
    fn lost_write_applies_late_or_never() {
        for (value, is_void, verdict) in [(1, false, true), (0, false, true), (0, true, true), (1, true, false)] {
            let history = History::new();
            let write = history.begin(Write(1));
            let other = history.begin(Write(0));
            history.end(other, None);
            if is_void {
                history.cancel(write);
            }
            let read = history.begin(Read);
            history.end(read, Some(value));
            assert_eq!(history.check(&Register::of(0)) == Verdict::Linearizable, verdict);
        }
    }

    #[test]
    fn conflicting_compare_and_sets_are_violation() {
        let history = History::new();
        let [one, other] = [history.begin(CompareAndSet(0, 1)), history.begin(CompareAndSet(0, 2))];
        history.end(one, None);
        history.end(other, None);
        assert!(matches!(history.check(&Register::of(0)), Verdict::Violated(_)));
    }

    #[test]
    fn queue_pops_values_in_push_order() {
        for (first, second, verdict) in [(1, 2, true), (2, 1, false)] {
            let history = History::new();
            for value in [1, 2] {
                let push = history.begin(QueueOperation::Push(value));
                history.end(push, None);
            }
            for value in [first, second] {
                let pop = history.begin(QueueOperation::Pop);
                history.end(pop, Some(value));
            }
            assert_eq!(history.check(&Queue::new()) == Verdict::Linearizable, verdict);
        }
    }

    #[test]
    fn partial_history_is_checked_separately() {
        let history = History::new();
        let write = history.begin(Write(7));
        history.end(write, None);
        let read = history.begin(Read);
        history.end(read, Some(0));
        assert_eq!(history.check_of(&Register::of(0), |operation| *operation == Read), Verdict::Linearizable);
    }

    #[test]
    fn long_sequential_history_is_checked_quickly() {
        let history = History::new();
        for value in 0..2_000 {
            let write = history.begin(Write(value));
            history.end(write, None);
        }
        assert_eq!(history.check(&Register::of(0)), Verdict::Linearizable);
    }
}
