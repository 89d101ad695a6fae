//! Tests of calls from programs without async.

use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Range, SleepRequest, Text};
use frisbee_tests::raw::packet;
use frisbee_tests::serve_interop;
use frisbee_tests::service::Service;
use frpc::blocking::{self as blocking, Blocking};
use frpc::{Channel, Code, Request, RequestStream};
use frpc_balance::Balance;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Maximum time to wait for an event, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns a client of a server that runs on its own threads. Dropping the runtime stops the server.
fn served() -> (Runtime, Blocking<InteropClient>) {
    let runtime = Runtime::new().expect("runtime should start");
    let address = runtime.block_on(serve_interop());
    (runtime, blocking::connect(address.to_string(), InteropClient::new).expect("server should be listening"))
}

#[test]
fn every_kind_of_call_works_without_async() {
    let (_server, client) = served();
    let sum = client.call(|client| client.add(AddRequest { a: 20, b: 22 })).unwrap();
    assert_eq!(sum.into_inner().total, 42);
    let status = client.call(|client| client.fail(Text { value: "why".into() })).unwrap_err();
    assert!(status.message().contains("why"), "{status}");

    let counts = client.call(|client| client.count_up(Range { from: 5, count: 3 })).unwrap().into_inner();
    let counts: Result<Vec<_>, _> = client.messages(counts).map(|count| count.map(|count| count.value)).collect();
    assert_eq!(counts.unwrap(), [5, 6, 7]);

    let numbers = frpc::iter((1..=10).map(|value| Count { value }));
    assert_eq!(client.call(|client| client.sum_up(numbers)).unwrap().into_inner().total, 55);

    let (texts, stream) = RequestStream::channel(1);
    let mut answers = client.messages(client.call(|client| client.chat(stream)).unwrap().into_inner());
    for word in ["one", "two"] {
        client.call(|_| texts.send(Text { value: word.into() })).unwrap();
        assert_eq!(answers.next().unwrap().unwrap().value, format!("re:{word}"));
    }
    drop(texts);
    assert!(answers.next().is_none());
}

#[test]
fn deadlines_hold_and_threads_share_connection() {
    let (_server, client) = served();
    let mut late = Request::new(SleepRequest { millis: 60_000, tag: 0 });
    late.set_timeout(Duration::from_millis(10));
    assert_eq!(client.call(|client| client.sleep(late)).unwrap_err().code(), Code::DeadlineExceeded);
    thread::scope(|scope| {
        for thread in 0..8 {
            let client = client.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    let sum = client.call(|client| client.add(AddRequest { a: thread, b: number })).unwrap();
                    assert_eq!(sum.into_inner().total, thread + number);
                }
            });
        }
    });
    // Clients share a connection. This client must stay usable when the first one is dropped.
    let other =
        client.client(|channel| (channel.connection().and_then(|it| it.local_addr()), InteropClient::new(channel)));
    let first = client.client(|channel: Channel| channel.connection().and_then(|it| it.local_addr()));
    assert_eq!(
        first.call(|address| std::future::ready(*address)),
        other.call(|(address, _)| std::future::ready(*address))
    );
    drop((client, first));
    assert_eq!(other.call(|(_, client)| client.add(AddRequest { a: 1, b: 1 })).unwrap().into_inner().total, 2);
}

#[test]
fn idle_blocking_client_answers_pings() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = blocking::connect(listener.local_addr().unwrap().to_string(), InteropClient::new).unwrap();
    let mut socket = listener.accept().unwrap().0;
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.write_all(&packet(0, 0, b"")).unwrap();
    // The client sends HELLO and a PING before the call.
    let mut received = Vec::new();
    let pong = packet(0, 1, b"");
    while !received.windows(pong.len()).any(|bytes| bytes == pong) {
        let mut bytes = [0; 1024];
        let count = socket.read(&mut bytes).expect("read should succeed");
        assert_ne!(count, 0, "connection should stay open");
        received.extend_from_slice(&bytes[..count]);
    }
    // Dropping the client must close the connection, which ends this loop.
    let reading = thread::spawn(move || while socket.read(&mut [0; 1024]).expect("read should succeed") > 0 {});
    drop(client);
    reading.join().unwrap();
}

#[test]
fn blocking_client_continues_with_remaining_servers() {
    let servers = [(); 2].map(|()| Runtime::new().expect("runtime should start"));
    let addresses = servers.each_ref().map(|server| server.block_on(serve_interop()).to_string());
    let connect = || Channel::builder().balance().connect_all(addresses);
    let client = blocking::connect_using(connect, InteropClient::new).expect("both servers should accept connections");
    let add = || client.call(|client| client.add(AddRequest { a: 1, b: 1 }));
    add().expect("both servers should be reachable");
    let [gone, _left] = servers;
    gone.shutdown_timeout(TIMEOUT);
    // The first call may fail, because the client may only notice the lost connection when it makes this call.
    let failed = (0..20).filter(|_| add().is_err()).count();
    assert!(failed <= 1, "{failed} calls failed");
}

#[test]
fn blocking_client_connects_on_first_call() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = async || Channel::builder().connect_lazy(address.to_string());
    let client = blocking::connect_using(connect, InteropClient::new).expect("server should be valid");
    assert!(listener.accept().is_err(), "client should not have connected");
    drop(listener);
    let server = Runtime::new().expect("runtime should start");
    server.block_on(async {
        let interop = InteropServer::new(Service);
        let server = frpc::Server::builder()
            .add_service(interop)
            .bind(address)
            .await
            .expect("server should bind to a free address");
        tokio::spawn(server.serve());
    });
    assert_eq!(client.call(|client| client.add(AddRequest { a: 1, b: 1 })).unwrap().into_inner().total, 2);
}

#[test]
fn unreachable_server_fails_blocking_connect() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = blocking::connect(nobody.to_string(), InteropClient::new).unwrap_err();
    assert!(matches!(error, frpc::Error::Transport(_)), "{error}");
}
