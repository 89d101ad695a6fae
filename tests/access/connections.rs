//! Tests of the identity of a connection's peer: certificates, users of this machine, and signing in.

use super::support::{access, by, code};
use frisbee_tests::interop::{AddRequest, Empty, Interop, InteropClient, InteropServer, SleepRequest, Sum};
use frisbee_tests::pki::Authority;
use frisbee_tests::{left_to_service, serve};
use frpc::tls::Identity;
use frpc::{Acceptor, Channel, Code, Request, Response, Server, Status};
use frpc_access::{Access, Principal, Proof, Rate, Who};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use rcgen::SanType;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::sleep;

const ADD: &str = "interop.Interop/Add";
const SLEEP: &str = "interop.Interop/Sleep";
const SIGN_IN: &str = "interop.Interop/DoNothing";

/// A service that records the callers of `Add`. `DoNothing` signs the caller in.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Vec<String>>>);

impl Interop for Desk {
    left_to_service!(echoes, fail, echo_payload, describe, count_up, sum_up, chat);

    async fn add(&self, request: Request<AddRequest>) -> Result<Response<Sum>, Status> {
        let name = Principal::of_request(&request)
            .map_or_else(|| "nobody".to_owned(), |principal| principal.name().to_owned());
        self.0.lock().await.push(name);
        Ok(Response::new(Sum::default()))
    }

    async fn do_nothing(&self, request: Request<Empty>) -> Result<Response<Empty>, Status> {
        let (Some(principal), Some(connection)) = (Principal::of_request(&request), request.connection()) else {
            return Err(Status::unauthenticated("signing in is not possible"));
        };
        principal.sign_in(connection)?;
        Ok(Response::new(Empty {}))
    }

    async fn sleep(&self, request: Request<SleepRequest>) -> Result<Response<SleepRequest>, Status> {
        Ok(Response::new(request.into_inner()))
    }
}

fn uri(text: &str) -> SanType {
    SanType::URI(text.try_into().expect("URI should be ASCII"))
}

fn host(text: &str) -> SanType {
    SanType::DnsName(text.try_into().expect("name should be ASCII"))
}

/// Returns a server that requests certificates.
async fn secured(authority: &Authority, access: Access) -> (SocketAddr, Desk) {
    let desk = Desk::default();
    let gateway = Gateway::new().http(Http::new().connect());
    let server = Server::builder().tls(authority.mutual_server()).gateway(gateway);
    (serve(server.add_service(InteropServer::new(desk.clone())).access(access.certificates())).await, desk)
}

/// Makes calls with a certificate, natively and over HTTP, and returns their codes.
async fn calls(authority: &Authority, address: SocketAddr, identity: Identity) -> [Code; 2] {
    let tls = authority.client().with_identity(identity).expect("key should match the certificate");
    let channel = Channel::builder()
        .tls(tls.clone())
        .connect(address.to_string())
        .await
        .expect("server should accept the connection");
    let native = code(InteropClient::new(channel).add(AddRequest::default()).await);
    let socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let mut secured = tls.connect_io(socket, "127.0.0.1").await.expect("TLS handshake should succeed");
    let head = "POST /interop.Interop/Add HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let request = format!("{head}connection: close\r\ncontent-length: 2\r\n\r\n{{}}");
    secured.write_all(request.as_bytes()).await.expect("write should succeed");
    let mut answer = Vec::new();
    // The connection may end without a TLS alert.
    let _ = secured.read_to_end(&mut answer).await;
    let http = match &answer[9..12] {
        b"200" => Code::Ok,
        b"401" => Code::Unauthenticated,
        b"403" => Code::PermissionDenied,
        _ => panic!("{}", String::from_utf8_lossy(&answer)),
    };
    [native, http]
}

#[tokio::test]
async fn certificate_names_identify_caller_on_every_protocol() {
    let authority = Authority::default();
    let till = "spiffe://example.org/shop/till";
    let who = Who::spiffe(till).or(Who::host("till.example.org")).or(Who::common_name("old till"));
    let (address, desk) = secured(&authority, Access::new().allow([ADD], who)).await;
    let (allowed, unknown) = ([Code::Ok; 2], [Code::PermissionDenied; 2]);
    for (names, common_name, expected, name) in [
        (vec![uri(till)], "", allowed, till),
        (vec![host("other.example.org"), uri(till)], "x", allowed, till),
        (vec![host("till.example.org")], "x", allowed, "till.example.org"),
        (vec![], "old till", allowed, "old till"),
        (vec![uri("spiffe://example.org/shop")], "", unknown, ""),
        (vec![host("old till.example.org")], "new till", unknown, ""),
        (vec![], "till.example.org", unknown, ""),
        (vec![uri("https://example.org/shop/till")], "x", unknown, ""),
    ] {
        let shown = format!("{names:?} {common_name}");
        let identity = authority.issue_names(names, common_name);
        assert_eq!(calls(&authority, address, identity).await, expected, "{shown}");
        if expected == allowed {
            assert_eq!(std::mem::take(&mut *desk.0.lock().await), [name, name]);
        }
    }
}

