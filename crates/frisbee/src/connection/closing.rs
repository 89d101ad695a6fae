//! Closing of connections: close requests, waiting for the end, and close reasons.

use super::Connection;
use crate::CloseReason;
use crate::connection::ConnectionExt;
use crate::mailbox::Order;
use std::future::poll_fn;

impl Connection {
    /// Closes the connection after writing the pending packets. Aborts work in progress.
    pub fn close(&self) {
        self.0.mailbox.order(Order::Flush(CloseReason::Local));
    }

    /// Like [`close`](Self::close), but with a reason. Handlers, tasks and
    /// [`Router::batch_ended`](crate::Router::batch_ended) use this where a router's `route` would return
    /// [`Routed::close`](crate::Routed::close). The reason is logged, returned by [`closed`](Self::closed), and passed
    /// to [`Router::disconnected`](crate::Router::disconnected). A peer that supports the [protocol
    /// extension](crate::PeerKind) receives the first 200 bytes as [`CloseReason::PeerClosed`].
    pub fn close_for(&self, reason: impl Into<String>) {
        self.0.mailbox.order(Order::Flush(CloseReason::Router(reason.into().into())));
    }

    /// Closes the connection as soon as it is idle: it has no tasks, streams or pending output, and its router is not
    /// [busy](crate::ConnectionEvent::Closing). A server first announces this to a peer that supports the [protocol
    /// extension](crate::PeerKind), which then closes the connection or confirms. If the client has not sent anything
    /// yet, its first packet may be in flight, so the server waits for it until the
    /// [timeout](crate::ServerBuilder::first_header_timeout).
    pub fn close_when_idle(&self) {
        self.0.mailbox.order(Order::WhenIdle(CloseReason::Shutdown));
    }

    /// Closes the connection immediately, because the grace period after its maximum age has expired.
    pub(crate) fn abort_for_age(&self) {
        tracing::debug!(peer = ?self.peer_addr(), work = self.in_progress(), "grace after the maximum age is over");
        self.0.mailbox.order(Order::Now(CloseReason::MaxAge));
    }

    /// Closes the connection immediately. Pending packets are discarded.
    pub fn abort(&self) {
        self.0.mailbox.order(Order::Now(CloseReason::Local));
    }

    /// Like [`abort`](Self::abort), but with a reason; see [`close_for`](Self::close_for).
    pub fn abort_for(&self, reason: impl Into<String>) {
        self.0.mailbox.order(Order::Now(CloseReason::Router(reason.into().into())));
    }

    /// Like [`abort`](Self::abort), but also aborts all tasks of the connection. Used when their runtime shuts down,
    /// because it will not poll them again.
    pub(crate) fn abort_with_work(&self) {
        self.abort();
        self.0.work.abort();
    }

    /// Lets the timeout for the client's first header expire immediately, which closes the connection. Has no effect if
    /// the header has already arrived.
    pub(crate) fn expire(&self) {
        self.0.mailbox.expire();
    }

    /// Returns a description of the peer and the work in progress, for logs.
    pub(crate) fn in_progress(&self) -> String {
        let (jobs, streams) = (self.0.work.len(), self.0.mailbox.lock().streams.len());
        let peer = self.peer_addr().map_or_else(|| String::from("without an address"), |peer| peer.to_string());
        format!("peer {peer}, running handlers: {jobs}, streams: {streams}")
    }

    /// Waits until the connection has ended, and returns the close reason. By then, pending packets have been written,
    /// unless the peer has accepted none within the [`write_timeout`](crate::Config::write_timeout) or less than the
    /// [`least_rate`](crate::Config::least_rate). The peer has also been given a second to close its half, so the
    /// program may exit.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn closed(&self) -> CloseReason {
        let mut watch = self.waiter();
        poll_fn(|context| self.0.mailbox.poll_closed(context, &mut watch)).await
    }

    /// Returns whether the connection has ended. If so, sending fails, but packets sent earlier may still be written;
    /// see [`closed`](Self::closed).
    pub fn is_closed(&self) -> bool {
        self.0.mailbox.lock().closed.is_some()
    }

    /// Returns the reason why the connection ended, or `None` if it is open.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.0.mailbox.lock().closed.as_deref().cloned()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Client, Handlers, Operation, Packet, PacketId, Server};
    use bytes::Bytes;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn stopping_server_logs_pending_peers_and_calls() {
        let (began, mut started) = mpsc::unbounded_channel();
        let endless = move |connection, _packet| {
            began.send(connection).expect("receiver of handler starts should not be dropped");
            std::future::pending()
        };
        let server = Server::builder().build(Handlers::new().on(Operation::FIRST_USER, endless)).unwrap();
        let (here, there) = crate::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let client =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        let request = Packet { id: PacketId(1), operation: Operation::FIRST_USER, body: Bytes::new() };
        client.send(&request).await.expect("client should send the request");
        let connection = started.recv().await.expect("server should start the handler of the request");
        while connection.0.work.len() == 0 {
            tokio::task::yield_now().await;
        }
        let _stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("server should open a stream");
        assert_eq!(connection.in_progress(), "peer without an address, running handlers: 1, streams: 1");
    }
}
