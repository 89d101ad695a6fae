//! The services and mounted routers that a client or server offers to its peer.

use crate::api::authorize::Authorize;
use crate::api::middleware::Chain;
use crate::calls::attachments::ConnectionEnd;
use crate::calls::table::CallTable;
use crate::debug::opaque_debug;
use crate::endpoint::table::{MethodSettings, Table};
use crate::observe::BatchObserver;
use crate::observe::observers::Observers;
use crate::schema::layout::Layout;
use crate::service::formats::FormatOptions;
use crate::service::lifecycle::{Lifecycle, OfferedService};
use crate::service::load::Load;
use crate::service::methods::Methods;
use crate::wire::compressed::{CompressedMethods, DECOMPRESSES, ZSTD};
use crate::wire::layouts::{CALLED, OFFERED};
use crate::wire::translation::{Caller, ServicePlans};
use crate::{Error, Policy};
use bytes::Bytes;
use frisbee::{Connection, Declaration, MountError, Mounts, Operation, Router as _};
use polyglot::Nesting;
use std::collections::BTreeMap;
use std::iter;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Services and mounted routers with their settings, as a builder of a server or channel collects them.
#[derive(Clone, Default)]
pub(crate) struct OfferBuilder {
    /// Functions that create the methods of the services, called whenever a server or channel is built.
    pub(crate) services: Vec<Arc<dyn Fn() -> Methods + Send + Sync>>,
    pub(crate) policy: Policy,
    pub(crate) methods: BTreeMap<String, MethodSettings>,
    pub(crate) mounts: Mounts,
    pub(crate) on_connect: Vec<Hook>,
    pub(crate) chain: Chain,
    /// Services that the local peer will call and therefore announces in its HELLO.
    pub(crate) called: Vec<&'static Layout>,
    /// Configured wire layouts of services on compat peers, which may equal the local layouts.
    pub(crate) compat: Vec<&'static Layout>,
    /// Maximum nesting depth accepted in the peer's messages.
    pub(crate) nesting: Nesting,
    pub(crate) observers: Option<Observers>,
    /// Whether calls in progress are recorded so that operators can list them.
    pub(crate) is_inspectable: bool,
    /// Access rules for incoming requests, if any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// Compression settings for outgoing messages, set if the local peer supports compression.
    pub(crate) compression: Option<Arc<CompressedMethods>>,
}

type Hook = Arc<dyn Fn(&Connection) + Send + Sync>;

