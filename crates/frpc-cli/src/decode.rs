//! `frpc decode`: decodes frames, calls and messages in hexadecimal text, in a capture, or on a proxied connection.
//!
//! `decode/frames.rs` decodes frames, `decode/capture.rs` reads captures, and `decode/wireshark.rs` contains the
//! dissector for Wireshark.

mod capture;
pub(crate) mod frames;
mod wireshark;

use crate::arguments::DecodeArguments;
use crate::failure::Failure;
use crate::schema::{self, Schema};
use crate::show::{Screen, note};
use crate::source::Context;
use crate::target::{Target, environment, read};
use capture::End;
use frames::{ShownFrame, WatchedConnection};
use frisbee_core::Role;
use frpc::HeaderForm;
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::sleep;

/// Size in bytes of the proxy's read buffer.
pub(crate) const READ: usize = 64 << 10;

/// Pause after a connection could not be accepted. The usual cause is that the process has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(20);

/// Decodes frames from hexadecimal text or from a capture. As a proxy, decodes the frames that it forwards until it is
/// stopped.
pub(crate) async fn decode(arguments: DecodeArguments, context: &Context) -> Result<(), Failure> {
    let Context { server, source, screen } = context;
    // Query only a server that the user has named, because most captures are of other servers.
    let is_named = server.server.is_some() || environment().is_some();
    if arguments.wireshark {
        let schema = match schema::load_optional(source)? {
            None if is_named => Some(context.schema().await?),
            named => named,
        };
        return screen.line(wireshark::dissector(schema.as_ref()).trim_end());
    }
    let schema = context.schema_if_shown(is_named || arguments.proxy.is_some()).await?;
    // The first frame of a capture determines the header format.
    let form = (server.header == HeaderForm::Old).then_some(HeaderForm::Old);
    if let Some(path) = &arguments.pcap {
        return show_capture(path, schema.as_ref(), form, screen);
    }
    if let Some(listen) = &arguments.proxy {
        let target = context.target()?;
        let screen = *screen;
        return proxy(listen, target, |number| {
            let mut conversation = WatchedConnection::new(schema.clone(), form);
            // Keep forwarding even if standard output is closed.
            move |side, bytes: &[u8]| {
                conversation.feed(side, bytes).iter().for_each(|frame| drop(show(frame, Some(number), &screen)));
            }
        })
        .await;
    }
    let mut text = arguments.hex.join(" ");
    if text.trim() == "-" {
        text = std::io::read_to_string(std::io::stdin()).map_err(Failure::stdin)?;
    }
    let mut conversation = WatchedConnection::new(schema, form);
    let side = if arguments.from_server { Role::Server } else { Role::Client };
    conversation.feed(side, &hex(&text)?).iter().try_for_each(|frame| show(frame, None, screen))?;
    match conversation.left(side) {
        0 => Ok(()),
        left => Err(Failure::new(format!("the last {left} bytes are not a valid frame"))),
    }
}

/// Prints a frame. Includes the number of its connection if several connections may be shown.
fn show(frame: &ShownFrame, connection: Option<u64>, screen: &Screen) -> Result<(), Failure> {
    let mark = connection.map(|number| format!("{number}: ")).unwrap_or_default();
    screen.show(|| frame.json(connection), || format!("{mark}{}", frame.text()))
}

/// Parses hexadecimal digits. Ignores `0x`, `0X` and all characters that are not digits.
fn hex(text: &str) -> Result<Vec<u8>, Failure> {
    let digits: Vec<u32> =
        text.replace("0x", " ").replace("0X", " ").chars().filter_map(|letter| letter.to_digit(16)).collect();
    if digits.is_empty() || digits.len() % 2 == 1 {
        return Err(Failure::new("write the bytes as pairs of hexadecimal digits, or - for standard input"));
    }
    let byte = |pair: &[u32]| pair.iter().fold(0, |byte, digit| byte << 4 | u8::try_from(*digit).unwrap_or(0));
    Ok(digits.chunks(2).map(byte).collect())
}

