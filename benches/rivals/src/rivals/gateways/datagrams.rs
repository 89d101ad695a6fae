//! JSON-RPC over UDP: a call and its reply are one datagram each.

use super::ours::METHOD;
use super::wire;
use super::{Callers, Load, Setup, Wire};
use crate::BoxError;
use crate::background::Bound;
use crate::contest::Contestant;
use crate::proto::benchmark::BenchmarkServiceServer;
use crate::rivals::frpc::Service;
use frpc::{IoBackend, Server};
use frpc_gateway::{Gateway, ServeGateway, Udp};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// Our gateway, called by datagrams.
#[derive(Debug)]
pub struct Datagrams;

/// Time without a reply before a datagram is retransmitted.
const LOST: Duration = Duration::from_millis(200);

/// Rate limit of datagrams per address, higher than the load.
const RATE: u32 = 10_000_000;

impl Contestant for Datagrams {
    const NAME: &'static str = "frpc-json-rpc-udp";
    type Connection = UdpSocket;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let udp = Udp::bind("127.0.0.1:0")?.rate(RATE, RATE);
        let address = udp.local_addr();
        let server =
            Server::builder().io_backend(IoBackend::Tokio).add_service(BenchmarkServiceServer::new(Service(setup)));
        let server = server.gateway(Gateway::new().json_rpc().udp(udp)).bind("127.0.0.1:0").await?;
        bound.at(address);
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<UdpSocket, BoxError> {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        socket.connect(address).await?;
        Ok(socket)
    }

    async fn drive(socket: UdpSocket, load: Load) -> Result<u64, BoxError> {
        let mut callers = Callers::new(&load);
        let mut input = vec![0; 64 * 1024];
        let mut out = Vec::new();
        for caller in 0..load.in_flight {
            send(&socket, &mut callers, caller, &mut out).await?;
        }
        while callers.waiting > 0 {
            let Ok(received) = timeout(LOST, socket.recv(&mut input)).await else {
                for caller in callers.order.clone() {
                    out.clear();
                    Datagram::request(caller, callers.texts[caller].as_str(), &mut out);
                    socket.send(&out).await?;
                }
                continue;
            };
            let caller = callers.receive::<Datagram>(&input[..received?])?;
            if callers.tally.runs() {
                send(&socket, &mut callers, caller, &mut out).await?;
            }
        }
        Ok(callers.tally.counted())
    }
}

async fn send(socket: &UdpSocket, callers: &mut Callers<'_>, caller: usize, out: &mut Vec<u8>) -> Result<(), BoxError> {
    out.clear();
    callers.send::<Datagram>(caller, out);
    socket.send(out).await?;
    Ok(())
}

struct Datagram;

impl Wire for Datagram {
    fn request(caller: usize, text: &str, out: &mut Vec<u8>) {
        wire::json_rpc(METHOD, caller, text, out);
    }

    fn reply(input: &[u8]) -> Result<Option<wire::Reply<'_>>, BoxError> {
        Ok(Some((input.into(), input.len())))
    }

    fn caller(reply: &[u8]) -> Option<usize> {
        wire::id(reply)
    }
}
