//! A small service, and the bytes of a call of it, for measurements against peers that allocate nothing.

use crate::versions::first::{Answer, Ask, Parrot};
use crate::versions::viewed;
use frpc::{Request, Response, ResponseStream, Status, Streaming, Undecoded};

/// Returns its request.
#[derive(Debug)]
pub struct Echo;

impl Parrot for Echo {
    async fn say(&self, request: Request<Ask>) -> Result<Response<Answer>, Status> {
        Ok(Response::new(Answer { words: request.into_inner().word }))
    }

    async fn chat(&self, _: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Err(Status::unimplemented("not used here"))
    }
}

/// Returns nothing, after reading its request.
#[derive(Debug)]
pub struct Listener;

impl viewed::Parrot for Listener {
    async fn say(&self, request: Request<Undecoded<viewed::Ask>>) -> Result<Response<viewed::Answer>, Status> {
        match request.get_ref().view() {
            Ok(ask) if ask.word.len() == 32 && ask.times == 1 => Ok(Response::new(viewed::Answer::default())),
            other => Err(Status::invalid_argument(format!("{other:?}"))),
        }
    }

    async fn chat(
        &self,
        _: Request<Streaming<viewed::Ask>>,
    ) -> Result<Response<ResponseStream<viewed::Answer>>, Status> {
        Err(Status::unimplemented("not used here"))
    }
}

/// The body of `Say { word: 32 bytes, times: 1 }`.
pub const REQUEST: [u8; 39] = *b"\x08\x00\x05\x0a\x20abcdefghijklmnopqrstuvwxyz012345\x0c\x02";
