//! The two interfaces of systemd that a server needs: sockets that it passes, and readiness that it is told of.
//!
//! Both are environment variables, so without systemd, or another manager with the same interfaces, nothing happens.
//! The forms are those of `sd_listen_fds(3)` and `sd_notify(3)`. Values that systemd never sets are errors: a server
//! that ignored them would bind an address of its own, or be killed since it was never ready.

use crate::error::RestartError;
use crate::protocol::{SOCKETS_MAX, is_name};
use crate::sockets::{Origin, Socket};
use listenfd::ListenFd;
use rustix::time::{ClockId, clock_gettime};
use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// The name of sockets to which systemd gives none.
const UNNAMED: &str = "unknown";

/// The state of a service, as systemd is told of it by [`notify`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// The service has started, or is done with reloading: `READY=1`.
    Ready,
    /// The service is being reloaded: `RELOADING=1`, with the time that systemd asks for. Followed by
    /// [`Ready`](Self::Ready).
    Reloading,
    /// The service is shutting down: `STOPPING=1`.
    Stopping,
    /// The main process of the service is from now on the one with this id: `MAINPID=…`. A successor says so.
    MainProcess(u32),
}

/// Tells systemd the state of the service. Returns whether there was anything to tell: without `NOTIFY_SOCKET` in the
/// environment nothing is sent.
///
/// A [`Generation`](crate::Generation) does all of this by itself.
///
/// ```
/// use frisbee_restart::systemd::{State, notify};
///
/// # fn main() -> std::io::Result<()> {
/// notify(&[State::Ready])?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the variable is neither an absolute path nor an abstract address, which begins with `@`, or the system refuses.
pub fn notify(states: &[State]) -> io::Result<bool> {
    let Some(address) = env::var_os("NOTIFY_SOCKET") else { return Ok(false) };
    send(&address, text(states).as_bytes()).map(|()| true)
}

/// As [`notify`], for readiness that does not depend on it.
pub(crate) fn tell(states: &[State]) {
    if let Err(error) = notify(states) {
        tracing::warn!(%error, ?states, "systemd could not be told of the state");
    }
}

fn text(states: &[State]) -> String {
    let mut text = String::new();
    for state in states {
        // Writing to a string does not fail.
        let _ = match state {
            State::Ready => writeln!(text, "READY=1"),
            State::Stopping => writeln!(text, "STOPPING=1"),
            State::MainProcess(id) => writeln!(text, "MAINPID={id}"),
            State::Reloading => {
                let now = clock_gettime(ClockId::Monotonic);
                let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
                writeln!(text, "RELOADING=1\nMONOTONIC_USEC={micros}")
            }
        };
    }
    text
}

fn send(address: &OsStr, text: &[u8]) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    // As systemd's own library, which waits no longer than a manager that reads takes.
    socket.set_write_timeout(Some(std::time::Duration::from_secs(1)))?;
    let sent = match address.as_bytes() {
        [b'/', _, ..] => socket.send_to(text, Path::new(address))?,
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] if !name.is_empty() => {
            use std::os::linux::net::SocketAddrExt;
            socket.send_to_addr(text, &std::os::unix::net::SocketAddr::from_abstract_name(name)?)?
        }
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "NOTIFY_SOCKET is neither a path nor an abstract address",
            ));
        }
    };
    if sent == text.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// The sockets that systemd has passed to this process, once: the second call returns none.
pub(crate) fn sockets() -> Result<Vec<Socket>, RestartError> {
    let [fds, pid, names, first] =
        ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_FDS_FIRST_FD"].map(env::var_os);
    let names = passed(fds.as_deref(), pid.as_deref(), names.as_deref(), std::process::id())?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    // A variable of listenfd alone, which moves the first descriptor.
    if let Some(first) = first {
        return Err(wrong("LISTEN_FDS_FIRST_FD", &first));
    }
    let mut passed = ListenFd::from_env();
    let mut sockets = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let descriptor = match passed.take_tcp_listener(index) {
            Ok(listener) => listener.map(OwnedFd::from),
            Err(_) => passed
                .take_unix_listener(index)
                .map_err(RestartError::io("taking over a socket of systemd"))?
                .map(OwnedFd::from),
        };
        let Some(descriptor) = descriptor else { return Ok(sockets) };
        let socket = Socket::new(name, descriptor, Origin::Manager);
        sockets.push(socket.map_err(RestartError::io("taking over a socket of systemd"))?);
    }
    Ok(sockets)
}

