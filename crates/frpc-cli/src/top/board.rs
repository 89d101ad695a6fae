//! State of `frpc top`, independent of the terminal. Consists of the last two replies of the server, and of the sort
//! order, filter and selection, which the user changes with keys.

use super::methods::{self, MethodRow};
use clap::ValueEnum;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use frpc_reflection::introspection_v1::{Connection, ConnectionReply, Server, WatchReply};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::time::Instant;

/// Maximum length of a filter in characters.
const FILTER_MAX: usize = 64;

/// Column that the table of connections or of methods is sorted by. The columns of connections come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, ValueEnum)]
pub(crate) enum Column {
    Number,
    Peer,
    Age,
    #[default]
    Calls,
    Oldest,
    Streams,
    Queued,
    Memory,
    Method,
    Rate,
    Errors,
    P50,
    P99,
    Max,
    Ended,
}

impl Column {
    /// Returns whether this is a column of the table of methods.
    fn is_of_methods(self) -> bool {
        self >= Self::Method
    }

    /// Returns whether the column is sorted in ascending order by default. This is the case for columns with text, but
    /// not for numbers.
    fn is_ascending(self) -> bool {
        matches!(self, Self::Number | Self::Peer | Self::Method)
    }

    fn next(self, back: bool) -> Self {
        let all = Self::value_variants().iter().filter(|column| column.is_of_methods() == self.is_of_methods());
        let all: Vec<_> = all.copied().collect();
        let at = all.iter().position(|column| *column == self).unwrap_or(0);
        let step = if back { all.len() - 1 } else { 1 };
        all.get((at + step) % all.len()).copied().unwrap_or(self)
    }
}

/// State of the live view: the latest replies of the server, the selection and the sort order.
#[derive(Default)]
pub(super) struct TopView {
    last: WatchReply,
    last_at: Option<Instant>,
    before: Option<(WatchReply, Instant)>,
    /// Index of the displayed server.
    server: usize,
    pub(super) sort: Column,
    pub(super) is_ascending: bool,
    /// Sort column and direction of the hidden table. They apply again when the user switches to this table.
    other: (Column, bool),
    pub(super) filter: String,
    /// Whether the user is typing a filter.
    pub(super) is_typing: bool,
    pub(super) is_paused: bool,
    /// Number of the highlighted connection.
    marked: Option<u64>,
    /// Name of the highlighted method.
    marked_method: Option<String>,
    /// Number of the connection that is shown in detail, with its details or a text that is shown in their place.
    pub(super) detail: Option<(u64, Result<ConnectionReply, String>)>,
}

impl TopView {
    pub(super) fn new(sort: Column, filter: Option<String>) -> Self {
        Self {
            sort,
            is_ascending: sort.is_ascending(),
            other: if sort.is_of_methods() { (Column::Calls, false) } else { (Column::Rate, false) },
            filter: filter.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns whether the table shows methods instead of connections.
    pub(super) fn shows_methods(&self) -> bool {
        self.sort.is_of_methods()
    }

    /// Stores a reply of the server. Keeps the previous reply, because rates are computed from both.
    pub(super) fn take(&mut self, reply: WatchReply, now: Instant) {
        if self.is_paused {
            return;
        }
        let last = std::mem::replace(&mut self.last, reply);
        self.before = self.last_at.replace(now).map(|at| (last, at));
    }

    /// Returns the connection to request details of, as the name of its server and the number of the connection.
    pub(super) fn wants_detail(&self) -> Option<(String, u64)> {
        let (number, _) = self.detail.as_ref().filter(|_| !self.is_paused)?;
        Some((self.shown().0.name.clone(), *number))
    }

    pub(super) fn take_detail(&mut self, reply: Result<ConnectionReply, String>) {
        if let Some((_, detail)) = &mut self.detail {
            *detail = reply;
        }
    }

    /// Returns the server that is shown, its position counted from 1, and the number of servers.
    pub(super) fn shown(&self) -> (Server, usize, usize) {
        (self.server_in(&self.last).cloned().unwrap_or_default(), self.server + 1, self.last.servers.len())
    }

    fn server_in<'a>(&self, reply: &'a WatchReply) -> Option<&'a Server> {
        reply.servers.get(self.server)?.server.as_ref()
    }

    /// Returns the shown server in the reply before the last one, with the seconds between both replies.
    fn server_before(&self) -> Option<(&Server, f64)> {
        let (reply, at) = self.before.as_ref()?;
        let seconds = self.last_at?.saturating_duration_since(*at).as_secs_f64();
        Some((self.server_in(reply)?, seconds)).filter(|_| seconds > 0.0)
    }

    /// Returns how much a counter increases per second, or `None` until the server has replied twice.
    pub(super) fn rate(&self, number: impl Fn(&Server) -> u64) -> Option<f64> {
        let (before, seconds) = self.server_before()?;
        Some(number(self.server_in(&self.last)?).saturating_sub(number(before)) as f64 / seconds)
    }

