//! Translations between a peer's layout of a service and the local layout, and a cache of the translation plans.

use crate::Status;
use crate::observe::TranslatedService;
use crate::schema::layout::Layout;
use crate::wire::compressed;
use bytes::Bytes;
use frisbee::Connection;
use frisbee::rpc::ConnectionExt;
use parking_lot::Mutex;
use polyglot::layout::{Description, DescriptionError, Fingerprint, Limits, Plan, Root};
use polyglot::{DecodeError, Form, NESTING_CEILING, Nesting};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of cached translation plans. Sufficient for forty services with clients of 25 versions.
const CACHED_MAX: usize = 1024;

/// Maximum memory in bytes of cached translation plans that no connection uses. A plan for fifty messages takes about
/// 10 KiB.
const UNUSED_MAX: usize = 4 * 1024 * 1024;

/// Maximum capacity in bytes of the translation buffer that a thread keeps. Longer messages use a temporary buffer.
const SCRATCH_MAX: usize = 16 * 1024;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer of the thread for the input or output of a translation. It is empty when it is taken, and returned on drop.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) Vec<u8>);

impl Scratch {
    pub(crate) fn take() -> Self {
        Self(SCRATCH.take())
    }

    /// Returns whether the content exceeds what a thread keeps.
    pub(crate) fn is_long(&self) -> bool {
        self.0.len() > SCRATCH_MAX
    }

    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.is_long() { mem::take(&mut self.0).into() } else { Bytes::copy_from_slice(&self.0) }
    }
}

impl Drop for Scratch {
    #[inline]
    fn drop(&mut self) {
        // Large buffers are freed, so that a single long message does not enlarge the thread's buffer.
        if self.0.capacity() <= SCRATCH_MAX {
            self.0.clear();
            SCRATCH.set(mem::take(&mut self.0));
        }
    }
}

/// The side of the connection that calls a service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Caller {
    Peer,
    This,
}

/// Plans for translating a service's messages between two wire layouts.
#[derive(Debug)]
pub(crate) struct ServicePlans {
    /// Plan for translating received messages from the peer's layout to the local one.
    incoming: Plan,
    outgoing: Plan,
    /// Plan for each method of the peer's layout, in the order of the peer's operation numbers.
    methods: Vec<MethodPlan>,
    /// Approximate memory used by the plans in bytes.
    pub(crate) memory: usize,
    counts: Arc<TranslationCounts>,
}

/// Counts of a service's translated calls and skipped fields, kept when the plans are evicted from the cache.
#[derive(Debug, Default)]
struct TranslationCounts {
    calls: AtomicU64,
    /// Number of fields that were set by the writer of a message and do not exist in the schema of its reader.
    skipped: AtomicU64,
}

/// Relation of a method in the peer's layout to the methods of the local layout.
#[derive(Debug)]
enum MethodPlan {
    /// The method corresponds to the local method with this index.
    Known { index: usize, incoming: Option<Root>, outgoing: Option<Root> },
    /// The local service has no method with this name.
    Absent(Box<str>),
    /// The local method with this index has incompatible message types.
    Incompatible(usize, Box<str>),
}

/// Operation number of a method, and the translation of its messages if they need one.
pub(crate) type FoundMethod = (u16, Option<Arc<Translation>>);

/// Translation of one method's requests and replies between the wire layouts of both peers.
#[derive(Debug)]
pub(crate) struct Translation {
    plans: Arc<ServicePlans>,
    incoming: Option<Root>,
    outgoing: Option<Root>,
}

/// Parses the descriptions of a service: the local one and the peer's.
fn parse(own: &Layout, peer: &[u8]) -> Result<(Description, Description), String> {
    let parse = |bytes: &[u8]| Description::parse(bytes).map_err(|error: DescriptionError| error.to_string());
    let (here, there) = (parse(own.description)?, parse(peer)?);
    if there.name != here.name {
        return Err(format!("it describes {:?} instead of {:?}", there.name, here.name));
    }
    Ok((here, there))
}

