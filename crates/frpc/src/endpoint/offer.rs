//! The offer of an end to its peer: services and mounted routers. Either end may have one.

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
use crate::{Error, Policy};
use frisbee::{Connection, MountError, Mounts, Protocol as _};
use polyglot::Nesting;
use std::fmt;
use std::sync::Arc;

/// The offer that a builder collects.
#[derive(Clone, Default)]
pub(crate) struct OfferBuilder {
    /// Makes the methods of a service for each server or channel.
    pub(crate) services: Vec<Arc<dyn Fn() -> Methods + Send + Sync>>,
    pub(crate) policy: Policy,
    pub(crate) methods: Vec<(String, MethodSettings)>,
    pub(crate) mounts: Mounts,
    pub(crate) on_connect: Vec<Hook>,
    pub(crate) chain: Chain,
    /// The services that this end names as those that it calls.
    pub(crate) called: Vec<&'static Layout>,
    /// How deep messages of the peer may nest.
    pub(crate) nesting: Nesting,
    /// Who observes calls.
    pub(crate) observers: Option<Observers>,
    /// Calls in progress are noted.
    pub(crate) is_inspectable: bool,
    /// The access rules, if there are any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// What this end packs when it calls, if it unpacks.
    pub(crate) packing: Option<Arc<Packing>>,
}

type Hook = Arc<dyn Fn(&Connection) + Send + Sync>;

/// The offer on each connection.
pub(crate) struct ServiceOffer {
    pub(crate) table: Table,
    pub(crate) mounts: Mounts,
    on_connect: Vec<Hook>,
    /// The services that this end calls.
    pub(crate) called: Arc<[&'static Layout]>,
    /// For messages of the peer: their nesting limit, and their formats.
    pub(crate) terms: FormatTerms,
    pub(crate) lifecycles: Vec<Arc<dyn Lifecycle>>,
    /// Who observes calls.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Turns do nothing but what calls need: there are no mounted routers, and no calls are observed.
    pub(crate) is_plain: bool,
    /// The services, for those who look at the end.
    pub(crate) offered: Vec<OfferedService>,
    /// Calls in progress are noted.
    pub(crate) is_inspectable: bool,
    /// The access rules, if there are any.
    pub(crate) access: Option<Arc<dyn Authorize>>,
    /// How busy the end is.
    pub(crate) load: Arc<Load>,
    /// What this end packs when it calls, if it unpacks.
    pub(crate) packing: Option<Arc<Packing>>,
}

impl OfferBuilder {
    /// The settings of a method.
    pub(crate) fn method(&mut self, name: String) -> &mut MethodSettings {
        let known = self.methods.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or_else(|| {
            self.methods.push((name, MethodSettings::default()));
            self.methods.len() - 1
        });
        &mut self.methods[at].1
    }

    /// The complete offer. Fails if services or routers overlap.
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
    /// Calls the functions for new connections.
    pub(crate) fn connected(&self, connection: &Connection) {
        self.on_connect.iter().for_each(|hook| hook(connection));
    }

    /// The end of a connection with this offer, and the calls that the end makes.
    pub(crate) fn end(&self, calls: Option<&Arc<CallTable>>) -> ConnectionEnd {
        ConnectionEnd {
            calls: calls.cloned(),
            nesting: self.terms.nesting,
            observers: self.observers.clone(),
            packing: self.packing.clone(),
        }
    }

    /// Lets the services finish their work before a stop, one after the other.
    pub(crate) async fn stopping(&self) {
        for lifecycle in &self.lifecycles {
            lifecycle.stopping().await;
        }
    }

