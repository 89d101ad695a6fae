//! `frpc call --udp`: a JSON-RPC call by datagrams.
//!
//! The request and the reply are one datagram each. docs/udp.md describes the rules of servers. Messages are JSON, so
//! the schema is optional. With a schema, parameters and replies are checked as in other calls.

use crate::arguments::CallArguments;
use crate::call::{check_field, metadata, print_message};
use crate::failure::Failure;
use crate::input::Input;
use crate::schema::{self, Callable};
use crate::show::metadata_members;
use crate::source::Context;
use crate::tensors::message_from_json;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use frpc::{Code, Metadata, Status};
use frpc_dynamic::to_json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Maximum payload of an IPv4 datagram: 65535 bytes minus the IP and UDP headers.
const DATAGRAM_MAX: usize = 65_507;

/// Default length in bytes that a request is padded to. By default, servers limit a reply to 1200 bytes and to three
/// times the length of its request. This length permits replies of 1200 bytes.
const DEFAULT_PAD: usize = 400;

const DEFAULT_DEADLINE: Duration = Duration::from_secs(3);

/// Default number of retries of a request without a reply. Applies only to methods that the schema marks as idempotent.
const IDEMPOTENT_RETRIES: u32 = 2;

pub(crate) async fn call(arguments: &CallArguments, context: &Context) -> Result<(), Failure> {
    let Some(address) = &arguments.udp else { return Err(Failure::new("no address: use --udp HOST:PORT")) };
    let (schema, screen) = (schema::load_optional(&context.source)?, &context.screen);
    let callable = schema.as_ref().map(|schema| schema.method(&arguments.method)).transpose()?;
    match callable {
        Some(callable) => check_field(callable, arguments.out_field.as_deref())?,
        None if arguments.out_field.is_some() => {
            return Err(Failure::new("--out-field requires a schema: specify it by --proto FILE"));
        }
        None => {}
    }
    let params = params(arguments, callable)?;
    let metadata = metadata(&arguments.metadata)?;
    let deadline = arguments.deadline.unwrap_or(DEFAULT_DEADLINE);
    let id = (!arguments.notify).then(|| fastrand::u32(..));
    let method = callable.map_or_else(|| arguments.method.clone(), Callable::name);
    let request = datagram(id, &method, &params, &metadata, deadline, arguments.pad.unwrap_or(DEFAULT_PAD))?;

    let sockets = connect(address).await?;
    screen.metadata(">", &metadata);
    screen.remark(1, || format!("calling {method} at {address}, {} bytes", request.len()));
    let Some(id) = id else { return notify_any(&sockets, &request).await };
    let is_idempotent = callable.is_some_and(Callable::is_idempotent);
    let retries = arguments.retries.unwrap_or(if is_idempotent { IDEMPOTENT_RETRIES } else { 0 });
    let started = Instant::now();
    let reply = exchange(&sockets, id, &request, retries, deadline).await?;
    screen.remark(1, || format!("the call took {:.3} ms", started.elapsed().as_secs_f64() * 1e3));
    screen.metadata("<", &reply.metadata);
    let result = reply.result?;
    match callable {
        None => screen.json_line(&result),
        Some(callable) => {
            let message = message_from_json(&callable.descriptor.output(), &result)
                .map_err(|error| Status::new(Code::Internal, format!("the reply does not fit the schema: {error}")))?;
            print_message(screen, &message, arguments.out_field.as_deref())
        }
    }
}

/// Returns the request as the `params` of a JSON-RPC call.
fn params(arguments: &CallArguments, known: Option<&Callable>) -> Result<Box<RawValue>, Failure> {
    let raw = |json: String| {
        RawValue::from_string(json).map_err(|error| {
            Failure::new(format!("the request is not JSON: {error}; write JSON, or specify the schema by --proto FILE"))
        })
    };
    let Some(callable) = known else {
        return match &arguments.parameters[..] {
            [] => raw("{}".to_owned()),
            [json] => raw(json.clone()),
            more => Err(Failure::new(format!(
                "{} parameters, which require a schema: write a single JSON object, or specify the schema by --proto FILE",
                more.len()
            ))),
        };
    };
    if callable.descriptor.is_client_streaming() || callable.descriptor.is_server_streaming() {
        return Err(Failure::new(format!(
            "{} is a streaming method, which datagrams do not support: leave out --udp",
            callable.name()
        )));
    }
    let input = Input::new(&arguments.parameters, &callable.descriptor.input(), false)?;
    let message = input.messages.front().ok_or_else(|| Failure::new("missing request"))?;
    raw(to_json(message).map_err(|error| Failure::new(format!("the request cannot be converted to JSON: {error}")))?)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    method: &'a str,
    params: &'a RawValue,
    timeout_ms: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<&'a str, String>,
}