impl ServicePlans {
    /// Returns the cached plans for a native peer's layout, if there are any.
    pub(crate) fn cached(own: &'static Layout, peer: Fingerprint, caller: Caller) -> Option<Arc<Self>> {
        CACHE.lock().get_or_insert_default().find(&(own.fingerprint, peer, caller, Form::Extended))
    }

    /// Returns the plans for compat peers with the layout `peer`.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    pub(crate) fn compat(own: &'static Layout, peer: &Layout, caller: Caller) -> Result<Arc<Self>, String> {
        let key = (own.fingerprint, peer.fingerprint, caller, Form::Flat);
        let cached = CACHE.lock().get_or_insert_default().find(&key);
        // The lock guard was dropped at the end of its statement. Otherwise, `new` would deadlock.
        cached.map_or_else(|| Self::new(own, peer.description, caller, Form::Flat), Ok)
    }

    /// Creates and caches the plans for the peer's layout, given by its encoded description. Messages to the peer are
    /// encoded in `form`.
    ///
    /// # Errors
    /// If the description is malformed or describes another service, or the plans would exceed a limit.
    pub(crate) fn new(own: &'static Layout, peer: &[u8], caller: Caller, form: Form) -> Result<Arc<Self>, String> {
        let fingerprint = Fingerprint::of(peer);
        let (here, there) = parse(own, peer)?;
        let same = |name: &str| here.methods.iter().position(|method| method.name == name);
        let pairs: Vec<_> = there.methods.iter().map(|method| (method, same(&method.name))).collect();
        let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
        for (theirs, ours) in pairs.iter().filter_map(|(theirs, at)| Some((*theirs, here.methods.get((*at)?)?))) {
            let [request, reply] = [(theirs.request, ours.request), (theirs.reply, ours.reply)];
            let (read, (own, peer)) = match caller {
                Caller::Peer => (request, (ours.reply, theirs.reply)),
                Caller::This => (reply, (ours.request, theirs.request)),
            };
            incoming.push(read);
            outgoing.push((own, peer));
        }
        let plan = |from: &Description, to: &Description, roots: &[(u32, u32)], form| {
            Plan::new(from, to, roots, form).map_err(|error| error.to_string())
        };
        let plans = (plan(&there, &here, &incoming, Form::Extended)?, plan(&here, &there, &outgoing, form)?);
        let incompatible = |index, refusal: &polyglot::layout::Refusal, is_sent| {
            MethodPlan::Incompatible(index, refusal.describe(&here, own.names, is_sent, fingerprint).into())
        };
        let mut roots = incoming.into_iter().zip(outgoing);
        let method = |(theirs, index): (&polyglot::layout::Method, Option<usize>)| {
            let Some((index, ours)) = index.and_then(|index| Some((index, here.methods.get(index)?))) else {
                return MethodPlan::Absent(theirs.name.as_str().into());
            };
            let (read, write) = roots.next().unwrap_or_default();
            let streams = |of: &polyglot::layout::Method| (of.client_streams, of.server_streams);
            if streams(theirs) != streams(ours) {
                let text = format!(
                    "method {} has different streams at this end and at the peer (layout {fingerprint})",
                    ours.name
                );
                return MethodPlan::Incompatible(index, text.into());
            }
            match (plans.0.root(read.0, read.1), plans.1.root(write.0, write.1)) {
                (Ok(incoming), Ok(outgoing)) => MethodPlan::Known { index, incoming, outgoing },
                (Err(refusal), _) => incompatible(index, refusal, false),
                (_, Err(refusal)) => incompatible(index, refusal, true),
            }
        };
        let methods: Vec<_> = pairs.into_iter().map(method).collect();
        let (incoming, outgoing) = plans;
        let memory = size_of::<Self>() + size_of_val(&*methods) + incoming.memory() + outgoing.memory();
        // Lock the cache only after compiling the plans, so that the compilation does not block other connections.
        let mut cache = CACHE.lock();
        let cache = cache.get_or_insert_default();
        let counts = cache.counts.entry(own.service).or_default().clone();
        let plans = Arc::new(Self { incoming, outgoing, methods, memory, counts });
        cache.insert((own.fingerprint, fingerprint, caller, form), &plans);
        Ok(plans)
    }

    /// Returns the local operation number for a method that the peer calls, and the translation of its messages if they
    /// need one.
    ///
    /// # Errors
    /// If the local peer does not serve the method or cannot translate its messages.
    pub(crate) fn served(self: &Arc<Self>, own: &Layout, method: usize) -> Result<FoundMethod, Status> {
        match self.methods.get(method) {
            Some(MethodPlan::Known { index, incoming, outgoing }) if *index < own.operations.len() => {
                Ok((own.operations[*index], self.translation(*incoming, *outgoing)))
            }
            Some(MethodPlan::Absent(name)) => Err(Status::unimplemented(format!(
                "{} has no method {name} here: the schemas of the two ends differ",
                own.service
            ))),
            Some(MethodPlan::Incompatible(_, text)) => Err(Status::failed_precondition(&**text)),
            _ => Err(Status::unimplemented(format!("the layout of {} at the peer has no such method", own.service))),
        }
    }

    /// Returns the peer's operation number for a method that the local peer calls, and the translation of its messages
    /// if they need one.
    ///
    /// # Errors
    /// If the peer does not have the method, or the local peer cannot translate its messages.
    pub(crate) fn called(
        self: &Arc<Self>,
        own: &Layout,
        operation: u16,
        theirs: &[u16],
    ) -> Result<FoundMethod, Status> {
        let at = own.operations.binary_search(&operation).ok();
        let find = |method: &&MethodPlan| match method {
            MethodPlan::Known { index, .. } | MethodPlan::Incompatible(index, _) => Some(*index) == at,
            MethodPlan::Absent(_) => false,
        };
        match self.methods.iter().zip(theirs).find(|(method, _)| find(method)) {
            Some((MethodPlan::Known { incoming, outgoing, .. }, operation)) => {
                Ok((*operation, self.translation(*incoming, *outgoing)))
            }
            Some((MethodPlan::Incompatible(_, text), _)) => Err(Status::failed_precondition(&**text)),
            _ => Err(Status::unimplemented(format!("the peer does not have this method of {}", own.service))),
        }
    }

    fn translation(self: &Arc<Self>, incoming: Option<Root>, outgoing: Option<Root>) -> Option<Arc<Translation>> {
        let is_needed = incoming.is_some() || outgoing.is_some();
        is_needed.then(|| Arc::new(Translation { plans: self.clone(), incoming, outgoing }))
    }
}

