//! Tests of calls over real connections, for behavior that only calls can show.

use frpc::prost_types::{Duration, Timestamp};
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use schema_tests::all::wellknown::{Calls, CallsClient, CallsServer};

/// A service that returns its requests.
struct Same;

/// Implements methods that return their requests.
macro_rules! same {
    ($($method:ident $type:ty;)*) => {$(
        async fn $method(&self, request: Request<$type>) -> Result<Response<$type>, Status> {
            Ok(Response::new(request.into_inner()))
        }
    )*};
}

impl Calls for Same {
    same! {
        any frpc::prost_types::Any;
        duration Duration;
        empty ();
        field_mask frpc::prost_types::FieldMask;
        list_value frpc::prost_types::ListValue;
        source_context frpc::prost_types::SourceContext;
        r#struct frpc::prost_types::Struct;
        timestamp Timestamp;
        value frpc::prost_types::Value;
        double_value f64;
        float_value f32;
        int64_value i64;
        u_int64_value u64;
        int32_value i32;
        u_int32_value u32;
        bool_value bool;
        string_value String;
        bytes_value Vec<u8>;
    }

    async fn lengths(&self, request: Request<Streaming<String>>) -> Result<Response<ResponseStream<i64>>, Status> {
        let mut words = request.into_inner();
        let (sender, lengths) = ResponseStream::channel(1);
        tokio::spawn(async move {
            while let Some(word) = words.message().await? {
                sender.send(Ok(word.len() as i64)).await?;
            }
            Ok::<(), Status>(())
        });
        Ok(Response::new(lengths))
    }

    async fn count(&self, request: Request<Streaming<()>>) -> Result<Response<u32>, Status> {
        let (mut all, mut count) = (request.into_inner(), 0);
        while let Some(()) = all.message().await? {
            count += 1;
        }
        Ok(Response::new(count))
    }

    async fn ticks(&self, request: Request<Duration>) -> Result<Response<ResponseStream<Timestamp>>, Status> {
        let step = request.into_inner().seconds;
        let ticks = (0..3).map(move |tick| Ok(Timestamp { seconds: tick * step, nanos: 0 }));
        Ok(Response::new(ResponseStream::new(frpc::iter(ticks))))
    }
}

struct Plain;
first!(Plain, schema_tests::all::services);
struct Enclosed;
first!(Enclosed, schema_tests::protobuf::services);

#[tokio::test]
async fn protobuf_codec_supports_every_call_kind() -> Result<(), Box<dyn std::error::Error>> {
    use schema_tests::protobuf::services::{Count, FirstClient, FirstServer, Word};
    let word = |word: &str| Word { word: word.to_owned() };
    let server = frpc::Server::builder().add_service(FirstServer::new(Enclosed)).bind("127.0.0.1:0").await?;
    let client = FirstClient::connect(server.local_addr().to_string()).await?;
    tokio::spawn(server.serve());

    assert_eq!(client.echo(word("hi")).await?.into_inner(), word("hi"));
    assert_eq!(client.echo(word("")).await.unwrap_err().message(), "no word");
    assert_eq!(client.feed(frpc::iter([word("a"), word("bc")])).await?.into_inner(), Count { count: 3 });
    let mut words = client.watch(Count { count: 1 }).await?.into_inner();
    assert_eq!(words.message().await?, Some(word("0")));
    assert_eq!(words.message().await?, None);
    let mut replies = client.talk(frpc::iter([word("a"), word(""), word("c")])).await?.into_inner();
    assert_eq!(replies.message().await?, Some(word("a")));
    assert_eq!(replies.message().await.unwrap_err().message(), "no word");
    Ok(())
}

#[tokio::test]
async fn server_hosts_services_of_all_schema_files() -> Result<(), Box<dyn std::error::Error>> {
    use schema_tests::all::services::{FirstClient, FirstServer, Word};
    let server = frpc::Server::builder().add_service(FirstServer::new(Plain)).add_service(CallsServer::new(Same));
    let server = server.bind("127.0.0.1:0").await?;
    let channel = frpc::Channel::connect(server.local_addr().to_string()).await?;
    tokio::spawn(server.serve());
    let word = Word { word: "hi".to_owned() };
    assert_eq!(FirstClient::new(channel.clone()).echo(word.clone()).await?.into_inner(), word);
    assert_eq!(CallsClient::new(channel).string_value("word".to_owned()).await?.into_inner(), "word");
    Ok(())
}

#[tokio::test]
async fn codec_mismatch_fails_call_with_reason() -> Result<(), Box<dyn std::error::Error>> {
    use schema_tests::{all, protobuf};
    let server = all::services::FirstServer::new(Plain);
    let server = frpc::Server::builder().add_service(server).bind("127.0.0.1:0").await?;
    let client = protobuf::services::FirstClient::connect(server.local_addr().to_string()).await?;
    tokio::spawn(server.serve());
    let error = client.echo(protobuf::services::Word { word: "hi".to_owned() }).await.unwrap_err();
    assert_eq!(error.code(), frpc::Code::FailedPrecondition, "{error}");
    assert!(error.message().contains("services.First"), "{error}");
    Ok(())
}

#[tokio::test]
async fn well_known_types_support_every_call_kind() -> Result<(), Box<dyn std::error::Error>> {
    let server = frpc::Server::builder().add_service(CallsServer::new(Same)).bind("127.0.0.1:0").await?;
    let client = CallsClient::connect(server.local_addr().to_string()).await?;
    tokio::spawn(server.serve());

    client.empty(()).await?.into_inner();
    assert_eq!(client.string_value("word".to_owned()).await?.into_inner(), "word");
    assert_eq!(client.bytes_value(vec![0, 255]).await?.into_inner(), [0, 255]);
    assert_eq!(client.double_value(-0.5).await?.into_inner(), -0.5);
    assert!(client.bool_value(true).await?.into_inner());
    assert_eq!(client.u_int64_value(u64::MAX).await?.into_inner(), u64::MAX);
    let at = Timestamp { seconds: -1, nanos: 5 };
    assert_eq!(client.timestamp(at).await?.into_inner(), at);
    let value = frpc::prost_types::Value::from(vec![1.5.into(), "word".to_owned().into()]);
    assert_eq!(client.value(value.clone()).await?.into_inner(), value);

    let words = ["a", "", "abc"].map(str::to_owned);
    let mut lengths = client.lengths(frpc::iter(words)).await?.into_inner();
    for expected in [Some(1), Some(0), Some(3), None] {
        assert_eq!(lengths.message().await?, expected);
    }
    assert_eq!(client.count(frpc::iter([(); 7])).await?.into_inner(), 7);
    let mut ticks = client.ticks(Duration { seconds: 2, nanos: 0 }).await?.into_inner();
    let mut seconds = Vec::new();
    while let Some(tick) = ticks.message().await? {
        seconds.push(tick.seconds);
    }
    assert_eq!(seconds, [0, 2, 4]);
    Ok(())
}
