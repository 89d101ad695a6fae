//! JSON-RPC batches by POST: each HTTP request contains a call of every caller.

use super::wire::{self, Post, Posted, Wire};
use super::{Callers, Connection, Load, READ, Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::contest::Contestant;
use crate::rivals::gateways::{JsonRpcHttp, JsonRpseeHttp};
use std::marker::PhantomData;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server that accepts batches.
pub trait Batch: WireServer + Posted {
    /// Its name in results.
    const NAME: &'static str;
}

impl Batch for JsonRpcHttp {
    const NAME: &'static str = "frpc-json-rpc-batch";
}

impl Batch for JsonRpseeHttp {
    const NAME: &'static str = "jsonrpsee-batch";
}

/// A contestant called in batches.
#[derive(Debug)]
pub struct Batches<D>(PhantomData<D>);

impl<D: Batch> Contestant for Batches<D> {
    const NAME: &'static str = <D as Batch>::NAME;
    type Connection = Connection;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        D::serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Connection, BoxError> {
        Connection::open::<Post<D>>(address).await
    }

    async fn drive(mut connection: Connection, load: Load) -> Result<u64, BoxError> {
        let mut callers = Callers::new(&load);
        let mut input = Vec::with_capacity(READ);
        let (mut batch, mut out) = (Vec::new(), Vec::new());
        while callers.tally.runs() {
            batch.clear();
            out.clear();
            for caller in 0..load.in_flight {
                batch.push(if caller == 0 { b'[' } else { b',' });
                callers.send::<Element<D>>(caller, &mut batch);
            }
            batch.push(b']');
            wire::post(D::PATH, &batch, &mut out);
            connection.socket.write_all(&out).await?;
            input.clear();
            let body = loop {
                if connection.socket.read_buf(&mut input).await? == 0 {
                    return Err("the server is gone".into());
                }
                if let Some((body, _)) = wire::body(&input)? {
                    break body;
                }
            };
            for reply in elements(&body) {
                callers.receive::<Element<D>>(reply)?;
            }
            if callers.waiting > 0 {
                return Err(format!("{} calls of a batch have no reply", callers.waiting).into());
            }
        }
        Ok(callers.tally.counted())
    }
}

/// A request or a reply within a batch.
struct Element<D>(PhantomData<D>);

impl<D: Posted> Wire for Element<D> {
    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        wire::json_rpc(D::METHOD.unwrap_or_default(), caller, text, out);
    }

    fn reply(input: &[u8]) -> Result<Option<wire::Reply<'_>>, BoxError> {
        Ok(Some((input.into(), input.len())))
    }

    fn caller(reply: &[u8]) -> Option<usize> {
        wire::id(reply)
    }
}

/// Returns the objects of an array. Its strings must not contain braces.
fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut depth, mut begin) = (0, 0);
    array.iter().enumerate().filter_map(move |(at, byte)| {
        match byte {
            b'{' => {
                if depth == 0 {
                    begin = at;
                }
                depth += 1;
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&array[begin..=at]);
                }
            }
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_is_split_into_its_replies() {
        let found: Vec<_> = elements(br#"[{"id":1,"result":{"a":1}}, {"id":2}]"#).collect();
        assert_eq!(found, [&br#"{"id":1,"result":{"a":1}}"#[..], br#"{"id":2}"#]);
    }
}
