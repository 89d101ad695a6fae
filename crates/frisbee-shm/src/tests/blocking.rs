//! Streams that block the calling thread.

use frisbee_shm::{BlockingStream, Connector, Listener, Stream};
use std::io::{self, Read, Write};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Spin times: sleep immediately, spin briefly, and spin for the whole test.
const SPINS: [Duration; 3] = [Duration::ZERO, Duration::from_micros(20), Duration::from_secs(3600)];

/// Returns a blocking client and an asynchronous server.
fn pair(spin: Duration) -> (BlockingStream, Stream, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("runtime should start");
    let (client, server) = runtime.block_on(async {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let listener = Listener::builder().spin(spin).bind(&path).expect("server should bind to a free path");
        let connecting = async {
            let mut client = Connector::new().spin(spin).connect(&path).await?;
            client.write_all(b"!").await?;
            client.into_blocking().await
        };
        let accepting = async {
            let mut server = listener.accept().await?;
            server.read_exact(&mut [0]).await?;
            io::Result::Ok(server)
        };
        tokio::try_join!(connecting, accepting).expect("client and server should connect")
    });
    assert!(client.is_shared() && server.is_shared());
    (client, server, runtime)
}

fn blocking_pair(spin: Duration) -> (BlockingStream, BlockingStream) {
    let (client, server, runtime) = pair(spin);
    let server = runtime.block_on(server.into_blocking()).expect("server should be converted to a blocking stream");
    // Blocking streams work without the runtime.
    drop(runtime);
    (client, server)
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn blocking_threads_echo_all_lengths() {
    for spin in SPINS {
        let (mut client, mut server) = blocking_pair(spin);
        let lengths = [1, 47, 1023, 1024, 1025, 70_000, 3 << 20, 5];
        let echoing = std::thread::spawn(move || {
            for length in lengths {
                let mut frame = vec![0; length];
                server.read_exact(&mut frame)?;
                server.write_all(&frame)?;
            }
            io::Result::Ok(server)
        });
        for length in lengths {
            let (sent, mut received) = (numbered(length), vec![0; length]);
            client.write_all(&sent).expect("client should write the message");
            client.read_exact(&mut received).expect("peer should echo the message");
            assert!(sent == received, "{length} received bytes should equal the sent ones");
        }
        drop(echoing.join().expect("echoing thread should not panic").expect("echoing thread should complete"));
        assert_eq!(client.read(&mut [0]).expect("read at the end of input should succeed"), 0);
        let error = client.write(&[0]).expect_err("write to a closed peer should fail");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn thread_reads_all_task_bytes_before_end() {
    for spin in SPINS {
        let (mut client, mut server, runtime) = pair(spin.min(Duration::from_micros(20)));
        runtime.spawn(async move {
            let mut frame = [0; 47];
            server.read_exact(&mut frame).await?;
            server.write_all(&frame).await?;
            server.write_all(&numbered(100_000)).await
        });
        client.write_all(&[7; 47]).expect("client should write the message");
        client.shutdown().expect("client should shut down writing");
        assert_eq!(
            client.write(&[0]).expect_err("write after a shutdown should fail").kind(),
            io::ErrorKind::BrokenPipe
        );
        let mut received = Vec::new();
        client.read_to_end(&mut received).expect("reading to the end should succeed");
        assert!(received == [&[7; 47][..], &numbered(100_000)].concat());
    }
}

#[test]
fn waiting_thread_notices_closed_peer() {
    for spin in SPINS {
        let (mut client, server) = blocking_pair(spin);
        let reader = std::thread::spawn(move || client.read(&mut [0]));
        drop(server);
        assert_eq!(
            reader.join().expect("reading thread should not panic").expect("read should return the end of input"),
            0
        );

        let (mut client, server) = blocking_pair(spin);
        let writing = std::thread::spawn(move || client.write_all(&vec![0; 64 << 20]));
        drop(server);
        let error =
            writing.join().expect("writing thread should not panic").expect_err("write to a closed peer should fail");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn timeout_bounds_waiting_without_losing_bytes() {
    for spin in SPINS {
        let (mut client, mut server) = blocking_pair(spin);
        assert_eq!(
            client.set_timeout(Some(Duration::ZERO)).expect_err("zero timeout should be rejected").kind(),
            io::ErrorKind::InvalidInput
        );
        client.set_timeout(Some(Duration::from_millis(1))).expect("socket should accept the read timeout");
        for _ in 0..3 {
            assert_eq!(client.read(&mut [0; 9]).expect_err("read should time out").kind(), io::ErrorKind::TimedOut);
        }
        server.write_all(b"late").expect("server should write the message");
        let mut received = [0; 9];
        assert_eq!(client.read(&mut received).expect("read should return the message"), 4);
        assert_eq!(received[..4], *b"late");
        // The rings fill up because nobody reads.
        let error = client.write_all(&vec![0; 64 << 20]).expect_err("write to full rings should time out");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}

/// Regression test: operations that had to wait failed, because the system accepts no timeout of this length.
#[test]
fn maximum_timeout_allows_waiting() {
    let (mut client, server) = blocking_pair(Duration::ZERO);
    client.set_timeout(Some(Duration::MAX)).expect("stream should accept the maximum timeout");
    // The client notices the end of its peer only when it waits.
    drop(server);
    assert_eq!(client.read(&mut [0]).expect("read should wait for the end of input"), 0);
}

#[test]
fn blocking_client_falls_back_to_socket() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("listener should bind to the socket path");
    let echoing = std::thread::spawn(move || {
        // The first connection carries an offer, which this server does not support.
        drop(listener.accept()?.0);
        let mut socket = listener.accept()?.0;
        let mut frame = [0; 4];
        socket.read_exact(&mut frame)?;
        socket.write_all(&frame)?;
        io::Result::Ok(socket)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let mut client = runtime.block_on(async { Connector::new().connect(&path).await?.into_blocking().await });
    let client = client.as_mut().expect("client should connect without shared memory");
    assert!(!client.is_shared());
    client.write_all(b"ping").expect("client should write the request");
    let mut received = [0; 4];
    client.read_exact(&mut received).expect("server should send the reply");
    assert_eq!(received, *b"ping");
    drop(echoing.join().expect("server thread should not panic"));
    assert_eq!(client.read(&mut received).expect("read at the end of input should succeed"), 0);
}
