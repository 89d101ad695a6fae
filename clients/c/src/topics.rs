//! Topics: a broker at servers, and publishing and subscribing at clients.

use crate::client::frisbee_client;
use crate::handle;
use crate::raw::{bytes, frisbee_code, frisbee_error, guarded, guarded_put, text};
use crate::reply::frisbee_reply;
use crate::runtime::wait;
use crate::server::frisbee_server;
use crate::stream::{Incoming, frisbee_stream};
use bytes::Bytes;
use frpc::Status;
use frpc::pubsub::{Broker, OPERATIONS, RecvError, Subscription};
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Key of the topic in the metadata of a message.
const TOPIC: &std::ffi::CStr = c"topic";

/// Passes the messages of a subscription to a stream until either ends.
async fn forward(mut subscription: Subscription, replies: mpsc::Sender<Incoming>) -> Result<(), Status> {
    loop {
        let reply = match subscription.recv().await {
            Ok(message) => {
                let topic = Bytes::copy_from_slice(message.topic().as_bytes());
                frisbee_reply::of_bytes(message.into_payload().into(), TOPIC, topic)
            }
            Err(closed @ RecvError::Closed(_)) => return Err(closed.into()),
            Err(lost) => frisbee_reply::failure(&lost.into()),
        };
        if replies.send(Incoming::Reply(reply)).await.is_err() {
            return Ok(());
        }
    }
}

/// Lets the clients of a server publish and subscribe to topics. The server must not have started. Only `error` may be
/// NULL. The server stays with the caller. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_topics(server: *mut frisbee_server, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe { guarded(error, || handle::get(server)?.extend(|builder| builder.mount(OPERATIONS, Broker::new()))) }
}

/// Publishes a message to a topic, such as `game.7.moves`. Blocks while the connection accepts no more. Delivery is not
/// confirmed; `frisbee_client_sync` waits for the server.
///
/// The topics of a client have a connection of their own, which its first use of topics opens. The arguments are
/// copied. Only `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, but not in a callback.
///
/// # Safety
/// `topic` ends with a NUL, `data` has `len` bytes, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_publish(
    client: *mut frisbee_client,
    topic: *const c_char,
    data: *const c_void,
    len: usize,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let (client, topic, message) = (handle::get(client)?, text("topic", topic)?, bytes("data", data, len)?);
            wait(async { Ok(client.topics().await?.publish(topic, message).await?) })?
        })
    }
}

/// Waits until the server has received all messages that the client has published, for example before the process ends.
/// Fails if the server has rejected one of them, or with `FRISBEE_DATA_LOSS` if a connection was lost before the server
/// confirmed the messages published on it. The client stays with the caller. Only `error` may be NULL. May be called
/// from any thread, but not in a callback.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_sync(client: *mut frisbee_client, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            let client = handle::get(client)?;
            wait(async { Ok(client.topics().await?.sync().await?) })?
        })
    }
}

/// Subscribes to topics, and stores a stream of their messages. In a pattern such as `game.*.moves`, `*` stands for one
/// token, and `>` at the end for one or more. Returns after the server has confirmed the subscription.
///
/// Each reply of the stream is a message, with its topic as the metadata `topic`. A reply with `FRISBEE_DATA_LOSS`
/// means that messages were lost, because the stream was read too slowly or its connection was replaced. The stream
/// then continues. The caller owns the stream and must free it with `frisbee_stream_free`, which ends the subscription.
/// The pattern is copied. Only `error` may be NULL. May be called from any thread, but not in a callback.
///
/// # Safety
/// `pattern` ends with a NUL, `stream` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_subscribe(
    client: *mut frisbee_client,
    pattern: *const c_char,
    stream: *mut *mut frisbee_stream,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "stream", stream, || {
            let (client, pattern) = (handle::get(client)?, text("pattern", pattern)?);
            let subscription = wait(async { Ok::<_, Status>(client.topics().await?.subscribe(pattern).await?) })??;
            handle::insert(Arc::new(frisbee_stream::receive(|replies| forward(subscription, replies))?))
        })
    }
}
