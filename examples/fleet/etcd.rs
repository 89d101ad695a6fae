//! An etcd of one member, with a directory of its own, that ends with this program.

use std::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// A running etcd. It is killed when this is dropped.
pub(crate) struct Running {
    address: SocketAddr,
    _child: Child,
    _folder: Folder,
}

impl Running {
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // It is a temporary one anyway.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Starts etcd. `None` if it is not installed.
pub(crate) async fn start() -> Result<Option<Running>, Box<dyn Error>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = std::env::split_paths(&path).map(|folder| folder.join("etcd")).find(|file| file.is_file())
    else {
        return match std::env::var_os("FRISBEE_REQUIRE_SERVERS") {
            None => Ok(None),
            Some(_) => Err("etcd is not installed, and it is required here".into()),
        };
    };
    let folder = Folder(std::env::temp_dir().join(format!("frpc-fleet-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0)?;
    // Both at once, so that they are different ones.
    let sockets = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    let [address, peers] = [sockets[0].local_addr()?, sockets[1].local_addr()?];
    drop(sockets);
    let (clients, peers) = (format!("http://{address}"), format!("http://{peers}"));
    let child = Command::new(program)
        .arg("--data-dir")
        .arg(folder.0.join("data"))
        .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
        .args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers])
        .args(["--initial-cluster", &format!("default={peers}"), "--unsafe-no-fsync"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    while !is_well(address).await {
        sleep(Duration::from_millis(50)).await;
    }
    Ok(Some(Running { address, _child: child, _folder: folder }))
}

async fn is_well(address: SocketAddr) -> bool {
    let asked = async {
        let mut socket = TcpStream::connect(address).await?;
        socket.write_all(b"GET /health HTTP/1.0\r\n\r\n").await?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer.contains(r#""health":"true""#))
    };
    asked.await.unwrap_or(false)
}
