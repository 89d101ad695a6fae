//! `frpc mcp`: connects an agent, which sends and receives lines over standard input and output, to the tools of a
//! server.
//!
//! The server implements the protocol, and lines are forwarded unchanged. If the server closes an idle connection or
//! restarts, the next line opens a new connection. Requests that were lost with a connection are answered with an
//! error.

use crate::arguments::{McpArguments, ServerArguments};
use crate::failure::Failure;
use crate::show::metadata_members;
use crate::source::Context;
use crate::target::Target;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    ReadHalf, WriteHalf,
};
use tokio::time::{Instant, sleep_until};

/// Maximum length in bytes of a line from the server. Sufficient for a body of the default maximum size, even if all of
/// its bytes are escaped.
const REPLY_MAX: usize = 64 << 20;

/// JSON-RPC error code for invalid JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC error code for internal errors.
const INTERNAL_ERROR: i32 = -32603;

/// Connects an agent, through standard input and output, to the tools of the server.
pub(crate) async fn mcp(arguments: McpArguments, context: &Context) -> Result<(), Failure> {
    let server = arguments.to.or_else(|| context.server.server.clone());
    let server = ServerArguments { server, ..context.server.clone() };
    let target = Target::new(&server)?;
    let prefix = prefix(&arguments.metadata)?;
    if target.is_web_socket() || target.is_grpc() {
        let text = "unsupported address of a tool server; use HOST:PORT or unix:PATH";
        return Err(Failure::new(format!("{}: {text}", target.address)));
    }
    let dial = || target.dial();
    // Dial now, so that an invalid address fails immediately.
    let first = dial().await;
    let first = first.map_err(|error| Failure::new(format!("cannot connect to {}: {error}", target.address)))?;
    let first_reply = Some(target.connect_timeout());
    let bridge = Bridge { address: &target.address, prefix, dial, first_reply, link: Some(Link::new(first)) };
    let outcome = bridge.run(BufReader::new(tokio::io::stdin()), tokio::io::stdout()).await;
    outcome.map_err(|error| Failure::new(format!("standard input or output: {error}")))
}

/// Returns the metadata as JSON text that is inserted at the start of each request.
fn prefix(entries: &[String]) -> Result<String, Failure> {
    let metadata = crate::call::metadata(entries)?;
    let members = metadata_members(&metadata)?;
    Ok(if members.is_empty() { String::new() } else { format!("\"metadata\":{},", json!(members)) })
}

/// The current connection to the server, and the ids of the unanswered requests that were sent over it.
struct Link<T> {
    reader: BufReader<ReadHalf<T>>,
    /// Beginning of a line that is being received.
    reply: Vec<u8>,
    writer: WriteHalf<T>,
    /// Rest of a line that is being sent.
    unsent: Vec<u8>,
    is_sending: bool,
    pending: Vec<Value>,
}

impl<T: AsyncRead + AsyncWrite> Link<T> {
    fn new(io: T) -> Self {
        let (reader, writer) = tokio::io::split(io);
        let (reply, unsent, pending) = (Vec::new(), Vec::new(), Vec::new());
        Self { reader: BufReader::new(reader), reply, writer, unsent, is_sending: false, pending }
    }
}

/// Members of a JSON-RPC message that distinguish a request from a reply.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// Returns the id of a message if it is a request, or a reply if `is_request` is false. Returns `None` for all other
/// messages, and for an id that is neither a string nor a number.
fn id(line: &[u8], is_request: bool) -> Option<Value> {
    // `Envelope` could also be read from an array.
    let object = line.trim_ascii_start().starts_with(b"{").then_some(line)?;
    let envelope: Envelope = serde_json::from_slice(object).ok()?;
    let id = envelope.id.filter(|id| id.is_string() || id.is_number());
    id.filter(|_| envelope.method.is_some() == is_request)
}

/// Checks that a line is a complete JSON value. The server would join an incomplete value with the next line, and would
/// close the connection after a line that is not JSON.
fn check(line: &[u8]) -> Result<(), String> {
    let text = str::from_utf8(line).map_err(|error| error.to_string())?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

/// Returns the id of the request that a notification cancels. Returns `None` for other messages.
fn cancelled(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let request = message.get("params")?.get("requestId")?;
    (message["method"] == "notifications/cancelled").then(|| request.clone())
}

struct Bridge<'a, D, T> {
    address: &'a str,
    prefix: String,
    dial: D,
    /// Timeout of the server's first line. `None` after this line, because a tool may then take any time.
    first_reply: Option<Duration>,
    link: Option<Link<T>>,
}

