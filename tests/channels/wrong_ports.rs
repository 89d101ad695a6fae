//! Tests of error texts when a client connects to a port of another protocol.

use frisbee::Operation;
use frisbee_tests::interop::{AddRequest, InteropClient, Range};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::Raw;
use frpc::{Channel, Code, Request, Status};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// Connects to a server that sends the given bytes and nothing else. Returns the error text of a call.
async fn failure(first: &[u8]) -> String {
    let (address, accepted) = Raw::listen().await;
    let builder = Channel::builder().calls::<InteropClient>().peer_kind_timeout(Duration::from_millis(300));
    let channel = builder.connect(address).await.expect("server should accept the connection");
    let mut server = accepted.await;
    server.socket.write_all(first).await.expect("write should succeed");
    let status = InteropClient::new(channel).add(AddRequest::default()).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    status.to_string()
}

#[tokio::test]
async fn connecting_to_other_protocol_names_it() {
    let servers: [(&[u8], &str); 10] = [
        (b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "speaks HTTP/1, not Frisbee: check the port"),
        (&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 64, 0], "speaks HTTP/2, as gRPC does, not Frisbee: check the port"),
        (&[0, 0, 0, 4, 0, 0, 0, 0, 0], "speaks HTTP/2, as gRPC does, not Frisbee: check the port"),
        (&[21, 3, 1, 0, 2, 2, 70], "speaks TLS and this end does not: set `tls` here"),
        (&[0, 0, 0, 0, 0, 0, 0, 0], "frisbee-go up to v0.10.2: set `header_form(HeaderForm::Old)`"),
        (&[0, 0, 0, 1, 0, 0, 0, 0], "frisbee-go up to v0.10.2: set `header_form(HeaderForm::Old)`"),
        (b"-ERR unknown command\r\n", "speaks Redis, not Frisbee: check the port"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "speaks SSH, not Frisbee: check the port"),
        (
            b"220 mail.test ESMTP\r\n",
            "speaks a line-based text protocol, as mail servers do, not Frisbee: check the port",
        ),
        (&[0x4a, 0, 0, 0, 10, 56], "does not speak Frisbee, check the port"),
    ];
    for (first, expected) in servers {
        let failure = failure(first).await;
        assert!(failure.ends_with(expected), "{failure}");
    }
}

/// Regression test: the status stated that the call had not run, although its request had been written.
#[tokio::test]
async fn call_written_to_other_protocol_may_have_run() {
    let (address, accepted) = Raw::listen().await;
    let builder = Channel::builder().calls::<InteropClient>();
    let channel = builder.connect(address).await.expect("server should accept the connection");
    let mut server = accepted.await;
    let call = tokio::spawn(async move { InteropClient::new(channel).add(AddRequest::default()).await });
    while server.next().await.expect("client should send its request").operation < Operation::FIRST_USER {}
    server.write(b"SSH-2.0-OpenSSH_9.6\r\n").await;
    let status = call.await.expect("task should end").expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
}

#[tokio::test]
async fn silent_server_error_names_possible_causes() {
    let failure = failure(b"").await;
    assert!(
        failure.contains("did not answer a PING in time: it hangs, or the port belongs to another protocol"),
        "{failure}"
    );
}

/// Regression: the status named limits that had nothing to do with the failure.
#[tokio::test(start_paused = true)]
async fn deadline_before_server_identification_is_named() {
    const SECOND: Duration = Duration::from_secs(1);
    let silent = || async {
        let (here, mut there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move { tokio::io::copy(&mut there, &mut tokio::io::sink()).await });
        Ok(here)
    };
    let builder = Channel::builder().calls::<InteropClient>().peer_kind_timeout(60 * SECOND);
    let channel = builder.connect_with_connector(silent).await.expect("connector should return a connection");
    let client = InteropClient::new(channel);
    let mut request = Request::new(AddRequest::default());
    request.metadata_mut().insert("tenant", "blue").expect("metadata entry should be valid");
    request.set_timeout(SECOND);
    let unary = client.add(request).await.expect_err("call should fail");
    let mut request = Request::new(Range::default());
    request.set_timeout(SECOND);
    let stream = client.count_up(request).await.expect_err("stream should fail to open");
    for status in [unary, stream] {
        assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
        assert!(status.message().contains("did not identify itself before the deadline"), "{status}");
    }
}

