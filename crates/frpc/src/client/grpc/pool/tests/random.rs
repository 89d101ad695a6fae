//! Random sequences of calls, cancellations, replies and new limits of the server, which must leave no call waiting for
//! a free stream.

use super::*;
use frisbee_http2::StreamKey;

/// A client with calls in progress, and the server that replies to them.
struct World {
    rng: fastrand::Rng,
    links: GrpcLinks,
    server: Server,
    /// Calls in progress, each with a flag whether it is made on behalf of a remote caller.
    calls: Vec<(bool, AbortOnDrop<Result<(), Failed>>)>,
    /// Requests that the server has not answered.
    open: Vec<StreamKey>,
}

impl World {
    async fn new(seed: u64) -> Self {
        let (transport, server) = Server::new(2).await;
        let links = client([Ok(transport)]);
        Self { rng: fastrand::Rng::with_seed(seed), links, server, calls: Vec::new(), open: Vec::new() }
    }

    async fn step(&mut self) {
        match self.rng.u8(..9) {
            ..4 => self.call(),
            4 if !self.calls.is_empty() => {
                let cancelled = self.rng.usize(..self.calls.len());
                self.calls.swap_remove(cancelled);
            }
            5 => self.server.permit(self.rng.u8(..4)).await,
            6 => self.end_one().await,
            7 => {
                sleep(Duration::from_millis(self.rng.u64(..3000))).await;
                self.receive().await;
            }
            _ => tokio::task::yield_now().await,
        }
    }

    fn call(&mut self) {
        let (links, caller) = (self.links.clone(), self.rng.bool().then_some(GrpcCaller(None)));
        let open_until = now().checked_add(Duration::from_secs(self.rng.u64(1..20)));
        let calling = tokio::spawn(async move {
            let metadata = Metadata::new();
            let call = GrpcCall { caller, open_until, ..call(&metadata) };
            links.call(&call, message()).await.map(drop)
        });
        self.calls.push((caller.is_some(), AbortOnDrop(calling)));
    }

    /// Replies to a request or refuses it, if there is one.
    async fn end_one(&mut self) {
        let Some(at) = self.open.len().checked_sub(1) else { return };
        let stream = self.open.swap_remove(self.rng.usize(..=at));
        match (self.server.http2.stream_id(stream), self.rng.bool()) {
            (None, _) => {}
            (Some(_), true) => self.server.refuse(stream).await,
            (Some(_), false) => self.server.reply(stream).await,
        }
    }

    /// Receives requests until none has arrived for 10 ms.
    async fn receive(&mut self) {
        while let Ok(Ok(stream)) = timeout(Duration::from_millis(10), self.server.try_request()).await {
            self.open.push(stream);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn random_events_strand_no_call() {
    for seed in 0..50 {
        let mut world = World::new(seed).await;
        for _ in 0..60 {
            world.step().await;
        }
        world.server.permit(2).await;
        world.receive().await;
        while !world.open.is_empty() {
            world.end_one().await;
            world.receive().await;
        }
        // All streams are free, so no local call may still wait for one. Calls on behalf of remote callers may wait
        // for the second connection, which is never established.
        let is_stranded = |(is_remote, call): &(bool, AbortOnDrop<_>)| !is_remote && !call.0.is_finished();
        assert!(!world.calls.iter().any(is_stranded), "seed {seed}");
    }
}
