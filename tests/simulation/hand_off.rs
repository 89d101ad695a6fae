//! Tests of hand-off requests while packets are sent, streams are opened, and requests are refused, while connections
//! end, and on a network with faults.

use bytes::Bytes;
use frisbee::{
    Client, Connection, HandOffError, HandOffRequest, HandOffTarget, Handlers, Operation, Outbox, Packet, PacketId,
    Routed, Router, Server, Stream,
};
use frisbee_sim::{FaultKind, Faults, World, sim_test};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const TUNNEL: Operation = Operation::FIRST_USER;

const GREETING: &[u8] = b"state your request";

/// Several times the time in which a silent network is noticed.
const SILENCE: Duration = Duration::from_secs(60);

/// A protocol that echoes packets and hands off its connections on request. The new owner sends a greeting and echoes
/// bytes.
struct Gateway;

impl Router for Gateway {
    type Session = Vec<Stream>;

    fn connected(&self, _: &Connection) -> Self::Session {
        Vec::new()
    }

    fn route(&self, _: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        Routed::Continue
    }

    fn stream(&self, streams: &mut Self::Session, _: Bytes, stream: Stream) -> Routed {
        streams.push(stream);
        Routed::Continue
    }

    fn hand_off(&self, _: &mut Self::Session, request: HandOffRequest) -> Routed {
        match &request.request()[..] {
            b"accept" => {
                let owner = HandOffTarget::new(async |mut raw| {
                    if raw.write_all(GREETING).await.is_ok() {
                        let (mut read, mut write) = tokio::io::split(raw);
                        drop(tokio::io::copy(&mut read, &mut write).await);
                    }
                });
                request.accept("yours", owner);
            }
            b"refuse" => request.refuse("mine"),
            _ => drop(request),
        }
        Routed::Continue
    }
}

/// Sends packets and opens streams during a hand-off request. In some cases, also closes the connection.
fn disturb(world: &World, connection: &Connection) -> JoinSet<()> {
    let mut others = JoinSet::new();
    let (sends, opens, aborts) = world.draw(|rng| (rng.u8(..3), rng.u8(..4) == 0, rng.u8(..6) == 0));
    for _ in 0..sends {
        let (world, connection) = (world.clone(), connection.clone());
        others.spawn(async move {
            for _ in 0..20 {
                let packet = Packet::new(PacketId(1), TUNNEL, "one of many");
                if connection.send(&packet).await.is_err() {
                    return;
                }
                sleep(Duration::from_millis(world.draw(|rng| rng.u64(..20)))).await;
            }
        });
    }
    if opens {
        let connection = connection.clone();
        others.spawn(async move {
            if let Ok(stream) = connection.open_stream(&Bytes::from_static(b"a stream")).await {
                let _ = stream.send(&Bytes::from_static(b"a message")).await;
            }
        });
    }
    if aborts {
        let (connection, at) = (connection.clone(), world.draw(|rng| rng.u64(..200)));
        others.spawn(async move {
            sleep(Duration::from_millis(at)).await;
            connection.abort();
        });
    }
    others
}

/// Returns whether the world has no network faults.
fn is_calm(world: &World) -> bool {
    world.seed().is_multiple_of(4)
}

/// Requests the connection until the request is granted or the connection ends. Returns whether it was handed off.
async fn race(world: &World, connection: &Connection) -> bool {
    for _ in 0..20 {
        sleep(Duration::from_millis(world.draw(|rng| rng.u64(..30)))).await;
        let request = world.draw(|rng| ["accept", "refuse", "drop it"][rng.u64(..3) as usize]);
        match connection.hand_off(TUNNEL, request).await {
            Ok(accepted) => {
                assert_eq!(request, "accept");
                let mut raw = accepted.transport;
                let mut received = Vec::new();
                let talking = async {
                    raw.write_all(b"raw").await?;
                    raw.shutdown().await?;
                    raw.read_to_end(&mut received).await
                };
                let ended_well = matches!(timeout(SILENCE, talking).await, Ok(Ok(_)));
                let whole = [GREETING, b"raw"].concat();
                assert!(
                    whole.starts_with(&received),
                    "received bytes should be the beginning of the sent ones: {received:?}"
                );
                assert!(
                    !is_calm(world) || (ended_well && received == whole),
                    "without faults, more bytes than {received:?} should arrive"
                );
                return true;
            }
            Err(HandOffError::Closed(_)) => return false,
            Err(HandOffError::Refused(_) | HandOffError::NotServed | HandOffError::Busy) => {}
            Err(other) => panic!("{other}"),
        }
    }
    false
}

#[sim_test(seeds = 40)]
async fn racing_hand_offs_preserve_bytes(world: World) {
    world.node("gateway").start(|process| async move {
        let acceptor = Server::builder().build(Gateway).expect("server should be valid");
        process.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
    });
    if !is_calm(&world) {
        let kinds = [FaultKind::Crash, FaultKind::Cut, FaultKind::Reset, FaultKind::Silence, FaultKind::Delay];
        let faults = Faults::drawn(2, ["gateway"]).peers(["client"]).kinds(kinds);
        world.inject(faults.within(Duration::from_secs(1)));
    }
    let process = world.node("client").process();
    for _ in 0..4 {
        let Ok(transport) = process.dial("gateway").await else { continue };
        let handlers = Handlers::new().on(TUNNEL, |_, _| async { None });
        let Ok(connection) = Client::builder().connect_io(transport, handlers).await else { continue };
        let mut others = disturb(&world, &connection);
        let handed_over =
            timeout(4 * SILENCE, race(&world, &connection)).await.expect("race should end within the timeout");
        world.note(format!("handed over: {handed_over}"));
        connection.close();
        timeout(SILENCE, connection.closed()).await.expect("connection should close within the timeout");
        let ended = async { while others.join_next().await.is_some() {} };
        timeout(SILENCE, ended).await.expect("tasks should end within the timeout");
    }
}
