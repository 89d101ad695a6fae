//! Stress test of the store in the example `kv_watch`, which uses only frisbee's public API.

#[allow(dead_code, unreachable_pub)]
mod store;

use frpc::{Channel, Connection, Request, Response, ResponseStream, Server, Status, Streaming};
use quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
use std::time::Duration;
use store::{Client, OPERATIONS, Store};
use tokio::task::JoinSet;

/// Generated from `proto/quickstart.proto`.
mod quickstart {
    frpc::include_proto!("quickstart");
}

/// Timeout of waits for events that will happen, sufficient for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

struct Adder;

impl Calculator for Adder {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        Ok(Response::new(Number { value: a + b }))
    }
    async fn count_up(&self, _request: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        Ok(Response::new(ResponseStream::new(frpc::iter((0..100).map(|value| Ok(Number { value }))))))
    }
    async fn sum_up(&self, _request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        Err(Status::unimplemented("not called"))
    }
    async fn running_sum(
        &self,
        _request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        Err(Status::unimplemented("not called"))
    }
}

async fn connected(address: String) -> (Client, Connection, CalculatorClient) {
    let store = Client::default();
    let channel = Channel::builder().mount(OPERATIONS, store.router()).connect(address).await.unwrap();
    (store, channel.connection().unwrap(), CalculatorClient::new(channel))
}

#[tokio::test]
async fn store_and_generated_service_share_server() {
    let server = Server::builder().add_service(CalculatorServer::new(Adder)).mount(OPERATIONS, Store::default());
    let server = server.bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());

    // Eight watchers of one key, each on its own connection.
    let mut watchers = JoinSet::new();
    for _ in 0..8 {
        let (store, connection, calculator) = connected(address.clone()).await;
        let mut values = store.watch(&connection, "shared").await.unwrap();
        assert_eq!(values.recv().await.unwrap(), "");
        watchers.spawn(async move {
            let _connected = calculator; // Dropping the last handle of a channel closes its connection.
            while values.recv().await.expect("channel should stay open") != "last" {}
        });
    }
    // Four clients that put, get, watch and call concurrently.
    let mut clients = JoinSet::new();
    for client in 0..4 {
        let address = address.clone();
        clients.spawn(async move {
            let (store, connection, calculator) = connected(address).await;
            let key = format!("key of {client}");
            let mut watched = store.watch(&connection, &key).await.unwrap();
            assert_eq!(watched.recv().await.unwrap(), "");
            for number in 0..200_i64 {
                let value = number.to_string();
                store.put(&connection, &key, &value).await.unwrap();
                assert_eq!(watched.recv().await.unwrap(), value);
                let (got, sum) = tokio::join!(store.get(&connection, &key), calculator.add(Terms { a: number, b: 1 }));
                assert_eq!(got.unwrap(), value);
                assert_eq!(sum.unwrap().into_inner().value, number + 1);
            }
            let mut numbers = calculator.count_up(Range::default()).await.unwrap().into_inner();
            let mut count = 0;
            while numbers.message().await.unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, 100);
        });
    }
    tokio::time::timeout(TIMEOUT, clients.join_all()).await.expect("clients should finish within the timeout");
    let (store, connection, _calculator) = connected(address).await;
    store.put(&connection, "shared", "last").await.unwrap();
    tokio::time::timeout(TIMEOUT, watchers.join_all()).await.expect("watchers should finish within the timeout");
}

#[test]
fn protocol_takes_under_150_lines() {
    let lines = include_str!("store.rs").lines().count();
    assert!(lines < 150, "{lines} lines");
}
