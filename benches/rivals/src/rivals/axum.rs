//! JSON over HTTP/1.1: an axum service, and hyper's client on keep-alive connections.
//!
//! An HTTP/1.1 connection carries one call at a time, so a client opens as many connections as it has calls in flight.

use super::{Client, Rival, Setup};
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::{Request as Echo, Response as Echoed};
use crate::text::Text;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

/// axum with JSON.
#[derive(Debug)]
pub struct Axum;

impl Rival for Axum {
    const NAME: &'static str = "axum-json";
    type Client = Pool;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        bound.at(listener.local_addr()?);
        let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
        let router = Router::new().route("/echo", post(echo)).layer(DefaultBodyLimit::disable()).with_state(setup);
        Ok(axum::serve(listener, router).await?)
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Pool, BoxError> {
        let mut connections = Vec::new();
        for _ in 0..setup.in_flight {
            connections.push(dial(address).await?);
        }
        Ok(Pool { address, idle: Arc::new(Mutex::new(connections)) })
    }
}

async fn echo(State(setup): State<Setup>, Json(echo): Json<Echo>) -> Json<Echoed> {
    setup.pause().await;
    Json(Echoed { message: echo.message })
}

/// A request that borrows its text.
#[derive(serde::Serialize)]
struct Borrowed<'a> {
    message: &'a str,
}

/// Connections to one server.
#[derive(Clone, Debug)]
pub struct Pool {
    address: SocketAddr,
    idle: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
}

async fn dial(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, BoxError> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

impl Client for Pool {
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        let idle = self.idle.lock().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => dial(self.address).await?,
        };
        let body = serde_json::to_vec(&Borrowed { message: text.as_str() })?;
        let request = Request::builder()
            .method(Method::POST)
            .uri("/echo")
            .header(HOST, "localhost")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        if !response.status().is_success() {
            return Err(format!("status {}", response.status()).into());
        }
        let body = response.into_body().collect().await?.to_bytes();
        self.idle.lock().push(connection);
        Ok(serde_json::from_slice::<Echoed>(&body)?.message)
    }
}
