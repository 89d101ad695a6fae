//! One implementation, served by our protocol and by gRPC.

#[macro_use]
mod first;

use frpc::tonic::transport::server::TcpIncoming;
use frpc::{
    Call, CallResponse, Code, Next, Policy, Principal, Proof, Request, Response, ResponseStream, ServerBuilder, Status,
    Streaming, TokenError, tonic,
};
use schema_tests::grpc::services::{self, Count, Word};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Service;
first!(Service, schema_tests::grpc::services);

/// The addresses at which one service is served: by ours and by tonic.
async fn serve(service: impl services::First) -> Result<(SocketAddr, SocketAddr), Box<dyn Error>> {
    serve_with(service, |builder| builder).await
}

/// As [`serve`], with further settings.
async fn serve_with(
    service: impl services::First,
    settings: impl FnOnce(ServerBuilder) -> ServerBuilder,
) -> Result<(SocketAddr, SocketAddr), Box<dyn Error>> {
    let service = Arc::new(service);
    let ours = services::FirstServer::from_arc(service.clone());
    let ours = settings(frpc::Server::builder().add_service(ours));
    let door = ours.grpc_door()?;
    let ours = ours.bind("127.0.0.1:0").await?;
    let our_address = ours.local_addr();
    tokio::spawn(ours.serve());

    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let tonics_address = incoming.local_addr()?;
    let tonics = services::first_server::FirstServer::new(door.serve_arc(service));
    tokio::spawn(tonic::transport::Server::builder().add_service(tonics).serve_with_incoming(incoming));
    Ok((our_address, tonics_address))
}

fn word(word: &str) -> Word {
    Word { word: word.into() }
}

/// Everything that a call of any kind can show. Failures arrive with one of the given codes.
macro_rules! every_kind_of_call {
    ($client:ident, $not_found:pat) => {{
        assert_eq!($client.echo(word("hi")).await?.into_inner(), word("hi"));
        let status = $client.echo(word("")).await.unwrap_err();
        assert!(matches!((status.code(), status.message()), ($not_found, "no word")), "{status}");

        let mut words = $client.watch(Count { count: 3 }).await?.into_inner();
        for expected in ["0", "1", "2"] {
            assert_eq!(words.message().await?, Some(word(expected)));
        }
        assert_eq!(words.message().await?, None);

        let fed = frpc::iter(["a", "", "bcd"].map(word));
        assert_eq!($client.feed(fed).await?.into_inner(), Count { count: 4 });

        let mut replies = $client.talk(frpc::iter(["a", "b", "", "c"].map(word))).await?.into_inner();
        assert_eq!(replies.message().await?, Some(word("a")));
        assert_eq!(replies.message().await?, Some(word("b")));
        let status = replies.message().await.unwrap_err();
        assert!(matches!((status.code(), status.message()), ($not_found, "no word")), "{status}");
    }};
}

#[tokio::test]
async fn one_implementation_answers_every_kind_of_call_of_both_protocols() -> Result<(), Box<dyn Error>> {
    let (ours, tonics) = serve(Service).await?;
    let client = services::FirstClient::connect(ours.to_string()).await?;
    every_kind_of_call!(client, Code::NotFound);
    let mut client = services::first_client::FirstClient::connect(format!("http://{tonics}")).await?;
    every_kind_of_call!(client, tonic::Code::NotFound);
    Ok(())
}

/// Says how long its caller waits, as its own caller does for want of a service that it could ask.
struct Relay(Option<services::FirstClient>);

impl Relay {
    async fn told(next: services::FirstClient) -> Result<Word, Status> {
        next.echo(Word::default()).await.map(Response::into_inner)
    }
}

impl services::First for Relay {
    async fn echo(&self, request: Request<Word>) -> Result<Response<Word>, Status> {
        match self.0.clone() {
            Some(next) => Self::told(next).await.map(Response::new),
            None => Ok(Response::new(word(&format!("{:?}", request.timeout().map(|timeout| timeout.as_secs()))))),
        }
    }

    async fn watch(&self, _request: Request<Count>) -> Result<Response<ResponseStream<Word>>, Status> {
        let next = self.0.clone().expect("nobody watches the last");
        Ok(Response::new(ResponseStream::new(futures_util::stream::once(Self::told(next)))))
    }

