//! Calls at a fixed rate (open loop): each call is sent at its scheduled time regardless of earlier ones, and its
//! latency is measured from that time. A client that waits for replies would send less when the server is slow, and
//! hide it.

use super::Bench;
use rivals::BoxError;
use rivals::load::checked;
use rivals::meter::Meter;
use rivals::rivals::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The thread that sends calls on schedule. tokio's timers have millisecond resolution.
#[derive(Debug)]
pub(super) struct Pacer {
    counters: Arc<Counters>,
    stopped: oneshot::Receiver<()>,
}

#[derive(Debug, Default)]
struct Counters {
    counted: AtomicU64,
    flying: AtomicU64,
    failed: AtomicU64,
}

/// Maximum number of calls in flight. A server that exceeds it cannot sustain the rate.
const FLYING_MAX: u64 = 100_000;

/// Maximum wait for calls in flight at the end, shorter than the parent's timeout.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Minimum sleep of the thread, equal to the system's resolution.
const STEP: Duration = Duration::from_micros(50);

impl Pacer {
    /// Starts sending.
    pub(super) fn start<C: Client>(clients: Vec<C>, rate: u32, bench: &Bench) -> Self {
        let counters = Arc::new(Counters::default());
        let (stop, stopped) = oneshot::channel();
        let (handles, meter, length) = (bench.carriers.handles.clone(), bench.meter.clone(), bench.arguments.length);
        let shared = counters.clone();
        std::thread::spawn(move || {
            let interval = Duration::from_secs(1) / rate.max(1);
            // Prepared before the first call is due. A call sends a copy of its client's text with the next number.
            let mut texts: Vec<_> = (0..clients.len()).map(|caller| C::text(caller, length)).collect();
            let mut due = Instant::now();
            let mut number = 0;
            while meter.runs() {
                while due <= Instant::now() && shared.flying.load(Ordering::Relaxed) < FLYING_MAX {
                    let client = clients[number % clients.len()].clone();
                    let text = &mut texts[number % clients.len()];
                    text.advance();
                    let mut text = text.clone();
                    // A client stays on the runtime that connected it.
                    let handle = &handles[number % clients.len() % handles.len()];
                    let (meter, counters, intended) = (meter.clone(), shared.clone(), due);
                    counters.flying.fetch_add(1, Ordering::Relaxed);
                    handle.spawn(async move {
                        match checked(&client, &mut text).await {
                            Ok(()) => {
                                meter.record(intended.elapsed());
                                counters.counted.fetch_add(u64::from(meter.counts()), Ordering::Relaxed);
                            }
                            Err(_) => drop(counters.failed.fetch_add(1, Ordering::Relaxed)),
                        }
                        counters.flying.fetch_sub(1, Ordering::Relaxed);
                    });
                    due += interval;
                    number += 1;
                }
                sleep(STEP);
            }
            let _ = stop.send(());
        });
        Self { counters, stopped }
    }

    /// Waits until all calls have ended, or until the timeout. Returns the number of calls completed within the window.
    pub(super) async fn finish(self, meter: Arc<Meter>) -> Result<u64, BoxError> {
        self.stopped.await?;
        let stopped = Instant::now();
        while self.counters.flying.load(Ordering::Relaxed) > 0 && stopped.elapsed() < TIMEOUT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Calls still in flight took at least this long.
        for _ in 0..self.counters.flying.load(Ordering::Relaxed) {
            meter.record(TIMEOUT);
        }
        match self.counters.failed.load(Ordering::Relaxed) {
            0 => Ok(self.counters.counted.load(Ordering::Relaxed)),
            failed => Err(format!("{failed} calls failed").into()),
        }
    }
}