fn show_capture(
    path: &Path,
    schema: Option<&Arc<Schema>>,
    form: Option<HeaderForm>,
    screen: &Screen,
) -> Result<(), Failure> {
    let pieces = capture::pieces(&read(path)?).map_err(|error| Failure::file(path, &error))?;
    // Treat the first sender as the dialling end, because a server of this protocol never sends first.
    let mut senders: HashMap<(End, End, u32), (usize, Role)> = HashMap::new();
    let mut conversations = Vec::new();
    for piece in pieces {
        let key = (piece.from.clone(), piece.to.clone(), piece.earlier);
        let (at, side) = *senders.entry(key).or_insert_with(|| {
            conversations.push(WatchedConnection::new(schema.cloned(), form));
            (conversations.len() - 1, Role::Client)
        });
        senders.entry((piece.to, piece.from, piece.earlier)).or_insert((at, side.peer()));
        if piece.is_behind_gap {
            let text = "bytes are missing in the capture";
            let json = || json!({ "connection": at, "text": text }).to_string();
            screen.show(json, || format!("{at}: {text}"))?;
        }
        let Some(conversation) = conversations.get_mut(at) else { continue };
        conversation.feed(side, &piece.bytes).iter().try_for_each(|frame| show(frame, Some(at as u64), screen))?;
    }
    if conversations.is_empty() {
        return Err(Failure::new(format!("{} has no TCP segments with data", path.display())));
    }
    Ok(())
}

/// Accepts connections and forwards each to the server. `watch` creates an observer for the bytes of each connection.
pub(crate) async fn proxy<W>(listen: &str, target: Target, watch: impl Fn(u64) -> W) -> Result<(), Failure>
where
    W: FnMut(Role, &[u8]) + Send + 'static,
{
    let listener = TcpListener::bind(listen).await.map_err(|error| Failure::new(format!("{listen}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::new)?;
    note(format_args!("listening on {address} for {}", target.address));
    for number in 0_u64.. {
        let (client, _) = accept(async || listener.accept().await).await;
        let (target, watch) = (target.clone(), watch(number));
        tokio::spawn(async move {
            let carried = async { between(client, target.dial().await?, watch).await };
            if let Err(error) = carried.await {
                note(format_args!("{number}: {error}"));
            }
        });
    }
    Ok(())
}

/// Accepts the next connection. Tries again after an error.
async fn accept<T>(mut next: impl AsyncFnMut() -> std::io::Result<T>) -> T {
    let mut is_failing = false;
    loop {
        match next().await {
            Ok(accepted) => return accepted,
            Err(error) if !std::mem::replace(&mut is_failing, true) => note(format_args!("accepting: {error}")),
            Err(_) => {}
        }
        sleep(PAUSE).await;
    }
}

/// Forwards both directions of a connection until both have ended.
pub(crate) async fn between<W: FnMut(Role, &[u8])>(
    client: impl AsyncRead + AsyncWrite,
    server: impl AsyncRead + AsyncWrite,
    watch: W,
) -> std::io::Result<()> {
    let (from_client, to_client) = tokio::io::split(client);
    let (from, to) = tokio::io::split(server);
    let watch = Mutex::new(watch);
    let show = |side, bytes: &[u8]| watch.lock().unwrap_or_else(PoisonError::into_inner)(side, bytes);
    let up = copy(from_client, to, |bytes| show(Role::Client, bytes));
    let down = copy(from, to_client, |bytes| show(Role::Server, bytes));
    tokio::try_join!(up, down).map(|_| ())
}

/// Forwards one direction of a connection until it ends.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    show: impl Fn(&[u8]),
) -> std::io::Result<()> {
    let mut buffer = vec![0; READ];
    loop {
        let length = from.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { return to.shutdown().await };
        show(bytes);
        to.write_all(bytes).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn hex_digits_accept_source_code_notation() {
        for text in ["00 0f 08", "000f08", "{0x00, 0x0f, 0x08}", "{0X00, 0X0F, 0X08}", "00:0F:08"] {
            assert_eq!(hex(text).expect("text should contain only pairs of hex digits"), [0, 15, 8], "{text}");
        }
        hex("0 0f").expect_err("incomplete pair of digits should be rejected");
    }

    #[tokio::test(start_paused = true)]
    async fn proxy_accepts_after_errors() {
        let errors = [ErrorKind::ConnectionAborted, ErrorKind::Other, ErrorKind::Other];
        let mut results = errors.into_iter().map(|kind| Err(Error::from(kind))).chain([Ok(7)]);
        assert_eq!(
            accept(async || results.next().expect("accept should not be called after it has succeeded")).await,
            7
        );
    }
}
