//! Waiting for a signal to terminate the process.

use std::future::poll_fn;
use std::task::Poll;

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{ctrl_c, ctrl_shutdown};

/// Waits for a termination signal: SIGTERM, as sent by service managers and orchestrators, or SIGINT (Ctrl-C). On
/// Windows, waits for Ctrl-C or for the end of the session.
///
/// Signals are caught as soon as this function is called, even if the future is not polled. They then no longer
/// terminate the process, even after the future is dropped. If a signal cannot be caught, this is logged, and the
/// signal keeps its default effect.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frpc::Error> {
/// let server = frpc::Server::builder().bind("127.0.0.1:0").await?;
/// server.serve_with_shutdown(frpc::signal::terminate()).await
/// # }
/// ```
///
/// # Panics
/// If called outside of a tokio runtime, or in a runtime without I/O.
///
/// # Cancel safety
/// Safe, except that a signal that was received before the future was dropped is lost.
pub fn terminate() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let mut signals = [SignalKind::terminate(), SignalKind::interrupt()].map(|kind| caught(signal(kind)));
    #[cfg(windows)]
    let (mut interrupts, mut ends) = (caught(ctrl_c()), caught(ctrl_shutdown()));
    poll_fn(move |context| {
        #[cfg(unix)]
        let is_received = signals.iter_mut().flatten().any(|signal| signal.poll_recv(context).is_ready());
        #[cfg(windows)]
        let is_received = interrupts.as_mut().is_some_and(|signal| signal.poll_recv(context).is_ready())
            || ends.as_mut().is_some_and(|signal| signal.poll_recv(context).is_ready());
        if is_received { Poll::Ready(()) } else { Poll::Pending }
    })
}

fn caught<T>(signal: std::io::Result<T>) -> Option<T> {
    signal.inspect_err(|error| tracing::error!(target: "frpc::server", %error, "signal handler not installed")).ok()
}
