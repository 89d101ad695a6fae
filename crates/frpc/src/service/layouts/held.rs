//! Calls that are held until the peer has described the layout of their service.

use crate::Status;
use crate::observe::TraceContext;
use crate::service::streams::refuse;
use crate::wire::body;
use crate::wire::envelope::Envelope;
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, HandOffRequest, Operation, PacketId, Stream};
use polyglot::Form;

/// Memory of a held call in bytes, in addition to its length.
const HELD_COST: usize = 256;

/// A call that is held until the peer has described the wire layout of its service.
#[derive(Debug)]
pub(crate) enum HeldCall {
    Unary(PacketId, Operation, Envelope, Option<TraceContext>),
    Stream(u16, Bytes, Stream),
    HandOff(HandOffRequest),
}

impl HeldCall {
    pub(super) fn operation(&self) -> u16 {
        match self {
            Self::Unary(_, operation, ..) => operation.number(),
            Self::Stream(operation, ..) => *operation,
            Self::HandOff(request) => request.operation().number(),
        }
    }

    pub(super) fn cost(&self) -> usize {
        HELD_COST
            + match self {
                Self::Unary(_, _, envelope, _) => envelope.length,
                Self::Stream(_, first, _) => first.len(),
                Self::HandOff(request) => request.request().len(),
            }
    }

    /// Rejects the held call with `status`, and reports that the call has not run.
    pub(super) fn refuse(self, connection: &Connection, status: &Status) {
        match self {
            Self::Unary(id, operation, ..) => {
                // Ignore the error, because a closed connection has no caller that awaits the reply.
                let _ = connection.send_now(|outbox| body::put_refusal(outbox, id, operation, status, Form::Extended));
            }
            Self::Stream(_, _, stream) => refuse(&stream, status),
            Self::HandOff(request) => {
                let operation = request.operation();
                request.refuse(crate::service::hand_off::failure(status, operation, true));
            }
        }
    }
}
