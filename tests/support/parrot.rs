//! A small service, and the bytes of a call to it, for measurements in which the other end allocates nothing.

use crate::versions::first::{Answer, Ask, Parrot};
use crate::versions::viewed;
use frpc::{Request, Response, ResponseStream, Status, Streaming, Undecoded};

/// A service that returns its requests.
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

/// A service that reads its requests and returns nothing.
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

/// The encoded `Say { word: 32 bytes, times: 1 }`.
pub const REQUEST: [u8; 39] = *b"\x08\x00\x05\x0a\x20abcdefghijklmnopqrstuvwxyz012345\x0c\x02";