    /// Whether all services would have the end get calls.
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

/// The settings of an end's offer to its peer, for the builders of both ends: types with a field `offering`.
macro_rules! offering_setters {
    ($builder:ty) => {
        impl $builder {
            /// The offer, which is shared by clones, so that programs compile no code that drops it.
            fn offering(&mut self) -> &mut OfferBuilder {
                std::sync::Arc::make_mut(&mut self.offering)
            }

            /// Offers a service to the peer. Two services of one end must not have methods on the same operation.
            ///
            /// A server is called by its clients. The services of a channel are called by its server, for as long as
            /// the connection lasts, through [`Channel::from_connection`](crate::Channel::from_connection); a compat
            /// server never calls. Handlers run at either end alike and get the same [`Request`](crate::Request)s.
            pub fn add_service<S: $crate::service::methods::Service>(mut self, service: S) -> Self {
                self.offering().services.push(std::sync::Arc::new(move || service.methods()));
                self
            }

            /// Mounts a router of your own in addition to the services, on a range of operations: `1000..=1099` or
            /// `1000..1100`.
            ///
            /// It gets the packets of these operations, and the streams whose first packet [names](frisbee::opening)
            /// one. Services have the operations from 10 on, as many as they have methods, and calls of a channel must
            /// not have operations of a mounted router.
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

            /// Sets the router for streams of the peer whose first packet names no operation. Such a packet may also be
            /// a late message of a stream that has ended, if it is a compat peer.
            pub fn fallback<R: frisbee::Protocol>(mut self, router: R) -> Self {
                let mounts = &mut self.offering().mounts;
                *mounts = std::mem::take(mounts).fallback(router);
                self
            }

            /// Calls a function for each new connection, on the task of the connection: it must not block. For a
            /// channel these are the first connection and those that replace it.
            ///
            /// From there the peer can be [called](crate::Channel::from_connection), and values can be put into the
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

            /// Sets a [`BatchObserver`](crate::observe::BatchObserver) of the calls that this end serves and makes, such as
            /// the counters of the crate `frpc-telemetry`, in place of one that was set before.
            pub fn batch_observer(mut self, observer: impl $crate::observe::BatchObserver) -> Self {
                self.offering().observers.get_or_insert_default().batches = Some(Arc::new(observer));
                self
            }

            /// Sets an [`Observer`](crate::observe::Observer) of each call that this end serves or makes, in place of one
            /// that was set before.
            pub fn observer(mut self, observer: impl $crate::observe::Observer) -> Self {
                self.offering().observers.get_or_insert_default().observer = Some(Arc::new(observer));
                self
            }

            /// Sets the access rules for the services of this end and its mounted routers, such as those of the crate
            /// `frpc-access`; see [`Authorize`](crate::Authorize). Default: every peer may call.
            pub fn access(mut self, access: impl $crate::Authorize) -> Self {
                self.offering().access = Some(std::sync::Arc::new(access));
                self
            }

            /// Takes packed messages, which the peer has compressed, and says so to native peers. Default: it does not,
            /// and peers do not pack their messages to it. Packing by this end is set by `compress`.
            ///
            /// A message that a peer has packed may be as long as a body otherwise, and 256 times as long as it is packed.
            /// Its memory is charged to the peer before it is unpacked.
            #[cfg(feature = "zstd")]
            pub fn accept_compressed(mut self) -> Self {
                self.offering().packing.get_or_insert_default();
                self
            }

            /// Names a service that this end calls, as in `builder().calls::<EchoClient>()`.
            ///
            /// A native peer learns this when the connection is made. The first call of a channel then does not wait
            /// for the HELLO of the server, and a client with a later layout knows the layout rules of its server's
            /// calls. Services that are not named can be called all the same. A generated client that connects by
            /// itself names its own service.
            pub fn calls<C: $crate::schema::layout::Client>(mut self) -> Self {
                if !self.offering().called.contains(&C::LAYOUT) {
                    self.offering().called.push(C::LAYOUT);
                }
                self
            }

            /// Sets how deep messages of the peer may nest, the root included: requests, replies and messages of
            /// streams. Default: 100, where implementations of Protocol Buffers stop as well.
            ///
            /// A request that nests deeper is answered with [`InvalidArgument`](crate::Code::InvalidArgument), and a
            /// call whose reply nests deeper fails with [`Internal`](crate::Code::Internal). The connection stays open.
            ///
            /// Less than 1 counts as 1. More than 200 counts as 200: the stack of a usual thread suffices for that
            /// without optimisation too; see [`NESTING_CEILING`](crate::polyglot::NESTING_CEILING). Messages that this
            /// end sends may nest as deep as that, since the peer has its own limit. Of messages whose codec is
            /// protobuf, prost takes 100 levels, which is a constant of prost's.
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

    /// Adds an item of this type to HELLO.
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

    /// The peer took it for one of frpc.
    #[tokio::test]
    async fn mounted_router_cannot_claim_items_of_frpc() {
        let mounted = |kind| Server::builder().mount(1000..=1099, Claiming(kind)).build();
        for kind in [32, 34, 63] {
            let refused = mounted(kind).expect_err("it is reserved");
            let Error::Transport(frisbee::Error::Mount(refused)) = refused else { panic!("{refused}") };
            let MountError::Overlap { owners } = refused else { panic!("{refused}") };
            assert!(owners[0].starts_with(&format!("item {kind} ")), "{owners:?}");
        }
        mounted(64).expect("it is for users");
    }
}