impl<D, F, T> Bridge<'_, D, T>
where
    D: Fn() -> F,
    F: Future<Output = io::Result<T>>,
    T: AsyncRead + AsyncWrite,
{
    /// Forwards lines in both directions until the input has ended and all requests have a reply.
    async fn run(
        mut self,
        mut input: impl AsyncBufRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        let mut has_ended = false;
        let mut deadline = None;
        loop {
            let is_idle = self.link.as_ref().is_none_or(|link| link.pending.is_empty());
            let is_sending = self.link.as_ref().is_some_and(|link| link.is_sending);
            if has_ended && is_idle && !is_sending {
                return Ok(());
            }
            deadline = self.first_reply.filter(|_| !is_idle).map(|limit| deadline.unwrap_or(Instant::now() + limit));
            let (sending, receiving) = match &mut self.link {
                Some(Link { reader, reply, writer, unsent, is_sending, .. }) => {
                    (Some((writer, unsent, is_sending)), Some((reader, reply)))
                }
                None => (None, None),
            };
            // Receive replies while a request is being sent, because a server that waits for the agent to read does not
            // read either.
            tokio::select! {
                // `read_until` is cancel safe: the next call continues the line.
                read = input.read_until(b'\n', &mut line), if !has_ended && !is_sending => {
                    has_ended = read? == 0;
                    let request = std::mem::take(&mut line);
                    if !request.trim_ascii().is_empty() {
                        self.send(&request, &mut output).await?;
                    }
                }
                sent = send(sending), if is_sending => if let Err(error) = sent {
                    self.lose(&error.to_string(), &mut output).await?;
                },
                () = wait_until(deadline) => {
                    self.lose("the server does not reply; specify its address for JSON-RPC", &mut output).await?;
                }
                read = receive(receiving) => match read {
                    Ok(reply) => {
                        self.first_reply = None;
                        if let (Some(link), Some(id)) = (&mut self.link, id(&reply, false)) {
                            link.pending.retain(|pending| *pending != id);
                        }
                        output.write_all(&reply).await?;
                    }
                    Err(reason) => self.lose(reason, &mut output).await?,
                },
            }
            output.flush().await?;
        }
    }

    /// Starts to send a line. Opens a connection first if there is none.
    async fn send(&mut self, request: &[u8], output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        if let Err(reason) = check(request) {
            return fail(vec![Value::Null], PARSE_ERROR, &format!("parse error: {reason}"), output).await;
        }
        let id = id(request, true);
        if self.link.is_none() {
            match (self.dial)().await {
                Ok(io) => self.link = Some(Link::new(io)),
                Err(error) => {
                    let text = format!("cannot connect to {}: {error}", self.address);
                    return fail(id.into_iter().collect(), INTERNAL_ERROR, &text, output).await;
                }
            }
        }
        let Some(link) = &mut self.link else { return Ok(()) };
        link.pending.extend(id);
        if let Some(id) = cancelled(request) {
            // Remove a cancelled request, because it has no reply to wait for at the end of the input.
            link.pending.retain(|pending| *pending != id);
        }
        let request = request.trim_ascii();
        link.unsent = match request.strip_prefix(b"{") {
            // An empty object stays as it is, because the prefix ends with a comma.
            Some(rest) if !rest.trim_ascii_start().starts_with(b"}") => {
                [b"{", self.prefix.as_bytes(), rest, b"\n"].concat()
            }
            _ => [request, b"\n"].concat(),
        };
        link.is_sending = true;
        Ok(())
    }

    /// Drops the connection. Replies to its pending requests with an error.
    async fn lose(&mut self, reason: &str, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let pending = self.link.take().map(|link| link.pending).unwrap_or_default();
        let text = format!("lost the connection to {}: {reason}", self.address);
        fail(pending, INTERNAL_ERROR, &text, output).await
    }
}

/// Waits until this time, or forever without one.
async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Sends a line. If the future is dropped, the next call continues with the same line.
async fn send(sending: Option<(&mut (impl AsyncWrite + Unpin), &mut Vec<u8>, &mut bool)>) -> io::Result<()> {
    let Some((writer, unsent, is_sending)) = sending else { return std::future::pending().await };
    while !unsent.is_empty() {
        match writer.write(unsent).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            sent => drop(unsent.drain(..sent)),
        }
    }
    writer.flush().await?;
    *is_sending = false;
    Ok(())
}

