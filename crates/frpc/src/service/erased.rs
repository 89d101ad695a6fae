//! Methods with their types erased, as called by connections.

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
    /// The middleware of this method and of its service.
    pub(crate) chain: Chain,
}

pub(crate) enum Kind {
    Unary(Box<dyn ErasedUnary>),
    Stream(Box<dyn StreamingMethod>),
}

/// Determines where the handlers of a method run.
pub(crate) struct HandlerPlacement {
    pub(crate) policy: Policy,
    /// Used by [`Policy::Inline`].
    pub(crate) permission: Arc<InlinePermission>,
}

impl HandlerPlacement {
    /// Returns the permits of a method with [`Policy::AtMost`] for one connection.
    pub(crate) fn permits(&self) -> Option<Arc<Semaphore>> {
        let Policy::AtMost(count) = self.policy else { return None };
        Some(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Returns where the handlers of a streaming method run. `is_apart` is set if the connection's handlers take long.
    pub(crate) fn placement(&self, operation: Operation, is_apart: bool) -> Placement {
        if self.policy == Policy::Inline && !is_apart && self.permission.is_kept() {
            Placement::Home(operation, PermissionHandle::of_connection(&self.permission))
        } else {
            Placement::Runtime
        }
    }
}

/// A unary method, which has an instance per connection.
pub(crate) trait ErasedUnary: Send + Sync {
    /// Adds a format. Returns `false` if it is for other message types.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Creates an instance. Returns `None` if the method lacks the format.
    fn instance(&self, settings: InvokeSettings<'_>) -> Option<Box<dyn Invoke>>;
}

/// A method that streams in one or both directions.
pub(crate) trait StreamingMethod: Send + Sync {
    /// Adds a format. Returns `false` if it is for other message types.
    fn add_format(&mut self, format: Box<dyn Any>) -> bool;

    /// Serves a native call.
    fn open(&self, opened: AcceptedStream<'_>);

    /// Calls the handler within its middleware, with messages in a format. Returns `None` if the method lacks it.
    fn call(
        &self,
        chain: Option<Arc<Chain>>,
        request: Request<MessageBytes>,
        format: &str,
        terms: &FormatTerms,
    ) -> Option<Calling>;
}

/// A stream that a peer opened for a call.
pub(crate) struct AcceptedStream<'a> {
    pub(crate) caller: &'a Caller,
    /// The options of the admitted call.
    pub(crate) options: Box<Prefix>,
    pub(crate) stream: Stream,
    /// Options for decoding requests.
    pub(crate) reading: DecodeOptions,
    /// The middleware around the call.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Where the handler runs.
    pub(crate) placement: Placement,
    /// The observed call.
    pub(crate) observed_call: Option<ObservedCall>,
    /// Whether replies are compressed.
    pub(crate) packs: bool,
    /// The translation of its messages.
    pub(crate) translation: Option<Arc<Translation>>,
}
