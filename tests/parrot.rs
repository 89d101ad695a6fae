//! A small service, and the bytes of a call of it, for what is measured against peers that allocate nothing.

use crate::versions::first::{Answer, Ask, Parrot};
use frpc::{Request, Response, ResponseStream, Status, Streaming};

/// Says what it is told.
#[derive(Debug)]
pub struct Echo;

impl Parrot for Echo {
    async fn say(&self, request: Request<Ask>) -> Result<Response<Answer>, Status> {
        Ok(Response::new(Answer { words: request.into_inner().word }))
    }

    async fn chat(&self, _: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Err(Status::unimplemented("nobody asks"))
    }
}

/// The body of `Ask { word: 32 bytes, times: 1 }`.
pub const REQUEST: [u8; 39] = *b"\x08\x00\x05\x0a\x20abcdefghijklmnopqrstuvwxyz012345\x0c\x02";