impl Translation {
    /// Translates a received body, without its prefix, to the local layout, and appends the result to `out`. Returns
    /// `false` if the body needs no translation. `what` names the message in errors.
    ///
    /// # Errors
    /// If the body does not match the peer's layout, cannot be represented in the local layout, or would exceed the
    /// maximum body size after the translation.
    #[inline]
    pub(crate) fn read(
        &self,
        body: &[u8],
        out: &mut Scratch,
        what: &str,
        by: &Connection,
        nesting: Nesting,
    ) -> Result<bool, Status> {
        let Some(root) = self.incoming else { return Ok(false) };
        let limits = Limits { body: by.body_max() as usize, nesting };
        let translated = self.plans.incoming.translate(root, body, &mut out.0, limits).map_err(|error| {
            let text = format!("the {what} cannot be translated from the layout of the peer: {error}");
            if what == compressed::REQUEST { Status::invalid_argument(text) } else { Status::internal(text) }
        })?;
        self.count_skipped(translated.skipped);
        // Short bodies take little memory, so check only long ones.
        if out.is_long() && !by.has_room(out.0.len()) {
            by.count_rejected();
            let text = format!("the translated {what} was discarded: the memory limit for its sender is reached");
            return Err(Status::resource_exhausted(text).overload());
        }
        Ok(true)
    }

