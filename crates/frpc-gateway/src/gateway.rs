//! [`Gateway`]: the settings of the additional protocols, and the detection of a connection's protocol.

#[cfg(feature = "mcp")]
use crate::Mcp;
use crate::json_rpc;
#[cfg(feature = "http")]
use crate::{Http, http};
use crate::{Udp, udp};
use frisbee::RawTransport;
use frpc::{AdapterContext, ServerBuilder, SettingError};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Settings of the additional protocols that a server accepts.
#[derive(Clone, Debug)]
#[must_use]
pub struct Gateway {
    pub(crate) json_rpc: bool,
    #[cfg(feature = "http")]
    pub(crate) http: Option<Http>,
    #[cfg(feature = "http")]
    pub(crate) web_socket: bool,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: Option<Arc<Mcp>>,
    udp: Vec<Udp>,
    /// OpenRPC document of the server's methods. Created when a client first requests it.
    pub(crate) discovered: Arc<OnceLock<Vec<u8>>>,
    pub(crate) batch_max: usize,
    pub(crate) idle_timeout: Duration,
}

/// Default maximum number of requests in a batch. Replies are sent once the whole batch has completed, so larger
/// batches have no benefit.
const BATCH_MAX: usize = 1000;

/// Default idle timeout of a gateway connection, longer than a user needs to type a line. It is needed because the
/// gateway's protocols have no mandatory keepalive to detect a vanished client.
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
    /// Creates a gateway with all protocols disabled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enables JSON-RPC 2.0.
    pub fn json_rpc(mut self) -> Self {
        self.json_rpc = true;
        self
    }

    /// Serves JSON-RPC 2.0 over UDP, in addition to the protocols of the TCP port. A datagram is a request or a batch,
    /// and each reply is one datagram. Streaming methods are not supported. See [`Udp`] for its limits.
    ///
    /// Datagrams are not encrypted, and their source may be spoofed. Use this only in closed networks and for calls
    /// that may be lost.
    pub fn udp(mut self, udp: Udp) -> Self {
        self.udp.push(udp);
        self
    }

    /// Enables the HTTP protocols selected by `http`. If [JSON-RPC](Self::json_rpc) is enabled, messages can also be
    /// sent by POST to `/`.
    ///
    /// With TLS, ALPN offers `h2` and `http/1.1` unless the TLS settings specify protocols.
    #[cfg(feature = "http")]
    pub fn http(mut self, http: Http) -> Self {
        #[cfg(feature = "console")]
        if http.locks.console.is_some() {
            self.web_socket = true;
        }
        self.http = Some(http);
        self
    }

    /// Enables WebSocket with the subprotocol `frisbee.1`: a byte stream of native frames in binary messages. With
    /// [`json_rpc`](Self::json_rpc), the subprotocol `jsonrpc` is enabled too: one JSON-RPC message per text message.
    /// The host and origin rules of [`http`](Self::http) apply.
    #[cfg(feature = "http")]
    pub fn web_socket(mut self) -> Self {
        self.web_socket = true;
        self.http.get_or_insert_default();
        self
    }

    /// Offers methods to agents as tools of the Model Context Protocol, by POST to `/mcp` under the access rules of
    /// [`http`](Self::http), and as lines over TCP.
    #[cfg(feature = "mcp")]
    pub fn mcp(mut self, mcp: Mcp) -> Self {
        self.mcp = Some(Arc::new(mcp));
        self.http.get_or_insert_default();
        self
    }

    /// Sets the maximum number of requests in a JSON-RPC batch, at least one. A longer batch is rejected before any of
    /// its calls is made. Defaults to 1000.
    pub fn batch_max(mut self, requests: usize) -> Self {
        self.batch_max = requests.max(1);
        self
    }

    /// Sets the idle timeout: a connection is closed if it has no call in progress and receives no bytes for this time.
    /// Defaults to 5 min.
    ///
    /// Calls of a half-closed client, which may have vanished, are limited to the same time. Over HTTP/2, each part of
    /// a response extends it. If an HTTP/1.1 response to such a client has begun, it may pause for ten seconds at most.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Returns an error if a limit or timeout is zero.
    fn check(&self) -> Result<(), SettingError> {
        SettingError::check_positive(&[("gateway.idle_timeout", self.idle_timeout)])?;
        #[cfg(feature = "mcp")]
        self.mcp.as_ref().map_or(Ok(()), |mcp| mcp.check())?;
        self.udp.iter().try_for_each(Udp::check)
    }

    /// Returns whether the first bytes of a connection indicate an enabled protocol.
    fn accepts(&self, beginning: &[u8]) -> bool {
        match beginning.first() {
            Some(b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n' | 0xef) => self.takes_lines(),
            #[cfg(feature = "http")]
            Some(b'A'..=b'Z') => self.http.is_some(),
            _ => false,
        }
    }

    /// Returns whether JSON-RPC messages are accepted directly over TCP, without HTTP.
    fn takes_lines(&self) -> bool {
        #[cfg(feature = "mcp")]
        if self.mcp.is_some() {
            return true;
        }
        self.json_rpc
    }

    async fn serve(self: Arc<Self>, transport: RawTransport, context: AdapterContext) -> io::Result<()> {
        // An HTTP request begins with the name of its method.
        #[cfg(feature = "http")]
        if transport.early().first().is_some_and(u8::is_ascii_uppercase) {
            return http::serve(&self, transport, &context).await;
        }
        json_rpc::serve(&self, transport, &context).await
    }
}

