//! The work that a connection has given rise to: tasks that end with it.

use parking_lot::Mutex;
use tokio::task::AbortHandle;

/// Where handlers run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// Each is polled once in place, and gets a task of its own only if it has to wait. The cheapest, and the
    /// default. A handler that computes for long holds up the others of its connection.
    #[default]
    Inline,
    /// Each gets a task of its own at once. For handlers that compute for long or block in place.
    Concurrent,
    /// As [`Concurrent`](Self::Concurrent), and no more than so many run at one time on a connection; further
    /// requests wait their turn, in order.
    AtMost(usize),
}

/// The tasks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Work(Mutex<Tasks>);

#[derive(Debug, Default)]
struct Tasks {
    /// In a box, since most connections have none.
    places: Option<Box<Places>>,
    /// The connection has ended: nothing begins any more.
    ended: bool,
}

#[derive(Debug, Default)]
struct Places {
    all: Vec<Place>,
    /// The places that are free.
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct Place {
    /// How often the place has been taken, so that a task cannot be mistaken for a later one in its place.
    turn: u32,
    task: Option<AbortHandle>,
}

/// A place taken for a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    place: usize,
    turn: u32,
}

/// What came of asking for a place.
pub(crate) enum Begun {
    Yes(Taken),
    /// As many are taken as may be.
    Full,
    /// The connection has ended.
    Ended,
}

impl Work {
    /// Takes a place for a task, if fewer than so many are taken.
    pub(crate) fn begin(&self, max: usize) -> Begun {
        let mut tasks = self.0.lock();
        if tasks.ended {
            return Begun::Ended;
        }
        let places = tasks.places.get_or_insert_default();
        if places.taken() >= max {
            return Begun::Full;
        }
        let free = places.free.pop();
        let place = free.unwrap_or(places.all.len());
        if free.is_none() {
            places.all.push(Place::default());
        }
        let turn = places.all[place].turn.wrapping_add(1);
        places.all[place] = Place { turn, task: None };
        Begun::Yes(Taken { place, turn })
    }

    /// Tells how the task in a place can be aborted. It may have ended meanwhile, and so may the connection.
    pub(crate) fn started(&self, taken: Taken, task: AbortHandle) {
        let mut tasks = self.0.lock();
        if tasks.ended {
            task.abort();
        } else if let Some(place) = tasks.place(taken) {
            place.task = Some(task);
        }
    }

    /// Aborts the task in a place, unless it has ended.
    pub(crate) fn abort_one(&self, taken: Taken) {
        let task = self.0.lock().place(taken).and_then(|place| place.task.clone());
        if let Some(task) = task {
            task.abort();
        }
    }

    /// Frees a place; `true` if it was the last one taken.
    pub(crate) fn end(&self, taken: Taken) -> bool {
        let mut tasks = self.0.lock();
        let Some(places) = tasks.places.as_mut() else { return false };
        let place = &mut places.all[taken.place];
        place.turn = place.turn.wrapping_add(1);
        place.task = None;
        places.free.push(taken.place);
        places.free.len() == places.all.len()
    }

    /// How many tasks run.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().places.as_ref().map_or(0, |places| places.taken())
    }

    /// Gives back memory if no task runs.
    pub(crate) fn release(&self) {
        self.0.lock().places.take_if(|places| places.free.len() == places.all.len());
    }

    /// Aborts every task and lets none begin any more.
    pub(crate) fn abort(&self) {
        let mut tasks = self.0.lock();
        tasks.ended = true;
        let places = tasks.places.take().unwrap_or_default();
        drop(tasks);
        places.all.into_iter().filter_map(|place| place.task).for_each(|task| task.abort());
    }
}

impl Places {
    /// How many are taken.
    fn taken(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

impl Tasks {
    /// The place of a task, unless that has ended.
    fn place(&mut self, taken: Taken) -> Option<&mut Place> {
        let place = self.places.as_mut()?.all.get_mut(taken.place)?;
        (place.turn == taken.turn).then_some(place)
    }
}