/// Encodes a call as a datagram: a request if `id` is set, otherwise a notification. A request is padded to `pad`
/// bytes, because servers limit the length of a reply by the length of its request. A notification is not padded,
/// because it has no reply.
fn datagram(
    id: Option<u32>,
    method: &str,
    params: &RawValue,
    metadata: &Metadata,
    deadline: Duration,
    pad: usize,
) -> Result<Vec<u8>, Failure> {
    let metadata = metadata_members(metadata)?;
    let timeout_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX).max(1);
    let request = Request { jsonrpc: "2.0", id, method, params, timeout_ms, metadata };
    let mut bytes = serde_json::to_vec(&request).map_err(Failure::new)?;
    if bytes.len() > DATAGRAM_MAX {
        let length = bytes.len();
        return Err(Failure::new(format!(
            "the request of {length} bytes exceeds a datagram of {DATAGRAM_MAX}: call over TCP, without --udp"
        )));
    }
    if id.is_some() && bytes.len() < pad {
        bytes.resize(pad.min(DATAGRAM_MAX), b' ');
    }
    Ok(bytes)
}

/// Connects a socket to each address of a server, which are tried in this order.
async fn connect(address: &str) -> Result<Vec<UdpSocket>, Failure> {
    let wrong = |error: io::Error| Failure::new(format!("--udp {address}: {error}; write HOST:PORT"));
    let peers: Vec<_> = tokio::net::lookup_host(address).await.map_err(wrong)?.collect();
    sockets(&peers).await.map_err(wrong)
}

/// Connects a socket to each address. Skips addresses without a route, and fails if no address is left.
async fn sockets(peers: &[SocketAddr]) -> io::Result<Vec<UdpSocket>> {
    let (mut sockets, mut failed) = (Vec::new(), io::ErrorKind::NotFound.into());
    for peer in peers {
        match socket(*peer).await {
            Ok(socket) => sockets.push(socket),
            Err(error) => failed = error,
        }
    }
    if sockets.is_empty() { Err(failed) } else { Ok(sockets) }
}

/// Sends a notification to the first address that does not refuse it immediately.
async fn notify_any(sockets: &[UdpSocket], datagram: &[u8]) -> Result<(), Failure> {
    let mut outcome = Ok(());
    for socket in sockets {
        outcome = notify(socket, datagram).await.map_err(|error| unreachable(socket, &error));
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Sends a request, and repeats it up to `retries` times until the reply arrives. The attempts are evenly
/// distributed over the time until the deadline. If an address refuses a datagram, the next address is tried.
async fn exchange(
    sockets: &[UdpSocket],
    id: u32,
    request: &[u8],
    retries: u32,
    deadline: Duration,
) -> Result<Reply, Failure> {
    let sent_max = retries.saturating_add(1);
    let interval = deadline / sent_max;
    let started = Instant::now();
    // One byte more than the longest permitted datagram. The system truncates a longer one without an error, so only a
    // full buffer reveals it.
    let mut buffer = vec![0; DATAGRAM_MAX + 1];
    let mut failure = Failure::new("the server has no address");
    for sent in 1..=sent_max {
        let until = started + interval * sent;
        for socket in sockets {
            match timeout_at(until, attempt(socket, id, request, &mut buffer)).await {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(error)) => failure = unreachable(socket, &error),
                Err(_) => {
                    failure = silent(socket, deadline, sent_max);
                    break;
                }
            }
        }
        if sent < sent_max {
            // After a refusal, wait for the rest of the interval. A server that restarts may listen again by then.
            sleep_until(until).await;
        }
    }
    Err(failure)
}

/// Connects a socket, so that it receives only datagrams of this peer and its ICMP errors.
async fn socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    let own: SocketAddr =
        if peer.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
    let socket = UdpSocket::bind(own).await?;
    socket.connect(peer).await?;
    Ok(socket)
}