/// Extension trait that adds a [`Gateway`] to a server.
pub trait ServeGateway: sealed::Sealed {
    /// Accepts connections in the protocols of this gateway. Binding or building the server fails if a limit or timeout
    /// of the gateway is zero.
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
        let builder = match gateway.check() {
            Ok(()) => builder,
            Err(error) => builder.reject_setting(error),
        };
        let gateway = Arc::new(gateway);
        let builder = gateway.udp.iter().fold(builder, |builder, socket| {
            let (gateway, socket) = (gateway.clone(), socket.clone());
            builder.adapter_listener(move |peers| udp::serve(gateway.clone(), socket.clone(), peers))
        });
        let accepting = gateway.clone();
        builder.adapter(
            move |beginning| accepting.accepts(beginning),
            move |transport, context| gateway.clone().serve(transport, context),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn zero_of_gateway_setter_is_rejected_at_build() {
        let udp = |set: fn(Udp) -> Udp| {
            Gateway::new().udp(set(Udp::bind("127.0.0.1:0").expect("loopback port should be free")))
        };
        #[cfg(feature = "mcp")]
        let mcp = |set: fn(Mcp) -> Mcp| Gateway::new().mcp(set(Mcp::new()));
        for (gateway, error) in [
            (Gateway::new().idle_timeout(Duration::ZERO), "gateway.idle_timeout = 0ns"),
            (udp(|udp| udp.reply_max(0)), "udp.reply_max = 0"),
            (udp(|udp| udp.calls_max(0)), "udp.calls_max = 0"),
            (udp(|udp| udp.rate(0, 1)), "udp.rate.per_second = 0"),
            (udp(|udp| udp.rate(1, 0)), "udp.rate.burst = 0"),
            (udp(|udp| udp.call_timeout(Duration::ZERO)), "udp.call_timeout = 0ns"),
            #[cfg(feature = "mcp")]
            (mcp(|mcp| mcp.timeout(Duration::ZERO)), "mcp.timeout = 0ns"),
            #[cfg(feature = "mcp")]
            (mcp(|mcp| mcp.result_max(0)), "mcp.result_max = 0"),
        ] {
            let built = frpc::Server::builder().gateway(gateway).build();
            let text = built.map(drop).expect_err("zero should be rejected").to_string();
            assert_eq!(text, format!("invalid setting: {error}: must be greater than zero"));
        }
        // These two settings are raised to one instead of rejected.
        let least = udp(|udp| udp.reply_factor(0)).batch_max(0);
        frpc::Server::builder().gateway(least).build().expect("settings should be valid");
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for frpc::ServerBuilder {}
}
