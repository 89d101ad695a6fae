//! The server that the tests of the TypeScript client call, natively and over WebSocket: `desk ADDRESS [--layout
//! first|second|moved] [--tls FOLDER] [--origin ORIGIN] [--impatient] [--console] [--udp]`.
//!
//! The server prints its address on a line of its own, and exits when its standard input is closed.
//!
//! * `--layout` serves only this layout of `versions.proto`.
//! * `--tls` accepts TLS in addition to plaintext. The identity is read from the folder, or created there.
//! * `--origin` admits pages of this origin.
//! * `--impatient` shortens the keepalive timeouts.
//! * `--console` serves the console, the schema and the activity of the server.
//! * `--udp` accepts JSON-RPC datagrams. Their address is printed on a line before the other one.

use desk::{All, Chunk, Desk, DeskServer, Empty, Failure, Number, PageClient, Pair, Range, Seen, Sum, Text, Time};
use forms::{Forms, FormsServer, Known};
use frisbee::{Handlers, Operation, Packet, RawTransport};
use frisbee_pubsub::{Broker, History, OPERATIONS};
use frpc::tls::{Identity, ServerTls};
use frpc::{Code, Config, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Console, Gateway, Http, ServeGateway as _, Udp};
use frpc_reflection::{Introspection, Reflection};
use frpc_telemetry::Counters;
use rcgen::generate_simple_self_signed;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

mod desk {
    frpc::include_proto!("desk");
}

mod forms {
    frpc::include_proto!("forms");
}

mod first {
    include!(concat!(env!("OUT_DIR"), "/first/versions.rs"));
}

mod second {
    include!(concat!(env!("OUT_DIR"), "/second/versions.rs"));
}

mod moved {
    include!(concat!(env!("OUT_DIR"), "/moved/versions.rs"));
}

type Reply<T> = Result<Response<T>, Status>;

/// Operation of a mounted protocol that replies to texts in upper case.
const SHOUT: u16 = 1000;

fn shouting() -> Handlers {
    let shout = Operation::user(SHOUT).expect("operation number should be in the user range");
    Handlers::new().on(shout, |_connection, packet| async move {
        Some(Packet::new(packet.id, packet.operation, packet.body.to_ascii_uppercase()))
    })
}

/// Sends a greeting. Then echoes received bytes in upper case until the end of input.
async fn shout(mut raw: RawTransport) {
    let mut buffer = [0; 4096];
    let mut sent = raw.write_all(b"ready ").await;
    while let (Ok(()), Ok(length @ 1..)) = (&sent, raw.read(&mut buffer).await) {
        buffer[..length].make_ascii_uppercase();
        sent = raw.write_all(&buffer[..length]).await;
    }
    // The client may have disconnected.
    drop(raw.shutdown().await);
}

/// Timeouts with `--impatient`: the silence before a PING, and the silence before the connection is closed.
const IMPATIENT: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(3));

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let (mut builder, mut http, mut layout, mut udp) =
        (Server::builder().calls::<PageClient>(), Http::new().connect().cors(), None, None);
    let introspection = Introspection::new();
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--layout" => layout = Some(value()?),
            "--origin" => http = http.origin(value()?),
            "--tls" => builder = builder.tls_or_plain(ServerTls::new(identity(Path::new(&value()?))?)?),
            "--console" => {
                http = http.console(Console::new());
                builder = builder.add_service(Reflection::new()).add_service(FormsServer::new(Mirror));
                builder = builder.add_service(introspection.clone()).inspectable().batch_observer(Counters::new());
            }
            "--udp" => {
                let socket = Udp::bind("127.0.0.1:0")?;
                writeln!(std::io::stdout(), "{}", socket.local_addr())?;
                udp = Some(socket);
            }
            "--impatient" => {
                let (ping_interval, idle_timeout) = IMPATIENT;
                builder = builder.config(Config::default().ping_interval(ping_interval).idle_timeout(idle_timeout));
            }
            _ => return Err(format!("there is no {flag}").into()),
        }
    }
    let gateway = Gateway::new().http(http).web_socket();
    let builder = builder.gateway(match udp {
        Some(udp) => gateway.udp(udp),
        None => gateway,
    });
    let builder = match layout.as_deref() {
        None => {
            let histories =
                Broker::builder().history("kept.>", History::last(100)).history("load.>", History::last(5_000));
            let broker = histories.presence("rooms.*", |_| Some("page".to_owned())).build();
            builder
                .add_service(DeskServer::new(Served::default()))
                .method_hand_off("desk.Desk/Blob")
                .mount(OPERATIONS, broker)
                .mount(SHOUT..=SHOUT, shouting())
        }
        Some("first") => builder.add_service(first::ParrotServer::new(Parrot)),
        Some("second") => builder.add_service(second::ParrotServer::new(Parrot)),
        Some("moved") => builder.add_service(moved::ParrotServer::new(Parrot)),
        Some(other) => return Err(format!("there is no layout {other}").into()),
    };
    let (mut input, mut byte) = (tokio::io::stdin(), [0]);
    let ended = input.read(&mut byte);
    if let Some(path) = address.strip_prefix("unix:") {
        let server = builder.bind_unix(path).await?;
        writeln!(std::io::stdout(), "{address}")?;
        tokio::select! {
            served = server.serve() => served?,
            _ = ended => {}
        }
        return Ok(());
    }
    let server = builder.bind(address).await?;
    let _introspection = introspection.server("desk", server.inspector());
    writeln!(std::io::stdout(), "{}", server.local_addr())?;
    tokio::select! {
        served = server.serve() => served?,
        _ = ended => {}
    }
    Ok(())
}

