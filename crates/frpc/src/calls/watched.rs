//! What is noted of the calls of a connection that are observed, beside their slots in the table.

use super::{Calls, Ended, Ticket};
use crate::Code;
use crate::deadline;
use crate::observe::shards::{Key, Leased};
use crate::observe::watching::{Sizes, Watching, nanos};
use crate::observe::{About, Token, TraceContext};
use crate::schema::method::Method;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The calls of a connection that are observed. Times are in nanoseconds from the making of this.
pub(crate) struct WatchedCalls {
    watching: Arc<Watching>,
    /// An observer is told of each call.
    is_told: bool,
    /// The counters that this connection writes, until it is idle.
    lease: Leased,
    made: Instant,
    /// The begin of the last turn that has brought replies.
    turned: u64,
    /// When the last call was sent, twice: many calls are sent in one turn, at one time.
    sent: (Instant, u64),
    /// When the call in each slot was sent.
    begun: Vec<u64>,
    /// The call in each slot as the observer knows it, if one is told of each call.
    told: Vec<Told>,
    /// The rows of methods in the counters.
    rows: Vec<(&'static Method, u32)>,
    /// The place in `rows` of the method that was counted last.
    last: usize,
}

/// A call that has ended for its caller.
pub(crate) struct Over {
    /// When it was sent.
    pub(crate) begun: Instant,
    /// How long it took, in nanoseconds.
    nanos: u64,
    pub(crate) told: Told,
}

/// A call of which an observer is told.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) token: Token,
    /// The place in a trace that was sent.
    pub(crate) trace: Option<TraceContext>,
    pub(crate) sizes: Sizes,
}

impl WatchedCalls {
    fn new(watching: &Arc<Watching>) -> Self {
        let made = deadline::now();
        Self {
            watching: watching.clone(),
            is_told: watching.is_told(),
            lease: Leased::default(),
            made,
            turned: 0,
            sent: (made, 0),
            begun: Vec::new(),
            told: Vec::new(),
            rows: Vec::new(),
            last: 0,
        }
    }

    fn since(&self, at: Instant) -> u64 {
        nanos(at.saturating_duration_since(self.made))
    }

