//! Encoding of requests and parsing of replies.

use crate::BoxError;
use std::borrow::Cow;
use std::io::Write as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A reply, and its end in the input.
pub(super) type Reply<'a> = (Cow<'a, [u8]>, usize);

/// The encoding for one kind of server. Texts are ASCII without characters that JSON escapes.
pub trait Wire: 'static {
    /// Whether the server closes the connection after its replies.
    const CLOSES: bool = false;

    /// Writes the first bytes on a connection.
    fn open(_socket: &mut TcpStream) -> impl Future<Output = Result<(), BoxError>> + Send {
        async { Ok(()) }
    }

    /// Writes a request.
    fn request(caller: usize, text: &str, out: &mut Vec<u8>);

    /// Returns the first reply if it is complete, and its end in the input.
    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError>;

    /// Returns whether a reply contains this text.
    fn holds(reply: &[u8], text: &[u8]) -> bool {
        let found = behind(reply, br#""message":""#).or_else(|| behind(reply, br#""message": ""#));
        found.is_some_and(|rest| rest.starts_with(text) && rest.get(text.len()) == Some(&b'"'))
    }

    /// Returns the caller of a reply, if it is stated. Otherwise replies are in the order of requests.
    fn caller(reply: &[u8]) -> Option<usize>;
}

/// The name of a JSON-RPC method.
pub trait Named: 'static {
    /// The name.
    const METHOD: &'static str;
}

/// The path of a POST and its body.
pub trait Posted: 'static {
    /// The path.
    const PATH: &'static str;
    /// The JSON-RPC method, if the body is a JSON-RPC message.
    const METHOD: Option<&'static str>;
}

/// JSON-RPC in lines.
pub struct Lines<N>(std::marker::PhantomData<N>);

impl<N: Named> Wire for Lines<N> {
    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        json_rpc(N::METHOD, caller, text, out);
        out.push(b'\n');
    }

    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
        let end = input.iter().position(|byte| *byte == b'\n');
        Ok(end.map(|end| (input[..end].into(), end + 1)))
    }

    fn caller(reply: &[u8]) -> Option<usize> {
        id(reply)
    }
}

/// JSON-RPC without line ends, one call at a time, for a server that may close the connection after each reply.
pub struct Closing<N>(std::marker::PhantomData<N>);

impl<N: Named> Wire for Closing<N> {
    const CLOSES: bool = true;

    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        json_rpc(N::METHOD, caller, text, out);
    }

    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
        let end = input.iter().position(|byte| *byte == b'{');
        let whole = end.is_some() && input.ends_with(b"}");
        Ok(whole.then_some((input.into(), input.len())))
    }

    fn caller(reply: &[u8]) -> Option<usize> {
        id(reply)
    }
}

/// HTTP/1.1.
pub struct Post<P>(std::marker::PhantomData<P>);

impl<P: Posted> Wire for Post<P> {
    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(text.len() + 128);
        match P::METHOD {
            Some(method) => json_rpc(method, caller, text, &mut body),
            None => write(&mut body, format_args!(r#"{{"message":"{text}"}}"#)),
        }
        post(P::PATH, &body, out);
    }

    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
        body(input)
    }

    fn caller(_reply: &[u8]) -> Option<usize> {
        None
    }
}

/// Writes a JSON request.
pub(super) fn post(path: &str, body: &[u8], out: &mut Vec<u8>) {
    let length = body.len();
    let head = format_args!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    write(out, head);
    out.extend_from_slice(body);
}

