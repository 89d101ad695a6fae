//! A replica of the store. It elects a leader, which orders the commands of clients; a command is answered when a
//! majority has it on their disks.
//!
//! This is the algorithm Raft, with the leases of its leader: a replica that has heard of a leader elects no other one
//! for a while, and so long the leader may read without asking anybody. Here is who decides what, and when; the log
//! itself is in `log.rs`, and the meaning of commands in `machine.rs`.

use crate::defects::Defect;
use crate::log::Log;
use crate::sealed::{Sealed, sealed};
use crate::store::WRITES_MAX;
use examples::replicated::{
    Ballot, Batch, Entry, Kind, Replication, ReplicationClient, ReplicationServer, StoreServer, Stored, Vote,
};
use frisbee_sim::Process;
use frpc::prost::Message;
use frpc::{Channel, Request, Response, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// The least time without a leader after which a replica elects one. Others wait for up to twice as long.
const QUIET: Duration = Duration::from_millis(300);

/// How long a leader reads after a majority has heard of it: less than [`QUIET`], as clocks differ.
pub(crate) const LEASE: Duration = Duration::from_millis(240);

/// How long a leader without followers still believes in itself.
const STEP_DOWN: Duration = Duration::from_secs(2);

/// The pause between two batches if there is nothing to say.
const HEARTBEAT: Duration = Duration::from_millis(60);

/// How long one replica waits for another.
const PATIENCE: Duration = Duration::from_millis(150);

/// The entries of one batch: few, so that replicas fall behind in a short world.
const BATCH_MAX: usize = 2;

/// What all replicas are told.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) replicas: Vec<String>,
    pub(crate) defect: Option<Defect>,
    pub(crate) observer: Arc<dyn Observer>,
}

/// Hears what happens: metrics in a service, and the conditions of the test in a simulation.
pub(crate) trait Observer: Send + Sync {
    /// A replica is the leader of a term from now on.
    fn leads(&self, term: u64, replica: usize);
    /// A replica has applied an entry.
    fn applied(&self, index: u64, entry: &Entry);
    /// A replica begins, with these places for writes that wait.
    fn begins(&self, replica: usize, places: Arc<Semaphore>);
}

/// A replica. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Replica(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) me: usize,
    pub(crate) process: Process,
    pub(crate) settings: Settings,
    pub(crate) state: Mutex<State>,
    /// Notified when the state changes.
    pub(crate) changes: Notify,
    /// Of the writes that wait.
    pub(crate) places: Arc<Semaphore>,
}

pub(crate) struct State {
    pub(crate) term: u64,
    pub(crate) voted_for: Option<u64>,
    pub(crate) role: Role,
    pub(crate) log: Log,
    /// When it has heard of a leader; for a leader, when a majority has.
    pub(crate) heard: Duration,
    /// When it stands for election.
    pub(crate) stands: Duration,
}

pub(crate) enum Role {
    Follower,
    Candidate { votes: BTreeSet<usize> },
    Leader(Leading),
}

/// What a leader knows.
pub(crate) struct Leading {
    /// The first entry of its term: what is committed before is known when this one is.
    pub(crate) first: u64,
    pub(crate) since: Duration,
    /// Of each replica: the next entry to send, the last one that it has, and the last batch that it has answered.
    pub(crate) next: Vec<u64>,
    pub(crate) matched: Vec<u64>,
    pub(crate) heard: Vec<Duration>,
    /// When leases were granted or renewed, as far as this leader has seen.
    pub(crate) renewed: BTreeMap<String, Duration>,
    /// The leases of a leader that keeps them to itself, and when they run out.
    pub(crate) own: BTreeMap<String, (u64, Duration)>,
}

impl State {
    pub(crate) fn leading(&mut self) -> Option<&mut Leading> {
        match &mut self.role {
            Role::Leader(leading) => Some(leading),
            _ => None,
        }
    }
}

