//! Tests that restarts of whole processes lose nothing, under load of calls of all kinds and of clients that connect
//! continuously.
//!
//! The tests of the crate frisbee-restart cover successors that fail. The tests here cover load.

mod calls;
mod connecting;
mod systemd;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

/// Maximum time to wait for another process. It is long because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Programs that serve one after the other.
struct Programs {
    folder: TempDir,
}

/// A running program.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    /// The address on which the program listens.
    address: SocketAddr,
}

impl Programs {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("temporary folder should be created") }
    }

    fn control(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    fn service(&self) -> PathBuf {
        self.folder.path().join("control.service")
    }

    /// Starts a program and waits until it has its sockets.
    async fn start(&self, mode: &str) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_generation"));
        command.arg(self.control()).arg(mode);
        Program::of(command).await
    }

    /// Starts a program, which takes over from the given one.
    async fn replace(&self, program: &mut Program) {
        let successor = self.start("serve").await;
        std::mem::replace(program, successor).expect("Replaced").await;
    }
}

impl Program {
    async fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("process should start");
        let mut output = BufReader::new(child.stdout.take().expect("stdout should be piped")).lines();
        let address = line(&mut output).await.expect("program should print its address");
        let address = address.strip_prefix("listening on ").and_then(|address| address.parse().ok());
        Self { child, output, address: address.expect("address should be valid") }
    }

    /// Waits until the program exits, and checks what it printed about the reason.
    async fn expect(mut self, ending: &str) {
        assert_eq!(line(&mut self.output).await.as_deref(), Some(ending));
        let status = timeout(TIMEOUT, self.child.wait())
            .await
            .expect("process should exit within the timeout")
            .expect("program should be a child process");
        assert!(status.success(), "{status}");
    }

    /// Makes the program complete its calls and exit.
    async fn stop(mut self) {
        drop(self.child.stdin.take());
        self.expect("Stopped").await;
    }

    async fn kill(mut self) {
        self.child.kill().await.expect("process should be running");
    }
}

async fn line(output: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    timeout(TIMEOUT, output.next_line())
        .await
        .expect("read should complete within the timeout")
        .expect("output should be readable")
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Reads a number from the environment, with which a longer run can be selected.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |value| value.parse().expect("text should be a number"))
}