/// Returns the TLS identity in a folder. If there is none, creates it, so that a restarted server has the same
/// identity.
fn identity(folder: &Path) -> Result<Identity, Box<dyn Error>> {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    if !key.exists() {
        let made = generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        fs::write(&certificate, made.cert.pem())?;
        fs::write(&key, made.signing_key.serialize_pem())?;
    }
    Ok(Identity::from_pem(fs::read(certificate)?, fs::read(key)?)?)
}

struct Mirror;

impl Forms for Mirror {
    async fn echo(&self, request: Request<Known>) -> Reply<Known> {
        Ok(Response::new(request.into_inner()))
    }
}

#[derive(Clone, Default)]
struct Served(Arc<State>);

#[derive(Default)]
struct State {
    waiting: AtomicU32,
    dropped: AtomicU32,
    flooded: AtomicU32,
    got: AtomicU32,
    left: AtomicU32,
    ended: AtomicU32,
    release: Notify,
}

/// Counts calls that are waiting, and calls that were dropped before they completed.
struct Waits<'a>(&'a State, bool);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(u32::from(!self.1), Ordering::SeqCst);
    }
}

/// Counts the end of a stream when it is dropped.
struct Streams(Arc<State>);

impl Drop for Streams {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

fn page<T>(request: &Request<T>) -> Result<PageClient, Status> {
    request.channel().map(PageClient::new).ok_or_else(|| Status::internal("it came by no connection"))
}

fn numbers(Range { from, count }: Range) -> impl Iterator<Item = Number> + Send {
    (0..i64::from(count)).map(move |step| Number { value: from.wrapping_add(step) })
}

impl Desk for Served {
    async fn echo(&self, request: Request<All>) -> Reply<All> {
        Ok(Response::new(request.into_inner()))
    }

    async fn add(&self, request: Request<Pair>) -> Reply<Sum> {
        let Pair { a, b } = request.into_inner();
        Ok(Response::new(Sum { total: a.wrapping_add(b), count: 2 }))
    }

    async fn blob(&self, request: Request<Chunk>) -> Reply<Chunk> {
        if let Some(asked) = request.hand_off() {
            match &*request.get_ref().data {
                b"keep" => {}
                b"fail" => return Err(Status::unavailable("no connection today")),
                _ => asked.accept(shout),
            }
        }
        let metadata = request.metadata().clone();
        let mut response = Response::new(request.into_inner());
        if let Some(value) = metadata.get("sent") {
            response.metadata_mut().insert("got", value).map_err(|error| Status::internal(error.to_string()))?;
        }
        if let Some(value) = metadata.get_bin("sent-bin") {
            let inserted = response.metadata_mut().insert_bin("got-bin", value);
            inserted.map_err(|error| Status::internal(error.to_string()))?;
        }
        Ok(response)
    }

    async fn fail(&self, request: Request<Failure>) -> Reply<Empty> {
        let Failure { code, text, details } = request.into_inner();
        Err(Status::new(Code::from_i32(code), text).with_details(details))
    }

    async fn wait(&self, request: Request<Time>) -> Reply<Time> {
        let time = request.into_inner();
        self.0.waiting.fetch_add(1, Ordering::SeqCst);
        let mut waits = Waits(&self.0, false);
        tokio::time::sleep(Duration::from_millis(time.millis.into())).await;
        waits.1 = true;
        Ok(Response::new(time))
    }

    async fn get(&self, request: Request<Time>) -> Reply<Time> {
        let left = request.timeout().map_or(0, |left| left.as_millis());
        self.0.left.store(u32::try_from(left).unwrap_or(u32::MAX), Ordering::SeqCst);
        self.0.got.fetch_add(1, Ordering::SeqCst);
        Ok(Response::new(request.into_inner()))
    }

