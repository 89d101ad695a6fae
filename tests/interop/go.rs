//! Builds and runs the Go peers.

use std::path::{Path, PathBuf};
use std::process::{Command as Blocking, Stdio};
use std::sync::OnceLock;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// A Go program that serves and calls the interop schema.
pub(crate) struct Peer {
    program: PathBuf,
    environment: Vec<(&'static str, PathBuf)>,
}

/// A serving Go process. It exits when its standard input is closed, which happens at the latest when this process
/// ends.
pub(crate) struct Serving {
    pub(crate) address: String,
    _stdin: ChildStdin,
    _child: Child,
}

impl Peer {
    /// Builds the program with the current frisbee-go, if Go is installed.
    pub(crate) fn current() -> Option<Self> {
        static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
        Self::built(&BUILT, ".", "./cmd/peer")
    }

    /// Builds the program with the last version of frisbee-go that has 8-byte headers, if Go is installed.
    pub(crate) fn old() -> Option<Self> {
        static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
        Self::built(&BUILT, "v0_10_2", "./cmd/peer-old")
    }

    fn built(built: &OnceLock<Option<PathBuf>>, module: &str, package: &str) -> Option<Self> {
        let program = built.get_or_init(|| build(module, package)).clone()?;
        Some(Self { program, environment: Vec::new() })
    }

    /// Builds the program that takes over its raw connection.
    pub(crate) fn raw() -> Option<Self> {
        static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
        Self::built(&BUILT, ".", "./cmd/raw")
    }

    /// Sets an environment variable for the program.
    pub(crate) fn with(mut self, variable: &'static str, value: PathBuf) -> Self {
        self.environment.push((variable, value));
        self
    }

    /// Starts the program as a server on a free loopback port.
    pub(crate) async fn serve(&self) -> Serving {
        let mut child = Command::new(&self.program)
            .args(["serve", "127.0.0.1:0"])
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("process should start");
        let stdin = child.stdin.take().expect("stdin should be piped");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout should be piped")).lines();
        let line = lines.next_line().await.expect("line should be readable").expect("peer should print its address");
        let address = line.strip_prefix("listening on ").expect("peer should print its address").to_owned();
        Serving { address, _stdin: stdin, _child: child }
    }

    /// Runs the program's test cases against a server. At least `at_least` cases must run.
    pub(crate) async fn call(&self, address: &str, options: &[&str], at_least: usize) {
        let output = Command::new(&self.program)
            .args(["call", address])
            .envs(self.environment.iter().cloned())
            .args(options)
            .kill_on_drop(true)
            .output()
            .await
            .expect("process should start");
        let text = String::from_utf8_lossy(&output.stdout);
        let failed: Vec<_> = text.lines().filter(|line| line.starts_with("FAIL")).collect();
        assert!(failed.is_empty() && output.status.success(), "{}: {failed:#?}", output.status);
        let passed = text.lines().filter(|line| line.starts_with("ok ")).count();
        assert!(passed >= at_least, "only {passed} test cases ran");
    }
}

/// Builds a program of a Go module in this folder, if Go is installed.
pub(crate) fn build(module: &str, package: &str) -> Option<PathBuf> {
    if Blocking::new("go").arg("version").output().is_err() {
        assert!(
            std::env::var_os("FRISBEE_REQUIRE_GO").is_none(),
            "Go should be installed, because FRISBEE_REQUIRE_GO is set"
        );
        // Written to the terminal directly, because captured output is shown only for failed tests.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr().lock(),
            b"\nSKIPPED: Go is not installed, so nothing was tested with Go peers\n",
        );
        return None;
    }
    let name = if package == "." { module } else { package.trim_start_matches("./cmd/") };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let built = Blocking::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(package)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/go").join(module))
        .output()
        .expect("process should start");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(program)
}