/// Services and mounted routers that a server or client offers on each of its connections.
pub(crate) struct ServiceOffer {
    /// The part of the router's declaration to frisbee that is the same for dialled and accepted connections.
    pub(crate) declaration: Declaration,
    pub(crate) table: Table,
    pub(crate) mounts: Mounts,
    on_connect: Vec<Hook>,
    /// Services that the local peer calls and announces in its HELLO.
    pub(crate) called: Arc<[&'static Layout]>,
    /// Configured wire layouts of services on compat peers, which may equal the local layouts.
    pub(crate) compat: Arc<[&'static Layout]>,
    /// Message formats, and the maximum nesting depth of the peer's messages.
    pub(crate) options: FormatOptions,
    pub(crate) lifecycles: Vec<Arc<dyn Lifecycle>>,
    pub(crate) observers: Option<Arc<Observers>>,
    /// Whether there are neither mounted routers nor observers. If so, only calls are handled at the end of a driver
    /// poll.
    pub(crate) is_plain: bool,
    /// Descriptions of the offered services, for introspection.
    pub(crate) offered: Vec<OfferedService>,
    /// Whether calls in progress are recorded for inspection.
    pub(crate) is_inspectable: bool,
    /// Access rules for incoming requests, if any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// Load of the local peer, which is reported to clients for load balancing.
    pub(crate) load: Arc<Load>,
    /// Compression settings for outgoing messages, set if the local peer supports compression.
    pub(crate) compression: Option<Arc<CompressedMethods>>,
    /// Whether a graceful shutdown has begun.
    is_stopping: AtomicBool,
}

impl OfferBuilder {
    /// Returns the settings of a method for modification, adding them if necessary.
    pub(crate) fn method(&mut self, name: String) -> &mut MethodSettings {
        self.methods.entry(name).or_default()
    }

    /// Builds the services offered by the server or channel.
    ///
    /// # Errors
    /// If services or mounted routers overlap, or if a setting names a nonexistent method or cannot apply to its
    /// method.
    pub(crate) fn done(self: Arc<Self>) -> Result<Arc<ServiceOffer>, Error> {
        let this = Arc::unwrap_or_clone(self);
        let services: Vec<_> = this.services.iter().flat_map(|methods| methods().flat()).collect();
        let lifecycles: Vec<_> = services.iter().flat_map(|service| service.lifecycles.clone()).collect();
        let is_listed = this.is_inspectable || this.observers.is_some() || !lifecycles.is_empty();
        let offered: Vec<_> = if is_listed { services.iter().map(OfferedService::new).collect() } else { Vec::new() };
        let options = FormatOptions {
            nesting: this.nesting,
            #[cfg(feature = "json")]
            types: crate::service::json::types(services.iter().flat_map(|service| service.any_types)).map(Arc::new),
            ..FormatOptions::default()
        };
        let observers = this.observers.map(Arc::new);
        let access = this.access;
        let table =
            Table::new(services, this.policy, this.methods, &this.chain, observers.as_ref(), access.as_deref())?;
        let mounted = this.mounts.declaration();
        mounted.check()?;
        if let Some((kind, _)) = mounted.hello_items.iter().find(|(kind, _)| *kind < 64) {
            let owners = [format!("item {kind} of a mounted router for HELLO"), "those of frpc, below 64".to_owned()];
            return Err(MountError::Overlap { owners }.into());
        }
        for method in table.methods() {
            let operation = method.operation.number();
            let owner = || format!("the method {method} on {operation}");
            this.mounts.overlap(&(operation..=operation), owner).map_or(Ok(()), Err)?;
        }
        let offered_items = table.layouts.iter().map(|layout| (OFFERED, layout.item()));
        let called_items = this.called.iter().map(|layout| (CALLED, layout.item()));
        let decompresses = this.compression.iter().map(|_| (DECOMPRESSES, Bytes::from_static(&[ZSTD])));
        let compat = this.compat.iter().flat_map(|layout| layout.operations()).map(|operation| *operation..=*operation);
        let declaration = Declaration::default()
            .calls(gaps(&mounted.operations).chain(mounted.calls))
            .operations(table.operations().into_iter().chain(compat).chain(mounted.operations))
            .hello_items(offered_items.chain(called_items).chain(decompresses).chain(mounted.hello_items));
        declaration.check()?;
        lifecycles.iter().for_each(|lifecycle| lifecycle.offered(&offered));
        Ok(Arc::new(ServiceOffer {
            declaration,
            is_plain: this.mounts.is_empty() && observers.is_none(),
            observers,
            table,
            mounts: this.mounts,
            on_connect: this.on_connect,
            called: this.called.into(),
            compat: this.compat.into(),
            options,
            lifecycles,
            offered,
            is_inspectable: this.is_inspectable,
            access,
            load: Arc::default(),
            compression: this.compression,
            is_stopping: AtomicBool::new(false),
        }))
    }
}

impl ServiceOffer {
    /// Returns the batch observer, if there is one.
    pub(crate) fn batches(&self) -> Option<&dyn BatchObserver> {
        self.observers.as_ref()?.batches.as_deref()
    }

    /// Calls the `on_connect` hooks for a new connection.
    pub(crate) fn connected(&self, connection: &Connection) {
        self.on_connect.iter().for_each(|hook| hook(connection));
    }

    /// Returns the state to attach to a connection. `calls` is the table of outgoing calls if the local peer dialled
    /// the connection.
    pub(crate) fn end(&self, calls: Option<&Arc<CallTable>>) -> ConnectionEnd {
        ConnectionEnd {
            calls: calls.cloned(),
            nesting: self.options.nesting,
            observers: self.observers.clone(),
            compression: self.compression.clone(),
        }
    }

    /// Returns the local layout and the compat clients' layout of each service if they differ.
    pub(crate) fn compat_pairs(&self) -> impl Iterator<Item = (&'static Layout, &'static Layout)> {
        let own = |theirs: &&'static Layout| self.table.layouts.iter().find(|own| own.service == theirs.service);
        let pairs = self.compat.iter().filter_map(move |theirs| Some((*own(theirs)?, *theirs)));
        pairs.filter(|(own, theirs)| own != theirs)
    }

    /// Validates the wire layouts configured for compat clients.
    ///
    /// # Errors
    /// If the local peer does not offer one of the services, cannot translate its layout, or already uses one of its
    /// operations.
    pub(crate) fn check_compat(&self) -> Result<(), Error> {
        for (at, theirs) in self.compat.iter().enumerate() {
            let refused = |reason: String| Err(Error::CompatLayout { service: theirs.service.to_owned(), reason });
            let Some(own) = self.table.layouts.iter().find(|own| own.service == theirs.service) else {
                return refused("this server does not offer the service".to_owned());
            };
            if let Err(error) = ServicePlans::compat(own, theirs, Caller::Peer) {
                return refused(error);
            }
            let others = self.compat.iter().take(at).chain(
                // Skip services with a different compat layout, because compat clients do not use the local operation
                // numbers of these.
                self.table.layouts.iter().filter(|own| !self.compat.iter().any(|theirs| theirs.service == own.service)),
            );
            let taken = others.flat_map(|other| other.operations).copied();
            let is_mounted = |operation| Operation::user(operation).is_some_and(|of| self.mounts.contains(of));
            let mounted = theirs.operations.iter().copied().filter(|operation| is_mounted(*operation));
            if let Some(operation) = taken.chain(mounted).find(|taken| theirs.operations.contains(taken)) {
                return refused(format!("another service or router has operation {operation}"));
            }
        }
        Ok(())
    }

    /// Runs the shutdown hooks of all services, one after the other.
    pub(crate) async fn stopping(&self) {
        // Set the flag first, so that health checks report the shutdown while the hooks run.
        self.is_stopping.store(true, Ordering::Relaxed);
        for lifecycle in &self.lifecycles {
            lifecycle.stopping().await;
        }
    }

    /// Returns whether all services are ready for calls and no shutdown has begun.
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_stopping.load(Ordering::Relaxed) && self.lifecycles.iter().all(|lifecycle| lifecycle.is_ready())
    }
}

opaque_debug!([] ServiceOffer, "Offer", |this| methods = this.table.methods().collect::<Vec<_>>());

opaque_debug!(
    [] OfferBuilder, "Offering",
    |this| services = this.services.iter().map(|methods| methods()).collect::<Vec<_>>(), mounts = this.mounts
);

/// Defines the setters for offered services in a builder, which must have a field `offering`.
macro_rules! offering_setters {
    ($builder:ty) => {
        impl $builder {
            /// Returns the offer for modification. Stored in an `Arc`, so that its drop code is not instantiated in
            /// each program.
            fn offering(&mut self) -> &mut OfferBuilder {
                std::sync::Arc::make_mut(&mut self.offering)
            }

            /// Offers a service to the peer. Two services of one builder must not have methods with the same operation.
            ///
            /// Clients call the services of a server. A server can call the services of a channel while the connection
            /// lasts, through [`Channel::from_connection`](crate::Channel::from_connection); compat servers do not
            /// support this. Handlers run in the same way at clients and servers, and receive the same
            /// [`Request`](crate::Request)s.
            pub fn add_service<S: $crate::service::methods::Service>(mut self, service: S) -> Self {
                self.offering().services.push(std::sync::Arc::new(move || service.methods()));
                self
            }

            /// Mounts a custom router on a range of operations, such as `1000..=1099` or `1000..1100`, in addition to
            /// the services.
            ///
            /// The router receives packets with these operations, and streams whose first packet
            /// [names](frisbee::opening) one of them. The operations must not overlap with the operations of the
            /// offered services, which start at 10, or of services that the channel calls.
            ///
            /// ```
            /// use frpc::Server;
            /// use frpc::frisbee::Handlers;
            ///
            /// let builder = Server::builder().mount(1000..=1099, Handlers::new());
            /// ```
            pub fn mount<R: frisbee::Router>(mut self, operations: impl std::ops::RangeBounds<u16>, router: R) -> Self {
                let mounts = &mut self.offering().mounts;
                *mounts = std::mem::take(mounts).mount(operations, router);
                self
            }

            /// Sets the router for streams whose first packet names no operation. With a compat peer, such a packet may
            /// also be a late message of a closed stream.
            pub fn fallback<R: frisbee::Router>(mut self, router: R) -> Self {
                let mounts = &mut self.offering().mounts;
                *mounts = std::mem::take(mounts).fallback(router);
                self
            }

            /// Sets a function that is called for each new connection. It runs on the task of the connection and must
            /// not block. A channel calls it for its first connection and for each replacement.
            ///
            /// The function can create a [channel](crate::Channel::from_connection) to the peer, and add values to the
            /// [attachments](frisbee::Connection::attachments) of the connection.
            ///
            /// ```
            /// use frpc::Server;
            ///
            /// let builder = Server::builder().on_connect(|connection| println!("{:?}", connection.peer_addr()));
            /// ```
            pub fn on_connect(mut self, connected: impl Fn(&frisbee::Connection) + Send + Sync + 'static) -> Self {
                self.offering().on_connect.push(std::sync::Arc::new(connected));
                self
            }

            /// Sets a [`BatchObserver`](crate::observe::BatchObserver) of incoming and outgoing calls, such as the
            /// counters of the crate `frpc-telemetry`. Replaces the previous one.
            pub fn batch_observer(mut self, observer: impl $crate::observe::BatchObserver) -> Self {
                self.offering().observers.get_or_insert_default().batches = Some(Arc::new(observer));
                self
            }

            /// Sets an [`Observer`](crate::observe::Observer) of individual incoming and outgoing calls. Replaces the
            /// previous one.
            pub fn observer(mut self, observer: impl $crate::observe::Observer) -> Self {
                self.offering().observers.get_or_insert_default().observer = Some(Arc::new(observer));
                self
            }

            /// Sets the access rules for services and mounted routers, such as rules of the crate `frpc-access`; see
            /// [`Authorize`](crate::Authorize). By default every peer has access.
            pub fn access(mut self, access: impl $crate::Authorize) -> Self {
                self.offering().access = Some(std::sync::Arc::new(access));
                self
            }

            /// Accepts compressed messages, and announces this to native peers. Disabled by default, so that peers send
            /// no compressed messages. The method `compress` configures which messages are compressed when sending.
            ///
            /// A message may decompress to at most the maximum body size and 256 times its compressed length. Its
            /// memory is charged to the peer before it is decompressed.
            #[cfg(feature = "zstd")]
            pub fn accept_compressed(mut self) -> Self {
                self.offering().compression.get_or_insert_default();
                self
            }

            /// Announces a service that this client or server calls, as in `builder().calls::<EchoClient>()`.
            ///
            /// Native peers receive the announcement when the connection is established. Announcements are optional.
            /// With one, the first call of a channel does not have to wait for the server's HELLO, and a client with a
            /// newer schema knows the layout that a server uses for its calls. A generated client that connects by
            /// itself announces its service.
            pub fn calls<C: $crate::schema::layout::Client>(mut self) -> Self {
                if !self.offering().called.contains(&C::LAYOUT) {
                    self.offering().called.push(C::LAYOUT);
                }
                self
            }

            /// Sets the layout of a service at compat peers (Go), which cannot announce it. `C` is a client generated
            /// from the schema of these peers. By default, compat peers are assumed to have the local layout.
            ///
            /// Requests, responses and streamed messages are translated, so that this program may change its schema
            /// independently of Go programs. Generate code from the old schema into a separate module, and pass its
            /// client, as in `builder().compat_layout::<v1::ShopClient>()`. All compat peers must have the same layout
            /// of a service.
            ///
            /// Building a server fails if it does not offer the service, or one of the layout's operations is already
            /// used. A channel delays calls of the service until the kind of its server is known.
            pub fn compat_layout<C: $crate::schema::layout::Client>(mut self) -> Self {
                self.offering().compat.push(C::LAYOUT);
                self
            }

            /// Sets the maximum nesting depth of messages received from the peer, including the root: requests,
            /// responses and streamed messages. Defaults to 100, as in implementations of Protocol Buffers.
            ///
            /// A request that exceeds the limit fails with [`InvalidArgument`](crate::Code::InvalidArgument), and a
            /// call with a response beyond it fails with [`Internal`](crate::Code::Internal). The connection stays
            /// open.
            ///
            /// The value is clamped to the range from 1 to 200. The default stack of a thread suffices for 200 levels
            /// even in unoptimised builds; see [`NESTING_CEILING`](crate::polyglot::NESTING_CEILING). Sent messages may
            /// nest 200 levels deep, because the peer enforces its own limit. With the protobuf codec, the limit is 100
            /// levels, a constant of prost.
            pub fn nesting_max(mut self, levels: u32) -> Self {
                self.offering().nesting = polyglot::Nesting::new(levels);
                self
            }
        }
    };
}
pub(crate) use offering_setters;

/// Returns the user operations that are in none of `ranges`, which must be sorted and must not overlap.
fn gaps(ranges: &[RangeInclusive<u16>]) -> impl Iterator<Item = RangeInclusive<u16>> {
    let starts =
        iter::once(Operation::FIRST_USER.number()).chain(ranges.iter().filter_map(|range| range.end().checked_add(1)));
    let ends = ranges.iter().map(|range| range.start() - 1).chain([u16::MAX]);
    starts.zip(ends).map(|(start, end)| start..=end).filter(|gap| !gap.is_empty())
}

#[cfg(test)]
mod tests {
    use super::gaps;
    use crate::{Error, Server};
    use bytes::Bytes;
    use frisbee::{Connection, Declaration, MountError, Outbox, Packet, Routed, Router};