/// The names of the sockets that are passed to the process with the id `own`.
fn passed(
    fds: Option<&OsStr>,
    pid: Option<&OsStr>,
    names: Option<&OsStr>,
    own: u32,
) -> Result<Vec<String>, RestartError> {
    let Some(pid) = pid else {
        return fds.map_or(Ok(Vec::new()), |fds| Err(wrong("LISTEN_FDS", fds)));
    };
    // Inherited from a process to which they were passed.
    if number(pid).ok_or_else(|| wrong("LISTEN_PID", pid))? != own {
        return Ok(Vec::new());
    }
    let Some(fds) = fds else { return Err(wrong("LISTEN_PID", pid)) };
    let count = number(fds).and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= SOCKETS_MAX);
    let count = count.ok_or_else(|| wrong("LISTEN_FDS", fds))?;
    let Some(names) = names else { return Ok(vec![UNNAMED.to_owned(); count]) };
    let read = names.to_str().map(|names| names.split(':').map(str::to_owned).collect::<Vec<_>>());
    let read = read.filter(|read| read.len() == count && read.iter().all(|name| is_name(name)));
    read.ok_or_else(|| wrong("LISTEN_FDNAMES", names))
}

/// A number of decimal digits alone, without leading zeros.
fn number(text: &OsStr) -> Option<u32> {
    let number: u32 = text.to_str()?.parse().ok()?;
    (number.to_string().as_bytes() == text.as_bytes()).then_some(number)
}

fn wrong(variable: &'static str, value: &OsStr) -> RestartError {
    RestartError::Environment { variable, value: value.to_string_lossy().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fds: Option<&str>, pid: Option<&str>, names: Option<&str>) -> Result<Vec<String>, String> {
        let [fds, pid, names] = [fds, pid, names].map(|value| value.map(OsStr::new));
        passed(fds, pid, names, 42).map_err(|error| error.to_string())
    }

    #[test]
    fn sockets_are_taken_only_by_the_process_they_are_passed_to() {
        assert_eq!(names(Some("2"), Some("42"), Some("rpc:local")), Ok(vec!["rpc".into(), "local".into()]));
        assert_eq!(names(Some("2"), Some("42"), None), Ok(vec!["unknown".into(); 2]));
        for (fds, pid) in
            [(None, None), (Some("2"), Some("41")), (Some("nonsense"), Some("41")), (Some("0"), Some("42"))]
        {
            assert_eq!(names(fds, pid, None), Ok(Vec::new()), "{fds:?} {pid:?}");
        }
    }

    #[test]
    fn variables_that_systemd_never_sets_so_are_refused_by_name() {
        let refused = |fds, pid, list, variable: &str| {
            let error = names(fds, pid, list).expect_err("it is refused");
            assert!(error.starts_with(variable), "{error}");
        };
        refused(Some("1"), None, None, "LISTEN_FDS");
        refused(None, Some("42"), None, "LISTEN_PID");
        for pid in ["", " 42", "+42", "042", "42 ", "-1", "0x2a", "4294967338"] {
            refused(Some("1"), Some(pid), None, "LISTEN_PID");
        }
        for fds in ["", "+1", "01", " 1", "-1", "65", "4294967297", "one"] {
            refused(Some(fds), Some("42"), None, "LISTEN_FDS");
        }
        let long = "n".repeat(256);
        for list in ["", "one", "one:two:three", "one:", ":", "one:t\nwo", &format!("one:{long}")] {
            refused(Some("2"), Some("42"), Some(list), "LISTEN_FDNAMES");
        }
    }

    #[test]
    fn states_are_sent_to_paths_and_abstract_addresses_as_lines() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).expect("the folder is writable");
        let mut bytes = [0; 256];
        let sent = text(&[State::Ready, State::MainProcess(7)]);
        send(path.as_os_str(), sent.as_bytes()).expect("it is read");
        let count = manager.recv(&mut bytes).expect("it was sent");
        assert_eq!(&bytes[..count], b"READY=1\nMAINPID=7\n");
        assert_eq!(text(&[State::Stopping]), "STOPPING=1\n");
        let reloading = text(&[State::Reloading]);
        let micros = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect("the time goes along").trim_end();
        assert!(micros.parse::<u64>().is_ok(), "{reloading}");
        #[cfg(target_os = "linux")]
        {
            use std::os::linux::net::SocketAddrExt;
            let name = format!("frisbee-restart-{}", std::process::id());
            let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("it is short");
            let manager = UnixDatagram::bind_addr(&address).expect("the name is free");
            send(OsStr::new(&format!("@{name}")), b"READY=1\n").expect("it is read");
            assert_eq!(manager.recv(&mut bytes).expect("it was sent"), 8);
        }
    }

    #[test]
    fn an_address_that_is_neither_a_path_nor_abstract_is_refused() {
        for address in ["", "/", "@", "relative", "vsock:2:1234"] {
            let error = send(OsStr::new(address), b"READY=1\n").expect_err("it is refused");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{address}: {error}");
        }
    }
}