    /// Returns the connections that match the filter, in the chosen order.
    pub(super) fn rows(&self) -> Vec<&Connection> {
        let all = self.last.servers.get(self.server).map(|shown| shown.connections.as_slice()).unwrap_or_default();
        let passes = |connection: &&Connection| self.filter.is_empty() || connection.peer.contains(&self.filter);
        let mut rows: Vec<&Connection> = all.iter().filter(passes).collect();
        self.sort_rows(&mut rows, |a, b| match self.sort {
            Column::Number => a.number.cmp(&b.number),
            Column::Peer => a.peer.cmp(&b.peer),
            Column::Age => a.age_ms.cmp(&b.age_ms),
            Column::Calls => a.calls.cmp(&b.calls),
            Column::Oldest => a.oldest_call_ms.cmp(&b.oldest_call_ms),
            Column::Streams => a.streams.cmp(&b.streams),
            Column::Queued => a.queued.cmp(&b.queued),
            // The remaining columns belong to the other table.
            _ => a.memory.cmp(&b.memory),
        });
        rows
    }

    /// Returns the statistics of all methods, in the server's order.
    pub(super) fn all_methods(&self) -> Vec<MethodRow<'_>> {
        self.server_in(&self.last).map(|last| methods::rows(last, self.server_before())).unwrap_or_default()
    }

    /// Returns the methods that match the filter, in the chosen order.
    pub(super) fn methods(&self) -> Vec<MethodRow<'_>> {
        let mut rows = self.all_methods();
        rows.retain(|row| row.name.contains(&self.filter));
        self.sort_rows(&mut rows, |a, b| methods::compare(self.sort, a, b));
        rows
    }

    /// Sorts rows in the chosen direction. Equal rows keep the server's order.
    fn sort_rows<T>(&self, rows: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
        rows.sort_by(|a, b| if self.is_ascending { compare(a, b) } else { compare(b, a) });
    }

    /// Returns the row index of the highlighted method.
    pub(super) fn method_mark(&self, rows: &[MethodRow<'_>]) -> usize {
        rows.iter().position(|row| Some(row.name) == self.marked_method.as_deref()).unwrap_or(0)
    }

    /// Returns the index of the row with the highlighted connection. The highlight stays on the same connection as long
    /// as it exists.
    pub(super) fn mark(&self, rows: &[&Connection]) -> usize {
        rows.iter().position(|row| Some(row.number) == self.marked).unwrap_or(0)
    }

    fn move_mark(&mut self, by: isize) {
        if self.shows_methods() {
            let rows = self.methods();
            let at = self.method_mark(&rows).saturating_add_signed(by).min(rows.len().saturating_sub(1));
            self.marked_method = rows.get(at).map(|row| row.name.to_owned());
        } else {
            let rows = self.rows();
            let at = self.mark(&rows).saturating_add_signed(by).min(rows.len().saturating_sub(1));
            self.marked = rows.get(at).map(|row| row.number);
        }
    }

    /// Handles a key. Breaks if the view must end.
    pub(super) fn key(&mut self, key: KeyEvent) -> ControlFlow<()> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return ControlFlow::Break(());
        }
        if self.is_typing {
            self.type_filter(key.code);
            return ControlFlow::Continue(());
        }
        match key.code {
            KeyCode::Esc if self.detail.is_some() => self.detail = None,
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Char('q') | KeyCode::Esc => return ControlFlow::Break(()),
            KeyCode::Backspace | KeyCode::Left => self.detail = None,
            KeyCode::Enter | KeyCode::Right => self.open(),
            KeyCode::Up | KeyCode::Char('k') => self.move_mark(-1),
            KeyCode::Down | KeyCode::Char('j') => self.move_mark(1),
            KeyCode::PageUp => self.move_mark(-10),
            KeyCode::PageDown => self.move_mark(10),
            KeyCode::Home => self.move_mark(isize::MIN),
            KeyCode::End => self.move_mark(isize::MAX),
            KeyCode::Char('m') => {
                self.detail = None;
                let shown = (self.sort, self.is_ascending);
                (self.sort, self.is_ascending) = std::mem::replace(&mut self.other, shown);
            }
            KeyCode::Char('>' | 's') => self.sort = self.sort.next(false),
            KeyCode::Char('<') => self.sort = self.sort.next(true),
            KeyCode::Char('r') => self.is_ascending = !self.is_ascending,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Tab => {
                self.server = (self.server + 1) % self.last.servers.len().max(1);
                (self.marked, self.marked_method, self.detail) = (None, None, None);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn open(&mut self) {
        if self.shows_methods() {
            return;
        }
        let rows = self.rows();
        if let Some(number) = rows.get(self.mark(&rows)).map(|row| row.number) {
            self.marked = Some(number);
            self.detail = Some((number, Err("…".to_owned())));
        }
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(letter) if self.filter.chars().count() < FILTER_MAX => self.filter.push(letter),
            _ => {}
        }
    }
}
