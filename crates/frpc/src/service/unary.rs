//! Unary methods: how a request becomes a handler's future, and its outcome a reply.

mod pending;

use crate::api::extras::{Extras, Held};
use crate::api::hand_off::HandOff;
use crate::api::metadata;
use crate::api::middleware::{About, Chain, Lent};
use crate::api::request::Origin;
use crate::deadline::{self, Inherited};
use crate::observe::TraceContext;
use crate::observe::tally::{Finish, Unwatched, Watch};
use crate::observe::watching::Watcher;
use crate::schema::method::{FullName, Method};
use crate::service::caller::Caller;
use crate::service::failures::{nobody_waits, overloaded, panicked, refuse, takes_too_much, too_many};
use crate::service::guarded::Guard;
use crate::service::hand_off;
use crate::service::handle::ServiceHandle;
use crate::service::served::{Instance, MayBePacked, Running, Unary};
use crate::wire::body::{self, Reading, Received, Style};
use crate::wire::packed;
use crate::wire::prefix::{self, Prefix};
use crate::{Code, Policy, Request, Response, Status};
use bytes::Bytes;
use frisbee::support::{Cell, Parked, Polled, Site, TrustHandle};
use frisbee::{Operation, Outbox, Packet, Routed};
use polyglot::{Form, Message};
use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

pub(crate) use pending::held_to;
use pending::{Answer, Asked, Pending, code, put_reply};

/// A unary method of a service.
pub(crate) struct Handler<S, H, T> {
    service: Arc<S>,
    about: About,
    handler: H,
    types: PhantomData<fn() -> T>,
}

impl<S, H, T> Handler<S, H, T> {
    pub(crate) fn new(service: &Arc<S>, about: About, handler: H) -> Self {
        Self { service: service.clone(), about, handler, types: PhantomData }
    }
}

impl<S, H, A, B, F> Unary for Handler<S, H, (A, B, F)>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn instance(
        &self,
        running: &Running,
        reading: Reading,
        chain: Option<&Arc<Chain>>,
        watcher: Option<&Watcher>,
        guard: Option<&Guard>,
        packed: MayBePacked,
    ) -> Box<dyn Instance> {
        #[cfg(feature = "zstd")]
        if packed != MayBePacked::Nothing {
            let packs = packed == MayBePacked::RequestsAndReplies;
            return match watcher {
                None => Box::new(self.serving::<_, true>(running, reading, chain, Unwatched, guard, packs)),
                Some(watcher) => {
                    Box::new(self.serving::<_, true>(running, reading, chain, watcher.clone(), guard, packs))
                }
            };
        }
        #[cfg(not(feature = "zstd"))]
        let _ = packed;
        match watcher {
            None => Box::new(self.serving::<_, false>(running, reading, chain, Unwatched, guard, false)),
            Some(watcher) => Box::new(self.serving::<_, false>(running, reading, chain, watcher.clone(), guard, false)),
        }
    }
}

impl<S, H, A, B, F> Handler<S, H, (A, B, F)>
where
    H: Clone,
    F: Future,
{
    fn serving<W: Watch, const PACKED: bool>(
        &self,
        running: &Running,
        reading: Reading,
        chain: Option<&Arc<Chain>>,
        watch: W,
        guard: Option<&Guard>,
        packs: bool,
    ) -> Serving<S, H, A, F, W, PACKED> {
        let permits = match running.policy {
            Policy::AtMost(count) => Some(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)))),
            _ => None,
        };
        Serving {
            service: ServiceHandle::of_connection(&self.service),
            handler: self.handler.clone(),
            cell: Cell::default(),
            within: Cell::default(),
            reading,
            trust: (running.policy == Policy::Inline).then(|| TrustHandle::of_connection(&running.trust)),
            permits,
            around: chain.map(|chain| (chain.clone(), self.about)),
            name: self.about.method().full_name(),
            watch,
            came: None,
            guard: guard.cloned(),
            packs,
            request: PhantomData,
        }
    }
}

impl<S, H, A, F: Future, W: Watch, const PACKED: bool> Serving<S, H, A, F, W, PACKED> {
    /// Whether handlers may be polled in place, as far as the method goes.
    #[inline]
    fn is_inline(&self) -> bool {
        self.trust.as_ref().is_some_and(|trust| trust.is_kept())
    }

    /// Begins a call whose body is no message by itself, and makes it one: takes the prefix off it, and unpacks it.
    #[cold]
    fn begin_unread(&mut self, caller: &Caller, body: &mut Bytes) -> Result<Terms, Status> {
        let terms = self.begin_with_prefix(body)?;
        *body = packed::unpacked(std::mem::take(body), packed::REQUEST, &caller.connection)?;
        Ok(terms)
    }

