//! One implementation, served by our protocol and by gRPC.

#[macro_use]
mod first;

use frpc::tonic::transport::server::TcpIncoming;
use frpc::{Code, Request, Response, ResponseStream, Status, Streaming, tonic};
use schema_tests::grpc::services::{self, Count, Word};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

struct Service;
first!(Service, schema_tests::grpc::services);

/// The addresses at which one service is served: by ours and by tonic.
async fn serve(service: impl services::First) -> Result<(SocketAddr, SocketAddr), Box<dyn Error>> {
    let service = Arc::new(service);
    let ours = services::FirstServer::from_arc(service.clone());
    let ours = frpc::Server::builder().add_service(ours).bind("127.0.0.1:0").await?;
    let our_address = ours.local_addr();
    tokio::spawn(ours.serve());

    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let tonics_address = incoming.local_addr()?;
    let tonics = services::first_server::FirstServer::from_arc(service);
    tokio::spawn(tonic::transport::Server::builder().add_service(tonics).serve_with_incoming(incoming));
    Ok((our_address, tonics_address))
}

fn word(word: &str) -> Word {
    Word { word: word.to_owned() }
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