async fn notify(socket: &UdpSocket, datagram: &[u8]) -> io::Result<()> {
    socket.send(datagram).await?;
    // Check for the ICMP error of a closed port, which loopback delivers before `send` returns. Nothing else would
    // report it, because a notification has no reply.
    socket.take_error()?.map_or(Ok(()), Err)
}

/// Sends the request once. Waits for the reply, or for an ICMP message that reports an unreachable port.
async fn attempt(socket: &UdpSocket, id: u32, request: &[u8], buffer: &mut [u8]) -> io::Result<Reply> {
    if let Err(error) = socket.send(request).await {
        if error.kind() != io::ErrorKind::ConnectionRefused {
            return Err(error);
        }
        // Send again: the error belongs to an earlier datagram, and this one was not sent.
        socket.send(request).await?;
    }
    loop {
        let length = socket.recv(buffer).await?;
        if let Some(reply) = Reply::parse(id, buffer.get(..length).unwrap_or_default()) {
            return Ok(reply);
        }
    }
}

/// Returns the address of the peer, for error messages.
fn peer(socket: &UdpSocket) -> String {
    socket.peer_addr().map_or_else(|_| "the server".to_owned(), |peer| peer.to_string())
}

fn silent(socket: &UdpSocket, deadline: Duration, sent: u32) -> Failure {
    let datagrams = if sent == 1 { "datagram" } else { "datagrams" };
    let text = format!(
        "no reply from {} within {deadline:?} to {sent} {datagrams}: check that its server has `Gateway::udp` and this \
         port, raise --deadline, or repeat by --retries if the method may run twice",
        peer(socket),
    );
    Status::deadline_exceeded(text).into()
}

fn unreachable(socket: &UdpSocket, error: &io::Error) -> Failure {
    let remedy = "check that its server has `Gateway::udp` and this port";
    Status::unavailable(format!("cannot exchange datagrams with {}: {error}; {remedy}", peer(socket))).into()
}