    async fn feed(&self, request: Request<Streaming<Word>>) -> Result<Response<Count>, Status> {
        drop(request);
        Err(Status::unimplemented("it is not fed"))
    }

    async fn talk(&self, request: Request<Streaming<Word>>) -> Result<Response<ResponseStream<Word>>, Status> {
        drop(request);
        Err(Status::unimplemented("it does not talk"))
    }
}

#[tokio::test]
async fn calls_of_handlers_that_tonic_has_called_inherit_its_deadline() -> Result<(), Box<dyn Error>> {
    let (last, _) = serve(Relay(None)).await?;
    let next = services::FirstClient::connect(last.to_string()).await?;
    next.echo(word("")).await?; // The server has shown itself, and is told of deadlines from now on.
    let (_, address) = serve(Relay(Some(next))).await?;
    let mut client = services::first_client::FirstClient::connect(format!("http://{address}")).await?;
    for (timeout, expected) in [(None, "None"), (Some(10), "Some(9)")] {
        let timeout = timeout.map(Duration::from_secs);
        let mut asked = tonic::Request::new(word(""));
        let mut watched = tonic::Request::new(Count::default());
        if let Some(timeout) = timeout {
            asked.set_timeout(timeout);
            watched.set_timeout(timeout);
        }
        assert_eq!(client.echo(asked).await?.into_inner(), word(expected));
        assert_eq!(client.watch(watched).await?.into_inner().message().await?, Some(word(expected)));
    }
    Ok(())
}

/// Lets in callers with a name, which is passed on to the handler, and signs what they are answered.
async fn admit(mut call: Call, next: Next) -> Result<CallResponse, Status> {
    let Some(name) = call.metadata().get("name").map(str::to_owned) else {
        return Err(Status::permission_denied(format!("{}/{} is closed", call.service(), call.method())));
    };
    call.extensions_mut().insert(name);
    let mut response = next.run(call).await?;
    response.metadata_mut().insert("served-by", "north")?;
    Ok(response)
}

#[tokio::test]
async fn a_middleware_that_denies_denies_every_kind_of_call_by_tonic() -> Result<(), Box<dyn Error>> {
    let (_, address) = serve_with(Service, |builder| builder.middleware(admit)).await?;
    let mut client = services::first_client::FirstClient::connect(format!("http://{address}")).await?;
    let words = || frpc::iter(["a"].map(word));
    let denied = [
        client.echo(word("a")).await.unwrap_err(),
        client.watch(Count { count: 1 }).await.unwrap_err(),
        client.feed(words()).await.unwrap_err(),
        client.talk(words()).await.unwrap_err(),
    ];
    for (status, method) in denied.iter().zip(["Echo", "Watch", "Feed", "Talk"]) {
        assert_eq!(status.code(), tonic::Code::PermissionDenied);
        assert!(status.message().ends_with(&format!(".First/{method} is closed")), "{status}");
    }
    let mut request = tonic::Request::new(word("a"));
    request.metadata_mut().insert("name", "Ada".parse()?);
    let response = client.echo(request).await?;
    assert_eq!(response.metadata().get("served-by").map(tonic::metadata::MetadataValue::as_bytes), Some(&b"north"[..]));
    let mut request = tonic::Request::new(words());
    request.metadata_mut().insert("name", "Ada".parse()?);
    assert_eq!(client.talk(request).await?.into_inner().message().await?, Some(word("a")));
    Ok(())
}

/// Notes how many of its handlers run at once.
#[derive(Default)]
struct Counting {
    running: AtomicUsize,
    most: Arc<AtomicUsize>,
}

impl services::First for Counting {
    async fn echo(&self, request: Request<Word>) -> Result<Response<Word>, Status> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        // The others have their turn, if they may.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(Response::new(request.into_inner()))
    }

    async fn watch(&self, _request: Request<Count>) -> Result<Response<ResponseStream<Word>>, Status> {
        Err(Status::unimplemented("it does not watch"))
    }

    async fn feed(&self, request: Request<Streaming<Word>>) -> Result<Response<Count>, Status> {
        drop(request);
        Err(Status::unimplemented("it is not fed"))
    }

    async fn talk(&self, request: Request<Streaming<Word>>) -> Result<Response<ResponseStream<Word>>, Status> {
        drop(request);
        Err(Status::unimplemented("it does not talk"))
    }
}

