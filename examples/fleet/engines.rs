//! The services that a fleet requires, etcd and NATS, with their own directories. They exit with this program.

use std::error::Error;
use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// A running service. Dropping it kills its process.
pub(crate) struct Engine {
    address: SocketAddr,
    _child: Child,
    _folder: Folder,
}

impl Engine {
    /// Returns the address for clients.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts a single-member cluster of Debian's `etcd-server`. Returns `None` if it is not installed.
    pub(crate) async fn etcd() -> Result<Option<Self>, Box<dyn Error>> {
        let Some(program) = find("etcd")? else { return Ok(None) };
        let folder = Folder::new("etcd")?;
        let [address, peers] = free_addresses()?;
        let (clients, peers) = (format!("http://{address}"), format!("http://{peers}"));
        let mut command = Command::new(program);
        command
            .arg("--data-dir")
            .arg(folder.0.join("data"))
            .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers])
            .args(["--initial-cluster", &format!("default={peers}"), "--unsafe-no-fsync"]);
        Self::start(command, folder, address, (address, "/health", r#""health":"true""#)).await.map(Some)
    }

    /// Starts Debian's `nats-server`. Returns `None` if it is not installed.
    pub(crate) async fn nats() -> Result<Option<Self>, Box<dyn Error>> {
        let Some(program) = find("nats-server")? else { return Ok(None) };
        let folder = Folder::new("nats")?;
        let [address, pages] = free_addresses()?;
        let mut command = Command::new(program);
        command
            .args(["--addr", &address.ip().to_string(), "--port", &address.port().to_string()])
            .args(["--http_port", &pages.port().to_string()]);
        Self::start(command, folder, address, (pages, "/healthz", r#""status""#)).await.map(Some)
    }

    /// Starts a program and waits until its health page reports success.
    async fn start(
        mut command: Command,
        folder: Folder,
        address: SocketAddr,
        (pages, path, well): (SocketAddr, &str, &str),
    ) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        while !page(pages, path).await.is_ok_and(|page| page.contains(well)) {
            if let Some(status) = child.try_wait()? {
                return Err(format!("{:?} ended at once: {status}", command.as_std().get_program()).into());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { address, _child: child, _folder: folder })
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> std::io::Result<Self> {
        let folder = Self(std::env::temp_dir().join(format!("frpc-fleet-{name}-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Failures are ignored, because the folder is temporary.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Returns the path of a program in `PATH`.
fn find(name: &str) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain([PathBuf::from(OsStr::new("/usr/sbin"))]);
    let program = directories.map(|folder| folder.join(name)).find(|file| file.is_file());
    if program.is_none() && std::env::var_os("FRISBEE_REQUIRE_SERVERS").is_some() {
        return Err(format!("{name} is not installed, and it is required here").into());
    }
    Ok(program)
}

/// Returns two free addresses.
fn free_addresses() -> std::io::Result<[SocketAddr; 2]> {
    // Both sockets are bound at the same time, so that their ports differ.
    let sockets = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    Ok([sockets[0].local_addr()?, sockets[1].local_addr()?])
}

async fn page(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
    let mut page = String::new();
    socket.read_to_string(&mut page).await?;
    Ok(page)
}
