//! TLS stream of an accepted connection, with limits and charges for the memory that rustls takes. The memory of an
//! incomplete record is part of the fixed charge of the connection.

use crate::RawTransport;
use crate::account::{Account, MemoryCharge};
use crate::tls::TlsStream;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes that a client may send after the handshake without any data in them. An incomplete record
/// has at most 16 645. Without this limit, rustls would keep up to 64 KiB of an incomplete handshake message, but the
/// messages after a handshake are short.
const WITHOUT_DATA_MAX: usize = 24 * 1024;

/// Charge in bytes for output while the client does not read. rustls accepts no more data once it keeps 64 KiB.
const OUTPUT_COST: usize = 64 * 1024;

/// Number of copies of the client's certificates: one in rustls, and one for handlers.
const CERTIFICATE_COPIES: usize = 2;

/// A TLS stream whose memory is charged to an account.
pub struct ChargedTls {
    stream: TlsStream<RawTransport>,
    /// Charge for the certificates of the client, and for encrypted output that is not written yet.
    charge: MemoryCharge,
    /// Part of the charge for certificates.
    certificates: usize,
    /// Value of [`RawTransport::received`] when rustls last returned data.
    received_before: usize,
}

impl ChargedTls {
    pub(crate) fn new(stream: TlsStream<RawTransport>, account: &Arc<Account>) -> Self {
        let (raw, tls) = stream.get_ref();
        let received_before = raw.received();
        let chain = tls.peer_certificates().unwrap_or_default();
        let certificates = CERTIFICATE_COPIES * chain.iter().map(|each| each.len()).sum::<usize>();
        Self { charge: MemoryCharge::new(account, certificates), certificates, stream, received_before }
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

    /// Calls `work`, which may write, and charges the output that rustls keeps afterwards.
    fn write<T>(&mut self, work: impl FnOnce(Pin<&mut TlsStream<RawTransport>>) -> Poll<T>) -> Poll<T> {
        let done = work(Pin::new(&mut self.stream));
        let output = if self.stream.get_ref().1.wants_write() { OUTPUT_COST } else { 0 };
        if self.certificates + output != self.charge.bytes() {
            self.charge.resize(self.certificates + output);
        }
        done
    }
}

impl AsyncRead for ChargedTls {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // rustls may read more than the limit at once, but then it has data to return.
        let done = Pin::new(&mut self.stream).poll_read(context, buffer);
        let received = self.stream.get_ref().0.received();
        if done.is_ready() {
            self.received_before = received;
        } else if received.wrapping_sub(self.received_before) > WITHOUT_DATA_MAX {
            let text = format!("the client sent more than {WITHOUT_DATA_MAX} bytes of TLS records without data");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, text)));
        }
        done
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
