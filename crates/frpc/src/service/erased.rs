//! Type-erased methods.

use crate::api::middleware::Chain;
use crate::observe::observers::ObservedCall;
use crate::schema::method::Method;
use crate::service::caller::Caller;
use crate::service::formats::FormatTerms;
use crate::service::invoke::{Invoke, InvokeSettings};
use crate::service::lifecycle::OfferedMethod;
use crate::service::stream_method::{Calling, MessageBytes};
use crate::wire::body::DecodeOptions;
use crate::wire::prefix::Prefix;
use crate::wire::translation::Translation;
use crate::{Policy, Request};
use frisbee::tasks::{InlinePermission, PermissionHandle, Placement};
use frisbee::{Operation, Stream};
use std::any::Any;
use std::sync::Arc;
use tokio::sync::Semaphore;

pub(crate) struct Entry {
    pub(crate) method: Method,
    pub(crate) offered: OfferedMethod,
    pub(crate) kind: Kind,
    /// Middleware of the method and its service.
    pub(crate) chain: Chain,
}

pub(crate) enum Kind {
    Unary(Box<dyn ErasedUnary>),
    Stream(Box<dyn StreamingMethod>),
}

/// Where the handlers of a method run: inline on the driver of the connection, or as tasks.
pub(crate) struct HandlerPlacement {
    pub(crate) policy: Policy,
    /// Whether handlers may be polled inline. Used by [`Policy::Inline`].
    pub(crate) permission: Arc<InlinePermission>,
}

impl HandlerPlacement {
    /// Returns the permits of a method with [`Policy::AtMost`] for one connection.
    pub(crate) fn permits(&self) -> Option<Arc<Semaphore>> {
        let Policy::AtMost(count) = self.policy else { return None };
        Some(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Returns where the handlers of a streaming method run. `is_apart` must be set if the connection's handlers are
    /// spawned as tasks, because they take long.
    pub(crate) fn placement(&self, operation: Operation, is_apart: bool) -> Placement {
        if self.policy == Policy::Inline && !is_apart && self.permission.is_kept() {
            Placement::Home(operation, PermissionHandle::of_connection(&self.permission))
        } else {
            Placement::Runtime
        }
    }
}

/// A unary method, of which each connection has an instance.
pub(crate) trait ErasedUnary: Send + Sync {
    /// Adds a format. Returns `false` if its message types are not those of the method.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Creates an instance for a connection. Returns `None` if the method does not support the format.
    fn instance(&self, settings: InvokeSettings<'_>) -> Option<Box<dyn Invoke>>;
}

/// A method that streams in one or both directions.
pub(crate) trait StreamingMethod: Send + Sync {
    /// Adds a format. Returns `false` if its message types are not those of the method.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Serves a native call.
    fn open(&self, opened: AcceptedStream<'_>);

    /// Calls the handler within its middleware, with messages in a format. Returns `None` if the method does not
    /// support the format.
    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<MessageBytes>,
        format: &str,
        terms: &FormatTerms,
    ) -> Option<Calling>;
}

/// A stream that a peer has opened for a call.
pub(crate) struct AcceptedStream<'a> {
    pub(crate) caller: &'a Caller,
    /// Options of the call, which has been admitted.
    pub(crate) options: Box<Prefix>,
    pub(crate) stream: Stream,
    /// Options for decoding the peer's requests.
    pub(crate) reading: DecodeOptions,
    /// Middleware around the call.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Executor that polls the handler: the worker of the connection, or a task in the runtime.
    pub(crate) placement: Placement,
    /// Observation of the call.
    pub(crate) observed_call: Option<ObservedCall>,
    /// Whether to compress responses.
    pub(crate) packs: bool,
    /// Translation of the messages, if the peer has another layout.
    pub(crate) translation: Option<Arc<Translation>>,
}