/// How a server of another protocol behaves towards a native client.
#[derive(Clone, Copy)]
struct Other {
    name: &'static str,
    /// Bytes sent to each client at once.
    greeting: &'static [u8],
    /// The response to the client's bytes.
    answer: &'static [u8],
    /// Whether the server then closes the connection, with unread bytes of the client.
    closes: bool,
    /// A text that the error of a call must contain.
    expected: &'static str,
}

/// How servers of other protocols respond to the first bytes of a frisbee client.
const OTHERS: [Other; 9] = [
    Other {
        name: "HTTP/1",
        greeting: b"",
        answer: b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n400 Bad Request",
        closes: true,
        expected: "speaks HTTP/1, not Frisbee: check the port",
    },
    Other {
        name: "HTTP/2 that waits for its preface",
        greeting: b"",
        // SETTINGS, then GOAWAY with PROTOCOL_ERROR.
        answer: &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 64, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        closes: true,
        expected: "speaks HTTP/2, as gRPC does, not Frisbee: check the port",
    },
    Other {
        name: "gRPC",
        greeting: &[0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 200, 0, 4, 0, 16, 0, 0, 0, 5, 0, 0, 64, 0],
        answer: &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        closes: true,
        expected: "speaks HTTP/2, as gRPC does, not Frisbee: check the port",
    },
    Other {
        name: "TLS",
        greeting: b"",
        // The alert `protocol_version`.
        answer: &[21, 3, 3, 0, 2, 2, 70],
        closes: true,
        expected: "speaks TLS and this end does not: set `tls` here",
    },
    Other {
        name: "the old header, by its answer to a PING",
        greeting: b"",
        answer: &[0, 0, 0, 1, 0, 0, 0, 0],
        closes: false,
        expected: "frisbee-go up to v0.10.2: set `header_form(HeaderForm::Old)`",
    },
    Other {
        name: "the old header, by its own PING",
        greeting: &[0, 0, 0, 0, 0, 0, 0, 0],
        answer: b"",
        closes: false,
        expected: "frisbee-go up to v0.10.2: set `header_form(HeaderForm::Old)`",
    },
    Other {
        name: "Redis",
        greeting: b"",
        answer: b"-ERR Protocol error: unbalanced quotes in request\r\n",
        closes: true,
        expected: "speaks Redis, not Frisbee: check the port",
    },
    Other {
        name: "SSH",
        greeting: b"SSH-2.0-OpenSSH_9.6p1 Debian-3\r\n",
        answer: b"Invalid SSH identification string.\r\n",
        closes: true,
        expected: "speaks SSH, not Frisbee: check the port",
    },
    Other {
        name: "nothing",
        greeting: b"",
        answer: b"",
        closes: false,
        expected: "did not answer a PING in time: it hangs, or the port belongs to another protocol in which the client \
               speaks first",
    },
];

impl Other {
    /// Starts a server that behaves like this for every client.
    async fn listen(self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address");
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(self.behave(socket));
            }
        });
        address
    }

    async fn behave(self, mut socket: TcpStream) {
        // The client may have disconnected already.
        if socket.write_all(self.greeting).await.is_err() || socket.read(&mut [0; 4]).await.is_err() {
            return;
        }
        let written = socket.write_all(self.answer).await;
        while written.is_ok() && !self.closes && socket.read(&mut [0; 1024]).await.is_ok_and(|count| count > 0) {}
    }

    fn check(self, way: &str, failure: &Status) {
        let text = failure.to_string();
        assert_eq!(failure.code(), Code::Unavailable, "{way}, {}: {text}", self.name);
        assert!(text.ends_with(self.expected), "{way}, {}: {text}", self.name);
        let old = self.name.starts_with("the old header");
        assert_eq!(text.contains("HeaderForm::Old"), old, "{way}, {}: {text}", self.name);
    }
}

