//! gRPC-Web over HTTP/1.1, and tonic-web.

use super::wire::{self, Reply, Wire};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::rivals::tonic;

/// The path of the method.
const METHOD: &str = "/benchmark.BenchmarkService/Benchmark";

/// gRPC-Web in protobuf.
#[derive(Debug)]
pub struct Framed;

/// Length of a frame's head: its kind and its length.
const HEAD: usize = 5;

impl Wire for Framed {
    fn request(_caller: usize, text: &str, out: &mut Vec<u8>) {
        let mut message = vec![0; HEAD];
        // A string field with the number 1.
        prost::encoding::string::encode(1, &text.to_owned(), &mut message);
        let length = u32::try_from(message.len() - HEAD).expect("length should fit u32");
        message[1..HEAD].copy_from_slice(&length.to_be_bytes());
        let head = format_args!(
            "POST {METHOD} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+proto\r\n\
             content-length: {}\r\n\r\n",
            message.len()
        );
        wire::write(out, head);
        out.extend_from_slice(&message);
    }

    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
        wire::body(input)
    }

    /// The first frame contains the message, which ends with the text.
    fn holds(reply: &[u8], text: &[u8]) -> bool {
        let Some((&[0, a, b, c, d], rest)) = reply.split_first_chunk::<HEAD>() else { return false };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        rest.get(..length).is_some_and(|message| message.ends_with(text))
            && wire::behind(reply, b"grpc-status:").is_some()
    }

    fn caller(_reply: &[u8]) -> Option<usize> {
        None
    }
}

/// tonic with its layer for gRPC-Web.
#[derive(Debug)]
pub struct TonicWeb;

impl WireServer for TonicWeb {
    const NAME: &'static str = "tonic-web";
    type Wire = Framed;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let incoming = tonic::incoming(bound)?;
        let mut server = tonic::server().accept_http1(true).layer(tonic_web::GrpcWebLayer::new());
        Ok(server.add_service(tonic::service(setup)).serve_with_incoming(incoming).await?)
    }
}
