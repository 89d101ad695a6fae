//! Methods of services, with their message types erased so that one table can contain all of them.

use crate::api::middleware::Chain;
use crate::observe::observers::ObservedCall;
use crate::schema::method::Method;
use crate::service::caller::Caller;
use crate::service::formats::FormatOptions;
use crate::service::invoke::{Invoke, InvokeSettings};
use crate::service::lifecycle::OfferedMethod;
use crate::service::stream_method::{Calling, MessageBytes};
use crate::wire::body::DecodeOptions;
use crate::wire::prefix::Prefix;
use crate::wire::translation::Translation;
use crate::{Policy, Request};
use frisbee::rpc::{InlinePermission, PermissionHandle, Placement};
use frisbee::{Operation, Stream};
use std::any::Any;
use std::sync::Arc;
use tokio::sync::Semaphore;

pub(crate) struct Entry {
    pub(crate) method: Method,
    pub(crate) offered: OfferedMethod,
    pub(crate) kind: Kind,
    /// Middleware of the method and of its service.
    pub(crate) chain: Chain,
    /// Maximum length of a request message in bytes.
    pub(crate) length_max: usize,
}

pub(crate) enum Kind {
    Unary(Box<dyn ErasedUnary>),
    Stream(Box<dyn StreamingMethod>),
}

/// Placement of a method's handlers: inline in the connection's driver, or in tasks.
pub(crate) struct HandlerPlacement {
    pub(crate) policy: Policy,
    /// Tracks whether handlers may be polled inline under [`Policy::Inline`].
    pub(crate) permission: Arc<InlinePermission>,
}

impl HandlerPlacement {
    /// Creates the permits that limit a method with [`Policy::AtMost`] on one connection.
    pub(crate) fn permits(&self) -> Option<Arc<Semaphore>> {
        let Policy::AtMost(count) = self.policy else { return None };
        Some(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Returns where the handlers of a streaming method run. Set `is_apart` if the connection currently spawns handlers
    /// as tasks because they take too long.
    pub(crate) fn placement(&self, operation: Operation, is_apart: bool) -> Placement {
        if self.policy == Policy::Inline && !is_apart && self.permission.is_kept() {
            Placement::Home(operation, PermissionHandle::of_connection(&self.permission))
        } else {
            Placement::Runtime
        }
    }
}

/// A unary method with its types erased. Each connection has its own instance of it.
pub(crate) trait ErasedUnary: Send + Sync {
    /// Adds a message format to the method. Returns `false` if the format is for other message types.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Creates a connection's instance of the method. Returns `None` if the method does not support the requested
    /// format.
    fn instance(&self, settings: InvokeSettings<'_>) -> Option<Box<dyn Invoke>>;
}

/// A method with a stream of requests, responses or both.
pub(crate) trait StreamingMethod: Send + Sync {
    /// Adds a message format to the method. Returns `false` if the format is for other message types.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Serves a call that a native or compat peer has opened a stream for.
    fn open(&self, opened: AcceptedStream<'_>);

    /// Calls the handler within its middleware, with messages encoded in this format. Returns `None` if the method does
    /// not support the format.
    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<MessageBytes>,
        format: &str,
        options: &FormatOptions,
    ) -> Option<Calling>;
}

/// A stream that a peer has opened for a streaming call.
pub(crate) struct AcceptedStream<'a> {
    pub(crate) caller: &'a Caller,
    /// Options of the call, which has already been authorized.
    pub(crate) options: Box<Prefix>,
    pub(crate) stream: Stream,
    /// Options for decoding the peer's requests.
    pub(crate) reading: DecodeOptions,
    /// Middleware that wraps the call.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Executor that polls the handler: the worker of the connection, or the runtime.
    pub(crate) placement: Placement,
    /// Reports the end of the call to its observers, if it is observed.
    pub(crate) observed_call: Option<ObservedCall>,
    /// Whether to compress the response messages.
    pub(crate) compresses: bool,
    /// Translation of messages from and to the peer's wire layout, if it differs.
    pub(crate) translation: Option<Arc<Translation>>,
}
