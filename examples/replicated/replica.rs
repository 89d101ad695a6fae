//! A replica of the store. The replicas elect a leader, which orders the commands of clients. A command is acknowledged
//! when a majority has stored it on disk.
//!
//! The algorithm is Raft with leader leases: a replica that has heard from a leader does not elect another one for some
//! time, during which the leader may serve reads without a round of messages. Each replica also sends its ballots and
//! batches to itself, so its own disk needs no special case. This file contains the decisions and their timing;
//! `log.rs` implements the log, and `machine.rs` applies commands.

use crate::defects::Defect;
use crate::log::Log;
use crate::machine::Machine;
use crate::store::WRITES_MAX;
use frisbee_sim::Process;
use frpc::prost::Message;
use frpc::{Channel, Config, Request, Response, Status};
use replicated::{
    Ballot, Batch, Entry, Kind, Replication, ReplicationClient, ReplicationServer, StoreServer, Stored, Vote,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Minimum time without a leader after which a replica starts an election. The maximum is twice as long.
const QUIET: Duration = Duration::from_millis(300);

/// How long a leader serves reads after hearing from a majority. Shorter than [`QUIET`], because clocks differ.
pub(crate) const LEASE: Duration = Duration::from_millis(240);

/// Interval of batches without new entries.
const HEARTBEAT: Duration = Duration::from_millis(60);

/// Timeout of calls between replicas.
const TIMEOUT: Duration = Duration::from_millis(150);

/// The configuration of all replicas.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) replicas: Vec<String>,
    pub(crate) defect: Option<Defect>,
    pub(crate) observer: Arc<dyn Observer>,
}

/// Receives events: for metrics in a real service, and for the invariants in the simulation.
pub(crate) trait Observer: Send + Sync {
    /// A replica has started, with these write permits.
    fn begins(&self, replica: usize, write_permits: Arc<Semaphore>);
    /// A replica has become the leader of a term.
    fn leads(&self, term: u64, replica: usize);
    /// A replica has applied an entry.
    fn applied(&self, index: u64, entry: &Entry);
}

/// A replica. Clones refer to the same replica.
#[derive(Clone)]
pub(crate) struct Replica(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    me: usize,
    process: Process,
    settings: Settings,
    /// All replicas, including this one.
    peers: Vec<ReplicationClient>,
    state: Mutex<State>,
    /// Notified when the state changes.
    pub(crate) changes: Notify,
    /// Permits of waiting writes.
    pub(crate) write_permits: Arc<Semaphore>,
}

pub(crate) struct State {
    pub(crate) term: u64,
    voted_for: Option<u64>,
    /// The leader's state, if this replica is the leader of its term.
    pub(crate) leading: Option<Leading>,
    pub(crate) log: Log,
    /// The state after the committed entries.
    pub(crate) machine: Machine,
    /// Time of the last known grant or renewal of each lease.
    pub(crate) renewed: BTreeMap<String, Duration>,
    /// Time of the last message from a leader; for a leader, from a majority.
    pub(crate) heard_at: Duration,
    /// Time of the next candidacy.
    stands: Duration,
}

pub(crate) struct Leading {
    /// The first entry of its term. When it is committed, all earlier entries are known to be committed.
    pub(crate) first: u64,
    replicas: Vec<Progress>,
}

/// The leader's state of another replica.
#[derive(Clone)]
struct Progress {
    /// The next entry to send, and the last stored one.
    next: u64,
    matched: u64,
    /// Send time of the last acknowledged batch.
    heard_at: Duration,
}

/// Creates a channel to a replica that detects a silent peer quickly and reconnects.
pub(crate) fn channel(process: &Process, replica: &str, timeout: Duration) -> Channel {
    let config = Config::default().ping_interval(QUIET).idle_timeout(2 * QUIET);
    let channel = Channel::builder().timeout(timeout).config(config);
    channel
        .connect_lazy_with_connector(process.connector(replica))
        .expect("channel should have no overlapping services")
}

