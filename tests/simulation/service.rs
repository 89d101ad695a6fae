//! The service of the simulation. It records the requests that it has executed, by the number in each request.

use frisbee_tests::interop::{AddRequest, Count, Interop, Payload, Range, SleepRequest, Sum, Text};
use frisbee_tests::left_to_service;
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Reply<T> = Result<Response<T>, Status>;

/// The requests that a server has executed, including before its restarts.
#[derive(Default)]
pub(crate) struct Memory {
    executed: Mutex<HashMap<u64, usize>>,
    /// Number of running handlers.
    pub(crate) running: AtomicUsize,
}

impl Memory {
    fn execute(self: &Arc<Self>, number: u64) -> Running {
        *self.executed.lock().entry(number).or_default() += 1;
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(self.clone())
    }

    /// Returns the number of times that a request has been executed.
    pub(crate) fn executions(&self, number: u64) -> usize {
        self.executed.lock().get(&number).copied().unwrap_or(0)
    }
}

struct Running(Arc<Memory>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub(crate) struct Service(pub(crate) Arc<Memory>);

impl Interop for Service {
    left_to_service!(echoes, do_nothing, fail, describe);

    async fn echo_payload(&self, request: Request<Payload>) -> Reply<Payload> {
        let _running = self.0.execute(request.get_ref().seq.into());
        Ok(Response::new(request.into_inner()))
    }

    async fn add(&self, request: Request<AddRequest>) -> Reply<Sum> {
        let AddRequest { a, b } = request.into_inner();
        let _running = self.0.execute(a as u64);
        Ok(Response::new(Sum { total: a.wrapping_add(b), count: 2 }))
    }

    async fn sleep(&self, request: Request<SleepRequest>) -> Reply<SleepRequest> {
        let request = request.into_inner();
        let _running = self.0.execute(request.tag.into());
        tokio::time::sleep(Duration::from_millis(request.millis.into())).await;
        Ok(Response::new(request))
    }

    async fn count_up(&self, request: Request<Range>) -> Reply<ResponseStream<Count>> {
        let Range { from, count } = request.into_inner();
        let running = self.0.execute(from as u64);
        let numbers = (0..count).map(move |step| {
            let _ = &running;
            Ok(Count { value: from.wrapping_add(step) })
        });
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers))))
    }

    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Reply<Sum> {
        let mut counts = request.into_inner();
        let mut sum = Sum::default();
        let mut running = None;
        while let Some(count) = counts.message().await? {
            if running.is_none() {
                running = Some(self.0.execute(count.value as u64));
            } else if count.value != sum.count {
                return Err(Status::data_loss(format!("{} came as number {}", count.value, sum.count)));
            }
            sum.total = sum.total.wrapping_add(count.value);
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let mut texts = request.into_inner();
        let (answers, stream) = ResponseStream::channel(1);
        tokio::spawn(async move {
            while let Ok(Some(text)) = texts.message().await {
                if answers.send(Ok(Text { value: format!("re:{}", text.value) })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }
}
