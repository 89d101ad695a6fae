//! What the integration tests share: the generated schemas, a server of the interop schema, a peer that writes whatever
//! it likes, and what a test can see of its own process.

use std::net::SocketAddr;
use std::time::Duration;

pub mod attacks;
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
    /// As [`first`], with views, and requests of `Say` as they came.
    pub mod viewed {
        include!(concat!(env!("OUT_DIR"), "/viewed/versions.rs"));
    }
    pub mod second {
        include!(concat!(env!("OUT_DIR"), "/second/versions.rs"));
    }
    pub mod broken {
        include!(concat!(env!("OUT_DIR"), "/broken/versions.rs"));
    }
    pub mod stranger {
        include!(concat!(env!("OUT_DIR"), "/stranger/versions.rs"));
    }
}

/// Serves the interop schema in the current runtime, for as long as that runs.
pub async fn serve_interop() -> SocketAddr {
    serve_interop_with(frpc::Server::builder()).await
}

/// As [`serve_interop`], with settings.
pub async fn serve_interop_with(builder: frpc::ServerBuilder) -> SocketAddr {
    serve(builder.add_service(interop::InteropServer::new(service::Service))).await
}

/// Serves in the current runtime, for as long as that runs.
pub async fn serve(builder: frpc::ServerBuilder) -> SocketAddr {
    let server = builder.bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    address
}

/// Waits for something that is bound to come.
///
/// # Panics
/// If it has not come within 20 seconds.
pub async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let reached = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached).await.unwrap_or_else(|_| panic!("never: {what}"));
}
