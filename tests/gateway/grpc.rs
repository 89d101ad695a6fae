//! Tests of gRPC calls made by tonic.

use crate::gateway::greeter::{Closed, Open, TIMEOUT, all, soon};
use frpc::details::ErrorInfo;
use samples::greet::{Greeting, Name};
use std::time::Duration;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;

async fn client(server: &Open) -> Grpc<Channel> {
    let channel = Channel::from_shared(format!("http://{}", server.address)).expect("address should be valid");
    Grpc::new(channel.connect().await.expect("server should accept the connection"))
}

fn name(name: &str) -> Request<Name> {
    Request::new(Name { name: name.to_owned() })
}

async fn greet(mut client: Grpc<Channel>, request: Request<Name>) -> Result<Response<Greeting>, Status> {
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Greet");
    client.unary(request, path, ProstCodec::default()).await
}

async fn recite(mut client: Grpc<Channel>, request: Request<Name>) -> Result<Vec<String>, Status> {
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Recite");
    let mut verses =
        client.server_streaming(request, path, ProstCodec::<Name, Greeting>::default()).await?.into_inner();
    let mut texts = Vec::new();
    while let Some(verse) = verses.message().await? {
        texts.push(verse.text);
    }
    Ok(texts)
}

#[tokio::test]
async fn grpc_client_calls_methods_and_reads_statuses() {
    let server = Open::new(all()).await;
    let client = client(&server).await;
    let mut request = name("Ada");
    request.metadata_mut().insert("tenant", "blue".parse().expect("metadata value should be valid"));
    let response = greet(client.clone(), request).await.expect("call should succeed");
    assert_eq!(response.get_ref().text, "Hello, Ada!");
    let tenant = |key: &str| response.metadata().get(key).and_then(|value| value.to_str().ok());
    assert_eq!((tenant("tenant"), tenant("after")), (Some("blue"), Some("blue")));
    let status = greet(client.clone(), name("")).await.expect_err("call should fail");
    assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "the name is empty"));
    let status = frpc::Status::invalid_argument("").with_details(status.details().to_vec());
    assert_eq!(status.detail::<ErrorInfo>().map(|info| info.reason), Some("EMPTY".to_owned()));
    assert_eq!(recite(client.clone(), name("Ada")).await.expect("stream should open"), ["1 Ada", "2 Ada"]);
    assert_eq!(
        recite(client.clone(), name("fail")).await.expect_err("stream should fail to open").code(),
        Code::DataLoss
    );
    assert_eq!(greet(client.clone(), name("long")).await.expect("call should succeed").get_ref().text.len(), 100_000);
    let mut request = name("wait");
    request.set_timeout(Duration::from_millis(20));
    assert!(greet(client, request).await.is_err(), "call should exceed its deadline");
}

#[tokio::test]
async fn denying_middleware_denies_grpc() {
    let mut server = Open::with(all(), |builder| builder.middleware(Closed)).await;
    let client = client(&server).await;
    assert_eq!(greet(client.clone(), name("Ada")).await.expect_err("call should fail").code(), Code::PermissionDenied);
    assert_eq!(
        recite(client, name("Ada")).await.expect_err("stream should fail to open").code(),
        Code::PermissionDenied
    );
    assert_eq!(server.began.try_recv().ok(), None, "no handler should have run");
}

#[tokio::test]
async fn grpc_calls_finish_before_server_stops() {
    let mut server = Open::new(all()).await;
    let client = client(&server).await;
    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(greet(client.clone(), name("wait")))).collect();
    for _ in &calls {
        soon(&mut server.began).await;
    }
    server.stop();
    server.gate.add_permits(calls.len());
    for call in calls {
        let response = tokio::time::timeout(TIMEOUT, call)
            .await
            .expect("call should complete within the timeout")
            .expect("task should not panic");
        assert_eq!(response.expect("peer should answer").get_ref().text, "waited");
    }
    drop(client);
    server.stopped().await;
}
