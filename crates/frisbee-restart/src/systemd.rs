//! Sockets passed by systemd, and notifications of the service's state.
//!
//! Both interfaces are environment variables, so they have no effect without systemd or a compatible manager.
//! `sd-notify` reads them, and `listenfd` creates owned sockets from the descriptor numbers, which requires unsafe
//! code.

use crate::error::RestartError;
use crate::protocol::{SOCKETS_MAX, is_name};
use crate::sockets::{Origin, Socket};
use listenfd::ListenFd;
use sd_notify::NotifyState;
use std::os::fd::OwnedFd;

/// Notifies systemd of the service's state. Failures are only logged, because the service works without the
/// notification.
pub(crate) fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(target: "frisbee::restart", %error, ?states, "systemd notification failed");
    }
}

/// Sends `RELOADING=1` with the monotonic timestamp that systemd requires.
pub(crate) fn notify_reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(target: "frisbee::restart", %error, "systemd notification failed"),
    }
}

/// Returns the sockets that systemd passed to this process. A second call returns none.
pub(crate) fn sockets() -> Result<Vec<Socket>, RestartError> {
    // Check the process id, because child processes inherit the variables, which may name more sockets than exist.
    let meant_for = std::env::var("LISTEN_PID").ok().and_then(|pid| pid.parse().ok());
    if meant_for != Some(std::process::id()) {
        return Ok(Vec::new());
    }
    let failed = RestartError::io("taking over the sockets of systemd");
    let names = sd_notify::listen_fds_with_names().map_err(&failed)?.map(|(_, name)| name);
    if names.len() > SOCKETS_MAX {
        return Err(RestartError::TooManySockets);
    }
    let mut passed = ListenFd::from_env();
    let mut sockets = Vec::new();
    for (index, name) in names.enumerate() {
        if !is_name(&name) {
            return Err(RestartError::Name(name));
        }
        let descriptor = match passed.take_tcp_listener(index) {
            Ok(listener) => listener.map(OwnedFd::from),
            Err(_) => match passed.take_unix_listener(index) {
                Ok(listener) => listener.map(OwnedFd::from),
                Err(_) => passed.take_udp_socket(index).map_err(&failed)?.map(OwnedFd::from),
            },
        };
        let Some(descriptor) = descriptor else { return Ok(sockets) };
        sockets.push(Socket::new(name, descriptor, Origin::Manager).map_err(&failed)?);
    }
    Ok(sockets)
}
