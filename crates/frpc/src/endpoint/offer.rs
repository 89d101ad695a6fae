//! The offer of an end to its peer: services and mounted routers. Both ends may have one.

use crate::api::authorize::Authorize;
use crate::api::middleware::Chain;
use crate::calls::attachments::ConnectionEnd;
use crate::calls::table::CallTable;
use crate::debug::opaque_debug;
use crate::endpoint::table::{MethodSettings, Table};
use crate::observe::observers::Observers;
use crate::schema::layout::Layout;
use crate::service::formats::FormatTerms;
use crate::service::lifecycle::{Lifecycle, OfferedService};
use crate::service::load::Load;
use crate::service::methods::Methods;
use crate::wire::packed::Packing;
use crate::wire::translation::{Caller, ServicePlans};
use crate::{Error, Policy};
use frisbee::{Connection, MountError, Mounts, Operation, Protocol as _};
use polyglot::Nesting;
use std::fmt;
use std::sync::Arc;

/// The offer under construction in a builder.
#[derive(Clone, Default)]
pub(crate) struct OfferBuilder {
    /// Functions that create the methods of services, called for each server or channel.
    pub(crate) services: Vec<Arc<dyn Fn() -> Methods + Send + Sync>>,
    pub(crate) policy: Policy,
    pub(crate) methods: Vec<(String, MethodSettings)>,
    pub(crate) mounts: Mounts,
    pub(crate) on_connect: Vec<Hook>,
    pub(crate) chain: Chain,
    /// Services that this end announces as called.
    pub(crate) called: Vec<&'static Layout>,
    /// The layouts of services at compat peers.
    pub(crate) compat: Vec<&'static Layout>,
    /// Maximum nesting depth of the peer's messages.
    pub(crate) nesting: Nesting,
    /// The observers of calls.
    pub(crate) observers: Option<Observers>,
    /// Whether calls in progress are recorded.
    pub(crate) is_inspectable: bool,
    /// The access rules, if any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// Which messages this end compresses in its calls, if it supports compression.
    pub(crate) packing: Option<Arc<Packing>>,
}

type Hook = Arc<dyn Fn(&Connection) + Send + Sync>;

