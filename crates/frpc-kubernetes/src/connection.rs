//! One connection to an API server: requests one after the other, answers of a limited size, and lines without an end.

use crate::kubernetes::{Address, invalid};
use bytes::{Bytes, BytesMut};
use frpc::tls::ClientTls;
use http::header::{ACCEPT, AUTHORIZATION, HOST, USER_AGENT};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// How long an API server may take to accept a connection, or for an answer that has an end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How often the system asks for a sign of life when nothing comes, so that a watch does not wait for a machine that is
/// gone.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// The most bytes of an answer with an end: a page of slices of the largest size.
const ANSWER_MAX: usize = 16 << 20;

/// The most bytes of a line: several times the 1.5 MiB that etcd takes for an object.
const LINE_MAX: usize = 4 << 20;

/// The most bytes of the reason why something is refused.
const REASON_MAX: usize = 16 << 10;

/// A connection, which closes when it and the answers on it are dropped.
pub(crate) struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    host: HeaderValue,
    prefix: String,
    authorization: Option<HeaderValue>,
}

/// What an API server answers with.
pub(crate) enum Answer<T> {
    Given(T),
    /// What was asked for has been forgotten: the code 410.
    Gone,
}

impl Connection {
    /// Connects, by TLS to a server of this name.
    pub(crate) async fn open(
        address: &Address,
        tls: Option<(ClientTls, &str)>,
        token: Option<&str>,
    ) -> io::Result<Self> {
        let authorization = token.map(authorization).transpose()?;
        let host =
            HeaderValue::try_from(address.authority()).map_err(|_| invalid("the host has no form as a header"))?;
        let connecting = async {
            let socket = TcpStream::connect((address.host.as_str(), address.port)).await?;
            socket.set_nodelay(true)?;
            let keepalive = TcpKeepalive::new().with_time(SIGN_OF_LIFE).with_interval(SIGN_OF_LIFE);
            SockRef::from(&socket).set_tcp_keepalive(&keepalive)?;
            match tls {
                None => greet(socket).await,
                Some((tls, name)) => greet(tls.connect_io(socket, name).await.map_err(io::Error::other)?).await,
            }
        };
        let connected = within_patience(connecting).await;
        let sender = connected.map_err(|error| {
            io::Error::new(error.kind(), format!("the API server at {}: {error}", address.authority()))
        })?;
        Ok(Self { sender, host, prefix: address.prefix.clone(), authorization })
    }

    async fn get(&mut self, path: &str) -> io::Result<Answer<Response<Incoming>>> {
        let request = Request::get(format!("{}{path}", self.prefix)).header(HOST, &self.host);
        let request = request.header(ACCEPT, "application/json").header(USER_AGENT, "frpc-kubernetes");
        let mut request = request.body(Empty::new()).map_err(|_| invalid("the path is no URI"))?;
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let response = self.sender.send_request(request).await.map_err(failed)?;
        match response.status() {
            StatusCode::OK => Ok(Answer::Given(response)),
            StatusCode::GONE => Ok(Answer::Gone),
            _ => Err(refused(response).await),
        }
    }

    /// Asks for something with an end.
    pub(crate) async fn ask<T: for<'de> Deserialize<'de>>(&mut self, path: &str) -> io::Result<Answer<T>> {
        within_patience(async {
            let Answer::Given(response) = self.get(path).await? else { return Ok(Answer::Gone) };
            let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await.map_err(io::Error::other)?;
            serde_json::from_slice(&body.to_bytes()).map(Answer::Given).map_err(|error| not_understood(&error))
        })
        .await
    }

    /// Asks for something without an end.
    pub(crate) async fn follow(mut self, path: &str) -> io::Result<Answer<Lines>> {
        match within_patience(self.get(path)).await? {
            Answer::Given(response) => Ok(Answer::Given(Lines { body: response.into_body(), read: BytesMut::new() })),
            Answer::Gone => Ok(Answer::Gone),
        }
    }
}

/// An answer without an end, line by line.
pub(crate) struct Lines {
    body: Incoming,
    /// What has been read and given to nobody yet.
    read: BytesMut,
}

impl Lines {
    /// The next line, or nothing when the server has ended the answer.
    ///
    /// # Cancel safety
    /// Safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let mut looked = 0;
        loop {
            if let Some(at) = self.read[looked..].iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.read.split_to(looked + at + 1).freeze()));
            }
            looked = self.read.len();
            if looked > LINE_MAX {
                return Err(unusable(format!("the API server sent a line of more than {LINE_MAX} bytes")));
            }
            match self.body.frame().await {
                // What stands behind the last line was to be another one.
                None => return Ok(None),
                Some(frame) => self.read.extend(frame.map_err(failed)?.into_data().ok().into_iter().flatten()),
            }
        }
    }
}

/// Begins to speak HTTP.
async fn greet<T>(io: T) -> io::Result<SendRequest<Empty<Bytes>>>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(io)).await.map_err(failed)?;
    // Ends with the sender and the answers. How it ends is known to those who wait for an answer.
    tokio::spawn(async { drop(connection.await) });
    Ok(sender)
}

/// The token as a header, which is not shown in logs.
fn authorization(token: &str) -> io::Result<HeaderValue> {
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    let mut value = value.map_err(|_| invalid("the token has characters that no header has"))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn within_patience<T>(asking: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// The reason that an API server gives.
#[derive(Deserialize)]
struct Refusal {
    message: String,
}

/// Why an API server refuses something: who may not do what, for example.
async fn refused(response: Response<Incoming>) -> io::Error {
    let status = response.status();
    let body = Limited::new(response.into_body(), REASON_MAX).collect().await.ok();
    let refusal = body.and_then(|body| serde_json::from_slice::<Refusal>(&body.to_bytes()).ok());
    let reason = refusal.map_or_else(String::new, |refusal| format!(": {}", refusal.message));
    unusable(format!("the API server answers {status}{reason}"))
}

pub(crate) fn not_understood(error: &serde_json::Error) -> io::Error {
    unusable(format!("the answer of the API server: {error}"))
}

/// The error of an answer that has come and is of no use, by its kind: all others are lost connections.
pub(crate) fn unusable(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The error of a connection, with what caused it: hyper's own texts say little.
fn failed(error: impl std::error::Error) -> io::Error {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(because) = cause {
        text = format!("{text}: {because}");
        cause = because.source();
    }
    io::Error::other(format!("the API server: {text}"))
}
