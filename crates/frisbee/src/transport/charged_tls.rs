//! TLS stream of an accepted connection, which charges buffers of rustls to the account of the connection. The fixed
//! charge of each TLS connection already covers an incomplete record.

use crate::RawTransport;
use crate::account::{Account, MemoryCharge};
use crate::tls::{HANDSHAKE_COST, TlsStream};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes received since the last data that are not charged. In addition, rustls may still buffer up
/// to 18 KiB that it read together with that data. For both, it allocates at most the 32 KiB of the fixed charge.
const UNCHARGED_INPUT_MAX: usize = 8 * 1024;

/// Memory in bytes of encrypted output that is not written yet. rustls buffers at most 64 KiB before it accepts no
/// more.
const OUTPUT_COST: usize = 64 * 1024;

/// Number of copies of the client's certificates. rustls has one, and handlers another.
const CERTIFICATE_COPIES: usize = 2;

/// A TLS stream whose memory is charged to an account.
pub struct ChargedTls {
    stream: TlsStream<RawTransport>,
    charge: MemoryCharge,
    /// Part of the charge for the client's certificates.
    certificates: usize,
    /// Part of the charge for received bytes that contain no data yet.
    input: usize,
    /// Value of [`RawTransport::received`] when rustls last returned data.
    received_before: usize,
    /// Error that occurred after data was read. The next read returns it.
    error: Option<io::Error>,
}

impl ChargedTls {
    pub(crate) fn new(stream: TlsStream<RawTransport>, account: &Arc<Account>) -> Self {
        let (raw, tls) = stream.get_ref();
        let received_before = raw.received();
        let chain = tls.peer_certificates().unwrap_or_default();
        let certificates = CERTIFICATE_COPIES * chain.iter().map(|each| each.len()).sum::<usize>();
        let charge = MemoryCharge::new(account, certificates);
        Self { stream, charge, certificates, input: 0, received_before, error: None }
    }

    pub(crate) fn get_ref(&self) -> &TlsStream<RawTransport> {
        &self.stream
    }

    pub(crate) fn get_mut(&mut self) -> &mut TlsStream<RawTransport> {
        &mut self.stream
    }

    pub(crate) fn into_inner(self) -> TlsStream<RawTransport> {
        self.stream
    }

    /// Copies received data to `buffer` until it is full, or no more data has arrived.
    fn fill(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while buffer.remaining() > 0 {
            // Reads only until a record with data is complete. `poll_read` would continue, and not tell how many bytes
            // it read after that record.
            let data = match Pin::new(&mut self.stream).poll_fill_buf(context) {
                Poll::Ready(data) => data?,
                Poll::Pending => {
                    let undecoded = self.stream.get_ref().0.received().wrapping_sub(self.received_before);
                    // These bytes may be an incomplete handshake message, of which rustls buffers up to 64 KiB.
                    self.input = if undecoded > UNCHARGED_INPUT_MAX { HANDSHAKE_COST } else { 0 };
                    return Poll::Pending;
                }
            };
            let count = data.len().min(buffer.remaining());
            if count == 0 {
                break;
            }
            buffer.put_slice(&data[..count]);
            Pin::new(&mut self.stream).consume(count);
            self.received_before = self.stream.get_ref().0.received();
            self.input = 0;
        }
        Poll::Ready(Ok(()))
    }

    /// Updates the charge after bytes were read or written.
    fn update_charge(&mut self) {
        let output = if self.stream.get_ref().1.wants_write() { OUTPUT_COST } else { 0 };
        let charge = self.certificates + self.input + output;
        if charge != self.charge.bytes() {
            self.charge.resize(charge);
        }
    }

    /// Calls `work`, which may write, and updates the charge.
    fn write<T>(&mut self, work: impl FnOnce(Pin<&mut TlsStream<RawTransport>>) -> Poll<T>) -> Poll<T> {
        let done = work(Pin::new(&mut self.stream));
        self.update_charge();
        done
    }
}

impl AsyncRead for ChargedTls {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Err(error));
        }
        let before = buffer.filled().len();
        let done = self.fill(context, buffer);
        self.update_charge();
        if buffer.filled().len() == before {
            return done;
        }
        if let Poll::Ready(Err(error)) = done {
            self.error = Some(error);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ChargedTls {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(|stream| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(|stream| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(|stream| stream.poll_shutdown(context))
    }
}
