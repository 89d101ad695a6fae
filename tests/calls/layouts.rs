//! Tests of peers whose schemas differ: compatible layouts are decoded, with defaults for missing fields, and others
//! are rejected.

use frisbee::PacketId;
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::serve;
use frisbee_tests::versions::{broken, first, second, stranger};
use frpc::{Channel, Code, Request, Response, ResponseStream, Server, Status, Streaming};
use std::net::SocketAddr;

struct Parrot;

impl first::Parrot for Parrot {
    async fn say(&self, request: Request<first::Ask>) -> Result<Response<first::Answer>, Status> {
        let first::Ask { word, times } = request.into_inner();
        Ok(Response::new(first::Answer { words: repeat(&word, times, "") }))
    }

    async fn chat(
        &self,
        request: Request<Streaming<first::Ask>>,
    ) -> Result<Response<ResponseStream<first::Answer>>, Status> {
        let mut requests = request.into_inner();
        let (sender, answers) = ResponseStream::channel(4);
        tokio::spawn(async move {
            while let Ok(Some(first::Ask { word, times })) = requests.message().await {
                let answer = first::Answer { words: repeat(&word, times, "") };
                sender.send(Ok(answer)).await.ok();
            }
        });
        Ok(Response::new(answers))
    }
}

impl second::Parrot for Parrot {
    async fn say(&self, request: Request<second::Ask>) -> Result<Response<second::Answer>, Status> {
        Ok(Response::new(answer(request.into_inner())))
    }

    async fn chat(
        &self,
        request: Request<Streaming<second::Ask>>,
    ) -> Result<Response<ResponseStream<second::Answer>>, Status> {
        let mut requests = request.into_inner();
        let (sender, answers) = ResponseStream::channel(4);
        tokio::spawn(async move {
            loop {
                let message = match requests.message().await {
                    Ok(Some(requests)) => Ok(answer(requests)),
                    Ok(None) => return,
                    Err(status) => Err(status),
                };
                if message.is_err() | sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(answers))
    }

    async fn listen(&self, request: Request<second::Ask>) -> Result<Response<second::Answer>, Status> {
        Ok(Response::new(answer(request.into_inner())))
    }
}

impl broken::Parrot for Parrot {
    async fn say(&self, _request: Request<broken::Ask>) -> Result<Response<broken::Answer>, Status> {
        unreachable!("no peer in these tests understands it")
    }

    async fn chat(
        &self,
        _request: Request<Streaming<broken::Ask>>,
    ) -> Result<Response<ResponseStream<broken::Answer>>, Status> {
        unreachable!("no peer in these tests understands it")
    }
}

impl stranger::Counter for Parrot {
    async fn count(&self, request: Request<stranger::Number>) -> Result<Response<stranger::Number>, Status> {
        Ok(Response::new(request.into_inner()))
    }
}

fn repeat(word: &str, times: i32, between: &str) -> String {
    vec![word; usize::try_from(times).unwrap_or(0)].join(between)
}

fn answer(ask: second::Ask) -> second::Answer {
    let mut words = repeat(&ask.word, ask.times, ask.between.as_deref().unwrap_or(""));
    match ask.ending {
        Some(second::ask::Ending::WordAtEnd(end)) => words.push_str(&end),
        Some(second::ask::Ending::Question(question)) => words.push(if question { '?' } else { '.' }),
        None => {}
    }
    second::Answer { length: words.len() as u64, words }
}

async fn serve_first() -> SocketAddr {
    serve(Server::builder().add_service(first::ParrotServer::new(Parrot))).await
}

async fn serve_second() -> SocketAddr {
    serve(Server::builder().add_service(second::ParrotServer::new(Parrot))).await
}

fn old(word: &str) -> first::Ask {
    first::Ask { word: word.into(), times: 2 }
}

fn new(word: &str) -> second::Ask {
    let ending = Some(second::ask::Ending::Question(true));
    second::Ask { word: word.into(), times: 2, between: Some("-".into()), ending }
}

#[tokio::test]
async fn fields_missing_in_requests_of_an_earlier_layout_get_defaults() {
    let client = first::ParrotClient::connect(serve_second().await.to_string()).await.unwrap();
    // First in the flat form, and in the rich form once the server is known.
    assert_eq!(client.say(old("ab")).await.unwrap().into_inner().words, "abab");
    client_verdict(&client).await;
    assert_eq!(client.say(old("cd")).await.unwrap().into_inner().words, "cdcd");
    let requests = frpc::iter([old("x"), old("y")]);
    let mut answers = client.chat(requests).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap().unwrap().words, "xx");
    assert_eq!(answers.message().await.unwrap().unwrap().words, "yy");
    assert_eq!(answers.message().await.unwrap(), None);
}

/// Waits until the client knows the kind of its server, as opening a stream does.
async fn client_verdict(client: &first::ParrotClient) {
    let mut none = client.chat(frpc::iter([])).await.unwrap().into_inner();
    assert_eq!(none.message().await.unwrap(), None);
}

#[tokio::test]
async fn fields_missing_in_replies_of_an_earlier_layout_get_defaults() {
    let channel = Channel::builder().calls::<second::ParrotClient>().connect(serve_first().await.to_string()).await;
    let client = second::ParrotClient::new(channel.unwrap());
    for _ in 0..2 {
        let answer = client.say(new("ab")).await.unwrap().into_inner();
        assert_eq!(answer, second::Answer { words: "abab".into(), length: 0 });
        let mut answers = client.chat(frpc::iter([new("x")])).await.unwrap().into_inner();
        assert_eq!(answers.message().await.unwrap().unwrap(), second::Answer { words: "xx".into(), length: 0 });
        assert_eq!(answers.message().await.unwrap(), None);
    }
    let missing = client.listen(new("ab")).await.unwrap_err();
    assert_eq!(missing.code(), Code::Unimplemented, "{missing}");
}

#[tokio::test]
async fn equal_layouts_miss_nothing() {
    let client = second::ParrotClient::connect(serve_second().await.to_string()).await.unwrap();
    let answer = client.say(new("ab")).await.unwrap().into_inner();
    assert_eq!(answer, second::Answer { words: "ab-ab?".into(), length: 6 });
    let mut answers = client.chat(frpc::iter([new("x")])).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap().unwrap().words, "x-x?");
}

