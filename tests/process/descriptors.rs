//! Tests that closed shared-memory connections leave no open file descriptors or memory mappings.

use frisbee_shm::{Listener, Stream, connect};
use frisbee_tests::process::ran_alone;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Returns the number of open descriptors and of shared memory mappings of this process.
fn open_descriptors() -> (usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("folder should be readable").count();
    let maps = std::fs::read_to_string("/proc/self/maps").expect("file should be readable");
    (descriptors, maps.lines().filter(|line| line.contains("frisbee-shm")).count())
}

async fn pair(listener: &Listener, path: &std::path::Path) -> (Stream, Stream) {
    let mut client = std::pin::pin!(connect(path));
    let mut server = tokio::select! {
        accepted = listener.accept() => accepted.expect("client should connect"),
        connected = &mut client => panic!("no offer was accepted: {connected:?}"),
    };
    let mut byte = [0];
    let (client, read) = tokio::join!(
        async {
            let mut client = client.await?;
            client.write_all(b"!").await?;
            std::io::Result::Ok(client)
        },
        server.read_exact(&mut byte)
    );
    read.expect("client should write");
    (client.expect("server should be listening"), server)
}

#[tokio::test]
async fn closed_connection_leaves_no_descriptor_or_mapping() {
    if ran_alone(|| ()) {
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("socket");
    let listener = Listener::bind(&path).expect("address should be free");
    drop(pair(&listener, &path).await);
    let before = open_descriptors();
    assert_eq!(before.1, 0, "process should have no mappings before the test");
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(pair(&listener, &path).await);
    }
    assert!(open.iter().all(|(client, server)| client.is_shared() && server.is_shared()));
    assert_eq!(
        open_descriptors(),
        (before.0 + 50 * 2 * 3, 50 * 2),
        "each end should have a socket and two pipes, and share a mapping"
    );
    drop(open);
    assert_eq!(open_descriptors(), before);
    // A connection whose server has enlarged its ring. The client has enlarged its ring too, but the server has not
    // received the new one.
    let (mut client, mut server) = pair(&listener, &path).await;
    server.write_all(&[7; 300_000]).await.expect("write should succeed");
    client.read_exact(&mut [0; 300_000]).await.expect("peer should send the expected bytes");
    client.write_all(&[7; 300_000]).await.expect("write should succeed");
    let (descriptors, maps) = open_descriptors();
    assert_eq!(
        (descriptors, maps),
        (before.0 + 2 * 3, 2 + 3),
        "ends should have the current ring and the ring in transit"
    );
    drop((client, server));
    assert_eq!(open_descriptors(), before);
    // A connection that ends before the peers have negotiated shared memory.
    drop(tokio::net::UnixStream::connect(&path).await);
    let error = listener.accept().await.expect("client should connect").read(&mut [0]).await;
    assert_eq!(error.expect("input should end"), 0);
    assert_eq!(open_descriptors(), before);
}