impl Replica {
    /// Starts the replica of this number on a machine, with what is on its disk.
    pub(crate) async fn run(me: usize, process: Process, settings: Settings) {
        let (disk, now) = (process.disk(), process.clock().monotonic());
        let meta = disk.read("term").map(|bytes| Ballot::decode(&bytes[..]).expect("it was written whole"));
        let meta = meta.unwrap_or_default();
        let voted_for = meta.candidate.checked_sub(1);
        let log = Log::load(disk, settings.defect);
        // It may have heard of a leader just before it crashed.
        let (heard, stands) = (now, now + patience());
        let state = State { term: meta.term, voted_for, role: Role::Follower, log, heard, stands };
        let (state, changes, places) = (Mutex::new(state), Notify::new(), Arc::new(Semaphore::new(WRITES_MAX)));
        settings.observer.begins(me, places.clone());
        let replica = Self(Arc::new(Inner { me, process, settings, state, changes, places }));
        let server = frpc::Server::builder()
            .add_service(StoreServer::new(replica.clone()))
            .add_service(ReplicationServer::new(replica.clone()));
        replica.0.process.serve(server.build().expect("the services do not overlap"));
        for peer in (0..replica.0.settings.replicas.len()).filter(|peer| *peer != me) {
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

    fn majority(&self) -> usize {
        self.0.settings.replicas.len() / 2 + usize::from(!self.has(Defect::CommitsByMinority))
    }

    /// Waits until the state has something.
    pub(crate) async fn until<T>(&self, mut find: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.0.changes.notified());
            // From here on it is told; what has changed before is seen below.
            changed.as_mut().enable();
            if let Some(found) = find(&mut self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until all that was written is on the disk.
    pub(crate) async fn sync(&self) {
        self.0.process.disk().sync().await;
    }

    // Elections.

    /// Writes the term and the vote to the disk.
    fn set_term(&self, state: &mut State, term: u64, voted_for: Option<u64>) {
        (state.term, state.voted_for) = (term, voted_for);
        let kept = voted_for.filter(|_| !self.has(Defect::VoteNotOnDisk));
        let meta = Ballot { term, candidate: kept.map_or(0, |vote| vote + 1), ..Ballot::default() };
        self.0.process.disk().write("term", meta.encode_to_vec());
    }

    /// Follows whoever leads in this term.
    fn follow(&self, state: &mut State, term: u64) {
        if term > state.term {
            self.set_term(state, term, None);
        }
        if matches!(state.role, Role::Leader(_)) {
            state.stands = self.now() + patience();
        }
        state.role = Role::Follower;
        self.0.changes.notify_waiters();
    }

    /// Stands for election whenever there has been no leader for a while; gives up leading when nobody follows.
    async fn watch_over_leader(&self) {
        loop {
            let wait = {
                let (mut state, now) = (self.lock(), self.now());
                match state.role {
                    Role::Leader(_) if now > state.heard + STEP_DOWN => {
                        let term = state.term;
                        self.follow(&mut state, term);
                        QUIET
                    }
                    Role::Leader(_) => QUIET,
                    _ if now >= state.stands => {
                        self.stand(&mut state, now);
                        QUIET
                    }
                    _ => state.stands - now,
                }
            };
            self.0.process.clock().sleep(wait.max(Duration::from_millis(1))).await;
        }
    }

    fn stand(&self, state: &mut State, now: Duration) {
        let me = self.0.me;
        self.set_term(state, state.term + 1, Some(me as u64));
        state.role = Role::Candidate { votes: BTreeSet::from([me]) };
        state.stands = now + patience();
        let (last_index, last_term) = state.log.last();
        let ballot = sealed(Ballot { term: state.term, candidate: me as u64, last_index, last_term, checksum: 0 });
        for peer in (0..self.0.settings.replicas.len()).filter(|peer| *peer != me) {
            let replica = self.clone();
            self.0.process.spawn(async move {
                // Its own vote counts when it is on the disk.
                replica.sync().await;
                let Ok(vote) = replica.client(peer).elect(ballot).await else { return };
                if let Some(vote) = replica.checked(vote.into_inner()) {
                    replica.count(peer, ballot.term, vote);
                }
            });
        }
    }

    fn count(&self, peer: usize, term: u64, vote: Vote) {
        let mut state = self.lock();
        if vote.term > state.term {
            return self.follow(&mut state, vote.term);
        }
        let majority = self.0.settings.replicas.len() / 2 + 1;
        let Role::Candidate { votes } = &mut state.role else { return };
        if !vote.is_granted || vote.term != term {
            return;
        }
        votes.insert(peer);
        if votes.len() >= majority && state.term == term {
            self.lead(&mut state);
        }
    }

    fn lead(&self, state: &mut State) {
        let (count, now) = (self.0.settings.replicas.len(), self.now());
        self.0.settings.observer.leads(state.term, self.0.me);
        let first = state.log.push(Entry { term: state.term, command: None });
        state.heard = now;
        state.role = Role::Leader(Leading {
            first,
            since: self.lease_clock(),
            next: vec![first; count],
            matched: vec![0; count],
            heard: vec![Duration::ZERO; count],
            renewed: BTreeMap::new(),
            own: BTreeMap::new(),
        });
        let (replica, term) = (self.clone(), state.term);
        self.0.process.spawn(async move {
            replica.sync().await;
            replica.stored_here(term, first);
        });
        self.0.changes.notify_waiters();
    }

    // The leader's side of the log.

    /// Sends one replica what it lacks, for as long as this one leads, and again whenever it does.
    async fn feed(self, peer: usize) {
        let mut client = None;
        loop {
            let batch = self.until(|state| {
                let (term, from) = (state.term, state.leading()?.next[peer]);
                Some(sealed(Batch { term, ..state.log.batch(from, BATCH_MAX) }))
            });
            let (batch, sent) = (batch.await, self.now());
            let term = batch.term;
            let replies = client.get_or_insert_with(|| self.client(peer)).append(batch).await;
            match replies.ok().and_then(|stored| self.checked(stored.into_inner())) {
                Some(stored) => self.stored_there(peer, term, sent, stored),
                // Whatever is wrong with the connection, the next one may be better.
                None => client = None,
            }
            let news = self.until(|state| {
                let last = state.log.last().0;
                state.leading().is_some_and(|leading| leading.next[peer] <= last).then_some(())
            });
            drop(tokio::time::timeout(if client.is_some() { HEARTBEAT } else { PATIENCE / 5 }, news).await);
        }
    }

    /// Another replica has answered a batch.
    fn stored_there(&self, peer: usize, term: u64, sent: Duration, stored: Stored) {
        let mut state = self.lock();
        if stored.term > state.term {
            return self.follow(&mut state, stored.term);
        }
        if state.term != term || stored.term != term {
            return;
        }
        let Some(leading) = state.leading() else { return };
        leading.heard[peer] = sent;
        if stored.fits {
            leading.matched[peer] = leading.matched[peer].max(stored.index);
            leading.next[peer] = leading.matched[peer] + 1;
        } else {
            leading.next[peer] = (stored.index + 1).min(leading.next[peer] - 1).max(1);
        }
        self.advance(&mut state);
    }

    /// The own disk has all entries up to this one.
    pub(crate) fn stored_here(&self, term: u64, index: u64) {
        let (mut state, me) = (self.lock(), self.0.me);
        if state.term == term
            && let Some(leading) = state.leading()
        {
            leading.matched[me] = leading.matched[me].max(index);
            self.advance(&mut state);
        }
    }

    /// Notes what a majority has stored, and when a majority has heard of this leader.
    fn advance(&self, state: &mut State) {
        let (me, now, majority) = (self.0.me, self.now(), self.majority());
        let Some(leading) = state.leading() else { return };
        leading.heard[me] = now;
        let commit = at_least(majority, &leading.matched);
        let heard = at_least(majority, &leading.heard);
        state.heard = state.heard.max(heard);
        // Entries of older terms are committed by the first one of this term.
        if state.log.term_of(commit) == Some(state.term) || self.has(Defect::CommitsOldTerm) {
            self.apply(state, commit);
        }
        self.0.changes.notify_waiters();
    }

    /// Applies the entries up to this one.
    fn apply(&self, state: &mut State, commit: u64) {
        let now = self.lease_clock();
        while let Some(entry) = state.log.apply_up_to(commit) {
            self.0.settings.observer.applied(state.log.machine.index, &entry);
            if let (Some(leading), Some(command)) = (state.leading(), &entry.command)
                && command.kind() == Kind::Acquire
            {
                leading.renewed.insert(command.key.clone(), now);
            }
        }
        state.log.compact();
        self.0.changes.notify_waiters();
    }

    fn checked<M: Sealed>(&self, message: M) -> Option<M> {
        (message.is_intact() || self.has(Defect::CorruptionNotNoticed)).then_some(message)
    }

    fn client(&self, peer: usize) -> ReplicationClient {
        let connector = self.0.process.connector(&self.0.settings.replicas[peer]);
        let channel = Channel::builder().timeout(PATIENCE).connect_lazy_with_connector(connector);
        ReplicationClient::new(channel.expect("there is nothing to overlap"))
    }
}

impl Replication for Replica {
    async fn elect(&self, request: Request<Ballot>) -> Result<Response<Vote>, Status> {
        let ballot = self.checked(request.into_inner()).ok_or_else(changed)?;
        let vote = {
            let (mut state, now) = (self.lock(), self.now());
            // A leader may be reading because this replica has heard of it.
            let has_leader = now < state.heard + QUIET;
            if ballot.term > state.term && !has_leader {
                self.follow(&mut state, ballot.term);
            }
            let is_free = state.voted_for.is_none_or(|vote| vote == ballot.candidate) || self.has(Defect::VotesTwice);
            let (last_index, last_term) = state.log.last();
            let lacks_entries = (ballot.last_term, ballot.last_index) < (last_term, last_index);
            let may_lead = !lacks_entries || self.has(Defect::VotesForShortLog);
            let is_granted = ballot.term == state.term && !has_leader && is_free && may_lead;
            if is_granted {
                self.set_term(&mut state, ballot.term, Some(ballot.candidate));
                state.stands = now + patience();
            }
            Vote { term: state.term, is_granted, checksum: 0 }
        };
        self.sync().await;
        Ok(Response::new(sealed(vote)))
    }

    async fn append(&self, request: Request<Batch>) -> Result<Response<Stored>, Status> {
        let batch = self.checked(request.into_inner()).ok_or_else(changed)?;
        let (term, commit) = (batch.term, batch.commit);
        let stored = {
            let (mut state, now) = (self.lock(), self.now());
            let is_old = term < state.term;
            if is_old && !self.has(Defect::TermNotChecked) {
                Stored { term: state.term, ..Stored::default() }
            } else {
                if !is_old {
                    self.follow(&mut state, term);
                    (state.heard, state.stands) = (now, now + patience());
                }
                let taken = state.log.take(batch);
                if let Some(last) = taken {
                    self.apply(&mut state, commit.min(last));
                }
                Stored { term, fits: taken.is_some(), index: taken.unwrap_or(state.log.last().0), checksum: 0 }
            }
        };
        if !self.has(Defect::AnswersBeforeSync) {
            self.sync().await;
        }
        Ok(Response::new(sealed(stored)))
    }
}

/// The greatest value that at least so many of these reach.
fn at_least<T: Copy + Ord>(count: usize, values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable_by(|one, other| other.cmp(one));
    values[count - 1]
}

/// The time after which a replica stands for election.
fn patience() -> Duration {
    QUIET + Duration::from_millis(fastrand::u64(..QUIET.as_millis() as u64))
}

fn changed() -> Status {
    Status::data_loss("the message has changed on its way")
}
