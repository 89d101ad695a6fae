//! Writes the output of a connection to a tokio transport.

use crate::Connection;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::AsyncWrite;

/// Maximum number of slices that are passed to a vectored write.
const SLICES_MAX: usize = 16;

/// Maximum number of consecutive writes. After that, the task reads, because the peer may not read until its own output
/// is accepted.
const WRITES_MAX: usize = 4;

/// Writes as much output as the transport accepts, in up to four writes, and then flushes the transport. Returns
/// whether anything was written. The caller must preserve `is_flushing` between calls; it is set while written bytes
/// have not been flushed.
///
/// # Errors
///
/// If writing fails.
pub fn write_some<T: AsyncWrite + ?Sized>(
    http2: &mut Connection,
    mut transport: Pin<&mut T>,
    is_flushing: &mut bool,
    now: Instant,
    task: &mut Context<'_>,
) -> io::Result<bool> {
    let mut has_written = false;
    for _ in 0..WRITES_MAX {
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let filled = http2.output(&mut slices);
        let polled = match slices.get(..filled).unwrap_or_default() {
            [] => break,
            [slice] => transport.as_mut().poll_write(task, slice),
            slices => transport.as_mut().poll_write_vectored(task, slices),
        };
        let Poll::Ready(count) = polled? else {
            http2.handle_written(0, now);
            break;
        };
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        http2.handle_written(count, now);
        (has_written, *is_flushing) = (true, true);
    }
    if *is_flushing && let Poll::Ready(flushed) = transport.poll_flush(task) {
        flushed?;
        *is_flushing = false;
    }
    Ok(has_written)
}
