//! Hand-off without RPC: a client logs in with a request, and then the connection switches to another protocol, here
//! lines of text. If the server refuses, the connection continues unchanged.
//!
//! `cargo run --release -p hand-off --bin hand_off`

use bytes::Bytes;
use frisbee::{
    Client, Connection, HandOffError, HandOffRequest, HandOffTarget, Operation, Outbox, Packet, RawTransport, Routed,
    Router, Server,
};
use frisbee_requests::Requester;
use std::error::Error;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// The body is a password. The reply is a greeting.
const LOGIN: Operation = operation(10);
/// Requests a hand-off to the line protocol.
const LINES: Operation = operation(11);

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// The server's protocol, before a connection is handed off.
struct Login;

impl Router for Login {
    /// Whether the client has logged in.
    type Session = bool;

    fn connected(&self, _connection: &Connection) -> bool {
        false
    }

    fn route(&self, is_known: &mut bool, packet: Packet, outbox: &mut Outbox) -> Routed {
        if packet.operation != LOGIN {
            return Routed::close("this server takes logins and hands connections off");
        }
        *is_known = packet.body == "open sesame";
        outbox.push(packet.id, LOGIN, if *is_known { "welcome" } else { "unknown user" }).into()
    }

    fn hand_off(&self, is_known: &mut bool, request: HandOffRequest) -> Routed {
        if request.operation() == LINES && *is_known {
            // Runs after the reply was written, and owns the transport from then on.
            request.accept("lines from now on", HandOffTarget::new(async |raw| drop(echo_lines(raw).await)));
        } else {
            request.refuse("log in first");
        }
        Routed::Continue
    }
}

/// The server's protocol after the hand-off: returns each line in upper case.
async fn echo_lines(raw: RawTransport) -> io::Result<()> {
    let (lines, mut out) = tokio::io::split(raw);
    let mut lines = BufReader::new(lines).lines();
    while let Some(line) = lines.next_line().await? {
        out.write_all(format!("{}\n", line.to_uppercase()).as_bytes()).await?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder().bind("127.0.0.1:0", Login).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());

    let requests = Requester::new();
    let connection = Client::builder().connect(address, requests.clone()).await?;
    match connection.hand_off(LINES, Bytes::new()).await {
        Err(HandOffError::Refused(reply)) => println!("refused: {reply:?}"),
        other => return Err(format!("a stranger got {other:?}").into()),
    }
    // The connection continues unchanged.
    println!("login: {:?}", requests.call(&connection, LOGIN, "open sesame").await?.body);

    let accepted = connection.hand_off(LINES, Bytes::new()).await?;
    println!("accepted: {:?}, and the connection has ended: {}", accepted.reply, connection.closed().await);
    let mut raw = BufReader::new(accepted.transport);
    for line in ["a line of text", "and another"] {
        raw.write_all(format!("{line}\n").as_bytes()).await?;
        let mut answer = String::new();
        raw.read_line(&mut answer).await?;
        assert_eq!(answer.trim_end(), line.to_uppercase());
        println!("{line} -> {}", answer.trim_end());
    }
    Ok(())
}