    /// Begins a call that comes with a prefix, and takes it off the body.
    #[cold]
    fn begin_with_prefix(&mut self, body: &mut Bytes) -> Result<Terms, Status> {
        let length = body.len();
        self.came = prefix::take_trace(body);
        if self.came.is_some() {
            self.watch.begin(length, || self.came);
            self.guard.as_ref().map_or(Ok(()), Guard::admit)?;
            return Ok(Terms { is_traced: true, ..Terms::default() });
        }
        if let Some(mut extras) = prefix::take_entry(body) {
            self.watch.begin(length, || None);
            if let Some(guard) = &self.guard {
                guard.admit_by(&mut extras)?;
            }
            return Ok(Terms { extras, memory: metadata::MEMORY, ..Terms::default() });
        }
        self.watch.begin(length, || prefix::trace(body));
        Terms::take(body, &mut self.came, self.guard.as_ref())
    }

    /// What calls of a handler inherit. `is_traced` says that its request came with a place in a trace.
    #[cold]
    fn inherited(&self, deadline: Option<Instant>, is_traced: bool) -> Inherited {
        Inherited { deadline, trace: self.watch.passed_on(self.came.filter(|_| is_traced)) }
    }

    /// Where a handler that was polled in place goes on.
    fn site(&self, operation: Operation) -> Site {
        self.trust.clone().map_or(Site::Runtime, |trust| Site::Worker(operation, trust))
    }

    /// Refuses a request.
    #[inline(always)]
    fn refuse(&self, caller: &Caller, asked: Asked, status: &Status, outbox: &mut Outbox) -> Routed {
        let before = self.watch.before(outbox);
        let routed = refuse(outbox, asked.id, asked.operation, status, caller.style());
        self.watch.end(caller.tally(), || status.code(), outbox, before);
        routed
    }

    /// Answers a request whose handler panicked.
    #[inline(always)]
    fn put_panicked(&self, caller: &Caller, asked: Asked, panic: &(dyn Any + Send), outbox: &mut Outbox) {
        let status = panicked(panic, self.name, &caller.connection);
        let before = self.watch.before(outbox);
        body::put_error(outbox, asked.id, asked.operation, &status, caller.style());
        self.watch.end(caller.tally(), || status.code(), outbox, before);
    }
}

/// A unary method on one connection. `PACKED` says that its requests may be packed, and perhaps its replies: others have
/// no code for that.
struct Serving<S, H, A, F: Future, W: Watch, const PACKED: bool> {
    service: ServiceHandle<S>,
    handler: H,
    cell: Cell<F, Answer<W::Task>>,
    /// For calls with middleware.
    within: Cell<Lent<F::Output>, Answer<W::Task>>,
    /// How requests are read.
    reading: Reading,
    /// For [`Policy::Inline`].
    trust: Option<TrustHandle>,
    /// For [`Policy::AtMost`].
    permits: Option<Arc<Semaphore>>,
    /// The middleware around calls.
    around: Option<(Arc<Chain>, About)>,
    /// The name for log lines.
    name: FullName,
    /// Who observes the calls.
    watch: W,
    /// The place in a trace that the last request came with that had one. Here, since others should not look at it.
    came: Option<TraceContext>,
    /// Lets in calls that come with a prefix, if there are rules.
    guard: Option<Guard>,
    /// Replies are packed.
    packs: bool,
    request: PhantomData<fn() -> A>,
}

