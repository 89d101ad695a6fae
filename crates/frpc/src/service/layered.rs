//! Services with their own middleware.

use crate::Middleware;
use crate::api::middleware::Chain;
use crate::debug::opaque_debug;
use crate::service::methods::{Methods, Service};
use std::fmt;

/// A service with [middleware](Middleware) around all calls or around individual methods, or with a limit on the size
/// of requests. Created by `with_middleware`, `with_method_middleware` and `max_decoding_message_size` of a generated
/// server.
///
/// The middleware of the server is the outermost, followed by that of the service and that of the method.
#[derive(Clone)]
#[must_use]
pub struct Layered<S> {
    service: S,
    chain: Chain,
    methods: Vec<(String, Chain)>,
    length_max: usize,
}

impl<S> Layered<S> {
    /// Wraps a service, so that middleware can be added around its calls.
    pub fn new(service: S) -> Self {
        Self { service, chain: Chain::default(), methods: Vec::new(), length_max: usize::MAX }
    }

    /// Adds middleware around all calls of the service, inside the existing middleware.
    pub fn with_middleware(mut self, middleware: impl Middleware) -> Self {
        self.chain.push(middleware);
        self
    }

    /// Adds middleware around the calls of one method, inside the existing middleware. `method` is its name in the
    /// schema. [`bind`](crate::ServerBuilder::bind) fails if the service has no such method.
    pub fn with_method_middleware(mut self, method: impl Into<String>, middleware: impl Middleware) -> Self {
        let mut chain = Chain::default();
        chain.push(middleware);
        self.methods.push((method.into(), chain));
        self
    }

    /// Limits each request message of the service to `bytes`, after decompression. A longer one is rejected with
    /// [`ResourceExhausted`](crate::Code::ResourceExhausted) before it is decoded. Stream messages below 128 bytes are
    /// always accepted. [`Config::body_max`](frisbee::Config::body_max) limits the messages of all services.
    pub fn max_decoding_message_size(self, bytes: usize) -> Self {
        Self { length_max: bytes, ..self }
    }
}

impl<S: Service> Service for Layered<S> {
    const NAME: &'static str = S::NAME;

    fn methods(&self) -> Methods {
        let mut methods = self.service.methods();
        for entry in methods.entries_mut() {
            entry.chain = self.chain.followed_by(&entry.chain);
            entry.length_max = entry.length_max.min(self.length_max);
        }
        for (name, chain) in &self.methods {
            match methods.entries_mut().into_iter().find(|entry| entry.method.name == name) {
                Some(entry) => entry.chain = entry.chain.followed_by(chain),
                None => methods.unknown = Some(format!("{}/{name}", S::NAME)),
            }
        }
        methods
    }
}

opaque_debug!([S: fmt::Debug] Layered<S>, "Layered", |this| service = this.service);