/// Returns a client of the server at an address. Its calls have a short timeout.
async fn client(address: SocketAddr) -> InteropClient {
    let timeout = Duration::from_millis(300);
    let builder = Channel::builder().calls::<InteropClient>().peer_kind_timeout(timeout).reconnect_timeout(timeout);
    InteropClient::new(builder.connect(address.to_string()).await.expect("server should accept the connection"))
}

#[tokio::test]
async fn unary_call_names_every_wrong_port() {
    for other in OTHERS {
        let client = client(other.listen().await).await;
        for _ in 0..2 {
            let failure = client.add(AddRequest::default()).await.expect_err("call should fail");
            other.check("a unary call", &failure);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_protocol_fails_fast_and_limits_dialling() {
    let dialled = Arc::new(AtomicUsize::new(0));
    let count = dialled.clone();
    let connector = move || {
        count.fetch_add(1, Ordering::Relaxed);
        async {
            let (ours, mut theirs) = tokio::io::duplex(1024);
            tokio::spawn(async move {
                let _ = theirs.write_all(&[0, 0, 0, 1, 0, 0, 0, 0]).await;
                let _ = tokio::io::copy(&mut theirs, &mut tokio::io::sink()).await;
            });
            Ok(ours)
        }
    };
    let channel = Channel::builder().calls::<InteropClient>().connect_with_connector(connector).await;
    let client = InteropClient::new(channel.expect("connection in memory should succeed"));
    let started = Instant::now();
    for _ in 0..3 {
        let failure = client.add(AddRequest::default()).await.expect_err("call should fail");
        assert!(failure.to_string().ends_with("set `header_form(HeaderForm::Old)`"), "{failure}");
        assert!(!failure.may_have_run(), "{failure}");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(dialled.load(Ordering::Relaxed), 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(dialled.load(Ordering::Relaxed), 1, "no attempt should be made for the call");
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.add(AddRequest::default()).await.expect_err("call should fail");
    assert_eq!(
        dialled.load(Ordering::Relaxed),
        2,
        "client should dial again, because a server may listen there by now"
    );
}

#[tokio::test]
async fn streaming_call_names_every_wrong_port() {
    for other in OTHERS {
        let address = other.listen().await;
        let failure = match client(address).await.count_up(Range { from: 0, count: 3 }).await {
            Err(failure) => failure,
            Ok(replies) => replies.into_inner().message().await.expect_err("stream should fail"),
        };
        other.check("a stream of responses", &failure);
        let sums = client(address).await.sum_up(frpc::iter([])).await;
        other.check("a stream of requests", &sums.expect_err("server should answer no call"));
    }
}

#[tokio::test]
async fn connection_end_names_every_wrong_port() {
    for other in OTHERS {
        let client = frisbee::Client::builder().peer_kind_timeout(Duration::from_millis(300));
        let connection = client.connect(other.listen().await.to_string(), frisbee::Handlers::new()).await;
        let connection = connection.expect("server should be listening");
        connection.peer_known().await.expect_err("peer should not speak Frisbee");
        let reason = connection.closed().await.to_string();
        assert!(reason.ends_with(other.expected), "{}: {reason}", other.name);
    }
}

#[tokio::test]
async fn tls_client_names_port_without_tls() {
    let authority = Authority::default();
    for other in OTHERS.into_iter().filter(|other| !["TLS", "nothing"].contains(&other.name)) {
        let address = other.listen().await.to_string();
        let connected = Channel::builder().tls(authority.client()).connect(&address).await;
        let Err(error) = connected else { panic!("{}: there is no handshake", other.name) };
        let error = error.to_string();
        assert!(error.starts_with(&format!("the TLS handshake with {address} failed: ")), "{}: {error}", other.name);
        assert!(error.contains("not speak TLS") && error.contains("check the port"), "{}: {error}", other.name);
    }
}