impl<S, H, A, B, F, W, const PACKED: bool> Instance for Serving<S, H, A, F, W, PACKED>
where
    W: Watch,
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn call(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed {
        if !PACKED {
            return self.serve(caller, packet, outbox, inline);
        }
        // Packing and unpacking take long for their bytes. Behind a prefix there may be something packed.
        let is_slow = self.packs || !prefix::is_bare(&packet.body);
        match self.serve(caller, packet, outbox, inline) {
            Routed::Continue if is_slow => Routed::Slow,
            routed => routed,
        }
    }

    #[cold]
    fn hand_off(&mut self, caller: &Caller, method: Method, asked: frisbee::HandOffRequest) -> Routed {
        let mut body = asked.request().clone();
        self.watch.begin(body.len(), || traced(&body, caller.style()));
        let watched = self.watch.go_on();
        let received = Terms::take(&mut body, &mut self.came, self.guard.as_ref())
            .and_then(|terms| Ok((terms, body::request::<A>(&body, self.reading)?)));
        let (Terms { deadline, is_traced, timeout, extras, memory: before }, Received { message, memory }) =
            match received {
                Ok(received) => received,
                Err(status) => {
                    asked.refuse(hand_off::refusal(&status, method));
                    watched.finish(|| status.code(), || 0);
                    return Routed::Wasted;
                }
            };
        drop(body);
        if takes_too_much(&caller.connection, memory) {
            let status = overloaded();
            asked.refuse(hand_off::refusal(&status, method));
            watched.finish(|| status.code(), || 0);
            return Routed::Wasted;
        }
        let decision = HandOff::default();
        let origin = Origin::Asked(Box::new((caller.connection.clone(), decision.clone())));
        let request = Request::together(message, timeout, origin, extras);
        let (service, handler) = (self.service.clone(), self.handler.clone());
        let last = move |request| handler(service, request);
        let future: Pin<Box<dyn Future<Output = _> + Send>> = match &self.around {
            None => Box::pin(last(request)),
            Some((chain, about)) => Box::pin(chain.around(about.title(), request, last)),
        };
        let inherited = self.inherited(deadline, is_traced);
        let work = held_to(self.permits.clone(), inherited, Parked::new(future));
        let work = async move {
            let worked = work.await;
            watched.finish(|| worked.as_ref().map_or(Code::Internal, code), || 0);
            worked
        };
        let mut asked = Some(asked);
        let spawned = caller.connection.spawn_call(None, before + memory, Site::Runtime, |task| {
            let asked = asked.take();
            Box::pin(async move {
                if let Some(asked) = asked {
                    hand_off::decide(asked, method, &decision, work, task).await;
                }
            })
        });
        if let Some(asked) = asked.filter(|_| !spawned) {
            caller.connection.count_shed();
            asked.refuse(hand_off::refusal(&too_many(&caller.connection), method));
        }
        Routed::Continue
    }

    fn is_needed(&self) -> bool {
        self.permits.as_ref().is_some_and(|permits| Arc::strong_count(permits) > 1)
    }
}

impl<S, H, A, B, F, W, const PACKED: bool> Serving<S, H, A, F, W, PACKED>
where
    W: Watch,
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    /// Serves a request, as an instance does.
    #[inline(always)]
    fn serve(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed {
        let Packet { id, operation, mut body } = packet;
        let style = caller.style();
        let asked = Asked { id, operation };
        let mut terms = Terms::default();
        if PACKED && style.form == Form::Extended && !prefix::is_bare(&body) {
            match self.begin_unread(caller, &mut body) {
                Ok(taken) => terms = taken,
                Err(status) => return self.refuse(caller, asked, &status, outbox),
            }
        } else if style.form == Form::Extended && prefix::is_present(&body) {
            match self.begin_with_prefix(&mut body) {
                Ok(taken) => terms = taken,
                Err(status) => return self.refuse(caller, asked, &status, outbox),
            }
        } else {
            self.watch.begin(body.len(), || None);
        }
        let Received { message, memory } = match body::request::<A>(&body, self.reading) {
            Ok(received) => received,
            Err(status) => return self.refuse(caller, asked, &status, outbox),
        };
        drop(body);
        if takes_too_much(&caller.connection, memory) {
            return self.refuse(caller, asked, &overloaded(), outbox);
        }
        let Terms { deadline, is_traced, timeout, extras, memory: before } = terms;
        let request = Request::together(message, timeout, caller.origin(), extras);
        if self.around.is_some() {
            let asked = AskedWithin { asked, deadline, is_traced, memory: [before, memory] };
            return self.call_through(caller, request, asked, outbox, inline);
        }
        if !(inline && self.is_inline()) {
            let inherited = self.inherited(deadline, is_traced);
            let call = self.pending(caller, asked, inherited, [before, memory]);
            return self.call_apart(request, call, outbox);
        }
        let polled = if deadline.is_some() || self.watch.passes_on(is_traced) {
            self.poll_within(self.inherited(deadline, is_traced), request)
        } else {
            self.cell.poll(|| (self.handler)(self.service.clone(), request))
        };
        match polled {
            // By reference: the reply is read in place.
            Polled::Ready(ref reply) => {
                // Packets that the handler has sent by handles go first.
                caller.connection.collect(outbox);
                if let Err(status) = reply {
                    caller.note(status, self.name);
                }
                let before = self.watch.before(outbox);
                put_reply(outbox, asked, reply.as_ref(), style, None, PACKED && self.packs);
                self.watch.end(caller.tally(), || code(reply), outbox, before);
            }
            Polled::Pending(parked) => {
                let (site, inherited) = (self.site(operation), self.inherited(deadline, is_traced));
                let call = self.pending(caller, asked, inherited, [before, memory]);
                return call.go_on(parked, site, None, outbox, &self.watch);
            }
            Polled::Panicked(panic) => self.put_panicked(caller, asked, panic.as_ref(), outbox),
        }
        Routed::Continue
    }

    /// Calls a handler within its middleware.
    #[cold]
    #[inline(never)]
    fn call_through(
        &mut self,
        caller: &Caller,
        request: Request<A>,
        AskedWithin { asked, deadline, is_traced, memory }: AskedWithin,
        outbox: &mut Outbox,
        inline: bool,
    ) -> Routed {
        let Some((chain, about)) = &self.around else { return Routed::Continue };
        let (service, handler) = (self.service.clone(), self.handler.clone());
        let last = move |request| handler(service, request);
        if !(inline && self.is_inline()) {
            let around = Cell::park(Lent::new(chain, about.title(), request, last));
            let call = self.pending(caller, asked, self.inherited(deadline, is_traced), memory);
            return call.go_on(around, Site::Runtime, self.permits.clone(), outbox, &self.watch);
        }
        let mut place = self.within.place();
        match &mut *place {
            Some(around) => around.begin(|| about.title(), request, last),
            None => place.set(Some(Lent::new(chain, about.title(), request, last))),
        }
        // Mostly nothing, and then it is not put anywhere.
        let inherited = match deadline.is_some() || self.watch.passes_on(is_traced) {
            true => Some(self.inherited(deadline, is_traced)),
            false => None,
        };
        let polled = deadline::perhaps_within(inherited, || self.within.poll_kept());
        match polled {
            Polled::Ready(ref reply) => {
                caller.connection.collect(outbox);
                if let Err(status) = reply {
                    caller.note(status, self.name);
                }
                let before = self.watch.before(outbox);
                put_reply(outbox, asked, reply.as_ref(), caller.style(), None, PACKED && self.packs);
                self.watch.end(caller.tally(), || code(reply), outbox, before);
            }
            Polled::Pending(parked) => {
                let (site, inherited) = (self.site(asked.operation), self.inherited(deadline, is_traced));
                let call = self.pending(caller, asked, inherited, memory);
                return call.go_on(parked, site, None, outbox, &self.watch);
            }
            Polled::Panicked(panic) => self.put_panicked(caller, asked, panic.as_ref(), outbox),
        }
        Routed::Continue
    }
}