/// A parsed reply: the result or the error of the call, and the metadata.
#[derive(Debug)]
struct Reply {
    /// The result as JSON.
    result: Result<String, Status>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct ReplyText<'a> {
    id: u32,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ErrorText>,
    #[serde(default, deserialize_with = "lenient")]
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ErrorText {
    code: i32,
    message: String,
    #[serde(default, deserialize_with = "lenient")]
    data: ErrorData,
}

#[derive(Default, Deserialize)]
struct ErrorData {
    status: Option<String>,
    details: Option<String>,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

/// Deserializes a value. Returns the default if its type differs, because other servers use these members differently.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Reply {
    /// Parses a reply. Returns `None` for a datagram that belongs to another request, such as a late reply to an
    /// earlier command.
    fn parse(id: u32, datagram: &[u8]) -> Option<Self> {
        let text: ReplyText<'_> = serde_json::from_slice(datagram).ok()?;
        if text.id != id {
            return None;
        }
        let result = match text.error {
            Some(error) => Err(error.into_status()),
            None => Ok(text.result.map_or("null", RawValue::get).to_owned()),
        };
        Some(Self { result, metadata: entries(&text.metadata) })
    }
}

impl ErrorText {
    fn into_status(self) -> Status {
        let named = |name: &str| (1..=16).map(Code::from_i32).find(|code| code.name() == name);
        let code = self.data.status.as_deref().and_then(named).unwrap_or(match self.code {
            -32700 | -32600 | -32602 => Code::InvalidArgument,
            -32601 => Code::Unimplemented,
            -32603 => Code::Internal,
            // Other servers use -32000 for any failure, which must not become the code `Ok`.
            -32000 => Code::Unknown,
            number => Code::from_i32((-32000_i32).saturating_sub(number)),
        });
        let details = self.data.details.and_then(|details| BASE64_STANDARD.decode(details).ok()).unwrap_or_default();
        Status::new(code, self.message).with_details(details).with_metadata(entries(&self.data.metadata))
    }
}

/// Converts metadata from JSON. Invalid entries, which the gateway never sends, are skipped.
fn entries(texts: &BTreeMap<String, String>) -> Metadata {
    let mut metadata = Metadata::new();
    for (key, text) in texts {
        let bytes = key.ends_with("-bin").then(|| BASE64_STANDARD.decode(text));
        let _ = match bytes {
            Some(Ok(bytes)) => metadata.insert_bin(key, bytes),
            Some(Err(_)) => continue,
            None => metadata.insert(key, text.as_str()),
        };
    }
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(params: &str, id: Option<u32>) -> Result<Vec<u8>, Failure> {
        let params = RawValue::from_string(params.to_owned()).expect("params should be valid JSON");
        datagram(id, "greet.Greeter/Greet", &params, &Metadata::new(), Duration::from_secs(1), 400)
    }

    #[test]
    fn request_is_padded_and_notification_is_not() {
        assert_eq!(request("{}", Some(7)).expect("request should fit into a datagram").len(), 400);
        let notification = request("{}", None).expect("notification should fit into a datagram");
        let text = r#"{"jsonrpc":"2.0","method":"greet.Greeter/Greet","params":{},"timeoutMs":1000}"#;
        assert_eq!(String::from_utf8_lossy(&notification), text);
    }

    #[test]
    fn request_longer_than_datagram_is_rejected() {
        let long = format!("[\"{}\"]", "x".repeat(DATAGRAM_MAX));
        let failure = request(&long, Some(7)).expect_err("message should be rejected as too long").to_string();
        assert!(failure.contains("exceeds a datagram of 65507") && failure.contains("over TCP"), "{failure}");
    }

    #[test]
    fn datagram_of_another_id_is_no_reply() {
        let reply = |id: &str| Reply::parse(7, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#).as_bytes());
        assert_eq!(
            reply("7")
                .expect("datagram should be the reply to this request")
                .result
                .expect("reply should contain a result"),
            "1"
        );
        for other in ["8", "null", "\"7\"", "7.5", "{}"] {
            assert!(reply(other).is_none(), "{other}");
        }
        assert!(Reply::parse(7, b"no json").is_none());
    }

    /// Creates [`Sockets`] with two addresses. The first one refuses datagrams. Also returns the socket that is bound
    /// to the second address.
    async fn refusing_and_open() -> (Vec<UdpSocket>, UdpSocket) {
        let bind = async || UdpSocket::bind("127.0.0.1:0").await.expect("loopback interface should have a free port");
        let (closed, open) = (bind().await, bind().await);
        let peers = [&closed, &open].map(|socket| socket.local_addr().expect("socket should have a local address"));
        (sockets(&peers).await.expect("loopback addresses should be reachable"), open)
    }

    #[tokio::test]
    async fn next_address_is_called_if_one_refuses() {
        let (sockets, open) = refusing_and_open().await;
        let mut buffer = [0; 100];
        let answer = async {
            let (_, from) = open.recv_from(&mut buffer).await.expect("server should receive the request");
            open.send_to(br#"{"jsonrpc":"2.0","id":7,"result":1}"#, from).await
        };
        let (reply, _) = tokio::join!(exchange(&sockets, 7, b"{}", 0, Duration::from_secs(3600)), answer);
        assert_eq!(reply.expect("server should reply").result.expect("reply should contain a result"), "1");
        notify_any(&sockets, b"news").await.expect("notification to a bound address should be sent");
        assert_eq!(open.recv(&mut buffer).await.expect("server should receive the notification"), 4);
    }

    #[test]
    fn error_status_comes_from_name_or_number() {
        let status = |error: &str| {
            let reply = Reply::parse(7, format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#).as_bytes());
            reply.expect("datagram should be the reply").result.expect_err("reply should be an error").code()
        };
        assert_eq!(status(r#"{"code":-32005,"message":"none","data":{"status":"NOT_FOUND"}}"#), Code::NotFound);
        assert_eq!(status(r#"{"code":-32601,"message":"none"}"#), Code::Unimplemented);
        assert_eq!(status(r#"{"code":-32016,"message":"none"}"#), Code::Unauthenticated);
        // Regression: this failure was shown as `OK (0)`.
        assert_eq!(status(r#"{"code":-32000,"message":"none"}"#), Code::Unknown);
        // Regression test: replies with other data were ignored, so the call timed out.
        for data in [r#""text""#, "null", "[1]", r#"{"status":404}"#] {
            assert_eq!(
                status(&format!(r#"{{"code":-32000,"message":"none","data":{data}}}"#)),
                Code::Unknown,
                "{data}"
            );
        }
    }
}