    /// Translates an encoded message to the peer's layout and appends the result to `out`.
    ///
    /// # Errors
    /// If the message cannot be represented in the layout of the peer, or would exceed `limit` bytes.
    pub(crate) fn write(&self, body: &[u8], out: &mut Vec<u8>, limit: u32) -> Result<(), DecodeError> {
        let Some(root) = self.outgoing else {
            out.extend_from_slice(body);
            return Ok(());
        };
        // The peer enforces its own nesting limit, so apply only the maximum.
        let limits = Limits { body: limit as usize, nesting: Nesting::new(NESTING_CEILING) };
        self.plans.outgoing.translate(root, body, out, limits).map(|translated| self.count_skipped(translated.skipped))
    }

    /// Counts a call with translated messages.
    pub(crate) fn count_call(&self) {
        self.plans.counts.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn count_skipped(&self, fields: u64) {
        if fields > 0 {
            // Relaxed, because nothing depends on the count.
            self.plans.counts.skipped.fetch_add(fields, Ordering::Relaxed);
        }
    }
}

impl TranslatedService {
    /// Returns the services of this process that peers use with another version of the schema, sorted by name.
    ///
    /// ```
    /// use frpc::observe::TranslatedService;
    ///
    /// for translated in TranslatedService::all() {
    ///     println!("{}: {} calls of {} other versions", translated.service, translated.calls, translated.layouts.len());
    /// }
    /// ```
    pub fn all() -> Vec<Self> {
        let cache = CACHE.lock();
        let Some(cache) = &*cache else { return Vec::new() };
        let service = |(service, counts): (&&'static str, &Arc<TranslationCounts>)| {
            let is_used = |plans: &ServicePlans| Arc::ptr_eq(&plans.counts, counts);
            // A count above 1 means that a connection uses the plans, because the cache holds one reference itself.
            let of_service =
                cache.plans.iter().filter(|(_, (plans, _))| is_used(plans) && Arc::strong_count(plans) > 1);
            let mut layouts: Vec<_> = of_service.map(|((_, peer, ..), _)| *peer).collect();
            layouts.sort_unstable_by_key(|layout| layout.bytes());
            layouts.dedup();
            let [calls, skipped_fields] = [&counts.calls, &counts.skipped].map(|count| count.load(Ordering::Relaxed));
            TranslatedService { service, layouts, calls, skipped_fields }
        };
        cache.counts.iter().map(service).collect()
    }
}

/// Cache of translation plans, indexed by the layouts of both peers.
#[derive(Default)]
struct Cache {
    plans: HashMap<Key, (Arc<ServicePlans>, u64)>,
    /// Number of lookups so far, used to find the least recently used plan.
    uses: u64,
    /// Counts of translated calls, by the name of the local service.
    counts: BTreeMap<&'static str, Arc<TranslationCounts>>,
}

type Key = (Fingerprint, Fingerprint, Caller, Form);

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

impl Cache {
    fn find(&mut self, key: &Key) -> Option<Arc<ServicePlans>> {
        self.uses = self.uses.wrapping_add(1);
        let (plans, used) = self.plans.get_mut(key)?;
        *used = self.uses;
        Some(plans.clone())
    }

    /// Adds plans to the cache, evicting the least recently used plans that no connection uses.
    fn insert(&mut self, key: Key, plans: &Arc<ServicePlans>) {
        let is_unused = |(plans, _): &(Arc<ServicePlans>, u64)| Arc::strong_count(plans) == 1;
        loop {
            let unused = self.plans.iter().filter(|(_, entry)| is_unused(entry));
            let memory: usize = unused.clone().map(|(_, (plans, _))| plans.memory).sum();
            if self.plans.len() < CACHED_MAX && memory <= UNUSED_MAX {
                break;
            }
            let Some(oldest) = unused.min_by_key(|(_, (_, used))| *used).map(|(key, _)| *key) else { return };
            self.plans.remove(&oldest);
        }
        self.uses = self.uses.wrapping_add(1);
        self.plans.insert(key, (plans.clone(), self.uses));
    }
}