    #[inline]
    fn row(&mut self, method: &'static Method) -> u32 {
        match self.rows.get(self.last) {
            Some((last, row)) if std::ptr::eq(*last, method) => *row,
            _ => self.find_row(method),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_row(&mut self, method: &'static Method) -> u32 {
        let known = self.rows.iter().position(|(known, _)| std::ptr::eq(*known, method));
        self.last = known.unwrap_or_else(|| {
            self.rows.push((method, self.watching.watcher(About::of_unary(method)).row));
            self.rows.len() - 1
        });
        self.rows.get(self.last).map_or(0, |(_, row)| *row)
    }

    /// Counts the call in a slot, which has ended in this turn with a reply that is no failure.
    #[inline(always)]
    fn count_ok(&mut self, slot: usize, method: &'static Method) {
        let Some(begun) = self.begun.get(slot) else { return };
        let nanos = self.turned.saturating_sub(*begun);
        let key = Key::new(self.row(method), Code::Ok);
        self.lease.add(key, 1, nanos, self.watching.shards());
    }

    #[inline]
    fn tell(&mut self, slot: usize, token: Token, trace: Option<&TraceContext>) {
        if self.told.len() <= slot {
            self.grow_told(slot);
        }
        if let Some(told) = self.told.get_mut(slot) {
            (told.token, told.trace) = (token, trace.copied());
        }
    }

    #[cold]
    fn grow_told(&mut self, slot: usize) {
        self.told.resize(slot + 1, Told::default());
    }

    #[cold]
    fn grow(&mut self, slot: usize) {
        self.begun.resize(slot + 1, self.sent.1);
    }
}

impl Calls {
    pub(super) fn set_watching(&mut self, watching: Option<&Arc<Watching>>) {
        self.watched = watching.map(|watching| Box::new(WatchedCalls::new(watching)));
    }

    /// Has the calls be observed, unless they are.
    pub(super) fn watch_by(&mut self, watching: &Arc<Watching>) {
        self.watched.get_or_insert_with(|| Box::new(WatchedCalls::new(watching)));
    }

    /// Notes the begin of a turn that brings replies, if calls are observed.
    #[inline]
    pub(crate) fn begin_turn(&mut self, now: Instant) {
        if let Some(watched) = &mut self.watched {
            watched.turned = watched.since(now);
        }
    }

    /// Notes a call that is sent now.
    #[inline(always)]
    pub(crate) fn watch(&mut self, ticket: Ticket, token: Token, trace: Option<&TraceContext>) {
        let now = self.now(deadline::now);
        let Some(watched) = &mut self.watched else { return };
        if watched.sent.0 != now {
            watched.sent = (now, watched.since(now));
        }
        let slot = usize::from(ticket.slot);
        match watched.begun.get_mut(slot) {
            Some(begun) => *begun = watched.sent.1,
            None => watched.grow(slot),
        }
        if watched.is_told {
            watched.tell(slot, token, trace);
        }
    }

    /// Notes how long the request of a call is of which an observer is told.
    #[inline]
    pub(crate) fn set_request_size(&mut self, ticket: Ticket, length: usize) {
        let told = self.watched.as_mut().and_then(|watched| watched.told.get_mut(usize::from(ticket.slot)));
        if let Some(told) = told {
            told.sizes.request = length as u64;
        }
    }

    /// Counts the call of a ticket, which has ended in this turn with a reply that is no failure.
    #[inline(always)]
    pub(crate) fn count_ok(&mut self, ticket: Ticket, method: &'static Method) {
        if let Some(watched) = &mut self.watched {
            watched.count_ok(usize::from(ticket.slot), method);
        }
    }

    /// Counts the call of a ticket as [`count_ok`](Self::count_ok) does. Returns what its observer knows it by, and how
    /// long its request was.
    #[inline]
    pub(crate) fn told_ok(&mut self, ticket: Ticket, method: &'static Method) -> Option<(Token, u64)> {
        self.count_ok(ticket, method);
        let told = self.watched.as_ref()?.told.get(usize::from(ticket.slot))?;
        Some((told.token, told.sizes.request))
    }

    /// The call of a ticket, which has ended in this turn.
    #[cold]
    pub(crate) fn over(&mut self, ticket: Ticket) -> Option<Over> {
        let watched = self.watched.as_mut()?;
        let slot = usize::from(ticket.slot);
        let begun = *watched.begun.get(slot)?;
        let told = watched.told.get_mut(slot).map(std::mem::take).unwrap_or_default();
        let nanos = watched.turned.saturating_sub(begun);
        Some(Over { begun: watched.made.checked_add(Duration::from_nanos(begun))?, nanos, told })
    }

    /// The call of a ticket, which has ended in this way.
    #[cold]
    pub(crate) fn over_as(&mut self, ended: &Ended<()>, ticket: Ticket) -> Option<Over> {
        if matches!(ended, Ended::Reply(())) { self.over(ticket) } else { self.over_now(ticket) }
    }

    /// The call of a ticket, which its caller gives up now.
    #[cold]
    pub(crate) fn over_now(&mut self, ticket: Ticket) -> Option<Over> {
        self.begin_turn(deadline::now());
        self.over(ticket)
    }

    /// Counts a call that is over.
    #[cold]
    pub(crate) fn count(&mut self, method: &'static Method, code: Code, over: &Over) {
        if let Some(watched) = &mut self.watched {
            let row = watched.row(method);
            watched.watching.count(row, code, 1, over.nanos);
        }
    }

    /// Counts a reply to a call that is no longer waited for.
    #[cold]
    pub(super) fn count_late(&self) {
        if let Some(watched) = &self.watched {
            watched.watching.count_late();
        }
    }

    /// Frees the memory for all slots from this one on, and the counters for other connections.
    pub(super) fn release_watched(&mut self, slot: usize) {
        if let Some(watched) = &mut self.watched {
            watched.begun.truncate(slot);
            watched.begun.shrink_to_fit();
            watched.told.truncate(slot);
            watched.told.shrink_to_fit();
            watched.lease = Leased::default();
        }
    }
}

impl fmt::Debug for WatchedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedCalls").field("watching", &self.watching).finish_non_exhaustive()
    }
}
