//! A service with calls that take much memory of the server: long replies, endless streams, and requests that wait.

use crate::interop::{Interop, Lists, Payload, Text};
use crate::left_to_service;
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Replies to a payload with the number of bytes that it states. Replies to a text in a chat with an endless stream of
/// texts of the stated length. Payloads wait until they are released, and lists wait forever.
#[derive(Clone, Debug)]
pub struct Hoard {
    /// Number of calls that have started.
    pub started: Arc<AtomicUsize>,
    /// Number of payload calls that have ended, for any reason.
    pub ended: Arc<AtomicUsize>,
    released: watch::Receiver<bool>,
    pause: Duration,
}

impl Hoard {
    /// Creates the service, and a sender that releases payloads. Each call first sleeps for `pause`.
    pub fn new(pause: Duration) -> (Self, watch::Sender<bool>) {
        let (release, released) = watch::channel(false);
        (Self { started: Arc::default(), ended: Arc::default(), released, pause }, release)
    }
}

/// Counts the end of a handler when it is dropped.
struct Ending(Arc<AtomicUsize>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Interop for Hoard {
    async fn echo_payload(&self, request: Request<Payload>) -> Result<Response<Payload>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let _ending = Ending(self.ended.clone());
        tokio::time::sleep(self.pause).await;
        let _ = self.released.clone().wait_for(|released| *released).await;
        let seq = request.get_ref().seq;
        Ok(Response::new(Payload { seq, data: vec![1; seq as usize] }))
    }

    async fn echo_lists(&self, request: Request<Lists>) -> Result<Response<Lists>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let _request = request;
        std::future::pending().await
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Result<Response<ResponseStream<Text>>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let first = request.into_inner().message().await?.unwrap_or_default();
        let length = first.value.parse().map_err(|_| Status::invalid_argument("the text is a length"))?;
        let texts = std::iter::repeat_with(move || Ok(Text { value: "x".repeat(length) }));
        Ok(Response::new(ResponseStream::new(frpc::iter(texts))))
    }

    left_to_service!(
        echo_scalars,
        echo_nested,
        echo_maps,
        echo_mixed,
        do_nothing,
        fail,
        add,
        sleep,
        describe,
        count_up,
        sum_up
    );
}
