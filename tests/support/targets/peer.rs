//! A hostile peer for fuzz targets that test a complete client or server. The fuzzer selects the bytes, and how they
//! are sent. Time is virtual, and all runs on a thread share one runtime.

use std::cell::LazyCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::runtime::{Builder, Handle, Runtime};

/// Maximum virtual time until a connection ends. The longest timeout is 30 s.
pub(super) const HANGS: Duration = Duration::from_secs(120);

/// Buffer size of transports in bytes. It is small, so that peers have to wait for each other.
const PIPE: usize = 4 * 1024;

thread_local! {
    static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("runtime without I/O should be created")
    });
}

/// Runs a test to completion and checks that no task remains.
pub(super) fn run(test: impl Future<Output = ()>) {
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            test.await;
            let over = async {
                while Handle::current().metrics().num_alive_tasks() > 0 {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            };
            tokio::time::timeout(HANGS, over).await.expect("tasks should end within the timeout");
        });
    });
}

/// Creates an in-memory transport.
pub(super) fn pipe() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(PIPE)
}

/// The behavior of a peer. Each bit of a byte selects one aspect.
#[derive(Clone, Copy)]
pub(super) struct Manner(pub(super) u8);

impl Manner {
    /// Splits the input into the behavior, which is its first byte, and the rest.
    pub(super) fn of(data: &[u8]) -> Option<(Self, &[u8])> {
        data.split_first().map(|(manner, rest)| (Self(*manner), rest))
    }

    fn is_framed(self) -> bool {
        self.0 & 1 != 0
    }

    fn piece(self) -> usize {
        [3, 17, 100, 100_000][usize::from(self.0 >> 1 & 3)]
    }

    fn shuts_down(self) -> bool {
        self.0 & 8 == 0
    }

    fn stays(self) -> bool {
        self.0 & 16 == 0
    }

    fn greets(self) -> bool {
        self.0 & 32 != 0
    }

    /// Returns a bit of the fuzzer input that each target interprets on its own, for example to select which end of the
    /// connection the fuzzed peer is.
    pub(super) fn other(self) -> bool {
        self.0 & 64 != 0
    }

    fn takes_its_time(self) -> bool {
        self.0 & 128 != 0
    }
}

/// Returns the bytes of the peer, optionally preceded by a greeting. They are the input itself, or packets that it
/// describes: the operation, the id and the length in one byte each, and then the body. `operation` maps a byte to an
/// operation.
pub(super) fn attack_bytes(manner: Manner, greeting: &[u8], data: &[u8], operation: impl Fn(u8) -> u16) -> Vec<u8> {
    let mut bytes = if manner.greets() { greeting.to_vec() } else { Vec::new() };
    if !manner.is_framed() {
        bytes.extend_from_slice(data);
        return bytes;
    }
    let mut rest = data;
    while let Some((&[number, id, length], behind)) = rest.split_first_chunk() {
        let (body, behind) = behind.split_at(behind.len().min(length.into()));
        bytes.extend(crate::raw::packet(id.into(), operation(number), body));
        rest = behind;
    }
    bytes
}

/// Returns the HELLO of a native peer. After it, the other end decodes prefixes, credit and other extensions.
pub(super) fn hello() -> Vec<u8> {
    let now = std::time::Instant::now();
    let mut core = frisbee_core::Connection::client(&Default::default(), now);
    let begins = core.outbox().take_bytes();
    begins[..begins.len() - 10].to_vec() // Without the PING behind it.
}

/// Writes bytes in pieces, discards received bytes, and then disconnects or stays connected.
pub(super) async fn say(io: &mut DuplexStream, bytes: &[u8], manner: Manner) {
    for piece in bytes.chunks(manner.piece()) {
        let written = tokio::time::timeout(Duration::from_secs(1), write(io, piece)).await;
        if written != Ok(true) {
            break;
        }
        if manner.takes_its_time() && manner.piece() > 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        } else {
            // Gives the other end time to read the bytes.
            tokio::task::yield_now().await;
        }
    }
    if manner.shuts_down() {
        let _ = io.shutdown().await;
    }
    let ended = poll_fn(|context| drain(io, context));
    let timeout = if manner.stays() { HANGS } else { Duration::from_secs(1) };
    let _ = tokio::time::timeout(timeout, ended).await;
}

/// Writes bytes and returns whether all of them were written.
async fn write(io: &mut DuplexStream, mut piece: &[u8]) -> bool {
    while !piece.is_empty() {
        let written = poll_fn(|context| {
            let _ = drain(io, context);
            Pin::new(&mut *io).poll_write(context, piece)
        });
        match written.await {
            Ok(count @ 1..) => piece = &piece[count..],
            _ => return false,
        }
    }
    true
}

/// Discards received bytes. Ready when no more bytes will arrive.
fn drain(io: &mut DuplexStream, context: &mut Context<'_>) -> Poll<()> {
    let mut thrown_away = [0; PIPE];
    loop {
        let mut buffer = ReadBuf::new(&mut thrown_away);
        match Pin::new(&mut *io).poll_read(context, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
            Poll::Ready(_) => return Poll::Ready(()),
        }
    }
}
