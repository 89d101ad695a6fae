//! The signals that end programs.

use std::future::poll_fn;
use std::task::Poll;

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{ctrl_c, ctrl_shutdown};

/// Waits until the program is to end: by SIGTERM, as service managers and orchestrators do, or by SIGINT, as Ctrl-C
/// does. On Windows by Ctrl-C, or the end of the session.
///
/// The signals are caught from this call on, and not only when the future is polled: from then on they do not end the
/// process by themselves, also when the future has been dropped. If a signal cannot be caught, which is logged, it keeps
/// its usual effect.
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
/// Outside of a tokio runtime, or in one without I/O.
///
/// # Cancel safety
/// Safe, but a signal that came before the future was dropped is forgotten.
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