    /// A router that adds a HELLO item with this type, for tests of conflicts.
    struct Claiming(u8);

    impl Router for Claiming {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Discarded
        }

        fn declaration(&self) -> Declaration {
            Declaration::default().hello_items([(self.0, Bytes::new())])
        }
    }

    #[test]
    fn all_but_mounted_operations_are_calls() {
        for (mounted, calls) in [
            (vec![], vec![10..=u16::MAX]),
            (vec![10..=20, 22..=22, 30..=u16::MAX], vec![21..=21, 23..=29]),
            (vec![1000..=1099, 1100..=1200], vec![10..=999, 1201..=u16::MAX]),
        ] {
            assert_eq!(gaps(&mounted).collect::<Vec<_>>(), calls);
        }
    }

    /// Regression test: a mounted router could add a HELLO item with a reserved type, which the peer interpreted as an
    /// item of frpc.
    #[tokio::test]
    async fn mounted_router_cannot_claim_items_of_frpc() {
        let mounted = |kind| Server::builder().mount(1000..=1099, Claiming(kind)).build();
        for kind in [32, 34, 63] {
            let refused = mounted(kind).expect_err("item type of frpc should be rejected");
            let Error::Transport(frisbee::Error::Mount(refused)) = refused else { panic!("{refused}") };
            let MountError::Overlap { owners } = refused else { panic!("{refused}") };
            assert!(owners[0].starts_with(&format!("item {kind} ")), "{owners:?}");
        }
        mounted(64).expect("item type above the reserved range should be accepted");
    }
}
