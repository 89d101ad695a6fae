//! Responses to unary gRPC-Web calls. Unlike gRPC, they carry their trailers at the end of the body.

use crate::connect::envelope::{self, Compression, PREFIX};
use crate::connect::unary::{self, Format};
use crate::grpc;
use crate::http::answer::Answer;
use crate::http::fields;
use bytes::{BufMut, Bytes};
use frpc::{Metadata, Response, Status, Trailers};
use std::borrow::Cow;

/// Flag of the envelope that carries the trailers.
const TRAILERS: u8 = 0x80;

/// The envelope of the trailers of most calls: flag, length, and one field.
const OK: &[u8] = b"\x80\0\0\0\x10grpc-status: 0\r\n";

/// Returns the content type of responses, followed by the header field that every response contains.
pub(crate) const fn content_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/grpc-web+json\r\ngrpc-accept-encoding: gzip",
        Format::Proto => "application/grpc-web+proto\r\ngrpc-accept-encoding: gzip",
    }
}

/// Converts the result of a call to an HTTP response.
pub(crate) fn answer(format: Format, accepted: Compression, result: Result<Response<Bytes>, Status>) -> Answer {
    let (mut body, mut fields) = (Vec::new(), Vec::new());
    match result {
        Ok(response) => {
            body.reserve_exact(PREFIX + response.get_ref().len() + OK.len());
            body.extend_from_slice(&[0; PREFIX]);
            body.extend_from_slice(response.get_ref());
            fields = end(&mut body, 0, accepted, &response);
        }
        Err(status) => put_trailers(&mut body, Err(&status), &Metadata::new()),
    }
    Answer { status: 200, content_type: Some(content_type(format)), fields, body: body.into() }
}

/// Completes the response body at `start`, which contains space for a prefix and then the message. Returns the
/// response's header fields, except those in [`content_type`].
pub(crate) fn end<T>(
    out: &mut Vec<u8>,
    start: usize,
    accepted: Compression,
    response: &Response<T>,
) -> Vec<(Cow<'static, str>, String)> {
    let none = Metadata::new();
    let trailers = response.extensions().get().map_or(&none, |Trailers(trailers)| trailers);
    match envelope::end(out, start, accepted) {
        Ok(()) => put_trailers(out, Ok(()), trailers),
        Err(status) => {
            out.truncate(start);
            put_trailers(out, Err(&status), trailers);
        }
    }
    let mut fields = Vec::new();
    if accepted == Compression::Gzip {
        fields.push((Cow::Borrowed("grpc-encoding"), "gzip".to_owned()));
    }
    if !response.metadata().is_empty() {
        fields.extend(unary::named(fields::fields(response.metadata(), "")));
    }
    fields
}

/// Appends the envelope with the trailers.
pub(crate) fn put_trailers(out: &mut impl BufMut, outcome: Result<(), &Status>, trailers: &Metadata) {
    if outcome.is_ok() && trailers.is_empty() {
        out.put_slice(OK);
        return;
    }
    let lines: String =
        grpc::trailers(outcome, trailers).iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    // Trailers are far shorter than the 4 GiB that fit into an envelope.
    out.put_u8(TRAILERS);
    out.put_u32(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    out.put_slice(lines.as_bytes());
}
