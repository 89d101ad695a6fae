//! Calls of a unary method by one foreign client, with nothing allocated for those whose handlers are ready at once:
//! the short way beside that of `service/erased.rs`, for methods without middleware.

use crate::api::extras::Held;
use crate::deadline::{self, Inherited};
use crate::service::erased::{Body, Calling, Encode, Format, FormatTerms};
use crate::service::handle::ServiceHandle;
use crate::{Request, Response, Status};
use bytes::Bytes;
use frisbee::support::{Cell, Parked, Polled};
use std::any::Any;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::Arc;

/// A place in which the handlers of a unary method are polled once, one after the other.
pub(crate) trait Place: Send {
    /// Decodes a request, and polls its handler once. The response of one that is ready is appended to `out`, to which
    /// nothing else is.
    fn call(&mut self, request: Request<Bytes>, inherited: Inherited, out: &mut Vec<u8>) -> Placed;
}

/// How a call has begun.
pub(crate) enum Placed {
    /// It has ended; these are the extras of the response.
    Ready(Result<Held, Status>),
    /// The handler waits, and has to be polled elsewhere.
    Pending(Calling),
    /// The handler panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

/// The place for the calls of a method in a format.
pub(crate) fn place<S, H, A, B, F>(
    service: &Arc<S>,
    handler: H,
    format: Format<A, B>,
    terms: FormatTerms,
) -> Box<dyn Place>
where
    S: Send + Sync + 'static,
    A: Send + 'static,
    B: Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    let service = ServiceHandle::of_connection(service);
    Box::new(Typed { service, handler, cell: Cell::default(), format, terms, request: PhantomData })
}

struct Typed<S, H, A, B, F> {
    service: ServiceHandle<S>,
    handler: H,
    cell: Cell<F>,
    format: Format<A, B>,
    terms: FormatTerms,
    request: PhantomData<fn() -> A>,
}

impl<S, H, A, B, F> Place for Typed<S, H, A, B, F>
where
    S: Send + Sync + 'static,
    A: Send + 'static,
    B: Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn call(&mut self, request: Request<Bytes>, inherited: Inherited, out: &mut Vec<u8>) -> Placed {
        let (bytes, timeout, origin, extras) = request.apart();
        let message = match (self.format.decode)(&bytes, &self.terms) {
            Ok(message) => message,
            Err(status) => return Placed::Ready(Err(status)),
        };
        drop(bytes);
        let request = Request::together(message, timeout, origin, extras);
        let (handler, service) = (&self.handler, &self.service);
        let make = || handler(service.clone(), request);
        let polled = if inherited.is_something() {
            deadline::within(inherited, || self.cell.poll(make))
        } else {
            self.cell.poll(make)
        };
        match polled {
            Polled::Ready(Ok(response)) => {
                let (message, extras) = response.apart();
                Placed::Ready(append(self.format, &message, out, &self.terms).map(|()| extras))
            }
            Polled::Ready(Err(status)) => Placed::Ready(Err(status)),
            Polled::Pending(parked) => Placed::Pending(finish(parked, self.format.encode, self.terms.clone())),
            Polled::Panicked(panic) => Placed::Panicked(panic),
        }
    }
}

fn append<A, B>(format: Format<A, B>, message: &B, out: &mut Vec<u8>, terms: &FormatTerms) -> Result<(), Status> {
    if let Some(append) = format.append {
        return append(message, out, terms);
    }
    out.extend_from_slice(&(format.encode)(message, terms)?);
    Ok(())
}

/// The rest of a call whose handler waits.
fn finish<B, F>(parked: Parked<F>, encode: Encode<B>, terms: FormatTerms) -> Calling
where
    B: Send + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    Box::pin(async move {
        // Its panic is that of this future, which is caught again.
        let response = parked.await.unwrap_or_else(|panic| resume_unwind(panic))?;
        let (message, extras) = response.apart();
        Ok(Response::together(Body::One(encode(&message, &terms)?), extras))
    })
}
