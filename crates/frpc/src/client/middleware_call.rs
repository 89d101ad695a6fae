//! Calls within middleware. The deadline of the call includes the middleware.

use crate::api::BoxedCall;
use crate::api::middleware::{MethodInfo, PooledCall};
use crate::calls::failures::expired;
use crate::client::channel::Channel;
use crate::client::connect_task::RUNTIME_ENDED;
use crate::clock;
use crate::context::{self, HandlerFuture, InheritedContext};
use crate::schema::method::Method;
use crate::{Request, Response, Status};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
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
    let mut bounded =
        HandlerFuture { inherited: InheritedContext { deadline, trace: context::trace() }, future: around };
    let Some(until) = deadline else { return bounded.await };
    let mut late = pin!(clock::wait_until(runtime, until));
    let late_status = |is_due| if is_due { expired(&method) } else { Status::unavailable(RUNTIME_ENDED) };
    // Poll the call before the timer, so that a response that is ready at the deadline is returned instead of
    // DEADLINE_EXCEEDED.
    poll_fn(|context| match Pin::new(&mut bounded).poll(context) {
        Poll::Ready(answered) => Poll::Ready(answered),
        Poll::Pending => late.as_mut().poll(context).map(|is_due| Err(late_status(is_due))),
    })
    .await
}