    async fn count(&self, request: Request<Range>) -> Reply<ResponseStream<Number>> {
        let range = request.into_inner();
        if range.count < 0 {
            let failure = Err(Status::out_of_range("negative count"));
            let two = numbers(Range { count: 2, ..range }).map(Ok);
            return Ok(Response::new(ResponseStream::new(frpc::iter(two.chain([failure])))));
        }
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers(range).map(Ok)))))
    }

    async fn flood(&self, request: Request<Range>) -> Reply<ResponseStream<Chunk>> {
        let Range { from, count } = request.into_inner();
        let length = usize::try_from(from).map_err(|_| Status::invalid_argument("a negative length"))?;
        let (state, gone) = (self.0.clone(), Streams(self.0.clone()));
        let chunks = (0..count).map(move |_| {
            let _held = &gone;
            state.flooded.fetch_add(1, Ordering::SeqCst);
            Ok(Chunk { data: vec![1; length] })
        });
        Ok(Response::new(ResponseStream::new(frpc::iter(chunks))))
    }

    async fn total(&self, request: Request<Streaming<Number>>) -> Reply<Sum> {
        let mut numbers = request.into_inner();
        let mut sum = Sum::default();
        while let Some(number) = numbers.message().await? {
            sum.total = sum.total.wrapping_add(number.value);
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn sink(&self, request: Request<Streaming<Chunk>>) -> Reply<Sum> {
        let _gone = Streams(self.0.clone());
        let mut chunks = request.into_inner();
        self.0.release.notified().await;
        let mut sum = Sum::default();
        while let Some(chunk) = chunks.message().await? {
            sum.total += i64::try_from(chunk.data.len()).unwrap_or(i64::MAX);
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn release(&self, _request: Request<Empty>) -> Reply<Empty> {
        self.0.release.notify_one();
        Ok(Response::new(Empty {}))
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let mut texts = request.into_inner();
        let (answers, stream) = ResponseStream::channel(1);
        let gone = Streams(self.0.clone());
        tokio::spawn(async move {
            let _gone = gone;
            loop {
                let answer = match texts.message().await {
                    Ok(Some(text)) => Ok(Text { value: format!("re:{}", text.value) }),
                    Ok(None) => return,
                    Err(status) => Err(status),
                };
                if answers.send(answer).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }

    async fn state(&self, _request: Request<Empty>) -> Reply<Seen> {
        let of = |count: &AtomicU32| count.load(Ordering::SeqCst);
        let State { waiting, dropped, flooded, got, left, ended, .. } = &*self.0;
        Ok(Response::new(Seen {
            waiting: of(waiting),
            dropped: of(dropped),
            flooded: of(flooded),
            got: of(got),
            left: of(left),
            ended: of(ended),
        }))
    }

    async fn ask_back(&self, request: Request<Text>) -> Reply<Text> {
        page(&request)?.ask(request.into_inner()).await
    }

    async fn feed_back(&self, request: Request<Range>) -> Reply<Sum> {
        let mut fed = page(&request)?.feed(request.into_inner()).await?.into_inner();
        let mut sum = Sum::default();
        while let Some(number) = fed.message().await? {
            sum.total += number.value;
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn gather_back(&self, request: Request<Range>) -> Reply<Sum> {
        let page = page(&request)?;
        let (sender, stream) = RequestStream::channel(1);
        let range = request.into_inner();
        tokio::spawn(async move {
            for number in numbers(range) {
                if sender.send(number).await.is_err() {
                    return;
                }
            }
        });
        page.gather(stream).await
    }

    async fn give_up_back(&self, request: Request<Time>) -> Reply<Empty> {
        let page = page(&request)?;
        let millis = request.into_inner().millis;
        let call = page.slow(Time { millis });
        match tokio::time::timeout(Duration::from_millis(millis.into()), call).await {
            Ok(answered) => answered,
            Err(_) => Ok(Response::new(Empty {})),
        }
    }
}

struct Parrot;

fn repeated(word: &str, times: i32) -> String {
    vec![word; usize::try_from(times).unwrap_or_default().min(100)].join(" ")
}

/// Implements one version of the `Parrot` service. It returns its requests unchanged.
macro_rules! parrot {
    ($version:ident, $words:ident => $answer:expr $(, $listen:item)?) => {
        impl $version::Parrot for Parrot {
            async fn say(&self, request: Request<$version::Ask>) -> Reply<$version::Answer> {
                let ask = request.into_inner();
                let $words = repeated(&ask.word, ask.times);
                Ok(Response::new($answer))
            }

            async fn chat(
                &self,
                request: Request<Streaming<$version::Ask>>,
            ) -> Reply<ResponseStream<$version::Answer>> {
                let mut messages = request.into_inner();
                let (answers, stream) = ResponseStream::channel(1);
                tokio::spawn(async move {
                    while let Ok(Some(ask)) = messages.message().await {
                        let $words = repeated(&ask.word, ask.times);
                        if answers.send(Ok($answer)).await.is_err() {
                            return;
                        }
                    }
                });
                Ok(Response::new(stream))
            }

            $($listen)?
        }
    };
}

parrot!(first, words => first::Answer { words });
parrot!(moved, words => moved::Answer { words });
parrot!(
    second,
    words => second::Answer { length: words.len() as u64, words },
    async fn listen(&self, request: Request<second::Ask>) -> Reply<second::Answer> {
        let between = request.into_inner().between.unwrap_or_default();
        Ok(Response::new(second::Answer { words: between, length: 0 }))
    }
);