/// The offer made on each connection.
pub(crate) struct ServiceOffer {
    pub(crate) table: Table,
    pub(crate) mounts: Mounts,
    on_connect: Vec<Hook>,
    /// Services that this end calls.
    pub(crate) called: Arc<[&'static Layout]>,
    /// The layouts of services at compat peers.
    pub(crate) compat: Arc<[&'static Layout]>,
    /// Formats of the peer's messages and their nesting limit.
    pub(crate) terms: FormatTerms,
    pub(crate) lifecycles: Vec<Arc<dyn Lifecycle>>,
    /// The observers of calls.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Whether there are no mounted routers and no observers, so that turns only process calls.
    pub(crate) is_plain: bool,
    /// The offered services, for introspection.
    pub(crate) offered: Vec<OfferedService>,
    /// Whether calls in progress are recorded.
    pub(crate) is_inspectable: bool,
    /// The access rules, if any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// The load of the end.
    pub(crate) load: Arc<Load>,
    /// Which messages this end compresses in its calls, if it supports compression.
    pub(crate) packing: Option<Arc<Packing>>,
}

impl OfferBuilder {
    /// Returns the settings of a method for modification.
    pub(crate) fn method(&mut self, name: String) -> &mut MethodSettings {
        let known = self.methods.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or_else(|| {
            self.methods.push((name, MethodSettings::default()));
            self.methods.len() - 1
        });
        &mut self.methods[at].1
    }

    /// Completes the offer. Fails if services or routers overlap.
    pub(crate) fn done(self: Arc<Self>) -> Result<Arc<ServiceOffer>, Error> {
        let this = Arc::unwrap_or_clone(self);
        let services: Vec<_> = this.services.iter().flat_map(|methods| methods().flat()).collect();
        let lifecycles: Vec<_> = services.iter().flat_map(|service| service.lifecycles.clone()).collect();
        let is_listed = this.is_inspectable || this.observers.is_some() || !lifecycles.is_empty();
        let offered: Vec<_> = if is_listed { services.iter().map(OfferedService::new).collect() } else { Vec::new() };
        let terms = FormatTerms {
            nesting: this.nesting,
            #[cfg(feature = "json")]
            types: crate::service::json::types(services.iter().flat_map(|service| service.any_types)).map(Arc::new),
            ..FormatTerms::default()
        };
        let observers = this.observers.map(Arc::new);
        let access = this.access;
        let table =
            Table::new(services, this.policy, this.methods, &this.chain, observers.as_ref(), access.as_deref())?;
        this.mounts.check()?;
        if let Some((kind, _)) = this.mounts.hello_items().into_iter().find(|(kind, _)| *kind < 64) {
            let owners = [format!("item {kind} of a mounted router for HELLO"), "those of frpc, below 64".to_owned()];
            return Err(MountError::Overlap { owners }.into());
        }
        for method in table.methods() {
            let operation = method.operation.number();
            let owner = || format!("the method {method} on {operation}");
            this.mounts.overlap(&(operation..=operation), owner).map_or(Ok(()), Err)?;
        }
        lifecycles.iter().for_each(|lifecycle| lifecycle.offered(&offered));
        Ok(Arc::new(ServiceOffer {
            is_plain: this.mounts.is_empty() && observers.is_none(),
            observers,
            table,
            mounts: this.mounts,
            on_connect: this.on_connect,
            called: this.called.into(),
            compat: this.compat.into(),
            terms,
            lifecycles,
            offered,
            is_inspectable: this.is_inspectable,
            access,
            load: Arc::default(),
            packing: this.packing,
        }))
    }
}

impl ServiceOffer {
    /// Calls the `on_connect` functions.
    pub(crate) fn connected(&self, connection: &Connection) {
        self.on_connect.iter().for_each(|hook| hook(connection));
    }

    /// Returns the state of a connection's end with this offer and the calls that the end makes.
    pub(crate) fn end(&self, calls: Option<&Arc<CallTable>>) -> ConnectionEnd {
        ConnectionEnd {
            calls: calls.cloned(),
            nesting: self.terms.nesting,
            observers: self.observers.clone(),
            packing: self.packing.clone(),
        }
    }

    /// Returns the layouts at this end and at compat clients of services that differ.
    pub(crate) fn compat_pairs(&self) -> impl Iterator<Item = (&'static Layout, &'static Layout)> {
        let own = |theirs: &&'static Layout| self.table.layouts.iter().find(|own| own.service == theirs.service);
        let pairs = self.compat.iter().filter_map(move |theirs| Some((*own(theirs)?, *theirs)));
        pairs.filter(|(own, theirs)| own != theirs)
    }

    /// Checks the layouts of compat clients.
    ///
    /// # Errors
    /// If this end lacks their service, cannot translate from them, or something else has one of their operations.
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
                // The operations of services with another layout for compat clients are not those of this end.
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

    /// Runs the shutdown hooks of services one after the other.
    pub(crate) async fn stopping(&self) {
        for lifecycle in &self.lifecycles {
            lifecycle.stopping().await;
        }
    }

    /// Returns whether all services are ready for calls.
    pub(crate) fn is_ready(&self) -> bool {
        self.lifecycles.iter().all(|lifecycle| lifecycle.is_ready())
    }
}

opaque_debug!([] ServiceOffer, "Offer", |this| methods = this.table.methods().collect::<Vec<_>>());

impl fmt::Debug for OfferBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let services = self.services.iter().map(|methods| methods());
        f.debug_struct("Offering")
            .field("services", &services.collect::<Vec<_>>())
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
}

/// Defines setters of the offer for the builders of both ends, which have a field `offering`.
macro_rules! offering_setters {
    ($builder:ty) => {
        impl $builder {
            /// Returns the offer. It is shared by clones, so that programs do not compile its drop code.
            fn offering(&mut self) -> &mut OfferBuilder {
                std::sync::Arc::make_mut(&mut self.offering)
            }

            /// Offers a service to the peer. Two services of one end must not have methods with the same operation.
            ///
            /// The services of a server are called by its clients. Those of a channel are called by its server for as
            /// long as the connection lasts, through [`Channel::from_connection`](crate::Channel::from_connection). A
            /// compat server never calls. Handlers run the same way at both ends and receive the same
            /// [`Request`](crate::Request)s.
            pub fn add_service<S: $crate::service::methods::Service>(mut self, service: S) -> Self {
                self.offering().services.push(std::sync::Arc::new(move || service.methods()));
                self
            }

            /// Mounts a custom router in addition to the services, on a range of operations: `1000..=1099` or
            /// `1000..1100`.
            ///
            /// It receives the packets with these operations, and the streams whose first packet
            /// [names](frisbee::opening) one of them. The operations must not overlap with those of services, which
            /// start at 10, or with those of the channel's calls.
            ///
            /// ```
            /// use frpc::Server;
            /// use frpc::frisbee::Handlers;
            ///
            /// let builder = Server::builder().mount(1000..=1099, Handlers::new());
            /// ```
            pub fn mount<R: frisbee::Protocol>(
                mut self,
                operations: impl std::ops::RangeBounds<u16>,
                router: R,
            ) -> Self {
                let mounts = &mut self.offering().mounts;
                *mounts = std::mem::take(mounts).mount(operations, router);
                self
            }

            /// Sets the router for streams of the peer whose first packet names no operation. For a compat peer, such a
            /// packet may also be a late message of a closed stream.
            pub fn fallback<R: frisbee::Protocol>(mut self, router: R) -> Self {
                let mounts = &mut self.offering().mounts;
                *mounts = std::mem::take(mounts).fallback(router);
                self
            }

            /// Calls a function for each new connection. It runs on the connection's task and must not block. A channel
            /// calls it for its first connection and each replacement.
            ///
            /// The function can create a [channel](crate::Channel::from_connection) to the peer, and can add values to
            /// the connection's [attachments](frisbee::Connection::attachments).
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

            /// Sets a [`BatchObserver`](crate::observe::BatchObserver) of the calls that this end serves and makes,
            /// such as the counters of the crate `frpc-telemetry`. Replaces a previous one.
            pub fn batch_observer(mut self, observer: impl $crate::observe::BatchObserver) -> Self {
                self.offering().observers.get_or_insert_default().batches = Some(Arc::new(observer));
                self
            }

            /// Sets an [`Observer`](crate::observe::Observer) of each call that this end serves or makes. Replaces a
            /// previous one.
            pub fn observer(mut self, observer: impl $crate::observe::Observer) -> Self {
                self.offering().observers.get_or_insert_default().observer = Some(Arc::new(observer));
                self
            }

            /// Sets the access rules for the services of this end and its mounted routers, such as those of the crate
            /// `frpc-access`; see [`Authorize`](crate::Authorize). By default every peer may call.
            pub fn access(mut self, access: impl $crate::Authorize) -> Self {
                self.offering().access = Some(std::sync::Arc::new(access));
                self
            }

            /// Accepts compressed messages and announces this to native peers. By default, peers send no compressed
            /// messages to this end. The method `compress` configures which messages this end compresses.
            ///
            /// A compressed message may decompress to the maximum length of a body, and to at most 256 times its
            /// compressed length. The peer is charged for its memory before decompression.
            #[cfg(feature = "zstd")]
            pub fn accept_compressed(mut self) -> Self {
                self.offering().packing.get_or_insert_default();
                self
            }

            /// Announces a service that this end calls, as in `builder().calls::<EchoClient>()`.
            ///
            /// A native peer receives the announcement when the connection is established. The channel's first call
            /// then does not wait for the server's HELLO, and a client with a later layout knows the layout rules of
            /// its server's calls. Services that are not announced can also be called. A generated client that connects
            /// by itself announces its service.
            pub fn calls<C: $crate::schema::layout::Client>(mut self) -> Self {
                if !self.offering().called.contains(&C::LAYOUT) {
                    self.offering().called.push(C::LAYOUT);
                }
                self
            }

            /// Sets the layout of a service at compat peers (Go), which cannot describe their layout: that of the schema
            /// of this client. By default, compat peers have the layout of this end.
            ///
            /// Requests, replies and streamed messages are translated, so that this end may change its schema while Go
            /// programs keep theirs. Generate code from the old schema into a module of its own, and name its client
            /// here, as in `builder().compat_layout::<v1::ShopClient>()`. All compat peers of a service share one
            /// layout.
            ///
            /// A server fails to start if it does not offer the service, or if something else has one of the layout's
            /// operations. A channel waits for the kind of its server before it calls the service.
            pub fn compat_layout<C: $crate::schema::layout::Client>(mut self) -> Self {
                self.offering().compat.push(C::LAYOUT);
                self
            }

            /// Sets the maximum nesting depth of the peer's messages, including the root: requests, replies and
            /// streamed messages. Defaults to 100, like in implementations of Protocol Buffers.
            ///
            /// A request that exceeds it is answered with [`InvalidArgument`](crate::Code::InvalidArgument), and a call
            /// whose reply exceeds it fails with [`Internal`](crate::Code::Internal). The connection stays open.
            ///
            /// Values are limited to the range from 1 to 200. The stack of a default thread suffices for 200 levels
            /// even without optimisation; see [`NESTING_CEILING`](crate::polyglot::NESTING_CEILING). Messages that this
            /// end sends may have that depth, because the peer has its own limit. Messages with the protobuf codec are
            /// limited to 100 levels, a constant of prost.
            pub fn nesting_max(mut self, levels: u32) -> Self {
                self.offering().nesting = polyglot::Nesting::new(levels);
                self
            }
        }
    };
}
pub(crate) use offering_setters;

#[cfg(test)]
mod tests {
    use crate::{Error, Server};
    use bytes::Bytes;
    use frisbee::{Connection, MountError, Outbox, Packet, Protocol, Routed};

    /// A router that adds an item of this type to HELLO.
    struct Claiming(u8);

    impl Protocol for Claiming {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Useless
        }

        fn hello_items(&self) -> Vec<(u8, Bytes)> {
            vec![(self.0, Bytes::new())]
        }
    }

    /// Regression test: the peer took such an item for one of frpc.
    #[tokio::test]
    async fn mounted_router_cannot_claim_items_of_frpc() {
        let mounted = |kind| Server::builder().mount(1000..=1099, Claiming(kind)).build();
        for kind in [32, 34, 63] {
            let refused = mounted(kind).expect_err("item type of frpc should be rejected");
            let Error::Transport(frisbee::Error::Mount(refused)) = refused else { panic!("{refused}") };
            let MountError::Overlap { owners } = refused else { panic!("{refused}") };
            assert!(owners[0].starts_with(&format!("item {kind} ")), "{owners:?}");
        }
        mounted(64).expect("item type for users should be accepted");
    }
}
