//! Tests of the schema that native clients receive from a server.

use super::support::catalog::{AdminClient, Thing};
use super::support::long::LongServer;
use super::support::{House, builder, connect, connect_with, server};
use frisbee_tests::interop::InteropServer;
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::service::Service as Interop;
use frpc::{Channel, Code, Config, Error};
use frpc_reflection::v1::{Codec, FilesRequest, Idempotency, ListRequest, ReflectionClient, Service};
use frpc_reflection::{Health, Reflection, ServerSchema};
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use std::path::Path;
use tokio::io::AsyncReadExt as _;

fn service<'a>(schema: &'a ServerSchema, name: &str) -> &'a Service {
    schema.services.iter().find(|service| service.name == name).expect("service should be offered")
}

fn files(set: &[u8]) -> Vec<FileDescriptorProto> {
    FileDescriptorSet::decode(set).expect("schema should be a descriptor set").file
}

/// Returns the names of the files that the server sends, in order.
async fn fetch(channel: &Channel, request: FilesRequest) -> Result<Vec<String>, frpc::Status> {
    let mut pieces = ReflectionClient::new(channel.clone()).files(request).await?.into_inner();
    let mut set = Vec::new();
    while let Some(piece) = pieces.message().await? {
        set.extend_from_slice(&piece.data);
    }
    Ok(files(&set).iter().map(|file| file.name().to_owned()).collect())
}

fn names(names: &[&str]) -> FilesRequest {
    FilesRequest { names: names.iter().map(|name| (*name).to_owned()).collect(), ..FilesRequest::default() }
}

fn symbols(symbols: &[&str]) -> FilesRequest {
    FilesRequest { symbols: symbols.iter().map(|name| (*name).to_owned()).collect(), ..FilesRequest::default() }
}

#[tokio::test]
async fn services_are_listed_with_all_method_properties() {
    let schema =
        ServerSchema::fetch(&connect(&server(Reflection::new())).await).await.expect("schema should be fetched");
    let listed: Vec<_> = schema.services.iter().map(|service| &*service.name).collect();
    let expected = [
        "catalog.Admin",
        "catalog.Audit",
        "catalog.Shop",
        "frpc.reflection.v1.Reflection",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ];
    assert_eq!(listed, expected);

    let shop = service(&schema, "catalog.Shop");
    assert_eq!((&*shop.file, &*shop.docs, shop.codec()), ("catalog.proto", "Sells.\nTo everybody.", Codec::Polyglot));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let loaded =
        frpc_build::configure().load_protos(&[folder.join("catalog.proto")], &[folder]).expect("schema should compile");
    for layout in &loaded.layouts {
        let listed = service(&schema, layout.service());
        assert_eq!(listed.fingerprint, layout.fingerprint().to_string());
        let operations: Vec<_> = listed.methods.iter().filter_map(|it| u16::try_from(it.operation).ok()).collect();
        assert!(layout.methods().map(|(_, operation, _)| operation).eq(operations));
    }
    let [buy, browse] = &shop.methods[..] else { panic!("shop should have two methods: {shop:?}") };
    assert_eq!((&*buy.name, &*buy.request, &*buy.response), ("Buy", "catalog.Thing", "catalog.Receipt"));
    assert_eq!((buy.idempotency(), &*buy.docs, buy.is_deprecated), (Idempotency::Idempotent, "Buys one.", false));
    assert_eq!((buy.request_streams, buy.response_streams), (false, false));
    assert_eq!(buy.formats, ["json", "proto"]);
    assert_eq!((browse.idempotency(), browse.is_deprecated), (Idempotency::Unknown, true));
    assert_eq!((browse.request_streams, browse.response_streams), (false, true));
    assert_eq!(service(&schema, "catalog.Audit").methods[0].idempotency(), Idempotency::NoSideEffects);
    assert_eq!(service(&schema, "frpc.reflection.v1.Reflection").methods[0].operation, 65_000);
}