#[tokio::test]
async fn layouts_that_do_not_fit_are_refused_and_never_misread() {
    let address = serve_first().await.to_string();
    // The server rejects the first call, which does not wait for HELLO. Afterwards the client knows the layout.
    let client = broken::ParrotClient::connect(&address).await.unwrap();
    let ask = || broken::Ask { times: 1, word: "a".into() };
    let by_server = client.say(ask()).await.unwrap_err();
    assert_eq!(by_server.code(), Code::FailedPrecondition, "{by_server}");
    assert!(by_server.message().contains("versions.Parrot"), "{by_server}");
    let by_client = client.chat(frpc::iter([ask()])).await.unwrap_err();
    assert_eq!(by_client.code(), Code::FailedPrecondition, "{by_client}");
    assert!(!by_client.may_have_run());
    // A call to a service that is not in the channel's list waits for the server's HELLO.
    let client = broken::ParrotClient::new(Channel::connect(&address).await.unwrap());
    let by_client = client.say(ask()).await.unwrap_err();
    assert_eq!(by_client.code(), Code::FailedPrecondition, "{by_client}");
    assert!(!by_client.may_have_run());
    // The same in the other direction.
    let address = serve(Server::builder().add_service(broken::ParrotServer::new(Parrot))).await;
    let client = second::ParrotClient::connect(address.to_string()).await.unwrap();
    assert_eq!(client.say(new("a")).await.unwrap_err().code(), Code::FailedPrecondition);
}

/// This holds whether the client detected the mismatch or sent the call and the server rejected it.
#[tokio::test]
async fn a_call_whose_layout_does_not_fit_has_not_run() {
    let address = serve_first().await.to_string();
    for _ in 0..50 {
        let client = broken::ParrotClient::connect(address.as_str()).await.expect("server should be listening");
        let status = client.say(broken::Ask::default()).await.expect_err("incompatible layouts should be rejected");
        assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
    }
}

#[tokio::test]
async fn missing_service_is_not_mistaken_for_its_successor() {
    let address = serve(Server::builder().add_service(stranger::CounterServer::new(Parrot))).await.to_string();
    let named = first::ParrotClient::connect(&address).await.unwrap();
    let by_server = named.say(old("a")).await.unwrap_err();
    assert_eq!(by_server.code(), Code::Unimplemented, "{by_server}");
    assert!(by_server.message().contains("versions.Parrot"), "{by_server}");
    let unnamed = first::ParrotClient::new(Channel::connect(&address).await.unwrap());
    let by_client = unnamed.say(old("a")).await.unwrap_err();
    assert_eq!(by_client.code(), Code::Unimplemented, "{by_client}");
    assert!(by_client.message().contains("versions.Counter"), "{by_client}");
    // The existing service can still be called.
    let there = stranger::CounterClient::new(Channel::connect(&address).await.unwrap());
    assert_eq!(there.count(stranger::Number { value: 7 }).await.unwrap().into_inner().value, 7);
}

#[tokio::test]
async fn fields_may_be_missing_only_where_an_earlier_layout_was_shown() {
    // The peer sends no layout, like Go.
    let mut go = Raw::connect(serve_second().await).await;
    let cut = [0x08, 0x00, 0x05, 0x0a, 0x01, b'a', 0x0c, 0x02];
    go.write(&packet(1, 10, &cut)).await;
    let refused = go.next().await.expect("every request should be answered");
    assert_eq!((refused.id, refused.body[0]), (PacketId(1), 0x06), "{refused:?}");
}

/// Regression: such a client waited for the server's HELLO in a busy loop.
#[tokio::test]
async fn client_without_hello_assumes_go_server_at_once() {
    let config = frisbee::Config::default().hello(false);
    let channel = Channel::builder().config(config).connect(serve_first().await.to_string()).await.unwrap();
    let client = first::ParrotClient::new(channel);
    let mut request = Request::new(old("ab"));
    request.metadata_mut().insert("not", "sent").unwrap();
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(20), client.say(request)).await;
    assert_eq!(outcome.expect("call should not wait").unwrap().into_inner().words, "abab");
}
