//! What an end of a connection offers its peer: services, and routers beside them. Either end may.

use crate::api::middleware::Chain;
use crate::endpoint::table::{MethodSettings, Table};
use crate::schema::layout::Layout;
use crate::service::methods::{Methods, Service};
use crate::{Error, Middleware, Policy};
use frisbee::{Connection, Hello, Mounts, Router};
use polyglot::Nesting;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

/// What a builder collects.
#[derive(Clone, Default)]
pub(crate) struct Offering {
    /// The methods are made for each end anew.
    services: Vec<Arc<dyn Fn() -> Methods + Send + Sync>>,
    pub(crate) policy: Policy,
    pub(crate) methods: MethodSettings,
    mounts: Mounts,
    on_connect: Vec<Hook>,
    chain: Chain,
    /// The services that the peer is told to be meant for calling.
    called: Vec<&'static Layout>,
    /// How deep messages of the peer may nest.
    pub(crate) nesting: Nesting,
}

type Hook = Arc<dyn Fn(&Connection) + Send + Sync>;

/// What is offered on each connection.
pub(crate) struct Offer {
    pub(crate) table: Table,
    pub(crate) mounts: Mounts,
    on_connect: Vec<Hook>,
    /// What runs around the calls that are served.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Services that are meant to be called.
    pub(crate) called: Arc<[&'static Layout]>,
    /// How deep messages of the peer may nest.
    pub(crate) nesting: Nesting,
}

impl Offering {
    pub(crate) fn add_service<S: Service>(&mut self, service: S) {
        self.services.push(Arc::new(move || service.methods()));
    }

    pub(crate) fn mount<R: Router>(&mut self, range: impl RangeBounds<u16>, router: R) {
        self.mounts = std::mem::take(&mut self.mounts).mount(range, router);
    }

    pub(crate) fn fallback<R: Router>(&mut self, router: R) {
        self.mounts = std::mem::take(&mut self.mounts).fallback(router);
    }

    pub(crate) fn on_connect(&mut self, hook: impl Fn(&Connection) + Send + Sync + 'static) {
        self.on_connect.push(Arc::new(hook));
    }

    pub(crate) fn middleware(&mut self, middleware: impl Middleware) {
        self.chain.push(middleware);
    }

    /// Names a service that is meant to be called.
    pub(crate) fn call(&mut self, layout: &'static Layout) {
        if !self.called.contains(&layout) {
            self.called.push(layout);
        }
    }

    /// What is offered, if nothing is wrong with it.
    pub(crate) fn done(self) -> Result<Offer, Error> {
        let services = self.services.iter().map(|methods| methods()).collect();
        let table = Table::new(services, self.policy, self.methods)?;
        check_room(&[&table.layouts[..], &self.called].concat())?;
        self.mounts.check()?;
        for method in table.methods() {
            let operation = method.operation.number();
            let owner = || format!("the method {method} on {operation}");
            self.mounts.overlap(&(operation..=operation), owner).map_or(Ok(()), Err)?;
        }
        Ok(Offer {
            table,
            mounts: self.mounts,
            on_connect: self.on_connect,
            chain: self.chain.present(),
            called: self.called.into(),
            nesting: self.nesting,
        })
    }
}

/// Whether all of `layouts` can be named in a HELLO.
fn check_room(layouts: &[&'static Layout]) -> Result<(), Error> {
    // A type in one byte, and a length in up to three.
    let length = layouts.iter().map(|layout| 4 + layout.item().len()).sum();
    let limit = Hello::ITEMS_MAX;
    if length > limit { Err(Error::TooManyServices { length, limit }) } else { Ok(()) }
}

impl Offer {
    /// Tells those who want to know of a new connection.
    pub(crate) fn connected(&self, connection: &Connection) {
        self.on_connect.iter().for_each(|hook| hook(connection));
    }
}

impl fmt::Debug for Offering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let services = self.services.iter().map(|methods| methods());
        f.debug_struct("Offering")
            .field("services", &services.collect::<Vec<_>>())
            .field("mounts", &self.mounts)
            .finish_non_exhaustive()
    }
}