impl Replica {
    /// Runs a replica on a machine, with the contents of its disk.
    pub(crate) async fn run(me: usize, process: Process, settings: Settings) {
        let (disk, now) = (process.disk(), process.clock().monotonic());
        let ballot =
            disk.read("term").map(|bytes| Ballot::decode(&bytes[..]).expect("stored ballot should be complete"));
        let Ballot { term, candidate: voted_for, .. } = ballot.unwrap_or_default();
        let (log, machine, renewed) = (Log::load(disk, settings.defect), Machine::default(), BTreeMap::new());
        // The replica may have heard from a leader just before it crashed.
        let (heard_at, stands) = (now, now + election_timeout());
        let state = State { term, voted_for, leading: None, log, machine, renewed, heard_at, stands };
        let (state, changes, write_permits) = (Mutex::new(state), Notify::new(), Arc::new(Semaphore::new(WRITES_MAX)));
        settings.observer.begins(me, write_permits.clone());
        let peer = |name: &String| ReplicationClient::new(channel(&process, name, TIMEOUT));
        let peers = settings.replicas.iter().map(peer).collect();
        let replica = Self(Arc::new(Inner { me, process, settings, peers, state, changes, write_permits }));
        let server = frpc::Server::builder()
            .add_service(StoreServer::new(replica.clone()))
            .add_service(ReplicationServer::new(replica.clone()));
        replica.0.process.serve(server.build().expect("services should not overlap"));
        for peer in 0..replica.0.peers.len() {
            replica.0.process.spawn(replica.clone().feed(peer));
        }
        replica.watch_over_leader().await;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.0.settings.defect == Some(defect)
    }

    pub(crate) fn now(&self) -> Duration {
        self.0.process.clock().monotonic()
    }

    /// Returns the time by which leases expire.
    pub(crate) fn lease_clock(&self) -> Duration {
        let wall = || self.0.process.clock().now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.has(Defect::TrustsWallClock) { wall() } else { self.now() }
    }

    fn majority(&self) -> usize {
        self.0.peers.len() / 2 + 1
    }

    /// Persists the term and the vote.
    fn set_term(&self, state: &mut State, term: u64, voted_for: Option<u64>) {
        (state.term, state.voted_for) = (term, voted_for);
        let candidate = voted_for.filter(|_| !self.has(Defect::VoteNotOnDisk));
        self.0.process.disk().write("term", Ballot { term, candidate, ..Ballot::default() }.encode_to_vec());
    }

    /// Enters a term unless it is outdated. Another replica may be its leader.
    fn follow(&self, state: &mut State, term: u64) {
        if term > state.term {
            self.set_term(state, term, None);
            state.leading = None;
            self.0.changes.notify_waiters();
        }
    }

    /// Becomes a candidate whenever there was no leader for a while.
    async fn watch_over_leader(&self) {
        loop {
            let wait = self.lock().stands.saturating_sub(self.now());
            self.0.process.clock().sleep(wait).await;
            let (mut state, now) = (self.lock(), self.now());
            if now < state.stands {
                continue;
            }
            state.stands = now + election_timeout();
            if state.leading.is_none() {
                let term = state.term + 1;
                self.follow(&mut state, term);
                let (last_term, last_index) = state.log.last();
                let ballot = Ballot { term, candidate: Some(self.0.me as u64), last_term, last_index };
                self.0.process.spawn(self.clone().stand(ballot));
            }
        }
    }

    /// Requests the votes of all replicas, and becomes the leader if a majority grants them.
    async fn stand(self, ballot: Ballot) {
        let mut replies = JoinSet::new();
        for peer in self.0.peers.clone() {
            replies.spawn(async move { peer.elect(ballot).await });
        }
        let mut votes = 0;
        while let Some(reply) = replies.join_next().await {
            let (Ok(Ok(vote)), mut state) = (reply, self.lock()) else { continue };
            self.follow(&mut state, vote.get_ref().term);
            votes += usize::from(vote.get_ref().is_granted);
            if votes >= self.majority() && state.term == ballot.term && state.leading.is_none() {
                self.0.settings.observer.leads(ballot.term, self.0.me);
                let first = state.log.push(Entry { term: ballot.term, command: None });
                let unknown = Progress { next: first, matched: 0, heard_at: Duration::ZERO };
                state.leading = Some(Leading { first, replicas: vec![unknown; self.0.peers.len()] });
                self.0.changes.notify_waiters();
            }
        }
    }

    /// Sends one replica its missing entries, whenever this replica is the leader.
    async fn feed(self, peer: usize) {
        loop {
            // Registers for changes before checking the state.
            let changed = self.0.changes.notified();
            let batch = {
                let state = self.lock();
                let (term, commit) = (state.term, state.machine.index);
                let next = state.leading.as_ref().map(|leading| leading.replicas[peer].next);
                next.map(|next| Batch { term, commit, ..state.log.batch(next) })
            };
            if let Some(batch) = batch {
                let (term, sent) = (batch.term, self.now());
                match self.0.peers[peer].append(batch).await {
                    Ok(stored) => self.count(peer, term, sent, stored.get_ref()),
                    Err(_) => sleep(TIMEOUT / 5).await,
                }
            }
            drop(timeout(HEARTBEAT, changed).await);
        }
    }

