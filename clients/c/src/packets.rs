//! [`frisbee_connection`]: packets of a protocol of the program's own, at servers and clients.

use crate::client::frisbee_client;
use crate::handle::{self, handle};
use crate::raw::{UserData, bytes, frisbee_bytes, frisbee_code, frisbee_error, guarded};
use crate::running::RunningFunctions;
use crate::runtime::{in_callback, may_stop, wait};
use crate::server::frisbee_server;
use bytes::Bytes;
use frpc::Status;
use frpc::frisbee::{CloseReason, Connection, Operation, Outbox, Packet, PacketId, Routed, Router, TrySendError};
use std::ffi::c_void;
use std::ops::RangeInclusive;
use std::ptr::null_mut;
use std::sync::Arc;

/// A connection that receives packets. The library frees the handle when the connection has ended.
pub struct frisbee_connection(Connection);

handle!(frisbee_connection, 8, "connection");

/// A received packet.
#[repr(C)]
pub struct frisbee_packet {
    /// Id of the packet. A reply usually has the id of its request.
    pub id: u16,
    /// Operation of the packet, which the sender has chosen.
    pub operation: u16,
    /// Body of the packet.
    pub data: frisbee_bytes,
}

/// A function that receives the packets of connections, with the `user` pointer.
///
/// The packets of a connection arrive in the order in which they were sent. Those of several connections arrive
/// concurrently. When a connection has ended, `packet` is NULL, and afterwards the handle of the connection is freed. A
/// packet and its bytes are valid until the function returns.
///
/// The function runs on a thread of the library and must not block. Within it, blocking functions of the library return
/// `FRISBEE_FAILED_PRECONDITION`.
pub type frisbee_packet_function =
    Option<extern "C" fn(connection: *mut frisbee_connection, packet: *const frisbee_packet, user: *mut c_void)>;

/// Router that passes packets to a C function.
pub(crate) struct PacketRouter {
    run: extern "C" fn(*mut frisbee_connection, *const frisbee_packet, *mut c_void),
    user: UserData,
    running: Arc<RunningFunctions>,
}

impl PacketRouter {
    /// Returns a router, and the range of its operations.
    pub(crate) fn new(
        [first, last]: [u16; 2],
        function: frisbee_packet_function,
        user: *mut c_void,
        running: &Arc<RunningFunctions>,
    ) -> Result<(RangeInclusive<u16>, Self), Status> {
        let run = function.ok_or_else(|| Status::invalid_argument("the function is NULL"))?;
        if Operation::user(first).is_none() || last < first {
            let text = format!("operations {first} to {last}: use a range within 10 to 65535");
            return Err(Status::invalid_argument(text));
        }
        Ok((first..=last, Self { run, user: UserData(user), running: running.clone() }))
    }

    fn run(&self, session: &PacketSession, packet: *const frisbee_packet) -> Routed {
        // The client was freed, or the server has stopped.
        let Some(_running) = self.running.begin() else { return Routed::Discarded };
        if session.0.is_null() {
            return Routed::close("too many connections");
        }
        in_callback(|| (self.run)(session.0, packet, self.user.get()));
        Routed::Continue
    }
}

/// Session of a connection. Holds the connection's C handle, and frees it when the connection ends.
pub(crate) struct PacketSession(*mut frisbee_connection);

// SAFETY: Like every handle, the pointer is a number.
unsafe impl Send for PacketSession {}

impl Drop for PacketSession {
    fn drop(&mut self) {
        let _ = handle::free(self.0);
    }
}

impl Router for PacketRouter {
    type Session = PacketSession;

    fn connected(&self, connection: &Connection) -> PacketSession {
        PacketSession(handle::insert(Arc::new(frisbee_connection(connection.clone()))).unwrap_or(null_mut()))
    }

    fn route(&self, session: &mut PacketSession, packet: Packet, _outbox: &mut Outbox) -> Routed {
        let data = frisbee_bytes::of(&packet.body);
        self.run(session, &frisbee_packet { id: packet.id.0, operation: packet.operation.number(), data })
    }

    fn disconnected(&self, session: PacketSession, _reason: &CloseReason) {
        let _ = self.run(&session, std::ptr::null());
    }
}

/// Sends a packet. Blocks while the peer reads too slowly, except on the library's own threads, because such a thread
/// may drive the connection.
fn send(connection: &Connection, id: u16, operation: u16, body: Bytes) -> Result<(), Status> {
    let reserved = || Status::invalid_argument(format!("operation {operation} is reserved: use 10 to 65535"));
    let packet = Packet::new(PacketId(id), Operation::user(operation).ok_or_else(reserved)?, body);
    if may_stop().is_ok() {
        return Ok(wait(connection.send(&packet))??);
    }
    connection.try_send(&packet).map_err(|error| match error {
        TrySendError::Failed(error) => error.into(),
        _ => Status::resource_exhausted("the send queue of the connection is full: the peer reads too slowly"),
    })
}

/// Adds a function that receives the packets of the operations `first` to `last`. The server must not have started.
///
/// Methods of services have operations from 10 on, so use operations from 1000 on. `user` stays with the caller and
/// must be valid until the server has stopped. Each function has handles of its own for the connections. Only `user`
/// and `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable; `function` accepts `user` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_packets(
    server: *mut frisbee_server,
    first: u16,
    last: u16,
    function: frisbee_packet_function,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            let server = handle::get(server)?;
            let (operations, router) = PacketRouter::new([first, last], function, user, &server.running)?;
            server.extend(|builder| builder.mount(operations, router))
        })
    }
}

/// Sends a packet on the connection of a client. If the connection is lost, fails until a call has opened another one.
/// Otherwise like `frisbee_connection_send`. The bytes are copied. Only `error`, and `data` if `len` is 0, may be NULL.
/// May be called from any thread.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_send(
    client: *mut frisbee_client,
    id: u16,
    operation: u16,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let client = handle::get(client)?;
            let lost = || Status::unavailable("the client has no connection: a call opens another one");
            let connection = client.channel.connection().ok_or_else(lost)?;
            send(&connection, id, operation, bytes("data", data, len)?)
        })
    }
}

/// Sends a packet to the peer of a connection. The receiver has a function for its operation. The bytes are copied.
///
/// Blocks while the peer reads too slowly. In functions that receive calls or packets, and in completion callbacks,
/// returns `FRISBEE_RESOURCE_EXHAUSTED` instead. Only `error`, and `data` if `len` is 0, may be NULL. May be called
/// from any thread. Packets of one thread stay in order.
///
/// # Safety
/// `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_connection_send(
    connection: *mut frisbee_connection,
    id: u16,
    operation: u16,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let connection = handle::get(connection)?;
            send(&connection.0, id, operation, bytes("data", data, len)?)
        })
    }
}

/// Closes a connection after the packets that were sent before. The functions that receive its packets then receive
/// NULL. The handle stays with the library. Does not block. Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_connection_close(
    connection: *mut frisbee_connection,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            handle::get(connection)?.0.close();
            Ok(())
        })
    }
}
