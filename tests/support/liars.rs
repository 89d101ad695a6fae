//! Clients of misbehaving servers. The test writes every byte of the server.

use crate::interop::{AddRequest, Count, InteropClient, Range};
use crate::raw::{Raw, packet};
use frisbee::Config;
use frpc::{Channel, ChannelBuilder, Code, Request, Status};
use std::time::Duration;
use tokio::io::DuplexStream;

/// A time that is longer than any test takes.
const HOUR: Duration = Duration::from_secs(3600);

/// Returns a client, and its connection. The test plays the server on this connection.
pub async fn deceived(settings: impl FnOnce(ChannelBuilder) -> ChannelBuilder) -> (InteropClient, Raw) {
    let (address, accepted) = Raw::listen().await;
    let channel = settings(Channel::builder().calls::<InteropClient>())
        .connect(address)
        .await
        .expect("server should accept the connection");
    (InteropClient::new(channel), accepted.await)
}

/// Like [`deceived`], with a client that does not close silent connections, and whose calls have no practical deadline.
pub async fn deceived_patiently() -> (InteropClient, Raw) {
    let config = Config::default().idle_timeout(HOUR);
    deceived(|builder| builder.peer_kind_timeout(HOUR).timeout(HOUR).config(config)).await
}

/// Like [`deceived`], but over a pipe with a buffer of 64 KiB. The server can then write only as fast as the client
/// reads.
pub async fn deceived_through_a_pipe() -> (InteropClient, Raw<DuplexStream>) {
    let (here, there) = tokio::io::duplex(64 * 1024);
    // The timeout is long because the machine may be busy.
    let builder = Channel::builder().calls::<InteropClient>().peer_kind_timeout(HOUR).timeout(HOUR);
    let channel = builder.connect_io(here).await.expect("connection in memory should be accepted");
    (InteropClient::new(channel), Raw::over(there))
}

/// Starts a call of `Add` with `a` and 1 at the misbehaving server.
pub fn calling(client: &InteropClient, a: i64) -> tokio::task::JoinHandle<Result<i64, Status>> {
    let client = client.clone();
    tokio::spawn(async move { client.add(AddRequest { a, b: 1 }).await.map(|sum| sum.into_inner().total) })
}

/// Returns the code of a call that is expected to fail.
///
/// # Panics
/// If the call succeeded.
#[track_caller]
pub fn code<T: std::fmt::Debug>(reply: Result<T, Status>) -> Code {
    reply.expect_err("call should fail").code()
}

/// Opens a stream of counts at the misbehaving server. Returns the client's stream and its id.
pub async fn streaming(client: &InteropClient, liar: &mut Raw, timeout: Duration) -> (frpc::Streaming<Count>, u16) {
    liar.write(&packet(0, 1, &[])).await; // A PONG, as sent by Go.
    let mut request = Request::new(Range { from: 0, count: 1 });
    request.set_timeout(timeout);
    let (client, opened) = (client.clone(), liar.next());
    let call = tokio::spawn(async move { client.count_up(request).await });
    let id = opened.await.expect("client should open a stream").id.0;
    let stream = call.await.expect("caller should not panic").expect("connection should be open");
    (stream.into_inner(), id)
}