    /// Handles a replica's reply to a batch of this term: a majority may have stored more entries, or heard from this
    /// leader.
    fn count(&self, peer: usize, term: u64, sent: Duration, stored: &Stored) {
        let mut state = self.lock();
        self.follow(&mut state, stored.term);
        if state.term != term || stored.term != term {
            return;
        }
        let State { log, leading: Some(leading), heard_at, .. } = &mut *state else { return };
        let progress = &mut leading.replicas[peer];
        progress.heard_at = sent;
        if stored.fits {
            progress.matched = progress.matched.max(stored.index);
            progress.next = progress.matched + 1;
        } else {
            progress.next = (stored.index + 1).min(progress.next - 1).max(1);
        }
        *heard_at = at_least(self.majority(), leading.replicas.iter().map(|replica| replica.heard_at)).max(*heard_at);
        let enough = self.majority() - usize::from(self.has(Defect::CommitsByMinority));
        let commit = at_least(enough, leading.replicas.iter().map(|replica| replica.matched));
        // Entries of earlier terms are committed together with the first one of this term.
        if log.entry(commit).is_some_and(|entry| entry.term == term) {
            self.apply(&mut state, commit);
        }
    }

    /// Applies the entries up to `commit`.
    fn apply(&self, state: &mut State, commit: u64) {
        let (now, Settings { observer, defect, .. }) = (self.lease_clock(), &self.0.settings);
        let notes_renewals = state.leading.is_some() || !self.has(Defect::ForgetsRenewals);
        let State { log, machine, renewed, .. } = state;
        while let Some(entry) = log.entry(machine.index + 1).filter(|_| machine.index < commit) {
            machine.apply(entry, *defect);
            observer.applied(machine.index, entry);
            let command = entry.command.as_ref().filter(|command| command.kind() == Kind::Acquire);
            if let Some(command) = command.filter(|_| notes_renewals) {
                renewed.insert(command.key.clone(), now);
            }
            self.0.changes.notify_waiters();
        }
    }
}

impl Replication for Replica {
    async fn elect(&self, request: Request<Ballot>) -> Result<Response<Vote>, Status> {
        let ballot = request.get_ref();
        let vote = {
            let (mut state, now) = (self.lock(), self.now());
            // A leader may be serving reads because this replica has heard from it.
            let has_leader = now < state.heard_at + QUIET;
            if !has_leader {
                self.follow(&mut state, ballot.term);
            }
            let has_voted = state.voted_for.is_some_and(|vote| Some(vote) != ballot.candidate);
            let is_free = !has_voted || self.has(Defect::VotesTwice);
            let lacks_entries = (ballot.last_term, ballot.last_index) < state.log.last();
            let may_lead = !lacks_entries || self.has(Defect::VotesForShortLog);
            let is_granted = ballot.term == state.term && !has_leader && is_free && may_lead;
            if is_granted {
                self.set_term(&mut state, ballot.term, ballot.candidate);
                state.stands = now + election_timeout();
            }
            Vote { term: state.term, is_granted }
        };
        self.0.process.disk().sync().await;
        Ok(Response::new(vote))
    }

    async fn append(&self, request: Request<Batch>) -> Result<Response<Stored>, Status> {
        let batch = request.into_inner();
        let (term, commit) = (batch.term, batch.commit);
        let stored = {
            let (mut state, now) = (self.lock(), self.now());
            self.follow(&mut state, term);
            if term == state.term && state.leading.is_none() {
                (state.heard_at, state.stands) = (now, now + election_timeout());
            }
            if term < state.term && !self.has(Defect::TermNotChecked) {
                Stored { term: state.term, ..Stored::default() }
            } else if let Some(index) = state.log.take(batch) {
                self.apply(&mut state, commit.min(index));
                Stored { term, fits: true, index }
            } else {
                Stored { term, fits: false, index: state.log.last().1 }
            }
        };
        if !self.has(Defect::AnswersBeforeSync) {
            self.0.process.disk().sync().await;
        }
        Ok(Response::new(stored))
    }
}

/// Returns the greatest value that at least `count` of the values reach.
fn at_least<T: Ord>(count: usize, values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(|one, other| other.cmp(one));
    values.swap_remove(count - 1)
}

/// Returns a random time after which a replica becomes a candidate.
fn election_timeout() -> Duration {
    QUIET + Duration::from_millis(fastrand::u64(..QUIET.as_millis() as u64))
}
