//! A service with handlers that wait until the test releases them.

use crate::interop::{Interop, SleepRequest};
use frpc::{Request, Response, Status};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Like [`Service`](crate::service::Service), but a `Sleep` with a positive duration waits for a permit.
#[derive(Clone, Debug)]
pub struct Gated(pub Arc<Semaphore>);

impl Gated {
    /// Creates a service that has no permits.
    pub fn shut() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Releases all current and future calls.
    pub fn open(&self) {
        self.0.close();
    }
}

impl Interop for Gated {
    async fn sleep(&self, request: Request<SleepRequest>) -> Result<Response<SleepRequest>, Status> {
        if request.get_ref().millis > 0
            && let Ok(permit) = self.0.acquire().await
        {
            permit.forget();
        }
        Ok(Response::new(request.into_inner()))
    }

    crate::left_to_service!(echoes, do_nothing, fail, echo_payload);
    crate::left_to_service!(add, describe, count_up, sum_up, chat);
}
