//! Hand-offs: after a call, C functions own the descriptor of its connection.

use crate::call::frisbee_call;
use crate::client::{CallArguments, frisbee_call_options, frisbee_client};
use crate::handle;
use crate::raw::{UserData, caught, frisbee_bytes, frisbee_code, frisbee_error, guarded, text};
use crate::reply::{NewReply, frisbee_reply};
use crate::runtime::{self, in_callback, wait};
use crate::server::frisbee_server;
use crate::unary;
use bytes::Bytes;
use frpc::Status;
use frpc::hand_off::RawTransport;
use std::ffi::{c_char, c_void};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::{io, net};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixStream};

/// A function that receives the descriptor of a connection after a hand-off, with the `user` pointer.
///
/// It owns the descriptor, which is blocking, and must close it. `early` are the bytes that precede those of the
/// descriptor, because the library has already read them. They are valid until the function returns. The connection of
/// a TLS peer is the end of a pair of sockets, and the library encrypts and decrypts its bytes.
pub type frisbee_hand_off_function = Option<extern "C" fn(descriptor: i32, early: frisbee_bytes, user: *mut c_void)>;

type Run = extern "C" fn(i32, frisbee_bytes, *mut c_void);

fn checked(function: frisbee_hand_off_function) -> Result<Run, Status> {
    function.ok_or_else(|| Status::invalid_argument("the function is NULL"))
}

/// Returns a blocking descriptor of a transport, and the bytes already read from it.
fn descriptor(raw: RawTransport) -> io::Result<(OwnedFd, Bytes)> {
    let raw = match raw.downcast::<TcpStream>() {
        Ok((socket, early)) => {
            let socket: net::TcpStream = socket.into_std()?;
            socket.set_nonblocking(false)?;
            return Ok((socket.into(), early));
        }
        Err(raw) => raw,
    };
    let (socket, early) = match raw.downcast::<UnixStream>() {
        Ok((socket, early)) => (socket, early),
        Err(mut raw) => {
            let _context = runtime::enter().map_err(io::Error::other)?;
            let (mut inner, outer) = UnixStream::pair()?;
            tokio::spawn(async move { copy_bidirectional(&mut raw, &mut inner).await });
            (outer, Bytes::new())
        }
    };
    let socket = socket.into_std()?;
    socket.set_nonblocking(false)?;
    Ok((socket.into(), early))
}

/// The function that receives a connection of a server. If the hand-off fails, the function receives no descriptor.
struct NewOwner(Option<(Run, UserData)>);

impl NewOwner {
    fn take(mut self, raw: RawTransport) {
        // If the process is out of file descriptors, dropping `self` makes a thread of the library call the function
        // without one.
        let Ok((descriptor, early)) = descriptor(raw) else { return };
        let Some((run, user)) = self.0.take() else { return };
        in_callback(|| run(descriptor.into_raw_fd(), frisbee_bytes::of(&early), user.get()));
    }
}

impl Drop for NewOwner {
    fn drop(&mut self) {
        let Some((run, user)) = self.0.take() else { return };
        let fail = move || in_callback(|| run(-1, frisbee_bytes::EMPTY, user.get()));
        // The current thread may belong to the program and hold locks that the function acquires.
        match runtime::handle() {
            Ok(runtime) => drop(runtime.spawn(async move { fail() })),
            Err(_) => fail(),
        }
    }
}

/// Permits the callers of a unary method, such as `calc.Calculator/open`, to request a hand-off. The server must not
/// have started. The name is copied. Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `method` ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_hand_off(
    server: *mut frisbee_server,
    method: *const c_char,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let (server, method) = (handle::get(server)?, text("method", method)?.to_owned());
            server.extend(|builder| builder.method_hand_off(method))
        })
    }
}

/// Accepts the hand-off that the caller has requested. The call stays open. When it has been replied to with success,
/// `function` receives the connection. Returns `FRISBEE_FAILED_PRECONDITION` if the caller has not requested a
/// hand-off.
///
/// After success, `function` is called exactly once, on a thread of the library, and must not block. Its descriptor is
/// -1 if the call has failed, the caller has disconnected, another function has been set, or the process is out of file
/// descriptors. `user` stays with the caller and must be valid until then, even if the server stops. Only `user` and
/// `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable; `function` accepts `user` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_call_hand_off(
    call: *mut frisbee_call,
    function: frisbee_hand_off_function,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            let (call, run) = (handle::get(call)?, checked(function)?);
            let asked = call.hand_off.as_ref();
            let asked = asked.ok_or_else(|| Status::failed_precondition("the caller has not requested a hand-off"))?;
            let owner = NewOwner(Some((run, UserData(user))));
            asked.accept(|raw| async move { owner.take(raw) });
            Ok(())
        })
    }
}

/// Makes a unary call that requests a hand-off, and waits for its reply. If the server has handed off the connection,
/// calls `function` before it returns, on the same thread. `function` may block. If the process is out of file
/// descriptors, a TLS connection is closed instead, and the reply is an error. The server has run the call
/// nevertheless.
///
/// The request fails if other calls of the client are in flight. Later calls of the client open another connection. The
/// other arguments and the reply are those of `frisbee_client_call`. The arguments are copied, and `user` stays with
/// the caller. The caller owns the reply and must free it with `frisbee_reply_free`. Only `options`, `user`, and `data`
/// if `len` is 0, may be NULL. May be called from any thread, but not in a completion callback.
///
/// # Safety
/// Like `frisbee_client_call`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_hand_off(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
    function: frisbee_hand_off_function,
    user: *mut c_void,
) -> *mut frisbee_reply {
    let called = caught(|| {
        let run = checked(function)?;
        // SAFETY: The caller guarantees that the arguments are valid.
        let call = unsafe { CallArguments::new(client, method, format, data, len, options) }?.prepare()?;
        call.target.client.check_not_held_up()?;
        let (ended, handed) = wait(unary::hand_off(call))?;
        let Some(raw) = handed else { return Ok(ended) };
        match descriptor(raw) {
            Ok((descriptor, early)) => run(descriptor.into_raw_fd(), frisbee_bytes::of(&early), user),
            // Report an error, because the connection is lost although the server has run the call.
            Err(error) => return Ok(Err(NewReply::failure(&error.into()))),
        }
        Ok(ended)
    });
    match called {
        Ok(Ok(reply) | Err(reply)) => reply.into_handle(),
        Err(status) => NewReply::new(frisbee_reply::refused(&status)).into_handle(),
    }
}
