//! The WebSocket client, for servers that can be reached only by WebSocket, for example through HTTP proxies.

use super::frame::{CloseCode, Role};
use super::transport::WebSocket;
use super::upgrade::{Subprotocol, accept};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::BytesMut;
use frisbee::RawTransport;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Maximum size of the upgrade response in bytes, equal to the usual limit of HTTP servers for a request head.
const ANSWER_MAX: usize = 8 * 1024;

/// Connects to a server that serves [WebSocket](crate::Gateway::web_socket), by a URL such as `ws://server:8080/`.
///
/// ```
/// # use samples::greeter::{GreeterClient, GreeterServer, Name};
/// # use samples::started::Polite;
/// use frpc::Channel;
/// use frpc_gateway::{Gateway, ServeGateway, web_socket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let builder = frpc::Server::builder().add_service(GreeterServer::new(Polite));
/// let server = builder.gateway(Gateway::new().web_socket()).bind("127.0.0.1:0").await?;
/// let url = format!("ws://{}/", server.local_addr());
/// # tokio::spawn(server.serve());
/// let connector = move || {
///     let url = url.clone();
///     async move { web_socket::connect(&url).await }
/// };
/// let channel = Channel::builder().connect_with_connector(connector).await?;
/// let greeting = GreeterClient::new(channel).greet(Name { name: "Ada".to_owned() }).await?;
/// assert_eq!(greeting.get_ref().text, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns errors of the connection, and `Other` if the server rejects the upgrade. Returns `InvalidInput` if the
/// scheme is not `ws`. For TLS, perform the TLS handshake and call [`connect_io`].
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn connect(url: &str) -> io::Result<WebSocket<RawTransport>> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, format!("{url:?} is not a ws:// URL"));
    let rest = url.strip_prefix("ws://").ok_or_else(invalid)?;
    let at = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if has_port { host.to_owned() } else { format!("{host}:80") };
    let socket = frisbee::connect_tcp(address).await?;
    connect_io(RawTransport::from(socket), host, if path.is_empty() { "/" } else { path }).await
}

/// Performs the client's handshake with this host and path over a connected transport, such as a TLS stream.
///
/// # Errors
/// Returns errors of the transport, and `Other` if the server rejects the upgrade. Returns `InvalidInput` if the host
/// or the path contains characters that are not allowed in a request.
///
/// # Cancel safety
/// Dropping the future closes the transport.
pub async fn connect_io<T>(mut io: T, host: &str, path: &str) -> io::Result<WebSocket<T>>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    if [host, path].iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name or the path of the URL is malformed"));
    }
    let key = BASE64_STANDARD.encode(std::array::from_fn::<u8, 16, _>(|_| fastrand::u8(..)));
    let name = Subprotocol::Frames.name();
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-key: \
         {key}\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: {name}\r\n\r\n"
    );
    io.write_all(request.as_bytes()).await?;
    io.flush().await?;
    let mut answer = BytesMut::new();
    let early = loop {
        if io.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match read_answer(&answer, &key)? {
            Some(length) => break answer.split_off(length),
            None if answer.len() >= ANSWER_MAX => return Err(refused("its answer is too long")),
            None => {}
        }
    };
    let goodbye = Arc::new(|| CloseCode::NORMAL);
    // Drop the receiver: the owner of the transport performs the closing handshake by shutting it down.
    Ok(WebSocket::new(early, io, Role::Client, goodbye).0)
}

/// Returns the length of the upgrade response once it is complete. Fails unless it accepts the upgrade.
fn read_answer(answer: &[u8], key: &str) -> io::Result<Option<usize>> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(answer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(refused(&format!("it does not speak HTTP: {error}"))),
    };
    let status = response.code.unwrap_or(0);
    if status != 101 {
        return Err(refused(&format!("status {status}")));
    }
    let field = |name: &str| {
        let found = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| field.value).unwrap_or_default()
    };
    // `connection` is a list of options, and the response must not select an extension, because none was requested (RFC
    // 6455, section 4.1).
    let connection = response.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("connection"));
    let mut options = connection.flat_map(|field| field.value.split(|byte| *byte == b','));
    let grants = field("upgrade").eq_ignore_ascii_case(b"websocket")
        && options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
        && field("sec-websocket-accept") == accept(key.as_bytes()).as_bytes()
        && field("sec-websocket-extensions").is_empty();
    if !grants || field("sec-websocket-protocol") != Subprotocol::Frames.name().as_bytes() {
        return Err(refused("its answer is not one to this request"));
    }
    Ok(Some(length))
}

fn refused(text: &str) -> io::Error {
    io::Error::other(format!("the server refused WebSocket: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: `connection` was compared as a whole, and extensions were ignored.
    #[test]
    fn answer_accepts_connection_options_but_no_extension() {
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        let answer = |connection: &str, rest: &str| {
            let (accept, protocol) = (accept(key.as_bytes()), Subprotocol::Frames.name());
            format!(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: {connection}\r\n\
                 sec-websocket-accept: {accept}\r\nsec-websocket-protocol: {protocol}\r\n{rest}\r\n"
            )
        };
        for connection in ["Upgrade", "Upgrade, Keep-Alive", "keep-alive,upgrade"] {
            let answer = answer(connection, "");
            let length = read_answer(answer.as_bytes(), key).expect("answer should be accepted");
            assert_eq!(length, Some(answer.len()));
        }
        for refused in [answer("Keep-Alive", ""), answer("Upgrade", "sec-websocket-extensions: permessage-deflate\r\n")]
        {
            assert!(read_answer(refused.as_bytes(), key).is_err(), "{refused}");
        }
    }
}
