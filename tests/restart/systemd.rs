//! Tests of sockets that systemd passes to a server, and of the states that the server reports to systemd. A shell
//! takes the place of systemd.

use super::{Program, Programs, TIMEOUT};
use frisbee_tests::interop::{AddRequest, InteropClient};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Starts the program with the socket, as systemd does. Its notifications are sent to `notify`. A shell sets the
/// variables and then executes the program.
async fn activated(programs: &Programs, socket: OwnedFd, notify: &Path) -> Program {
    let script = "LISTEN_PID=$$ exec \"$0\" \"$1\" serve 3>&2 2>/dev/null";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_generation")]).arg(programs.control());
    command.envs([("LISTEN_FDS", "1"), ("LISTEN_FDNAMES", "rpc")]).env("NOTIFY_SOCKET", notify);
    command.stderr(Stdio::from(socket));
    Program::of(command).await
}

/// Returns the states that the service has reported next.
fn notifications(manager: &UnixDatagram) -> Vec<String> {
    let mut bytes = [0; 256];
    let count = loop {
        match manager.recv(&mut bytes) {
            // A receive with a timeout is interrupted when a child ends.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => break received.expect("channel should stay open"),
        }
    };
    String::from_utf8_lossy(&bytes[..count]).lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn systemd_socket_is_passed_on_with_notices() {
    let programs = Programs::new();
    let notify = programs.folder.path().join("notify");
    let manager = UnixDatagram::bind(&notify).expect("folder should be writable");
    manager.set_read_timeout(Some(TIMEOUT)).expect("read timeout should be valid");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address");

    let first = activated(&programs, listener.into(), &notify).await;
    assert_eq!(first.address, address, "server should have bound no socket of its own");
    assert_eq!(notifications(&manager), ["READY=1"]);
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");

    let mut command = Command::new(env!("CARGO_BIN_EXE_generation"));
    command.arg(programs.control()).arg("serve").env("NOTIFY_SOCKET", &notify);
    let second = Program::of(command).await;
    assert_eq!(second.address, address);
    let reloading = notifications(&manager);
    assert!(reloading[0] == "RELOADING=1" && reloading[1].starts_with("MONOTONIC_USEC="), "{reloading:?}");
    let main = format!("MAINPID={}", second.child.id().expect("process should be running"));
    assert_eq!(notifications(&manager), [main.as_str(), "READY=1"]);
    first.expect("Replaced").await;
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    second.stop().await;
    assert_eq!(notifications(&manager), ["STOPPING=1"]);
}

/// Regression test: the start failed if the environment contained names of sockets that were meant for another process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets_for_another_process_are_ignored() {
    let programs = Programs::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_generation"));
    command.arg(programs.control()).arg("serve");
    command.envs([("LISTEN_PID", "1"), ("LISTEN_FDS", "2"), ("LISTEN_FDNAMES", "a:b:c")]);
    let program = Program::of(command).await;
    let client = InteropClient::connect(program.address.to_string()).await.expect("server should listen");
    client.add(AddRequest { a: 1, b: 1 }).await.expect("server should answer");
    program.stop().await;
}
