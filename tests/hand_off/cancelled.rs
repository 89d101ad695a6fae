//! Tests of cancelled hand-off requests. They must notify the peer, and must not affect other calls.

use super::segments::{hello, read_until};
use super::{Gateway, TIMEOUT, TUNNEL, client, packet, served};
use frisbee::rpc::ConnectionExt;
use frisbee::{Acceptor, Client, CloseReason, HandOffError, HandOffTarget, Handlers, Server};
use frisbee_tests::interop::{AddRequest, Empty, Interop, InteropClient, InteropServer, Range};
use frisbee_tests::{left_to_service, raw, service, until};
use frpc::{Channel, Policy, Request, Response, Status};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;

/// Polls a future once, which must stay pending.
async fn begin<F: Future>(mut future: Pin<&mut F>) {
    let is_ready = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
    assert!(!is_ready, "hand-off should wait, because the reply cannot have been sent");
}

/// Returns a server that does not decide about hand-off requests, and a receiver of these requests.
fn holding() -> (Acceptor<Gateway>, mpsc::UnboundedReceiver<frisbee::HandOffRequest>) {
    let (holds, held) = mpsc::unbounded_channel();
    (Server::builder().build(Gateway { held: Some(holds) }).unwrap(), held)
}

#[tokio::test]
async fn cancelled_hand_off_keeps_connection() {
    let (acceptor, mut held) = holding();
    let (connection, mut received) = client(served(&acceptor)).await;
    for _ in 0..3 {
        let mut asking = Box::pin(connection.hand_off(TUNNEL, "hold"));
        let request =
            tokio::select! { _ = &mut asking => panic!("no answer was sent"), request = held.recv() => request };
        let request = request.unwrap();
        begin(Box::pin(request.cancelled()).as_mut()).await;
        drop(asking);
        tokio::time::timeout(TIMEOUT, request.cancelled())
            .await
            .expect("cancellation should arrive within the timeout");
        let behind = packet("behind");
        let mut sending = Box::pin(connection.send(&behind));
        begin(sending.as_mut()).await;
        let again = connection.hand_off(TUNNEL, "refuse").await.unwrap_err();
        assert!(matches!(again, HandOffError::Busy), "first hand-off should still be in progress: {again}");
        request.accept("", HandOffTarget::new(async |_| panic!("the connection is not handed over")));
        sending.await.unwrap();
        assert_eq!(received.recv().await.unwrap().body, "behind");
    }
}

#[tokio::test]
async fn unsent_cancelled_hand_off_is_dropped() {
    let (connection, mut received) = client(served(&Server::builder().build(Gateway { held: None }).unwrap())).await;
    connection.peer_known().await.unwrap();
    connection.send_now(|outbox| outbox.forward(&packet("before"))).unwrap().unwrap();
    // The connection's task has not run yet, so the request has not been sent.
    begin(Box::pin(connection.hand_off(TUNNEL, "hold")).as_mut()).await;
    connection.send_now(|outbox| outbox.forward(&packet("behind"))).unwrap().unwrap();
    for body in ["before", "behind"] {
        assert_eq!(received.recv().await.unwrap().body, body);
    }
    let refused = connection.hand_off(TUNNEL, "refuse").await.unwrap_err();
    assert!(matches!(refused, HandOffError::Refused(_)), "{refused}");
}

/// Returns the packet that cancels a request for [`TUNNEL`].
fn cancel() -> Vec<u8> {
    raw::packet(0, 6, &[10])
}

#[tokio::test]
async fn connection_granted_after_cancelled_request_is_closed() {
    for (hello, expected) in [(&b"fris\x01"[..], Vec::new()), (b"fris\x01\x05\0", cancel())] {
        let (mut server, io) = frisbee::memory();
        let connection = Client::builder().connect_io(io, Handlers::new()).await.unwrap();
        server.write_all(&raw::packet(0, 3, hello)).await.unwrap();
        let mut asking = Box::pin(connection.hand_off(TUNNEL, ""));
        tokio::select! { _ = &mut asking => panic!("no answer was sent"), _ = read_until(&mut server, 8) => {} }
        drop(asking);
        let mut read = vec![0; expected.len()];
        tokio::time::timeout(TIMEOUT, server.read_exact(&mut read))
            .await
            .expect("read should complete within the timeout")
            .unwrap();
        assert_eq!(read, expected);
        server.write_all(&raw::packet(0, 8, b"\x01granted")).await.unwrap();
        let reason = tokio::time::timeout(TIMEOUT, connection.closed())
            .await
            .expect("connection should close within the timeout");
        assert!(matches!(reason, CloseReason::HandedOff), "{reason}");
        read.clear();
        server.read_to_end(&mut read).await.unwrap();
        assert!(read.is_empty(), "{read:?}");
    }
}

