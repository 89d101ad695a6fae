//! A healthy client, for tests of hostile peers.

use crate::interop::{AddRequest, InteropClient};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;

/// A client that makes calls continuously. None of them may fail.
pub struct Healthy {
    stop: Arc<AtomicBool>,
    calling: JoinHandle<usize>,
}

impl Healthy {
    /// Connects and starts to make calls.
    pub async fn connect(address: SocketAddr) -> Self {
        let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let calling = tokio::spawn(async move {
            let mut calls = 0;
            while !stopped.load(Ordering::Relaxed) || calls == 0 {
                let sum = client.add(AddRequest { a: calls, b: 1 }).await.expect("call should succeed");
                assert_eq!(sum.get_ref().total, calls + 1);
                calls += 1;
            }
            calls as usize
        });
        Self { stop, calling }
    }

    /// Stops the calls and checks that all of them succeeded.
    pub async fn was_well(self) {
        self.stop.store(true, Ordering::Relaxed);
        let calls = self.calling.await.expect("healthy client should be served");
        assert!(calls > 0);
    }
}