/// Returns the next line from the server, including its line feed. If no line of JSON can be received, returns the
/// reason. If the future is dropped, the next call continues with the same line.
async fn receive(receiving: Option<(&mut (impl AsyncBufRead + Unpin), &mut Vec<u8>)>) -> Result<Vec<u8>, &'static str> {
    let Some((reader, reply)) = receiving else { return std::future::pending().await };
    loop {
        let left = (REPLY_MAX + 1).saturating_sub(reply.len());
        // `read_until` is cancel safe: the next call continues the line. A connection that fails has ended.
        let _ = (&mut *reader).take(left as u64).read_until(b'\n', reply).await;
        if !reply.ends_with(b"\n") {
            let is_long = reply.len() > REPLY_MAX;
            return Err(if is_long { "a line of the server is too long" } else { "the server closed the connection" });
        }
        let line = std::mem::take(reply);
        match line.trim_ascii() {
            b"" => {}
            text if check(text).is_err() => {
                return Err("the server sent a line that is not JSON; specify its address for JSON-RPC");
            }
            _ => return Ok(line),
        }
    }
}

/// Replies to each of these requests with an error.
async fn fail(ids: Vec<Value>, code: i32, text: &str, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    for id in ids {
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
        output.write_all(format!("{error}\n").as_bytes()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{DuplexStream, duplex};
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    /// Timeout of the server's first line.
    const FIRST_REPLY: Duration = Duration::from_secs(10);

    /// Both peers of the tested bridge: the agent, and the server that the bridge connects to.
    struct Peer {
        agent: BufReader<DuplexStream>,
        dialled: mpsc::UnboundedReceiver<DuplexStream>,
    }

    fn bridge(prefix: &str, refuses: bool) -> Peer {
        let (agent, own) = duplex(1 << 16);
        let (sender, dialled) = mpsc::unbounded_channel();
        let prefix = prefix.to_owned();
        let sender = Some(sender).filter(|_| !refuses);
        tokio::spawn(async move {
            let dial = || {
                let (here, there) = duplex(1 << 16);
                let sent = sender.as_ref().map(|sender| sender.send(there).is_ok());
                let is_refused = sent != Some(true);
                std::future::ready(if is_refused { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(here) })
            };
            let (input, output) = tokio::io::split(own);
            let bridge = Bridge { address: "shop:1", prefix, dial, first_reply: Some(FIRST_REPLY), link: None };
            bridge.run(BufReader::new(input), output).await
        });
        Peer { agent: BufReader::new(agent), dialled }
    }

    impl Peer {
        async fn send(&mut self, line: &str) {
            self.agent.get_mut().write_all(line.as_bytes()).await.expect("bridge should accept a line from the agent");
        }

        async fn next(&mut self) -> String {
            let mut line = String::new();
            self.agent.read_line(&mut line).await.expect("agent should receive a line of UTF-8");
            line
        }
    }

    async fn line(server: &mut DuplexStream) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.push(server.read_u8().await.expect("bridge should send a complete line to the server"));
        }
        String::from_utf8(line).expect("bridge should send UTF-8 to the server")
    }

    #[tokio::test]
    async fn lines_pass_in_both_directions_with_metadata() {
        let mut peer = bridge("\"metadata\":{\"a\":\"b\"},", false);
        peer.send("{\"id\":1,\"method\":\"ping\"}\n\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        assert_eq!(line(&mut server).await, "{\"metadata\":{\"a\":\"b\"},\"id\":1,\"method\":\"ping\"}\n");
        server.write_all(b"{\"id\":1,\"result\":{}}\n").await.expect("bridge should accept the server's reply");
        assert_eq!(peer.next().await, "{\"id\":1,\"result\":{}}\n");
        // Regression: metadata made this line invalid, and the server closed the connection.
        peer.send("{ }\n").await;
        assert_eq!(line(&mut server).await, "{ }\n");
    }

    /// Regression test: a line that was not JSON was joined with the next line, or closed the connection, so that all
    /// its calls failed.
    #[tokio::test]
    async fn line_that_is_not_json_fails_alone() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"ping\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        line(&mut server).await;
        for wrong in ["hello", "{\"id\":2,\"method\":\"ping\"", "{}{}"] {
            peer.send(&format!("{wrong}\n")).await;
            let reply: Value =
                serde_json::from_str(&peer.next().await).expect("bridge should send a JSON reply to the agent");
            assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(PARSE_ERROR)), "{wrong}");
        }
        server
            .write_all(b"{\"id\":1,\"result\":{}}\n")
            .await
            .expect("connection from the bridge to the server should still be open");
        assert_eq!(peer.next().await, "{\"id\":1,\"result\":{}}\n");
    }

    /// Regression test: the bridge waited forever for the reply to a request with an object as its id, and to an array.
    #[tokio::test]
    async fn request_with_invalid_id_is_not_awaited() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":{},\"method\":\"ping\"}\n[1,\"ping\"]\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        line(&mut server).await;
        line(&mut server).await;
        peer.agent.get_mut().shutdown().await.expect("agent should be able to close its input");
        assert_eq!(peer.next().await, "");
    }

    #[tokio::test]
    async fn next_line_restores_lost_connection() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"ping\"}\n{\"method\":\"notifications/initialized\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        line(&mut server).await;
        line(&mut server).await;
        drop(server);
        let expected = "{\"error\":{\"code\":-32603,\"message\":\"lost the connection to shop:1: the server closed the connection\"},\"id\":1,\"jsonrpc\":\"2.0\"}\n";
        assert_eq!(peer.next().await, expected);
        peer.send("{\"id\":2,\"method\":\"ping\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should reconnect to the server");
        assert_eq!(line(&mut server).await, "{\"id\":2,\"method\":\"ping\"}\n");
        // Close the input before the reply arrives.
        peer.agent.get_mut().shutdown().await.expect("agent should be able to close its input");
        server.write_all(b"{\"id\":2,\"result\":{}}\n").await.expect("bridge should accept the server's reply");
        assert_eq!(peer.next().await, "{\"id\":2,\"result\":{}}\n");
        assert_eq!(peer.next().await, "");
    }

    /// Regression test: the bridge and the server deadlocked. Both were writing, and neither was reading.
    #[tokio::test(start_paused = true)]
    async fn reply_is_received_while_request_is_sent() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"a\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        line(&mut server).await;
        // This text exceeds the buffers between the ends.
        let long = "x".repeat(1 << 18);
        let request = format!("{{\"id\":2,\"method\":\"{long}\"}}\n");
        let reply = format!("{{\"id\":1,\"result\":\"{long}\"}}\n");
        let (mut from_bridge, mut to_bridge) = tokio::io::split(peer.agent.into_inner());
        let mut received = vec![0; reply.len()];
        let exchange = async {
            tokio::try_join!(to_bridge.write_all(request.as_bytes()), from_bridge.read_exact(&mut received), async {
                // Wait until the request is being sent.
                server.read_u8().await?;
                server.write_all(reply.as_bytes()).await?;
                server.read_exact(&mut vec![0; request.len() - 1]).await
            })
        };
        let exchanged =
            timeout(Duration::from_secs(1), exchange).await.expect("bridge should not deadlock with the server");
        exchanged.expect("server should receive the request and send its reply");
        assert!(received == reply.as_bytes());
    }

    #[tokio::test]
    async fn endless_server_line_closes_connection() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"ping\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        let endless = tokio::spawn(async move { while server.write_all(&[b'x'; 1 << 16]).await.is_ok() {} });
        assert!(peer.next().await.contains("a line of the server is too long"));
        endless.await.expect("bridge should end without an error");
    }

    /// Regression test: an agent received the reply of an HTTP server.
    #[tokio::test]
    async fn server_line_that_is_not_json_closes_connection() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"ping\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should connect to the server");
        server.write_all(b"HTTP/1.1 400 Bad Request\r\n").await.expect("bridge should accept the server's reply");
        let reply = peer.next().await;
        assert!(reply.contains("\"id\":1") && reply.contains("a line that is not JSON"), "{reply}");
    }

    /// Regression test: the bridge waited forever for a server that accepted the connection and sent nothing.
    #[tokio::test(start_paused = true)]
    async fn silent_server_fails_first_request() {
        let mut peer = bridge("", false);
        peer.send("{\"id\":1,\"method\":\"initialize\"}\n").await;
        let _silent = peer.dialled.recv().await.expect("bridge should connect to the server");
        let reply = timeout(2 * FIRST_REPLY, peer.next()).await.expect("bridge should not wait longer");
        assert!(reply.contains("\"id\":1") && reply.contains("the server does not reply"), "{reply}");
        // A server that has replied may take any time for a tool.
        peer.send("{\"id\":2,\"method\":\"initialize\"}\n").await;
        let mut server = peer.dialled.recv().await.expect("bridge should reconnect to the server");
        server.write_all(b"{\"id\":2,\"result\":{}}\n").await.expect("bridge should accept the server's reply");
        assert_eq!(peer.next().await, "{\"id\":2,\"result\":{}}\n");
        peer.send("{\"id\":3,\"method\":\"tools/call\"}\n").await;
        timeout(100 * FIRST_REPLY, peer.next()).await.expect_err("bridge should wait for the tool");
    }

    #[tokio::test]
    async fn request_to_unreachable_server_fails() {
        let mut peer = bridge("", true);
        peer.send("{\"id\":\"a\",\"method\":\"ping\"}\n").await;
        let reply: Value =
            serde_json::from_str(&peer.next().await).expect("bridge should send a JSON reply to the agent");
        assert_eq!(reply["id"], "a");
        assert_eq!(reply["error"]["message"], "cannot connect to shop:1: connection refused");
    }
}