/// Regression: only the token was checked, so a caller with an excluded certificate was admitted with a valid token.
#[tokio::test]
async fn exclusion_applies_to_certificate_beside_token() {
    let authority = Authority::default();
    let who = Who::known().except(Who::host("evil.example.org"));
    let (address, _desk) = secured(&authority, access().0.allow([ADD], who)).await;
    // The verified token is cached for all connections. The certificate must be checked even if the token is in the
    // cache.
    for round in 0..2 {
        for (name, expected) in [("evil.example.org", Code::PermissionDenied), ("good.example.org", Code::Ok)] {
            let identity = authority.issue_names(vec![host(name)], "");
            let tls = authority.client().with_identity(identity).expect("key should fit its certificate");
            let channel = Channel::builder().tls(tls).connect(address.to_string()).await.expect("server should listen");
            let client = InteropClient::new(channel);
            for token in ["clerk", "guest", "clerk", ""] {
                let called = code(client.add(by(token, AddRequest::default())).await);
                assert_eq!(called, expected, "round {round}: {name} with the token {token:?}");
            }
        }
    }
}

/// Regression test: exclusions from a rate limit were evaluated for the token alone, so a token evaded them.
#[tokio::test]
async fn exclusion_from_limit_applies_to_certificate_beside_token() {
    let authority = Authority::default();
    let usual = Who::known().except(Who::host("busy.example.org"));
    let hour = Duration::from_secs(3600);
    let access = access().0.allow([ADD], Who::known());
    for access in [
        access.clone().limit(usual.clone(), Rate::per_second(1000)).limit(Who::anybody(), Rate::one_in(hour)),
        access.limit_methods([ADD], usual, Rate::per_second(1000)).limit_methods(
            [ADD],
            Who::anybody(),
            Rate::one_in(hour),
        ),
    ] {
        let (address, _desk) = secured(&authority, access).await;
        for (name, expected) in [("good.example.org", Code::Ok), ("busy.example.org", Code::ResourceExhausted)] {
            let identity = authority.issue_names(vec![host(name)], "");
            let tls = authority.client().with_identity(identity).expect("key should fit its certificate");
            let channel = Channel::builder().tls(tls).connect(address.to_string()).await.expect("server should listen");
            let client = InteropClient::new(channel);
            for expected in [Code::Ok, expected] {
                assert_eq!(code(client.add(by("clerk", AddRequest::default())).await), expected, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn cloned_client_settings_keep_own_identity() {
    let authority = Authority::default();
    let (address, desk) = secured(&authority, Access::new().allow([ADD], Who::known())).await;
    let trusting = authority.client();
    let clients = ["first.example.org", "second.example.org"].map(|name| {
        let identity = authority.issue_names(vec![host(name)], "");
        (name, trusting.clone().with_identity(identity).expect("key should match the certificate"))
    });
    for (name, tls) in clients {
        let channel = Channel::builder()
            .tls(tls)
            .connect(address.to_string())
            .await
            .expect("server should accept the connection");
        assert_eq!(code(InteropClient::new(channel).add(AddRequest::default()).await), Code::Ok);
        assert_eq!(std::mem::take(&mut *desk.0.lock().await), [name]);
    }
}

#[tokio::test]
async fn nameless_or_malformed_certificate_gives_no_principal() {
    let authority = Authority::default();
    let (address, _desk) = secured(&authority, Access::new().allow([ADD], Who::known())).await;
    for names in [
        vec![],
        vec![uri("spiffe://example.org/a"), uri("spiffe://example.org/b")],
        vec![uri("spiffe://example.org/a"), uri("https://example.org")],
        vec![uri("spiffe://example.org"), host("till.example.org")],
        vec![uri("SPIFFE://example.org/a"), host("till.example.org")],
    ] {
        let shown = format!("{names:?}");
        let common_name = if names.is_empty() { "" } else { "till" };
        let identity = authority.issue_names(names, common_name);
        assert_eq!(calls(&authority, address, identity).await, [Code::Unauthenticated; 2], "{shown}");
    }
}

#[tokio::test]
async fn allowed_certificate_name_authenticates_and_limits() {
    let authority = Authority::default();
    let server = Server::builder().tls(authority.mutual_server()).add_service(InteropServer::new(Desk::default()));
    let address = serve(server.access(Access::new().allow([ADD], Who::known()))).await;
    let identity = || authority.issue_names(vec![host("till.example.org")], "");
    let channel = async |address: SocketAddr| {
        let tls = authority.client().with_identity(identity()).expect("key should match the certificate");
        InteropClient::new(
            Channel::builder()
                .tls(tls)
                .connect(address.to_string())
                .await
                .expect("server should accept the connection"),
        )
    };
    assert_eq!(code(channel(address).await.add(AddRequest::default()).await), Code::Unauthenticated);
    let access = Access::new().allow([ADD], Who::known()).limit(Who::known(), Rate::one_in(Duration::from_secs(3600)));
    let (address, _desk) = secured(&authority, access).await;
    assert_eq!(code(channel(address).await.add(AddRequest::default()).await), Code::Ok);
    let again = channel(address).await;
    assert_eq!(code(again.add(AddRequest::default()).await), Code::ResourceExhausted);
}

#[cfg(unix)]
#[tokio::test]
async fn unix_socket_caller_is_identified_by_user() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let own = std::fs::metadata(folder.path()).expect("metadata should be readable").uid();
    let who = [(ADD, Who::user(own)), (SLEEP, Who::user(own + 1))];
    let access = who.into_iter().fold(Access::new(), |access, (method, who)| access.allow([method], who));
    let (path, desk) = (folder.path().join("socket"), Desk::default());
    let server = Server::builder().add_service(InteropServer::new(desk.clone())).access(access.users());
    let server = server.bind_unix(&path).await.expect("server should bind to a free path");
    tokio::spawn(server.serve());
    let client =
        InteropClient::connect(format!("unix:{}", path.display())).await.expect("server should accept the connection");
    assert_eq!(code(client.add(AddRequest::default()).await), Code::Ok);
    assert_eq!(*desk.0.lock().await, [format!("uid {own}")]);
    assert_eq!(code(client.sleep(SleepRequest::default()).await), Code::PermissionDenied);
}

/// Returns an in-memory server.
fn server() -> (Acceptor, Desk) {
    let (desk, (access, _)) = (Desk::default(), access());
    let access = access.allow([ADD, SIGN_IN], Who::known());
    let server = Server::builder().add_service(InteropServer::new(desk.clone())).access(access);
    (server.build().expect("settings should be valid"), desk)
}

#[tokio::test(start_paused = true)]
async fn signed_in_connection_skips_tokens_until_expiry() {
    let (server, desk) = server();
    let (here, there) = frpc::memory();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve_connection(there).await }
    });
    let client = InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    assert_eq!(code(client.add(AddRequest::default()).await), Code::Unauthenticated);
    assert_eq!(code(client.do_nothing(by("guest.60", Empty {})).await), Code::Ok);
    assert_eq!(code(client.add(AddRequest::default()).await), Code::Ok);
    assert_eq!(code(client.add(by("clerk", AddRequest::default())).await), Code::Ok);
    assert_eq!(
        *desk.0.lock().await,
        ["guest", "clerk"],
        "token of the call should take precedence over the principal of the connection"
    );
    assert_eq!(code(client.add(by("forged", AddRequest::default())).await), Code::Unauthenticated);
    sleep(Duration::from_secs(50)).await;
    assert_eq!(code(client.do_nothing(by("guest.600", Empty {})).await), Code::Ok);
    sleep(Duration::from_secs(50)).await;
    assert_eq!(code(client.add(AddRequest::default()).await), Code::Ok, "client should have signed in again");
    assert!(!serving.is_finished());
    sleep(Duration::from_secs(550)).await;
    tokio::time::timeout(Duration::from_secs(30), serving)
        .await
        .expect("server should stop within the timeout")
        .expect("task should not panic");
}

#[tokio::test(start_paused = true)]
async fn sign_in_is_rejected_on_identified_connection() {
    let (desk, (access, _)) = (Desk::default(), access());
    let server = Server::builder().add_service(InteropServer::new(desk)).access(access.allow([SIGN_IN], Who::known()));
    let of_the_house = Principal::new("house", Proof::Other);
    let server = server.on_connect(move |connection| of_the_house.sign_in(connection).expect("sign-in should succeed"));
    let server = server.build().expect("settings should be valid");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let client = InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    assert_eq!(code(client.do_nothing(by("guest", Empty {})).await), Code::FailedPrecondition);
}
