//! Tests of replies that are incomplete.

use super::*;
use frisbee_http2::Head;

/// Regression test: the call was reported as not run, although the server had begun to reply.
#[tokio::test(start_paused = true)]
async fn call_reset_after_reply_head_may_have_run() {
    let (transport, mut server) = Server::new(1).await;
    let channel = channel(transport);
    let resetting = async {
        let stream = server.request().await;
        server.accept(stream).await;
        server.refuse(stream).await;
    };
    let (replied, ()) = tokio::join!(channel.unary::<_, Empty>(&METHOD, Request::new(Empty)), resetting);
    let status = replied.expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
}

/// Regression test: trailers over the limit were accepted without their last fields, and a reply that ended within a
/// message had the status INTERNAL instead of the server's.
#[tokio::test(start_paused = true)]
async fn incomplete_reply_fails_with_status_of_server() {
    const EMPTY: &[u8] = b"\0\0\0\0\0";
    for (body, status, field, code, message) in [
        (EMPTY, "0", 10, None, ""),
        (EMPTY, "0", 20_000, Some(Code::ResourceExhausted), "the trailers of the reply exceed the limit"),
        (EMPTY, "5", 20_000, Some(Code::NotFound), "nobody"),
        (b"\0\0\0\0\x09a", "0", 10, Some(Code::Internal), "the reply ended within a message"),
        (b"\0\0\0\0\x09a", "5", 10, Some(Code::NotFound), "nobody"),
    ] {
        let (transport, mut server) = Server::new(1).await;
        let channel = channel(transport);
        let replying = async {
            let stream = server.request().await;
            server.accept(stream).await;
            server.http2.send_data(stream, Bytes::from_static(body), false).expect("stream should be open");
            let mut trailers = Head::trailers();
            trailers.push("grpc-status", status);
            trailers.push("grpc-message", "nobody");
            (0..field / 1000 + 1).for_each(|_| trailers.push("mark", "a".repeat(field.min(1000))));
            server.http2.send_trailers(stream, &trailers).expect("stream should be open");
            server.flush().await;
        };
        let (replied, ()) = tokio::join!(channel.unary::<_, Empty>(&METHOD, Request::new(Empty)), replying);
        let failed = replied.err();
        assert_eq!(failed.as_ref().map(Status::code), code, "{failed:?}");
        assert_eq!(failed.as_ref().map_or("", Status::message), message);
    }
}
