//! The enabled gateways, and the detection of a connection's protocol.

#[cfg(feature = "mcp")]
use crate::Mcp;
use crate::json_rpc;
#[cfg(feature = "http")]
use crate::{Http, http};
use crate::{Udp, udp};
use frisbee::RawTransport;
use frpc::{AdapterContext, ServerBuilder};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The other protocols of a server.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub(crate) json_rpc: bool,
    #[cfg(feature = "http")]
    pub(crate) http: Option<Http>,
    #[cfg(feature = "http")]
    pub(crate) web_socket: bool,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: Option<Arc<Mcp>>,
    udp: Vec<Udp>,
    /// The document about the methods of the server, from the first request for it on.
    pub(crate) discovered: Arc<OnceLock<Vec<u8>>>,
    pub(crate) batch_max: usize,
    pub(crate) idle_timeout: Duration,
}

/// The most requests of a batch. Their replies wait for the last of them, so that a client gains nothing by more: it
/// may send several batches.
const BATCH_MAX: usize = 1000;

/// How long a gateway connection may be idle: longer than a user needs for the next line. Nothing shows whether the
/// client is still there, since none of these protocols has to answer a PING.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

impl Default for Gateway {
    fn default() -> Self {
        Self {
            json_rpc: false,
            #[cfg(feature = "http")]
            http: None,
            #[cfg(feature = "http")]
            web_socket: false,
            #[cfg(feature = "mcp")]
            mcp: None,
            udp: Vec::new(),
            discovered: Arc::default(),
            batch_max: BATCH_MAX,
            idle_timeout: IDLE_TIMEOUT,
        }
    }
}

impl Gateway {
    /// A gateway without an enabled protocol.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Enables JSON-RPC 2.0.
    #[must_use]
    pub fn json_rpc(mut self) -> Self {
        self.json_rpc = true;
        self
    }

    /// Serves JSON-RPC 2.0 by datagrams, in addition to the protocols of the port. A datagram is a request or a batch, and a
    /// reply is a datagram. Methods do not stream. See [`Udp`] for its limits.
    ///
    /// Datagrams are not encrypted, and their sources may be forged: this is for closed networks, and for calls that may
    /// be lost.
    #[must_use]
    pub fn udp(mut self, udp: Udp) -> Self {
        self.udp.push(udp);
        self
    }

    /// Enables the protocols over HTTP that `http` enables. If [JSON-RPC](Self::json_rpc) is enabled as well, its
    /// messages may also be sent by POST to `/`.
    ///
    /// With TLS, `h2` and `http/1.1` are offered by ALPN, unless the settings of TLS offer something.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn http(mut self, http: Http) -> Self {
        #[cfg(feature = "console")]
        if http.locks.console.is_some() {
            self.web_socket = true;
        }
        self.http = Some(http);
        self
    }

    /// Enables WebSocket, with the subprotocol `frisbee.1`: native frames in binary messages, independent of the
    /// boundaries of these. With [`json_rpc`](Self::json_rpc) also `jsonrpc`: each text is a message, as is each text
    /// of the server. The locks are those of [`http`](Self::http): names of the server and origins of pages.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn web_socket(mut self) -> Self {
        self.web_socket = true;
        self.http.get_or_insert_default();
        self
    }

    /// Enables tools for agents: a POST to `/mcp`, under the access rules of [`http`](Self::http), and messages in lines over TCP.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp(mut self, mcp: Mcp) -> Self {
        self.mcp = Some(Arc::new(mcp));
        self.http.get_or_insert_default();
        self
    }

    /// Sets how many requests a batch of JSON-RPC may have, at least one. Default: 1000. A longer one is refused while it
    /// is read, before any of its calls.
    #[must_use]
    pub fn batch_max(mut self, requests: usize) -> Self {
        self.batch_max = requests.max(1);
        self
    }

    /// Sets how long a connection may have no call in progress and bring no byte, until it is closed. Default: 5 min.
    ///
    /// Calls of a client that has closed its direction, which may be gone, are limited to the same time. A response by HTTP/1.1
    /// that has begun may then pause for ten seconds.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// The enabled protocol of a connection with this beginning.
    fn protocol(&self, beginning: &[u8]) -> Option<EntryProtocol> {
        match beginning.first()? {
            b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n' | 0xef => self.takes_lines().then_some(EntryProtocol::JsonRpc),
            #[cfg(feature = "http")]
            b'A'..=b'Z' => self.http.as_ref().map(|_| EntryProtocol::Http),
            _ => None,
        }
    }

    /// Whether JSON-RPC messages are served outside HTTP.
    fn takes_lines(&self) -> bool {
        #[cfg(feature = "mcp")]
        if self.mcp.is_some() {
            return true;
        }
        self.json_rpc
    }

    async fn serve(self: Arc<Self>, transport: RawTransport, context: AdapterContext) -> io::Result<()> {
        match self.protocol(transport.early()) {
            Some(EntryProtocol::JsonRpc) => json_rpc::serve(&self, transport, &context).await,
            #[cfg(feature = "http")]
            Some(EntryProtocol::Http) => http::serve(&self, transport, &context).await,
            None => Ok(()),
        }
    }
}

/// A protocol that a connection can begin with.
#[derive(Clone, Copy, Debug)]
enum EntryProtocol {
    JsonRpc,
    #[cfg(feature = "http")]
    Http,
}

/// Adds a [`Gateway`] to a server.
pub trait ServeGateway: sealed::Sealed {
    /// Serves connections in the protocols of this gateway.
    #[must_use]
    fn gateway(self, gateway: Gateway) -> Self;
}

impl ServeGateway for ServerBuilder {
    fn gateway(self, gateway: Gateway) -> Self {
        #[cfg(feature = "mcp")]
        let gateway = Gateway { mcp: gateway.mcp.map(|mcp| Arc::new(mcp.fresh())), ..gateway };
        #[cfg(feature = "http")]
        let builder = if gateway.http.is_some() { self.alpn_protocols(["h2", "http/1.1"]) } else { self };
        #[cfg(not(feature = "http"))]
        let builder = self;
        let gateway = Arc::new(gateway);
        let builder = gateway.udp.iter().fold(builder, |builder, socket| {
            let (gateway, socket) = (gateway.clone(), socket.clone());
            builder.adapter_listener(move |peers| udp::serve(gateway.clone(), socket.clone(), peers))
        });
        let accepting = gateway.clone();
        builder.adapter(
            move |beginning| accepting.protocol(beginning).is_some(),
            move |transport, context| gateway.clone().serve(transport, context),
        )
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for frpc::ServerBuilder {}
}
