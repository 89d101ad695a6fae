//! Frames echoed by a frisbee router: the cost of frisbee without services, messages and callers.

use super::Setup;
use crate::BoxError;
use crate::background::Bound;
use crate::contest::{Contestant, Load};
use crate::text::Text;
use frisbee::rpc::ConnectionExt;
use frisbee::{Client, CloseReason, Connection, Operation, Outbox, Packet, PacketId, Routed, Router, Server, Workers};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Frames through frisbee's routers.
#[derive(Debug)]
pub struct Routers;

impl Contestant for Routers {
    const NAME: &'static str = "frisbee";
    type Connection = Driven;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let server = Server::builder().workers(Workers::PerCore).bind("127.0.0.1:0", Echo).await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup, load: Load) -> Result<Driven, BoxError> {
        let (done, finished) = mpsc::unbounded_channel();
        let texts = (0..load.in_flight).map(|caller| Text::owned(load.number * load.in_flight + caller, load.length));
        let calls = Calls {
            texts: texts.collect(),
            begun: vec![None; load.in_flight],
            flying: 0,
            counted: 0,
            seen: load.number as u64,
        };
        let calls = Arc::new(Mutex::new(calls));
        let router = Calling { calls: calls.clone(), load, done };
        let connection = Client::builder().connect(address, router).await?;
        Ok(Driven { connection, calls, finished })
    }

    async fn drive(mut driven: Driven, load: Load) -> Result<u64, BoxError> {
        {
            let mut calls = driven.calls.lock();
            driven
                .connection
                .send_now(|outbox| (0..load.in_flight).try_for_each(|caller| calls.send(caller, &load, outbox)))??;
        }
        driven.finished.recv().await.ok_or("the connection was lost")?
    }
}

struct Echo;

impl Router for Echo {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).map_or_else(|error| Routed::close(error.to_string()), |()| Routed::Continue)
    }
}

/// A connection, and the channel for its router's report of completion.
#[derive(Debug)]
pub struct Driven {
    connection: Connection,
    calls: Arc<Mutex<Calls>>,
    finished: mpsc::UnboundedReceiver<Result<u64, BoxError>>,
}

/// The frames in flight, with the expected text of each id.
#[derive(Debug)]
struct Calls {
    texts: Vec<Text>,
    begun: Vec<Option<Instant>>,
    flying: usize,
    counted: u64,
    seen: u64,
}

impl Calls {
    fn send(&mut self, caller: usize, load: &Load, outbox: &mut Outbox) -> Result<(), frisbee::TooLong> {
        self.flying += 1;
        self.seen += 1;
        self.begun[caller] = load.meter.times(self.seen).then(Instant::now);
        self.texts[caller].advance();
        let mut packet = outbox.packet(PacketId(caller as u16), Operation::FIRST_USER);
        packet.put_slice(self.texts[caller].as_bytes());
        packet.finish()
    }
}

/// The router of the client, which checks replies and sends the next frame.
struct Calling {
    calls: Arc<Mutex<Calls>>,
    load: Load,
    done: mpsc::UnboundedSender<Result<u64, BoxError>>,
}

impl Router for Calling {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        let mut calls = self.calls.lock();
        let caller = usize::from(packet.id.0);
        if calls.texts.get(caller).is_none_or(|text| text.as_bytes() != packet.body) {
            let _ = self.done.send(Err("a reply differs from its frame".into()));
            return Routed::close("a reply differs from its frame");
        }
        calls.flying -= 1;
        calls.counted += u64::from(self.load.meter.counts());
        if let Some(begun) = calls.begun[caller].take() {
            self.load.meter.record(begun.elapsed());
        }
        if self.load.meter.runs() {
            return match calls.send(caller, &self.load, outbox) {
                Ok(()) => Routed::Continue,
                Err(error) => Routed::close(error.to_string()),
            };
        }
        if calls.flying == 0 {
            let _ = self.done.send(Ok(calls.counted));
        }
        Routed::Continue
    }

    fn disconnected(&self, _session: (), reason: &CloseReason) {
        let _ = self.done.send(Err(format!("the connection ended: {reason}").into()));
    }
}
