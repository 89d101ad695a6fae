//! Starts database servers, each with its own directory, which is removed with the server.

use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// A database server that was started for a test.
pub(crate) struct Running {
    pub(crate) address: String,
    _child: Child,
    _folder: DataFolder,
}

struct DataFolder(PathBuf);

impl DataFolder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("frisbee-{name}-{}-{}", std::process::id(), fastrand::u32(..)));
        std::fs::create_dir_all(&folder).expect("folder should be created");
        Self(folder)
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Finds a program in the usual folders or in `others`.
fn find(program: &str, others: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).chain(others).map(|folder| folder.join(program)).find(|file| file.is_file());
    if found.is_none() {
        let missing = format!("{program} is not installed");
        assert!(std::env::var_os("FRISBEE_REQUIRE_SERVERS").is_none(), "server program is required: {missing}");
        // Written to the terminal directly, because captured output is shown only for failed tests.
        let _ = writeln!(std::io::stderr().lock(), "\nSKIPPED: {missing}, so nothing was tested with it");
    }
    found
}

/// Returns a free port. The system does not assign it automatically, because its ephemeral ports start at 32768.
pub(crate) async fn port() -> u16 {
    loop {
        let port = fastrand::u16(16_384..32_768);
        if TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return port;
        }
    }
}

/// Repeats an action until it succeeds.
async fn until<T, F: Future<Output = Option<T>>>(what: &str, attempt: impl Fn() -> F) -> T {
    let trying = async {
        loop {
            if let Some(done) = attempt().await {
                return done;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), trying).await;
    done.unwrap_or_else(|_| panic!("{what} has not come up"))
}

/// Returns the ids of a user and its group. PostgreSQL refuses to run as root, so a process that root starts needs
/// another user.
fn user(name: &str) -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

fn command(program: &Path, folder: &Path, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

/// Folders in which Debian installs the programs of PostgreSQL, outside of `PATH`.
fn postgres_folders() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.map(|version| version.path().join("bin")).collect()
}

/// Runs PostgreSQL's own client against this port on loopback. It prints rows without decoration.
pub(crate) fn psql(port: u16) -> Command {
    let program = find("psql", postgres_folders()).expect("psql should be installed with the server");
    let mut command = Command::new(program);
    command.args(["-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres"]);
    command.args(["-p", &port.to_string(), "-d", "postgres"]).kill_on_drop(true);
    command
}

/// Starts PostgreSQL. The user `postgres` can connect without a password.
pub(crate) async fn postgres() -> Option<Running> {
    let initdb = find("initdb", postgres_folders())?;
    let program = find("postgres", postgres_folders())?;
    let folder = DataFolder::new("postgres");
    let is_root = std::os::unix::fs::MetadataExt::uid(
        &std::fs::metadata("/proc/self").expect("/proc/self should exist on Linux"),
    ) == 0;
    let user = if is_root { user("postgres") } else { None };
    if let Some((user, group)) = user {
        std::os::unix::fs::chown(&folder.0, Some(user), Some(group)).expect("root should be able to change the owner");
    }
    let data = folder.0.join("data");
    let mut init = command(&initdb, &folder.0, user);
    init.args(["--auth", "trust", "--username", "postgres", "--no-sync", "--pgdata"]).arg(&data);
    assert!(init.status().await.expect("process should start").success(), "initdb should succeed");
    let port = port().await;
    let mut serve = command(&program, &folder.0, user);
    serve.arg("-D").arg(&data).arg("-k").arg(&folder.0);
    let child = serve.args(["-F", "-h", "127.0.0.1", "-p", &port.to_string()]).spawn().expect("process should start");
    let address = format!("127.0.0.1:{port}");
    until("PostgreSQL", || async {
        let status = psql(port).args(["-c", "SELECT 1"]).stdout(Stdio::null()).stderr(Stdio::null()).status().await;
        status.is_ok_and(|status| status.success()).then_some(())
    })
    .await;
    Some(Running { address, _child: child, _folder: folder })
}

/// An etcd server with one member. Tests can kill it, and restart it with its data.
pub(crate) struct Etcd {
    pub(crate) address: String,
    peers: String,
    program: PathBuf,
    child: Child,
    folder: DataFolder,
}

/// Starts etcd with one member.
pub(crate) async fn etcd() -> Option<Etcd> {
    let program = find("etcd", [])?;
    let folder = DataFolder::new("etcd");
    let (address, peers) = (format!("127.0.0.1:{}", port().await), format!("http://127.0.0.1:{}", port().await));
    let child = start_etcd(&program, &folder, &address, &peers).await;
    Some(Etcd { address, peers, program, child, folder })
}

impl Etcd {
    /// Kills the process.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("process should be running");
    }

    /// Restarts the server at the same address.
    pub(crate) async fn restart(&mut self) {
        self.child = start_etcd(&self.program, &self.folder, &self.address, &self.peers).await;
    }
}

