//! Streams of messages by hand, a lower bound for all others: length-prefixed messages, written in batches as long as
//! fRPC's and counted on arrival.

use super::streams::Streams;
use crate::BoxError;
use crate::background::{Bound, on_each_core};
use crate::flows::Flows;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// Maximum number of bytes per write, like in a batch of fRPC.
const BATCH: usize = 32 * 1024;

/// Maximum number of bytes per read, like in fRPC.
const READ: usize = 64 * 1024;

/// Size of the length prefix in bytes.
const HEAD: usize = 4;

/// The request of a stream: its direction, the number of messages and their length.
const REQUEST: usize = 9;
const DOWN: u8 = 0;
const UP: u8 = 1;
const BOTH: u8 = 2;

/// One thread per core, at both ends.
#[derive(Debug)]
pub struct Raw;

impl Streams for Raw {
    const NAME: &'static str = "raw-cores";
    type Client = Socket;

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        Socket::serve(bound).await
    }
}

/// A connection with one stream at a time.
#[derive(Clone, Debug)]
pub struct Socket(Arc<Mutex<TcpStream>>);

impl Flows for Socket {
    const NAME: &'static str = "raw-cores";

    async fn serve(bound: Bound) -> Result<(), BoxError> {
        on_each_core(bound, |mut connections| async move {
            while let Some(socket) = connections.recv().await {
                let mut socket = TcpStream::from_std(socket)?;
                // The task ends with its connection.
                tokio::spawn(async move { while answer(&mut socket).await.is_ok() {} });
            }
            Ok(())
        })
        .await
    }

    async fn connect(address: SocketAddr) -> Result<Self, BoxError> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        Ok(Self(Arc::new(Mutex::new(socket))))
    }

    async fn stream_down(&self, items: u64, text: &str) -> Result<u64, BoxError> {
        let mut socket = self.0.lock().await;
        request(&mut socket, DOWN, items, text).await?;
        receive(&mut *socket, items).await
    }

    async fn stream_up(&self, items: u64, text: &str) -> Result<u64, BoxError> {
        let mut socket = self.0.lock().await;
        request(&mut socket, UP, items, text).await?;
        send(&mut *socket, items, text.as_bytes()).await?;
        Ok(socket.read_u64().await?)
    }

    async fn stream_both(&self, items: u64, text: &str) -> Result<u64, BoxError> {
        let mut socket = self.0.lock().await;
        request(&mut socket, BOTH, items, text).await?;
        let (mut read, mut write) = socket.split();
        Ok(tokio::try_join!(receive(&mut read, items), send(&mut write, items, text.as_bytes()))?.0)
    }

    async fn ping_pong(&self, items: u64, text: &str) -> Result<u64, BoxError> {
        let mut socket = self.0.lock().await;
        request(&mut socket, BOTH, items, text).await?;
        let mut bytes = 0;
        for _ in 0..items {
            send(&mut *socket, 1, text.as_bytes()).await?;
            bytes += receive(&mut *socket, 1).await?;
        }
        Ok(bytes)
    }
}

async fn request(socket: &mut TcpStream, kind: u8, items: u64, text: &str) -> Result<(), BoxError> {
    let [items, length] = [u32::try_from(items)?.to_be_bytes(), u32::try_from(text.len())?.to_be_bytes()];
    Ok(socket.write_all(&[&[kind][..], &items, &length].concat()).await?)
}

/// Serves one stream.
async fn answer(socket: &mut TcpStream) -> Result<(), BoxError> {
    let mut request = [0; REQUEST];
    socket.read_exact(&mut request).await?;
    let [kind, a, b, c, d, length @ ..] = request;
    let (items, length) = (u64::from(u32::from_be_bytes([a, b, c, d])), u32::from_be_bytes(length) as usize);
    match kind {
        DOWN => send(socket, items, &vec![b'x'; length]).await,
        UP => {
            let bytes = receive(socket, items).await?;
            Ok(socket.write_u64(bytes).await?)
        }
        _ => {
            let mut rest = items * (HEAD + length) as u64;
            let mut buffer = Vec::with_capacity(READ);
            while rest > 0 {
                buffer.clear();
                let read = socket.read_buf(&mut buffer).await?;
                if read == 0 {
                    return Err("the connection has ended".into());
                }
                rest -= read as u64;
                socket.write_all(&buffer).await?;
            }
            Ok(())
        }
    }
}

async fn send(socket: &mut (impl AsyncWrite + Unpin), items: u64, text: &[u8]) -> Result<(), BoxError> {
    let mut batch = Vec::with_capacity(BATCH + HEAD + text.len());
    for _ in 0..items {
        batch.extend_from_slice(&u32::try_from(text.len())?.to_be_bytes());
        batch.extend_from_slice(text);
        if batch.len() >= BATCH {
            socket.write_all(&batch).await?;
            batch.clear();
        }
    }
    Ok(socket.write_all(&batch).await?)
}

/// Receives `items` messages and returns the sum of their lengths.
async fn receive(socket: &mut (impl AsyncRead + Unpin), items: u64) -> Result<u64, BoxError> {
    let mut buffer = Vec::with_capacity(READ);
    let (mut received, mut bytes) = (0, 0);
    while received < items {
        buffer.reserve(READ);
        if socket.read_buf(&mut buffer).await? == 0 {
            return Err("the connection has ended".into());
        }
        let mut at = 0;
        while let Some((head, rest)) = buffer[at..].split_first_chunk::<HEAD>() {
            let length = u32::from_be_bytes(*head) as usize;
            if rest.len() < length {
                break;
            }
            at += HEAD + length;
            received += 1;
            bytes += length as u64;
        }
        buffer.drain(..at);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Background;

    #[tokio::test]
    async fn each_direction_carries_all_bytes() {
        let server = Background::start(<Socket as Flows>::serve).unwrap();
        let client = Socket::connect(server.address()).await.unwrap();
        let (items, text) = (1000, "x".repeat(100));
        let counted = [
            client.stream_down(items, &text).await.unwrap(),
            client.stream_up(items, &text).await.unwrap(),
            client.stream_both(items, &text).await.unwrap(),
            client.ping_pong(items, &text).await.unwrap(),
        ];
        assert_eq!(counted, [items * 100; 4]);
    }
}
