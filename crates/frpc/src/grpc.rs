//! One implementation, two protocols: what carries calls from tonic to a service of ours.
//!
//! `frpc_build::configure().grpc(true)` writes tonic's client and server beside ours, on the same message types, and
//! implements tonic's trait for whoever implements ours:
//!
//! ```ignore
//! let service = Arc::new(Service);                                     // impl echo::Echo for Service
//! let ours = frpc::Server::builder().add_service(echo::EchoServer::from_arc(service.clone()));
//! let grpc = frpc::tonic::transport::Server::builder()
//!     .add_service(echo::echo_server::EchoServer::from_arc(service));
//! ```
//!
//! [`Status`] and [`Code`] convert both ways. Of a request, the message and the peer's address are handed over; of a
//! status, code and message. A tonic server enforces the caller's deadline itself.

use crate::{Code, Request, Response, ResponseStream, Status, Streaming};
use futures_core::Stream;
use polyglot::Message;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A request from tonic.
pub fn request<A>(request: tonic::Request<A>) -> Request<A> {
    let peer = request.remote_addr();
    // Metadata would be taken over here, by `request.metadata()`; requests of ours have none yet.
    Request::received(request.into_inner(), peer)
}

/// A request from tonic that is a stream.
pub fn requests<A: Message + Send + 'static>(request: tonic::Request<tonic::Streaming<A>>) -> Request<Streaming<A>> {
    self::request(request).map(|messages| Streaming::from_stream(Requests(messages)))
}

/// A reply for tonic.
///
/// # Errors
/// With the status of the reply.
pub fn reply<B>(reply: Result<Response<B>, Status>) -> Result<tonic::Response<B>, tonic::Status> {
    // Metadata would be handed over here, by `response.metadata_mut()`; replies of ours have none yet.
    Ok(tonic::Response::new(reply?.into_inner()))
}

/// A reply for tonic that is a stream.
///
/// # Errors
/// With the status of the reply.
pub fn replies<B>(
    reply: Result<Response<ResponseStream<B>>, Status>,
) -> Result<tonic::Response<Replies<B>>, tonic::Status> {
    self::reply(reply.map(|reply| reply.map(Replies)))
}

/// The messages with which a handler of ours answers a call from tonic.
pub struct Replies<B>(ResponseStream<B>);

impl<B> Stream for Replies<B> {
    type Item = Result<B, tonic::Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.get_mut().0).poll_next(context).map_err(Into::into)
    }
}

impl<B> fmt::Debug for Replies<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The messages that a client streams by tonic.
struct Requests<A>(tonic::Streaming<A>);

impl<A> Stream for Requests<A> {
    type Item = Result<A, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.get_mut().0).poll_next(context).map_err(Into::into)
    }
}

/// The numbers are the same.
impl From<Code> for tonic::Code {
    fn from(code: Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// The numbers are the same.
impl From<tonic::Code> for Code {
    fn from(code: tonic::Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// Code and message.
impl From<Status> for tonic::Status {
    fn from(status: Status) -> Self {
        Self::new(status.code().into(), status.message())
    }
}

/// Code and message. Details and metadata are left behind.
impl From<tonic::Status> for Status {
    fn from(status: tonic::Status) -> Self {
        Self::new(status.code().into(), status.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_keeps_code_and_message_both_ways() {
        for number in 0..=16 {
            let status = Status::new(Code::from_i32(number), format!("number {number}"));
            let theirs = tonic::Status::from(status.clone());
            assert_eq!((theirs.code() as i32, theirs.message()), (number, status.message()));
            assert_eq!(Status::from(theirs), status);
        }
    }
}
