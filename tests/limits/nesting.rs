//! Tests that each end limits the nesting depth of messages. The sender of a deeper message must receive an error.

use frisbee_pubsub::{Broker, Client};
use frisbee_tests::nesting::{Deep, Depths, DepthsClient, DepthsServer};
use frpc::polyglot::{NESTING_CEILING, NESTING_MAX};
use frpc::{
    Channel, ChannelBuilder, Code, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming,
};

type Reply<T> = Result<Response<T>, Status>;

/// A depth beyond the default limit.
const DEEP: u32 = 150;

/// A depth within the default limit.
const SHALLOW: u32 = 20;

/// A service that echoes its requests.
struct Same;

impl Depths for Same {
    async fn same(&self, request: Request<Deep>) -> Reply<Deep> {
        Ok(Response::new(request.into_inner()))
    }

    async fn down(&self, request: Request<Deep>) -> Reply<ResponseStream<Deep>> {
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(request.into_inner())]))))
    }

    async fn up(&self, request: Request<Streaming<Deep>>) -> Reply<Deep> {
        let (mut all, mut last) = (request.into_inner(), Deep::default());
        while let Some(next) = all.message().await? {
            last = next;
        }
        Ok(Response::new(last))
    }

    async fn both(&self, request: Request<Streaming<Deep>>) -> Reply<ResponseStream<Deep>> {
        Ok(Response::new(ResponseStream::new(request.into_inner())))
    }

    async fn back(&self, request: Request<Deep>) -> Reply<Deep> {
        let client = request.channel().map(DepthsClient::new).expect("request should have a channel to its caller");
        client.same(request.into_inner()).await
    }
}

fn levels(count: u32) -> Deep {
    (1..count).fold(Deep::default(), |inner, _| Deep { next: Some(Box::new(inner)) })
}

/// Connects a client that does not reconnect. The server runs on its own threads.
async fn connected(server: ServerBuilder, channel: ChannelBuilder) -> DepthsClient {
    let server = server
        .add_service(DepthsServer::new(Same))
        .bind("127.0.0.1:0")
        .await
        .expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let io = tokio::net::TcpStream::connect(address).await.expect("server should be listening");
    DepthsClient::new(channel.connect_io(io).await.expect("connection in memory should be accepted"))
}

/// Sends messages with `count` levels in calls of every kind, in both directions. Returns the results.
async fn every_kind(client: &DepthsClient, count: u32) -> [Result<Deep, Status>; 4] {
    let one = || frpc::iter([levels(count)]);
    async fn first(replies: Reply<Streaming<Deep>>) -> Result<Deep, Status> {
        let first = replies?.into_inner().message().await?;
        first.ok_or_else(|| Status::not_found("the stream has ended"))
    }
    [
        client.same(levels(count)).await.map(Response::into_inner),
        first(client.down(levels(count)).await).await,
        client.up(one()).await.map(Response::into_inner),
        first(client.both(one()).await).await,
    ]
}

/// Asserts that messages of up to `max` levels are echoed, and that deeper ones fail with `codes`. The connection must
/// stay open.
async fn nests(client: &DepthsClient, max: u32, codes: [Code; 4]) {
    for (result, code) in every_kind(client, max + 1).await.into_iter().zip(codes) {
        let status = result.expect_err("message should be nested too deep");
        assert_eq!(status.code(), code, "{status}");
        assert!(status.message().ends_with(&format!(": messages nest deeper than {max}")), "{status}");
    }
    for result in every_kind(client, max).await {
        assert!(result.expect("message should be within the nesting limit") == levels(max));
    }
}

/// The codes of requests and stream messages that a server rejects.
const BY_SERVER: [Code; 4] = [Code::InvalidArgument, Code::InvalidArgument, Code::Internal, Code::Internal];

/// The codes of replies that a client rejects.
const BY_CLIENT: [Code; 4] = [Code::Internal; 4];

#[tokio::test]
async fn server_answers_error_beyond_default_depth() {
    let client = connected(Server::builder(), Channel::builder().nesting_max(DEEP)).await;
    nests(&client, NESTING_MAX, BY_SERVER).await;
}

#[tokio::test]
async fn server_accepts_configured_depth_beyond_default() {
    let client = connected(Server::builder().nesting_max(DEEP), Channel::builder().nesting_max(u32::MAX)).await;
    nests(&client, DEEP, BY_SERVER).await;
}