impl<S, H, A, B, F, W, const PACKED: bool> Serving<S, H, A, F, W, PACKED>
where
    W: Watch,
    H: Fn(ServiceHandle<S>, Request<A>) -> F,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    B: Message + Send + 'static,
{
    /// Polls a handler whose own calls inherit something.
    #[cold]
    #[inline(never)]
    fn poll_within(&mut self, inherited: Inherited, request: Request<A>) -> Polled<F, Answer<W::Task>> {
        deadline::within(inherited, || self.cell.poll(|| (self.handler)(self.service.clone(), request)))
    }

    /// A call whose handler is not ready. Its prefix and its request have so many bytes of memory.
    #[inline(always)]
    fn pending<'a>(&self, caller: &'a Caller, asked: Asked, inherited: Inherited, memory: [usize; 2]) -> Pending<'a> {
        Pending { caller, asked, inherited, memory, name: self.name, packs: PACKED && self.packs }
    }

    /// Gives a call a task of its own.
    #[cold]
    #[inline(never)]
    fn call_apart(&self, request: Request<A>, call: Pending<'_>, outbox: &mut Outbox) -> Routed {
        let future = (self.handler)(self.service.clone(), request);
        call.go_on(Cell::park(future), Site::Runtime, self.permits.clone(), outbox, &self.watch)
    }
}

/// What else is known of a request whose handler is called within middleware.
struct AskedWithin {
    asked: Asked,
    deadline: Option<Instant>,
    is_traced: bool,
    /// The memory of the prefix and of the request, in bytes.
    memory: [usize; 2],
}

/// The terms in the prefix of a request.
#[derive(Default)]
struct Terms {
    deadline: Option<Instant>,
    /// The request came with a place in a trace.
    is_traced: bool,
    timeout: Option<Duration>,
    /// Contains the metadata.
    extras: Held,
    /// The approximate memory of the metadata, in bytes.
    memory: usize,
}

impl Terms {
    #[cold]
    fn take(body: &mut Bytes, trace: &mut Option<TraceContext>, guard: Option<&Guard>) -> Result<Self, Status> {
        let is_present = prefix::is_present(body);
        let mut prefix = Prefix::default();
        if is_present && prefix::take_to(body, &mut prefix).is_err() {
            return Err(body::malformed("request"));
        }
        let Prefix { timeout, mut extras, trace: found, .. } = prefix;
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(nobody_waits());
        }
        let deadline = timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        let memory = Extras::metadata(extras.as_deref()).memory();
        if let Some(guard) = guard.filter(|_| is_present) {
            guard.admit_by(&mut extras)?;
        }
        *trace = found;
        Ok(Self { deadline, is_traced: found.is_some(), timeout, extras, memory })
    }
}

/// The place in a trace that a request comes with. Plain peers have no prefixes.
fn traced(body: &Bytes, style: Style) -> Option<TraceContext> {
    if style.form == Form::Extended { prefix::trace(body) } else { None }
}