#[tokio::test]
async fn calls_by_tonic_hold_to_the_policy_of_their_method() -> Result<(), Box<dyn Error>> {
    for (policy, expected) in [(Policy::AtMost(2), 2), (Policy::Concurrent, 8)] {
        let service = Counting::default();
        let most = service.most.clone();
        let (_, address) = serve_with(service, |builder| builder.policy(policy)).await?;
        let client = services::first_client::FirstClient::connect(format!("http://{address}")).await?;
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let mut client = client.clone();
                tokio::spawn(async move { client.echo(word("a")).await })
            })
            .collect();
        for call in calls {
            call.await??;
        }
        let most = most.load(Ordering::SeqCst);
        assert!(most > 1 && most <= expected, "{most} at once with {policy:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_service_that_was_not_added_to_the_builder_of_a_door_is_refused_by_name() -> Result<(), Box<dyn Error>> {
    let door = frpc::Server::builder().grpc_door()?;
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let address = incoming.local_addr()?;
    let tonics = services::first_server::FirstServer::new(door.serve(Service));
    tokio::spawn(tonic::transport::Server::builder().add_service(tonics).serve_with_incoming(incoming));
    let mut client = services::first_client::FirstClient::connect(format!("http://{address}")).await?;
    let status = client.echo(word("a")).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    assert!(status.message().contains("add a server of "), "{status}");
    Ok(())
}

#[tokio::test]
async fn a_stream_that_tonic_breaks_off_fails_in_the_handler_with_its_status() -> Result<(), Box<dyn Error>> {
    let mut words = Streaming::from_stream(frpc::iter([
        Ok(word("a")),
        Err(tonic::Status::data_loss("gone").into()),
        Ok(word("b")),
    ]));
    assert_eq!(words.message().await?, Some(word("a")));
    let status = words.message().await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::DataLoss, "gone"));
    assert_eq!(words.message().await?, None, "after an error the stream is over");
    Ok(())
}

/// Accepts `clerk` and `guest`, the latter for a minute.
struct Names;

impl frpc::Tokens for Names {
    fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        let principal = Principal::new(token, Proof::Token { issuer: "tests".to_owned() }).with_role(token);
        match token {
            "clerk" => Ok(principal),
            "guest" => Ok(principal.expiring_in(Duration::from_secs(60))),
            _ => Err(TokenError::Refused("nobody".to_owned())),
        }
    }
}

#[tokio::test]
async fn the_rules_of_a_server_hold_for_calls_of_every_kind_that_tonic_brings() -> Result<(), Box<dyn Error>> {
    let methods = ["Echo", "Watch", "Feed", "Talk"].map(|name| format!("services.First/{name}"));
    let access = frpc::Access::new().tokens(Names).allow(methods, frpc::Who::role("clerk"));
    let access = access.limit(frpc::Who::role("guest"), frpc::Rate::per_second(1000));
    let (_, address) = serve_with(Service, |builder| builder.access(access)).await?;
    let channel = tonic::transport::Channel::from_shared(format!("http://{address}"))?.connect().await?;
    for (token, expected) in [
        ("clerk", tonic::Code::Ok),
        ("guest", tonic::Code::PermissionDenied),
        ("forged", tonic::Code::Unauthenticated),
        ("", tonic::Code::Unauthenticated),
    ] {
        let bearer = |mut request: tonic::Request<()>| {
            if !token.is_empty() {
                let value = format!("Bearer {token}").parse().expect("it is a text");
                request.metadata_mut().insert("authorization", value);
            }
            Ok(request)
        };
        let mut client = services::first_client::FirstClient::with_interceptor(channel.clone(), bearer);
        let codes = [
            client.echo(word("a")).await.map(|_| ()),
            client.watch(Count { count: 1 }).await.map(|_| ()),
            client.feed(frpc::iter([word("a")])).await.map(|_| ()),
            client.talk(frpc::iter([word("a")])).await.map(|_| ()),
        ]
        .map(|answer| answer.map_or_else(|status| status.code(), |()| tonic::Code::Ok));
        assert_eq!(codes, [expected; 4], "{token}");
    }
    Ok(())
}
