//! Tests of stream messages that are read in place over previous ones.

use frisbee_tests::interop::{Interop, InteropClient, InteropServer, Range, Text};
use frisbee_tests::{interop, left_to_service, serve, serve_interop};
use frpc::{Code, Request, Response, ResponseStream, Server, Status, Streaming};

type Reply<T> = Result<Response<T>, Status>;

/// A service that replies with texts which are ready at the same time. The tenth is long.
struct Texts;

impl Interop for Texts {
    left_to_service!(echoes, echo_payload, do_nothing, fail, add, sleep, describe, count_up, sum_up);

    async fn chat(&self, _request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        Ok(Response::new(ResponseStream::new(frpc::iter(texts().map(|value| Ok(Text { value }))))))
    }
}

fn texts() -> impl Iterator<Item = String> + Send + 'static {
    (0..30_usize).map(|number| number.to_string().repeat(if number == 10 { 300 } else { 1 }))
}

#[tokio::test]
async fn consecutive_short_messages_reuse_memory() {
    let server = Server::builder().add_service(InteropServer::new(Texts));
    let client = InteropClient::connect(serve(server).await.to_string()).await.unwrap();
    let mut messages = client.chat(frpc::iter([])).await.unwrap().into_inner();
    let (mut text, mut received, mut moved) = (Text::default(), Vec::new(), 0);
    while messages.message_over(&mut text).await.unwrap() {
        received.push(text.value.clone());
        let roomy = String::with_capacity(text.value.len() + 64);
        let mine = (roomy.as_ptr(), roomy.capacity());
        text.value = roomy;
        // Only a received message shows whether it reuses the memory of the previous one.
        if let Some(next) = read(&mut messages, &mut text).await {
            moved += usize::from((text.value.as_ptr(), text.value.capacity()) != mine);
            received.push(next);
        }
    }
    assert_eq!(received, texts().collect::<Vec<_>>());
    // The first two messages, the long one and its successor need newly allocated memory.
    assert!(moved <= 4, "{moved} of 15 strings have memory of their own");
}

async fn read(messages: &mut Streaming<Text>, text: &mut Text) -> Option<String> {
    messages.message_over(text).await.unwrap().then(|| text.value.clone())
}

#[tokio::test]
async fn message_over_reads_stream_until_end() {
    let client = InteropClient::connect(serve_interop().await.to_string()).await.unwrap();
    let mut count = interop::Count { value: -1 };
    let mut counts = client.count_up(Range { from: 5, count: 3 }).await.unwrap().into_inner();
    for value in 5..8 {
        assert!(counts.message_over(&mut count).await.unwrap());
        assert_eq!(count.value, value);
    }
    assert!(!counts.message_over(&mut count).await.unwrap());
    assert!(!counts.message_over(&mut count).await.unwrap());

    let mut counts = client.count_up(Range { from: 0, count: -1 }).await.unwrap().into_inner();
    assert!(counts.message_over(&mut count).await.unwrap());
    assert!(counts.message_over(&mut count).await.unwrap());
    assert_eq!(counts.message_over(&mut count).await.unwrap_err().code(), Code::OutOfRange);
    assert!(!counts.message_over(&mut count).await.unwrap());
}