async fn start_etcd(program: &Path, folder: &DataFolder, address: &str, peers: &str) -> Child {
    let clients = format!("http://{address}");
    let child = command(program, &folder.0, None)
        .arg("--data-dir")
        .arg(folder.0.join("data"))
        .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
        .args(["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers])
        .args(["--initial-cluster", &format!("default={peers}"), "--unsafe-no-fsync"])
        .spawn()
        .expect("process should start");
    until("etcd", || async {
        let mut socket = TcpStream::connect(address).await.ok()?;
        socket.write_all(b"GET /health HTTP/1.0\r\n\r\n").await.ok()?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.ok()?;
        answer.contains(r#""health":"true""#).then_some(())
    })
    .await;
    child
}

/// A NATS server that can be killed and restarted at the same address.
pub(crate) struct Nats {
    pub(crate) address: String,
    program: PathBuf,
    arguments: Vec<String>,
    child: Child,
    folder: DataFolder,
}

/// Starts a NATS server with additional arguments.
pub(crate) async fn nats(arguments: &[&str]) -> Option<Nats> {
    let program = find("nats-server", [])?;
    let folder = DataFolder::new("nats");
    let address = format!("127.0.0.1:{}", port().await);
    let arguments: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let child = start_nats(&program, &folder, &address, &arguments).await;
    Some(Nats { address, program, arguments, child, folder })
}

/// Starts a cluster of NATS servers with additional arguments. The servers are named `node-0` and so on.
pub(crate) async fn nats_cluster(size: usize, arguments: &[&str]) -> Option<Vec<Nats>> {
    let mut routes = Vec::new();
    for _ in 0..size {
        routes.push(format!("nats://127.0.0.1:{}", port().await));
    }
    let mut nodes = Vec::new();
    for (at, route) in routes.iter().enumerate() {
        let (name, all) = (format!("node-{at}"), routes.join(","));
        let own = ["-n", &name, "--cluster_name", "test", "--cluster", route, "--routes", &all];
        nodes.push(nats(&[&own, arguments].concat()).await?);
    }
    Some(nodes)
}

impl Nats {
    /// Kills the process.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("process should be running");
    }

    /// Returns the server's working directory.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Stops the server gracefully, so that it saves its data.
    pub(crate) async fn stop(&mut self) {
        let process = self.child.id().expect("process should be running");
        let mut signal = command(&self.program, &self.folder.0, None);
        let sent = signal.args(["--signal", &format!("stop={process}")]).status().await;
        assert!(sent.expect("kill should be installed").success(), "server process should accept the signal");
        self.child.wait().await.expect("server should exit");
    }

    /// Restarts the server at the same address.
    pub(crate) async fn restart(&mut self) {
        self.child = start_nats(&self.program, &self.folder, &self.address, &self.arguments).await;
    }
}

async fn start_nats(program: &Path, folder: &DataFolder, address: &str, arguments: &[String]) -> Child {
    let (host, port) = address.split_once(':').expect("address should have a port");
    let mut serve = command(program, &folder.0, None);
    let child = serve.args(["-a", host, "-p", port]).args(arguments).spawn().expect("process should start");
    until("NATS", || async {
        let mut socket = TcpStream::connect(address).await.ok()?;
        let mut greeting = [0; 4];
        socket.read_exact(&mut greeting).await.ok()?;
        (&greeting == b"INFO").then_some(())
    })
    .await;
    child
}

/// Starts Prometheus with this configuration.
pub(crate) async fn prometheus(config: &str) -> Option<Running> {
    let program = find("prometheus", [])?;
    let folder = DataFolder::new("prometheus");
    std::fs::write(folder.0.join("prometheus.yml"), config).expect("file should be written");
    let address = format!("127.0.0.1:{}", port().await);
    let mut serve = command(&program, &folder.0, None);
    serve.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
    let child = serve.arg(format!("--web.listen-address={address}")).spawn().expect("process should start");
    until("Prometheus", || async { TcpStream::connect(&address).await.ok() }).await;
    Some(Running { address, _child: child, _folder: folder })
}