/// Returns a channel. The test controls the server of its first connection, and a real server serves the next one.
async fn scripted<F>(script: impl FnOnce(DuplexStream) -> F + Send + 'static) -> Channel
where
    F: Future<Output = ()> + Send + 'static,
{
    let serving = frpc::Server::builder().add_service(InteropServer::new(service::Service)).build().unwrap();
    let script = Arc::new(parking_lot::Mutex::new(Some(script)));
    let connect = move || {
        let (here, there) = frpc::memory();
        let (script, serving) = (script.lock().take(), serving.clone());
        tokio::spawn(async move {
            match script {
                Some(script) => script(there).await,
                None => drop(serving.serve_connection(there).await),
            }
        });
        async { Ok(here) }
    };
    Channel::builder().connect_with_connector(connect).await.unwrap()
}

#[tokio::test]
async fn calls_after_cancelled_hand_off_grant_reconnect() {
    let (requests, mut requested) = mpsc::unbounded_channel();
    let (grant, granted) = tokio::sync::oneshot::channel::<()>();
    let channel = scripted(|mut io| async move {
        io.write_all(&hello()).await.unwrap();
        read_until(&mut io, 8).await;
        requests.send(()).unwrap();
        granted.await.unwrap();
        io.write_all(&raw::packet(0, 8, b"\x01\x08\0")).await.unwrap();
        let mut behind = Vec::new();
        io.read_to_end(&mut behind).await.unwrap();
        assert!(behind.is_empty(), "client should send nothing after the hand-off request");
    })
    .await;
    let client = InteropClient::new(channel.clone());
    let (asking, _handed) = channel.request_hand_off();
    let asking = InteropClient::new(asking);
    let mut request = Box::pin(asking.do_nothing(Empty {}));
    tokio::select! { _ = &mut request => panic!("no answer was sent"), _ = requested.recv() => {} }
    drop(request);
    let mut behind = Box::pin(client.add(AddRequest { a: 1, b: 2 }));
    let mut counts = Box::pin(client.count_up(Range { from: 0, count: 1 }));
    begin(behind.as_mut()).await;
    begin(counts.as_mut()).await;
    grant.send(()).unwrap();
    assert_eq!(behind.await.unwrap().get_ref().total, 3);
    assert!(counts.await.unwrap().into_inner().message().await.unwrap().is_some());
}

/// A service with hand-off handlers that never complete. It counts them.
#[derive(Clone, Default)]
struct Endless(Arc<AtomicUsize>);

struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Interop for Endless {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, request: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let _inside = Inside(self.0.clone());
        match request.hand_off() {
            Some(_) => std::future::pending().await,
            None => Ok(Response::new(Empty {})),
        }
    }
}

#[tokio::test]
async fn cancelled_call_drops_handler_and_keeps_connection() {
    let inside = Endless::default();
    let server = frpc::Server::builder().add_service(InteropServer::new(inside.clone()));
    // Only one handler may run at a time, so the test notices if a permit is not released.
    let policy = Policy::AtMost(1);
    let server = server.method_hand_off("interop.Interop/DoNothing").method_policy("interop.Interop/DoNothing", policy);
    let channel = Channel::connect(frisbee_tests::serve(server).await.to_string()).await.unwrap();
    let connection = channel.connection().unwrap();
    let (asking, handed) = channel.request_hand_off();
    let asking = InteropClient::new(asking);
    let client = InteropClient::new(channel);
    for _ in 0..20 {
        // This call waits until the earlier request has been answered. The connection is then idle.
        client.do_nothing(Empty {}).await.unwrap();
        let mut request = Box::pin(asking.do_nothing(Empty {}));
        let entered = until("the handler runs", || inside.0.load(Ordering::SeqCst) == 1);
        tokio::select! { answer = &mut request => panic!("request should not be answered: {answer:?}"), () = entered => {} }
        drop(request);
        until("the handler is dropped", || inside.0.load(Ordering::SeqCst) == 0).await;
    }
    client.do_nothing(Empty {}).await.unwrap();
    assert!(!connection.is_closed() && handed.take().is_none());
}

/// The client does not send a cancellation, so the server must drop the handler at the deadline.
#[tokio::test]
async fn cancelled_hand_off_drops_its_handler() {
    let inside = Endless::default();
    let server = frpc::Server::builder().add_service(InteropServer::new(inside.clone()));
    let address = frisbee_tests::serve(server.method_hand_off("interop.Interop/DoNothing")).await;
    let mut peer = raw::Raw::connect(address).await;
    peer.write(&raw::packet(0, 3, b"fris\x01")).await;
    // A request for operation 15 with an empty message, from a caller with a timeout of 10 ms.
    let request = [15, 0x10, 4, 1, 2, 0x90, 0x4E, 8, 0];
    peer.write(&raw::packet(0, 8, &request)).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!((reply.operation.number(), reply.body[0]), (8, 0), "server should reject the hand-off");
    let text = raw::error_text(&reply.body[1 + 2 + usize::from(reply.body[2])..]);
    assert_eq!(text.as_deref(), Some("the deadline of the call has passed"));
    assert_eq!(inside.0.load(Ordering::SeqCst), 0);
}