#[tokio::test]
async fn server_answers_error_beyond_lowered_depth() {
    let client = connected(Server::builder().nesting_max(SHALLOW), Channel::builder()).await;
    nests(&client, SHALLOW, BY_SERVER).await;
}

#[tokio::test]
async fn client_rejects_replies_over_nesting_limit() {
    for max in [SHALLOW, NESTING_MAX, DEEP] {
        let server = Server::builder().nesting_max(u32::MAX);
        let client = connected(server, Channel::builder().nesting_max(max)).await;
        nests(&client, max, BY_CLIENT).await;
    }
}

#[tokio::test]
async fn nesting_setting_is_capped_by_thread_stack() {
    let client = connected(Server::builder().nesting_max(u32::MAX), Channel::builder().nesting_max(u32::MAX)).await;
    for result in every_kind(&client, NESTING_CEILING).await {
        assert!(result.expect("message should be within the nesting limit") == levels(NESTING_CEILING));
    }
    let status = client.same(levels(NESTING_CEILING + 1)).await.expect_err("message should be nested too deep");
    assert!(status.message().ends_with("messages nest deeper than 200"), "{status}");
}

#[tokio::test]
async fn server_calls_respect_both_nesting_limits() {
    let back = async |server: u32, client: u32, count: u32| {
        let channel = Channel::builder().add_service(DepthsServer::new(Same)).nesting_max(client);
        let client = connected(Server::builder().nesting_max(server), channel).await;
        client.back(levels(count)).await.map(Response::into_inner)
    };
    assert!(back(DEEP, DEEP, DEEP).await.expect("message should be within both nesting limits") == levels(DEEP));
    // The server accepts the client's request, but the client does not accept the request of the server.
    let status = back(DEEP, SHALLOW, SHALLOW + 1).await.expect_err("reply should exceed the client's limit");
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    assert!(status.message().ends_with("messages nest deeper than 20"), "{status}");
}

#[tokio::test]
async fn replies_to_server_respect_nesting_limit() {
    /// A service that replies with more levels than its request has.
    struct Deeper;

    impl Depths for Deeper {
        async fn same(&self, request: Request<Deep>) -> Reply<Deep> {
            Ok(Response::new(Deep { next: Some(Box::new(request.into_inner())) }))
        }

        async fn down(&self, request: Request<Deep>) -> Reply<ResponseStream<Deep>> {
            Same.down(request).await
        }

        async fn up(&self, request: Request<Streaming<Deep>>) -> Reply<Deep> {
            Same.up(request).await
        }

        async fn both(&self, request: Request<Streaming<Deep>>) -> Reply<ResponseStream<Deep>> {
            Same.both(request).await
        }

        async fn back(&self, request: Request<Deep>) -> Reply<Deep> {
            Same.back(request).await
        }
    }

    let channel = Channel::builder().add_service(DepthsServer::new(Deeper)).nesting_max(DEEP);
    let client = connected(Server::builder().nesting_max(SHALLOW), channel).await;
    let status = client.back(levels(SHALLOW)).await.expect_err("reply should be nested too deep");
    assert_eq!(status.code(), Code::Internal, "{status}");
    assert!(status.message().ends_with("messages nest deeper than 20"), "{status}");
    assert!(
        client.back(levels(SHALLOW - 1)).await.expect("reply should be within the nesting limit").into_inner()
            == levels(SHALLOW)
    );
}

#[tokio::test]
async fn subscriptions_use_nesting_limit_of_their_topic() {
    let server = frisbee::Server::builder()
        .bind("127.0.0.1:0", Broker::new())
        .await
        .expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let client = Client::connect(address).await.expect("server should accept the connection");
    let topic = frpc::Topic::<Deep>::new("depths");
    let mut usual = topic.subscribe(&client).await.expect("broker should accept the subscription");
    let mut deep =
        topic.nesting_max(DEEP).clone().subscribe(&client).await.expect("broker should accept the subscription");
    let publisher = frpc::Topic::<Deep>::new("depths");
    publisher.publish(&client, &levels(DEEP)).await.expect("broker should accept the message");
    assert!(deep.recv().await.expect("channel should stay open").into_inner() == levels(DEEP));
    let error = usual.recv().await.expect_err("message should be nested too deep");
    assert!(error.to_string().ends_with("messages nest deeper than 100"), "{error}");
}
