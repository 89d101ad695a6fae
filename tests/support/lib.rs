//! Shared code of the integration tests: generated schemas, a server of the interop schema, a peer that writes
//! arbitrary bytes, and measurements of the test's process.

use frisbee::IoBackend;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub mod attacks;
pub mod gated;
pub mod healthy;
pub mod hoard;
pub mod liars;
pub mod observed;
pub mod packed;
pub mod parrot;
pub mod pki;
pub mod process;
pub mod raw;
pub mod service;
pub mod targets;

/// Generated from `proto/interop.proto`.
pub mod interop {
    #![allow(missing_docs)]
    frpc::include_proto!("interop");
}

/// Generated from `proto/vec.proto`.
pub mod vec {
    #![allow(missing_docs)]
    frpc::include_proto!("vec");
}

/// Generated from `proto/vecopt.proto`.
pub mod vecopt {
    #![allow(missing_docs)]
    frpc::include_proto!("vecopt");
}

/// Generated from `proto/extension.proto`.
pub mod extension {
    #![allow(missing_docs)]
    frpc::include_proto!("extension");
}

/// Generated from `proto/json.proto`.
pub mod json {
    #![allow(missing_docs)]
    frpc::include_proto!("json");
}

/// Generated from `proto/nesting.proto`.
pub mod nesting {
    #![allow(missing_docs)]
    frpc::include_proto!("nesting");
}

/// Generated from the files in `proto/versions`.
pub mod versions {
    #![allow(missing_docs)]

    pub mod first {
        include!(concat!(env!("OUT_DIR"), "/first/versions.rs"));
    }
    /// Like [`first`], with views, and with requests of `Say` that are not decoded.
    pub mod viewed {
        include!(concat!(env!("OUT_DIR"), "/viewed/versions.rs"));
    }
    pub mod second {
        include!(concat!(env!("OUT_DIR"), "/second/versions.rs"));
    }
    pub mod moved {
        include!(concat!(env!("OUT_DIR"), "/moved/versions.rs"));
    }
    pub mod stranger {
        include!(concat!(env!("OUT_DIR"), "/stranger/versions.rs"));
    }
}

/// Generated from the files in `proto/evolution`.
pub mod evolution {
    #![allow(missing_docs)]

    pub mod old {
        include!(concat!(env!("OUT_DIR"), "/old/shop.rs"));
    }
    pub mod new {
        include!(concat!(env!("OUT_DIR"), "/new/shop.rs"));
    }
    /// The same versions in protobuf's encoding.
    pub mod protobuf {
        pub mod old {
            include!(concat!(env!("OUT_DIR"), "/old/protobuf/shop.rs"));
        }
        pub mod new {
            include!(concat!(env!("OUT_DIR"), "/new/protobuf/shop.rs"));
        }
    }
    /// The schema of [`interop`](crate::interop) with changes.
    pub mod interop {
        include!(concat!(env!("OUT_DIR"), "/interop/interop.rs"));
    }
}

/// Serves the interop schema until the current runtime shuts down.
pub async fn serve_interop() -> SocketAddr {
    serve_interop_with(frpc::Server::builder()).await
}

/// Like [`serve_interop`], with settings.
pub async fn serve_interop_with(builder: frpc::ServerBuilder) -> SocketAddr {
    serve(builder.add_service(interop::InteropServer::new(service::Service))).await
}

/// Like [`serve_interop`], but does not close silent connections. For tests of connections that are closed for another
/// reason.
pub async fn serve_patient() -> SocketAddr {
    let hour = Duration::from_secs(3600);
    let config = frisbee::Config::default().idle_timeout(hour);
    serve_interop_with(frpc::Server::builder().config(config).first_header_timeout(hour)).await
}

/// Returns the I/O backends that this build supports.
pub fn backends() -> &'static [IoBackend] {
    if cfg!(all(feature = "uring", target_os = "linux")) {
        &[IoBackend::Tokio, IoBackend::Uring]
    } else {
        &[IoBackend::Tokio]
    }
}

/// Starts a server that runs until the current runtime shuts down.
pub async fn serve(builder: frpc::ServerBuilder) -> SocketAddr {
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    address
}

/// A server in the current runtime that a test can stop or kill.
pub struct Serving {
    /// The server's address.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), frpc::Error>>,
}

impl Serving {
    /// Starts a server.
    pub fn start(server: frpc::Server) -> Self {
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        Self { address, stop: Some(stop), task }
    }

    /// Begins a graceful shutdown.
    pub fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Aborts the server and all its connections.
    pub fn kill(&self) {
        self.task.abort();
    }

    /// Returns whether the server has ended.
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for a graceful shutdown.
    ///
    /// # Panics
    /// If the shutdown takes more than 15 s. After 20 s a server would close calls in progress.
    pub async fn stopped(self) {
        let stopped = tokio::time::timeout(Duration::from_secs(15), self.task).await;
        stopped
            .expect("server should stop at once")
            .expect("task should not panic")
            .expect("server should end regularly");
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If the condition does not hold within two minutes. The timeout is long because the machine may be busy.
pub async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let reached = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), reached)
        .await
        .unwrap_or_else(|_| panic!("condition should hold within two minutes: {what}"));
}

/// Returns the two ends of an in-memory connection with the given latency.
pub fn far_apart(apart: Duration) -> (DuplexStream, DuplexStream) {
    const UNDER_WAY: usize = 4 << 20;
    let (here, near) = tokio::io::duplex(UNDER_WAY);
    let (there, far) = tokio::io::duplex(UNDER_WAY);
    let ((from_here, to_here), (from_there, to_there)) = (tokio::io::split(near), tokio::io::split(far));
    tokio::spawn(carry(from_here, to_there, apart));
    tokio::spawn(carry(from_there, to_here, apart));
    (here, there)
}

/// Forwards bytes in order with the given latency.
async fn carry(
    mut from: impl AsyncRead + Unpin + Send + 'static,
    mut to: impl AsyncWrite + Unpin + Send + 'static,
    time: Duration,
) {
    let (sent, mut under_way) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((arrives, bytes)) = under_way.recv().await {
            tokio::time::sleep_until(arrives).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    });
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if sent.send((Instant::now() + time, bytes[..count].to_vec())).is_err() {
            return;
        }
    }
}
