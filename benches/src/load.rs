//! A load for benchmarks within one process: a fixed number of concurrent calls on a connection, every reply checked.

use crate::BoxError;
use crate::rivals::Client;
use crate::text::Text;
use std::time::{Duration, Instant};

/// Makes one call and checks its reply.
///
/// # Errors
/// If the call fails or its reply differs from the text.
#[inline]
pub async fn checked<C: Client>(client: &C, text: &mut Text) -> Result<(), BoxError> {
    text.advance();
    let reply = client.echo(text).await?;
    if reply.as_ref() == text.as_bytes() { Ok(()) } else { Err("a reply differs from its request".into()) }
}

/// Makes `calls` calls from `in_flight` tasks. Returns the time from the first call to the last reply. The texts are
/// created before.
///
/// # Panics
/// If a call fails.
pub async fn drive<C: Client>(client: &C, in_flight: usize, length: usize, calls: u64) -> Duration {
    let callers = (calls as usize).clamp(1, in_flight) as u64;
    let texts: Vec<_> = (0..callers).map(|caller| C::text(caller as usize, length)).collect();
    let begun = Instant::now();
    let callers: Vec<_> = (0..callers)
        .zip(texts)
        .map(|(caller, mut text)| {
            let share = calls / callers + u64::from(caller < calls % callers);
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..share {
                    checked(&client, &mut text).await.expect("call should succeed");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("caller should not panic");
    }
    begun.elapsed()
}