/// Returns the body of the HTTP/1.1 response at the beginning of the input if it is complete, and its end.
pub(super) fn body(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
    let Some(head) = find(input, b"\r\n\r\n") else { return Ok(None) };
    let (head, rest) = (&input[..head], &input[head + 4..]);
    if !head.starts_with(b"HTTP/1.1 200") {
        return Err(format!("{}\n{}", String::from_utf8_lossy(head), String::from_utf8_lossy(rest)).into());
    }
    let before = head.len() + 4;
    if let Some(length) = length(head) {
        return Ok(rest.get(..length).map(|body| (body.into(), before + length)));
    }
    let mut body = Cow::<[u8]>::default();
    let mut at = 0;
    loop {
        let Some(line) = find(&rest[at..], b"\r\n") else { return Ok(None) };
        let length = usize::from_str_radix(std::str::from_utf8(&rest[at..at + line])?, 16)?;
        let begin = at + line + 2;
        let Some(chunk) = rest.get(begin..begin + length + 2) else { return Ok(None) };
        at = begin + chunk.len();
        match &mut body {
            _ if length == 0 => return Ok(Some((body, before + at))),
            Cow::Borrowed([]) => body = Cow::Borrowed(&chunk[..length]),
            body => body.to_mut().extend_from_slice(&chunk[..length]),
        }
    }
}

/// JSON-RPC over WebSocket.
pub struct WebSocket<N>(std::marker::PhantomData<N>);

impl<N: Named> Wire for WebSocket<N> {
    async fn open(socket: &mut TcpStream) -> Result<(), BoxError> {
        let request = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                       sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                       sec-websocket-protocol: jsonrpc\r\n\r\n";
        socket.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(socket.read_u8().await?);
        }
        if head.starts_with(b"HTTP/1.1 101") { Ok(()) } else { Err(String::from_utf8_lossy(&head).into()) }
    }

    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(text.len() + 128);
        json_rpc(N::METHOD, caller, text, &mut body);
        // An unfragmented text frame, masked with zeros.
        match body.len() {
            length @ ..126 => out.extend_from_slice(&[0x81, 0x80 | length as u8]),
            length @ 126..0x1_0000 => {
                out.extend_from_slice(&[0x81, 0x80 | 126]);
                out.extend_from_slice(&(length as u16).to_be_bytes());
            }
            length => {
                out.extend_from_slice(&[0x81, 0x80 | 127]);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&body);
    }

    fn reply(input: &[u8]) -> Result<Option<Reply<'_>>, BoxError> {
        let [first, length, rest @ ..] = input else { return Ok(None) };
        if *first != 0x81 {
            return Err(format!("a frame begins with {first:#x}").into());
        }
        let (length, at) = match (length, rest) {
            (126, [high, low, ..]) => (usize::from(u16::from_be_bytes([*high, *low])), 4),
            (127, [_, _, _, _, _, a, b, c, ..]) => {
                ((usize::from(*a) << 16) | (usize::from(*b) << 8) | usize::from(*c), 10)
            }
            (126 | 127, _) => return Ok(None),
            (length, _) => (usize::from(*length), 2),
        };
        Ok(input.get(at..at + length).map(|body| (body.into(), at + length)))
    }

    fn caller(reply: &[u8]) -> Option<usize> {
        id(reply)
    }
}

pub(super) fn json_rpc(method: &str, caller: usize, text: &str, out: &mut Vec<u8>) {
    let message =
        format_args!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"message":"{text}"}},"id":{caller}}}"#)
            .to_string();
    out.extend_from_slice(message.as_bytes());
}

pub(super) fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a vector should not fail");
}

pub(super) fn id(reply: &[u8]) -> Option<usize> {
    let digits = behind(reply, br#""id":"#)?;
    let digits = digits.trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

fn length(head: &[u8]) -> Option<usize> {
    let line = head
        .split(|byte| *byte == b'\n')
        .find(|line| line.get(..15).is_some_and(|name| name.eq_ignore_ascii_case(b"content-length:")))?;
    std::str::from_utf8(&line[15..]).ok()?.trim().parse().ok()
}

/// Returns the bytes after a part.
pub(super) fn behind<'a>(bytes: &'a [u8], part: &[u8]) -> Option<&'a [u8]> {
    find(bytes, part).map(|at| &bytes[at + part.len()..])
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
