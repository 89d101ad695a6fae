//! Calls within middleware. The deadline of the call includes the middleware.

use crate::api::BoxedCall;
use crate::api::middleware::{MethodInfo, PooledCall};
use crate::calls::failures::unfinished;
use crate::client::channel::Channel;
use crate::clock;
use crate::context::{self, HandlerFuture, InheritedContext};
use crate::schema::method::Method;
use crate::{Request, Response, Status};
use std::time::Duration;
use tokio::runtime::Handle;

/// Makes a call within the channel's middleware, if there is any. The deadline of the call limits both. The future is
/// boxed, so that it is compiled only once.
pub(crate) fn around<A, B>(
    channel: &Channel,
    about: MethodInfo,
    request: Request<A>,
    call: impl FnOnce(Request<A>) -> BoxedCall<'static, B> + Send + 'static,
) -> BoxedCall<'_, B>
where
    A: Send + 'static,
    B: Send + 'static,
{
    let Some(chain) = channel.chain() else { return call(request) };
    let (method, timeout, mut around) = (*about.method(), request.timeout(), PooledCall::of(&chain));
    around.begin(&about, request, call);
    Box::pin(within_deadline(&channel.inner.runtime, method, timeout, around))
}

/// Executes a call within its middleware, limited by the deadline of the call.
pub(crate) async fn within_deadline<B: 'static>(
    runtime: &Handle,
    method: Method,
    timeout: Option<Duration>,
    around: PooledCall<Result<Response<B>, Status>>,
) -> Result<Response<B>, Status> {
    let timeout = context::allowed(timeout);
    let deadline = clock::after(timeout);
    // Set the deadline as the current context, so that calls made by the middleware inherit it.
    let bounded = HandlerFuture { inherited: InheritedContext { deadline, trace: context::trace() }, future: around };
    clock::within(runtime, deadline, bounded).await.unwrap_or_else(|why| Err(unfinished(&why, &method)))
}
