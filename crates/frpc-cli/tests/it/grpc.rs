//! Commands with a gRPC server, which is implemented by tonic and describes itself by `grpc.reflection.v1alpha` only.

use crate::gateway::Gateway;
use crate::ways::{root, run, stdout};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use prost::Message;
use samples::greet::{Greeting, Name};
use std::convert::Infallible;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

/// A request of the reflection service.
#[derive(Clone, PartialEq, Message)]
struct Asked {
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Answered {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Problem>,
}

#[derive(Clone, PartialEq, Message)]
struct Problem {
    #[prost(int32, tag = "1")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Name>,
}

/// Returns one file for each question, without its imports. One of the services has no schema.
fn describe(asked: &Asked) -> Answered {
    let folder = root().join("examples/proto");
    let set = protox::compile([folder.join("greet.proto")], [folder]).expect("schema should compile");
    let file = |name: &str| Files {
        files: set.file.iter().filter(|file| file.name() == name).map(Message::encode_to_vec).collect(),
    };
    let services = ["greet.Greeter", "shop.Undescribed"].map(|name| Name { name: name.to_owned() });
    let services = Services { services: services.into() };
    match (&asked.file_by_filename, &asked.file_containing_symbol) {
        (Some(name), _) => Answered { files: Some(file(name)), ..Answered::default() },
        (_, Some(symbol)) if symbol == "greet.Greeter" => {
            Answered { files: Some(file("greet.proto")), ..Answered::default() }
        }
        (_, Some(_)) => Answered { error: Some(Problem { code: 5 }), ..Answered::default() },
        _ => Answered { services: asked.list_services.is_some().then_some(services), ..Answered::default() },
    }
}

async fn answer(request: http::Request<Body>) -> http::Response<Body> {
    match request.uri().path() {
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
            let handler = |request: Request<Streaming<Asked>>| async move {
                let answers = request.into_inner().map_ok(|asked| describe(&asked));
                Ok(Response::new(answers.boxed()))
            };
            Grpc::new(ProstCodec::<Answered, Asked>::default()).streaming(service_fn(handler), request).await
        }
        "/greet.Greeter/Greet" => {
            let handler = |request: Request<Name>| async move {
                let caller = request.metadata().get("tenant").map_or("", |tenant| tenant.to_str().unwrap_or(""));
                let text = format!("{} {caller}", request.get_ref().name);
                match &*request.get_ref().name {
                    "" => Err(Status::invalid_argument("the name is empty")),
                    _ => Ok(Response::new(Greeting { text })),
                }
            };
            Grpc::new(ProstCodec::<Greeting, Name>::default()).unary(service_fn(handler), request).await
        }
        "/greet.Greeter/Recite" => {
            let handler = |request: Request<Name>| async move {
                let name = request.into_inner().name;
                let verses = (1..=3).map(move |number| Ok(Greeting { text: format!("{number} {name}") }));
                Ok(Response::new(stream::iter(verses)))
            };
            Grpc::new(ProstCodec::<Greeting, Name>::default()).server_streaming(service_fn(handler), request).await
        }
        _ => Status::unimplemented("unknown method").into_http(),
    }
}

/// Starts the server and returns its address.
fn serve() -> String {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().expect("loopback address should be valid"))
        .expect("loopback port should be free");
    let address = incoming.local_addr().expect("listener should have a local address");
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer(request).await) });
    tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
    address.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_call_grpc_server_by_reflection() {
    let address = format!("grpc://{}", serve());
    tokio::task::block_in_place(|| {
        assert_eq!(stdout(&run(&address, &["list"])), "greet.Greeter\n");
        let listed = stdout(&run(&address, &["list", "greet.Greeter"]));
        assert!(listed.contains("Greet") && listed.contains("Recite"), "{listed}");
        let called = run(&address, &["call", "Greet", "name=Ada", "-H", "tenant=blue", "--json"]);
        assert_eq!(stdout(&called), "{\"text\":\"Ada blue\"}\n");
        let verses = stdout(&run(&address, &["call", "Recite", "name=Ada", "--json"]));
        assert_eq!(verses.lines().last(), Some("{\"text\":\"3 Ada\"}"), "{verses}");
        let failed = run(&address, &["call", "Greet"]);
        assert_eq!(failed.status.code(), Some(64 + 3), "{failed:?}");
        let schema = ["-p", "examples/proto/greet.proto"];
        let called = run(&address, &[&schema[..], &["call", "Greet", "name=Ada", "--json"]].concat());
        assert_eq!(stdout(&called), "{\"text\":\"Ada \"}\n");
        let load = stdout(&run(&address, &["load", "Greet", "name=Ada", "--duration", "100ms", "--json"]));
        assert!(load.contains("\"OK\""), "{load}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_learns_schema_of_grpc_server() {
    let gateway = Gateway::new(&serve(), &["--from-grpc"]);
    tokio::task::block_in_place(|| {
        let fields = "content-type: application/json\r\n";
        let response = gateway.post("/greet.Greeter/Greet", fields, br#"{"name":"Ada"}"#);
        assert!(response.ends_with(r#"{"text":"Ada "}"#), "{response}");
        assert!(stdout(&run(&gateway.address, &["list"])).contains("greet.Greeter"));
    });
}

/// Regression test: `--from-grpc` did not apply to the address in `FRPC_SERVER`.
#[tokio::test(flavor = "multi_thread")]
async fn gateway_calls_grpc_server_of_environment() {
    let gateway = Gateway::of_environment(&serve(), &["--from-grpc"]);
    tokio::task::block_in_place(|| {
        let fields = "content-type: application/json\r\n";
        let response = gateway.post("/greet.Greeter/Greet", fields, br#"{"name":"Ada"}"#);
        assert!(response.ends_with(r#"{"text":"Ada "}"#), "{response}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_balance_calls_over_several_grpc_servers() {
    let (one, other) = (serve(), serve());
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let file = folder.path().join("servers");
    std::fs::write(&file, format!("{one}\n{other} weight=2\n")).expect("file should be writable");
    let gateway = Gateway::new(&one, &["--to", &other, "--from-grpc"]);
    tokio::task::block_in_place(|| {
        // The second server does not listen.
        for servers in [
            format!("grpc://{one},127.0.0.1:1"),
            format!("grpc://{one},grpc://127.0.0.1:1"),
            format!("grpc+file:{}", file.display()),
        ] {
            let called = run(&servers, &["call", "Greet", "name=Ada", "--json"]);
            assert_eq!(stdout(&called), "{\"text\":\"Ada \"}\n");
            let load = stdout(&run(&servers, &["load", "Greet", "name=Ada", "--duration", "100ms", "--json"]));
            assert!(load.contains("\"OK\"") && !load.contains("UNAVAILABLE"), "{load}");
        }
        let fields = "content-type: application/json\r\n";
        let response = gateway.post("/greet.Greeter/Greet", fields, br#"{"name":"Ada"}"#);
        assert!(response.ends_with(r#"{"text":"Ada "}"#), "{response}");
    });
}
