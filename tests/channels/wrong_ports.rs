//! What a client says that has connected to a port of something else.

use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::raw::Raw;
use frpc::{Channel, Code};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// Why a call fails at a server that begins with these bytes, and then says nothing.
async fn failure(first: &[u8]) -> String {
    let (address, accepted) = Raw::listen().await;
    let builder = Channel::builder().calls::<InteropClient>().peer_kind_timeout(Duration::from_millis(300));
    let channel = builder.connect(address).await.expect("it listens");
    let mut server = accepted.await;
    server.socket.write_all(first).await.expect("the client is there");
    let status = InteropClient::new(channel).add(AddRequest::default()).await.expect_err("it answers no call");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    status.to_string()
}

#[tokio::test]
async fn connecting_to_a_server_of_another_protocol_names_that_protocol() {
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
    for (first, said) in servers {
        let failure = failure(first).await;
        assert!(failure.ends_with(said), "{failure}");
    }
}

#[tokio::test]
async fn connecting_to_a_silent_server_says_that_it_may_hang_or_wait() {
    let failure = failure(b"").await;
    assert!(
        failure.contains("did not answer a PING in time: it hangs, or the port belongs to another protocol"),
        "{failure}"
    );
}