#[tokio::test]
async fn reflected_files_follow_imports_and_match_embedded() {
    let schema =
        ServerSchema::fetch(&connect(&server(Reflection::new())).await).await.expect("schema should be fetched");
    let own = super::support::catalog::SCHEMA.files();
    assert!(
        schema.files.windows(own.len()).any(|window| window == own),
        "schema should include the files of the package"
    );
    let files = files(&schema.files);
    for (at, file) in files.iter().enumerate() {
        let is_before = |import: &String| files[..at].iter().any(|before| before.name() == import);
        assert!(file.dependency.iter().all(is_before), "{}", file.name());
        assert_eq!(files.iter().filter(|other| other.name() == file.name()).count(), 1, "{}", file.name());
    }
}

#[tokio::test]
async fn reflection_finds_files_by_name_and_symbol() {
    let channel = connect(&server(Reflection::new())).await;
    let all = ["catalog_types.proto", "google/protobuf/descriptor.proto", "catalog.proto"];
    assert_eq!(fetch(&channel, names(&["catalog.proto"])).await.unwrap(), all);
    let alone = FilesRequest { without_imports: true, ..names(&["catalog.proto"]) };
    assert_eq!(fetch(&channel, alone).await.unwrap(), ["catalog.proto"]);
    for symbol in ["catalog.Shop", "catalog.Shop.Buy", "catalog.owner"] {
        assert_eq!(fetch(&channel, symbols(&[symbol])).await.unwrap(), all, "{symbol}");
    }
    for symbol in ["catalog.Thing", "catalog.Thing.Part.count", "catalog.Colour", "catalog.RED"] {
        assert_eq!(fetch(&channel, symbols(&[symbol])).await.unwrap(), ["catalog_types.proto"], "{symbol}");
    }
    for unknown in [names(&["other.proto"]), symbols(&["catalog.Nothing"]), symbols(&[""])] {
        assert_eq!(fetch(&channel, unknown).await.unwrap_err().code(), Code::NotFound);
    }
    let many = FilesRequest { names: vec!["catalog.proto".to_owned(); 4097], ..FilesRequest::default() };
    assert_eq!(fetch(&channel, many).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn schema_over_packet_limit_is_split() {
    let builder = frpc::Server::builder().add_service(LongServer::new(House)).add_service(Reflection::new());
    let channel = connect_with(&builder.build().unwrap(), Config::default().body_max(40 * 1024)).await;
    let schema = ServerSchema::fetch(&channel).await.expect("schema should be fetched");
    assert!(schema.files.len() > 5 * 40 * 1024, "{}", schema.files.len());
    assert!(files(&schema.files).iter().any(|file| file.name() == "long.proto"));
}

#[tokio::test]
async fn client_with_current_schema_gets_only_unchanged() {
    let first = server(Reflection::new());
    let channel = connect(&first).await;
    let mut schema = ServerSchema::fetch(&channel).await.expect("schema should be fetched");
    assert!(!schema.refresh(&channel).await.expect("peer should answer"));
    let client = ReflectionClient::new(channel);
    let mut pieces = client.list(ListRequest { etag: schema.etag.clone() }).await.unwrap().into_inner();
    let piece = pieces.message().await.unwrap().expect("list should have a piece");
    assert!(piece.not_modified && piece.services.is_empty());
    assert_eq!(pieces.message().await.unwrap(), None);
    let request = FilesRequest { etag: schema.etag.clone(), ..names(&["catalog.proto"]) };
    let mut pieces = client.files(request).await.unwrap().into_inner();
    let piece = pieces.message().await.unwrap().expect("list should have a piece");
    assert!(piece.not_modified && piece.data.is_empty());
    assert_eq!(pieces.message().await.unwrap(), None);

    // Another server with the same services has the same schema. A server with fewer services has another one.
    let same = connect(&server(Reflection::new())).await;
    assert!(!schema.refresh(&same).await.expect("peer should answer"));
    let less = connect(&server(Reflection::new().hide("catalog.Admin"))).await;
    assert!(schema.refresh(&less).await.expect("peer should answer"));
    assert!(schema.services.iter().all(|service| service.name != "catalog.Admin"));
}

#[tokio::test]
async fn hidden_service_is_not_listed_but_callable() {
    let without = Reflection::new().hide("catalog.Admin");
    let filtered = Reflection::new().service_filter(|name| name != "catalog.Admin");
    for reflection in [without, filtered] {
        let channel = connect(&server(reflection)).await;
        let schema = ServerSchema::fetch(&channel).await.expect("schema should be fetched");
        assert!(schema.services.iter().all(|service| service.name != "catalog.Admin"));
        for trace in ["Admin", "Fire", "Fires people", "Fires one"] {
            assert!(!schema.files.windows(trace.len()).any(|part| part == trace.as_bytes()), "{trace}");
        }
        // The remaining part of the file must keep its comments and custom options.
        let audit = service(&schema, "catalog.Audit");
        assert_eq!((&*audit.docs, &*audit.methods[0].docs), ("Reads the books.", "Reads one."));
        assert!(schema.files.windows(5).any(|part| part == b"sales"), "schema should keep the option of a method");
        assert_eq!(fetch(&channel, symbols(&["catalog.Admin"])).await.unwrap_err().code(), Code::NotFound);
        let fired = AdminClient::new(channel).fire(Thing::default()).await.expect("hidden service should be callable");
        assert_eq!(fired.get_ref().sum, -1);
    }
}

#[tokio::test]
async fn service_without_schema_is_listed_without_files() {
    let builder = frpc::Server::builder().add_service(InteropServer::new(Interop)).add_service(Reflection::new());
    let channel = connect(&builder.build().unwrap()).await;
    let schema = ServerSchema::fetch(&channel).await.expect("schema should be fetched");
    let interop =
        schema.services.iter().find(|service| service.file.is_empty()).expect("one service should have no file");
    assert!(!interop.methods.is_empty() && interop.methods.iter().all(|method| method.operation >= 10));
    assert_eq!(fetch(&channel, symbols(&[&interop.name])).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn middleware_refusing_reflection_covers_all_its_services() {
    async fn closed(call: frpc::Call, _next: frpc::Next) -> Result<frpc::CallResponse, frpc::Status> {
        Err(frpc::Status::permission_denied(call.service()))
    }
    let server = builder().add_service(Reflection::new().with_middleware(closed)).build().unwrap();
    let channel = connect(&server).await;
    let status = ServerSchema::fetch(&channel).await.expect_err("connection should be closed");
    assert_eq!((status.code(), status.message()), (Code::PermissionDenied, "frpc.reflection.v1.Reflection"));
    assert!(AdminClient::new(channel).fire(Thing::default()).await.is_ok(), "other services should be accessible");
}

#[tokio::test]
async fn server_without_reflection_reports_unimplemented() {
    let channel = connect(&builder().build().unwrap()).await;
    assert_eq!(ServerSchema::fetch(&channel).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test]
async fn adding_reflection_twice_is_overlap_error() {
    let twice = builder().add_service(Reflection::new()).add_service(Reflection::new()).build();
    assert!(matches!(twice, Err(Error::Overlap { operation: 65_000, .. })), "{twice:?}");
    let mounted = builder().add_service(Reflection::new()).mount(64_000..=65_000, frisbee::Handlers::new()).build();
    assert!(mounted.is_err(), "operation of a mounted router should be rejected");
}

#[tokio::test]
async fn reflection_leaves_go_peer_bytes_unchanged() {
    let mut answers = Vec::new();
    for builder in [builder(), builder().add_service(Reflection::new()).add_service(Health::new())] {
        let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
        let mut raw = Raw::connect(server.local_addr()).await;
        let serving = tokio::spawn(server.serve());
        // The packets are a PING, a call of Buy with an empty message, and a call of an operation that does not exist.
        let empty = [0x05, 0x00, 0x0d, 0x00, 0x01, 0x0e, 0x00];
        raw.write(&[packet(0, 0, b""), packet(1, 10, &empty), packet(2, 500, &empty)].concat()).await;
        let (first, second) =
            (raw.next().await.expect("server should answer"), raw.next().await.expect("server should answer"));
        answers.push([(first.id, first.body), (second.id, second.body)]);
        serving.abort();
        let mut rest = Vec::new();
        let _ = raw.socket.read_to_end(&mut rest).await;
        assert_eq!(rest, b"", "server should send nothing more");
    }
    assert_eq!(answers[0], answers[1]);
}
