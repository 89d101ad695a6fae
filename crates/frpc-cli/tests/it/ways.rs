//! Tests of the ways to reach a server: each transport, with its frames shown, each source of a schema, and a server in
//! Go.

use frpc::Server;
use frpc::tls::{Authorities, Identity, ServerTls};
use frpc_gateway::{Gateway, Mcp, ServeGateway};
use frpc_reflection::Reflection;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use samples::greet::GreeterServer;
use samples::started::Polite;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, thread};

/// PEM files of an authority, and of a certificate for loopback that is used by the server and by the client.
pub(crate) struct Certified {
    folder: tempfile::TempDir,
    authority: String,
    certificate: String,
    key: String,
}

impl Certified {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("certificate without names should be valid");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("key pair should be generated");
        let authority = CertifiedIssuer::self_signed(params, key).expect("key should match the certificate");
        let names = vec!["127.0.0.1".to_owned(), "client.example.org".to_owned()];
        let params = CertificateParams::new(names).expect("certificate names should be valid");
        let key = KeyPair::generate().expect("key pair should be generated");
        let certificate = params.signed_by(&key, &authority).expect("key should match the certificate");
        let made = Self {
            folder: tempfile::tempdir().expect("temporary folder should be created"),
            authority: authority.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        };
        for (name, text) in [("ca", &made.authority), ("cert", &made.certificate), ("key", &made.key)] {
            fs::write(made.path(name), text).expect("PEM file should be written");
        }
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn shown(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Returns TLS settings of a server that requires client certificates.
    pub(crate) fn server(&self) -> ServerTls {
        let identity = Identity::from_pem(&self.certificate, &self.key).expect("generated identity should be valid");
        let clients = Authorities::from_pem(&self.authority).expect("generated authority should be valid");
        ServerTls::mutual(identity, clients).expect("key should match the certificate")
    }
}

/// Starts a server that runs until the process ends, and returns its address.
fn serve(address: String, tls: Option<ServerTls>) -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
        runtime.block_on(async {
            let mut builder = Server::builder().add_service(GreeterServer::new(Polite)).add_service(Reflection::new());
            if let Some(tls) = tls {
                builder = builder.tls(tls);
            }
            #[cfg(target_os = "linux")]
            if let Some(path) = address.strip_prefix("unix+shm:") {
                let server = builder.shared_memory(frpc::shm::Listener::builder()).bind_unix(path).await;
                sender.send(address.clone()).expect("main thread should wait for the address");
                return server.expect("path should be free").serve().await;
            }
            #[cfg(unix)]
            if let Some(path) = address.strip_prefix("unix:") {
                let server = builder.bind_unix(path).await.expect("server should bind to a free path");
                sender.send(address.clone()).expect("main thread should wait for the address");
                return server.serve().await;
            }
            let tools = Mcp::new().method_as("greet.Greeter/Greet", "greet");
            let server = builder.gateway(Gateway::new().web_socket().mcp(tools)).bind(address.as_str()).await;
            let server = server.expect("loopback port should be free");
            sender.send(server.local_addr().to_string()).expect("main thread should wait for the address");
            server.serve().await
        })
    });
    receiver.recv().expect("server thread should send its address")
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn run(address: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
    command.current_dir(root()).args(arguments).env("FRPC_SERVER", address).stdin(Stdio::null());
    command.output().expect("process should start")
}

pub(crate) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("output should be UTF-8")
}

/// Checks that listing services, calling a method and showing frames work at this address.
#[track_caller]
fn is_of_use(address: &str, options: &[&str]) {
    let with = |arguments: &[&str]| run(address, &[arguments, options].concat());
    assert!(stdout(&with(&["list"])).contains("greet.Greeter"));
    let shown = with(&["call", "greet.Greeter/Greet", "name=Ada", "-vvv"]);
    assert!(stdout(&shown).contains("Hello, Ada!"), "{shown:?}");
    let frames = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(frames.contains("HELLO"), "{frames}");
    assert!(frames.contains("greet.Greeter/Greet"), "{frames}");
    assert!(stdout(&with(&["call", "greet.Greeter/Greet", "name=Eve"])).contains("Hello, Eve!"));
}

#[test]
fn server_accepts_tcp_and_web_socket() {
    let address = serve("127.0.0.1:0".to_owned(), None);
    is_of_use(&address, &[]);
    is_of_use(&format!("ws://{address}/"), &[]);
    is_of_use(&format!("ws://{address}"), &[]);
}

#[test]
fn mutual_tls_covers_tcp_and_web_socket() {
    let certified = Certified::new();
    let address = serve("127.0.0.1:0".to_owned(), Some(certified.server()));
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    let trusted = ["--cacert", &ca, "--cert", &cert, "--key", &key];
    is_of_use(&address, &trusted);
    is_of_use(&format!("wss://{address}/"), &trusted);

    // A proxy connects to the server with TLS on behalf of clients without TLS.
    for server in [address.clone(), format!("wss://{address}/")] {
        let mut proxy = Command::new(env!("CARGO_BIN_EXE_frpc"));
        proxy.current_dir(root()).env("FRPC_SERVER", server).args(["trace", "--listen", "127.0.0.1:0", "-n", "1"]);
        let proxy = proxy.args(trusted).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut proxy = proxy.expect("program should be built");
        let mut line = String::new();
        let mut remarks = BufReader::new(proxy.stderr.take().expect("stderr should be piped"));
        remarks.read_line(&mut line).expect("line should be readable");
        let at = line.split_whitespace().nth(2).expect("line should contain the address");
        let called = run(at, &["call", "-p", "examples/proto/greet.proto", "Greet", "name=Ada"]);
        assert!(stdout(&called).contains("Hello, Ada!"));
        let shown = stdout(&proxy.wait_with_output().expect("process should exit"));
        assert!(shown.starts_with("0: greet.Greeter/Greet OK "), "{shown}");
    }

    let failure = |address: &str, options: &[&str]| {
        let output = run(address, &[&["list"], options].concat());
        assert_eq!(output.status.code(), Some(64 + 14), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    // The system's certificate authorities, if there are any, have not issued the server's certificate.
    let stranger = run(&address, &["list", "--tls"]);
    assert!(!stranger.status.success(), "{stranger:?}");
    assert!(failure(&address, &["--cacert", &ca]).contains("certificate"));
    let other = failure(&address, &[&trusted[..], &["--server-name", "example.com"]].concat());
    assert!(other.contains("certificate") && other.contains("name"), "{other}");
    // A client without TLS cannot call this server.
    assert!(!run(&address, &["list", "--connect-timeout", "5s"]).status.success());
}

/// Regression test: cases were sent without TLS, and only to TCP addresses.
#[cfg(unix)]
#[test]
fn conformance_uses_transport_of_address() {
    let (certified, folder) = (Certified::new(), tempfile::tempdir().expect("temporary folder should be created"));
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    let secure = serve("127.0.0.1:0".to_owned(), Some(certified.server()));
    let path = serve(format!("unix:{}", folder.path().join("greeter").display()), None);
    let trusted = ["--cacert", &ca, "--cert", &cert, "--key", &key];
    for (address, options) in [(secure, &trusted[..]), (path, &[])] {
        let rules = ["conformance", "--rule", "magic", "--rule", "keepalive-id"];
        let shown = stdout(&run(&address, &[&rules[..], options].concat()));
        assert!(shown.starts_with("base: 5 cases, 0 failed\n"), "{shown}");
    }
}

/// Regression test: no report was written if the peer had exited during an earlier case.
#[test]
fn conformance_report_includes_unreachable_peer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("free port should exist");
    let address = listener.local_addr().expect("listener should have an address").to_string();
    // Accepts a single connection. Ends listening before it closes this connection, so that the next case is refused.
    let server = thread::spawn(move || {
        let accepted = listener.accept();
        drop(listener);
        drop(accepted);
    });
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let report = folder.path().join("report.xml");
    let shown = report.display().to_string();
    let output = run(&address, &["conformance", "--rule", "magic", "--connect-timeout", "1s", "--junit", &shown]);
    server.join().expect("server should not panic");
    let (text, report) = (String::from_utf8_lossy(&output.stderr), fs::read_to_string(report));
    assert!(output.status.code() == Some(1) && text.contains("further cases were not tested"), "{output:?}");
    let report = report.expect("report should exist");
    assert!(report.contains("no connection (") && report.contains("tests=\"2\""), "{report}");
}

#[cfg(unix)]
#[test]
fn tools_are_called_from_standard_input() {
    let certified = Certified::new();
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    let trusted = ["--cacert", &ca, "--cert", &cert, "--key", &key];
    for (tls, options) in [(None, &[][..]), (Some(certified.server()), &trusted[..])] {
        let address = serve("127.0.0.1:0".to_owned(), tls);
        let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
        command.args(["mcp", "--to", &address]).args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut agent = command.spawn().expect("process should start");
        let mut input = agent.stdin.take().expect("stdin should be piped");
        let call =
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}"#;
        let begin = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
        write!(input, "{begin}\n{call}\n").expect("command should read the messages");
        drop(input);
        let output = agent.wait_with_output().expect("process should exit");
        let replies = stdout(&output);
        let replies: Vec<_> = replies.lines().collect();
        assert_eq!(replies.len(), 2, "{replies:?}");
        assert!(replies[0].contains(r#""id":1,"result":{"protocolVersion":"#), "{replies:?}");
        assert!(replies[1].contains(r#""structuredContent":{"text":"Hello, Ada!"}"#), "{replies:?}");
    }
    let refused = run("", &["mcp", "--to", "ws://127.0.0.1:1/"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("HOST:PORT or unix:PATH"), "{refused:?}");
}

#[test]
fn unix_socket_server_works_with_optional_tls() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = |name: &str| format!("unix:{}", folder.path().join(name).display());
    is_of_use(&serve(path("plain"), None), &[]);
    let certified = Certified::new();
    let address = serve(path("tls"), Some(certified.server()));
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    is_of_use(&address, &["--cacert", &ca, "--cert", &cert, "--key", &key, "--server-name", "127.0.0.1"]);
    let unnamed = run(&address, &["list", "--cacert", &ca]);
    assert_eq!(unnamed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unnamed.stderr).contains("--server-name"), "{unnamed:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn shared_memory_server_works_with_optional_tls() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = |name: &str| format!("unix+shm:{}", folder.path().join(name).display());
    is_of_use(&serve(path("plain"), None), &[]);
    let certified = Certified::new();
    let address = serve(path("tls"), Some(certified.server()));
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    is_of_use(&address, &["--cacert", &ca, "--cert", &cert, "--key", &key, "--server-name", "127.0.0.1"]);
    let unnamed = run(&address, &["list", "--cacert", &ca]);
    assert!(String::from_utf8_lossy(&unnamed.stderr).contains("--server-name"), "{unnamed:?}");
}

#[test]
fn invalid_addresses_are_refused_with_valid_forms() {
    for (address, options, part) in
        [("http://localhost:1/", &[][..], "dns:// or etcd://"), ("ws://localhost:1/", &["--tls"][..], "use wss://")]
    {
        let output = run(address, &[&["list"], options].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn schema_comes_from_server_or_local_file() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let set = folder.path().join("greet.bin");
    let builder = frpc_build::configure().emit_rerun_if_changed(false);
    let builder = builder.out_dir(folder.path()).file_descriptor_set_path(&set);
    builder
        .compile_protos(&[root().join("examples/proto/greet.proto")], &[root().join("examples/proto")])
        .expect("schema should compile");
    let address = serve("127.0.0.1:0".to_owned(), None);
    let set = set.display().to_string();
    for source in [&[][..], &["-p", "examples/proto/greet.proto"], &["--descriptor-set", &set]] {
        let output = run(&address, &[&["call", "greet.Greeter/Greet", "name=Ada"], source].concat());
        assert!(stdout(&output).contains("Hello, Ada!"), "{source:?}");
    }
}

/// Starts a server on fRPC for Go, which ends with its standard input. Returns `None` if Go is not installed.
pub(crate) fn go() -> Option<(std::process::Child, String)> {
    if Command::new("go").arg("version").output().is_err() {
        assert!(
            env::var_os("FRISBEE_REQUIRE_GO").is_none(),
            "Go should be installed, because FRISBEE_REQUIRE_GO is set"
        );
        // Written directly to standard error, because the test harness shows captured output only on failure.
        let _ =
            std::io::stderr().lock().write_all(b"\nSKIPPED: Go is not installed, so the command met no Go server\n");
        return None;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-peer");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).arg("./cmd/peer").current_dir(root().join("tests/interop/go"));
    let built = build.output().expect("process should start");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut serve = Command::new(&program);
    serve.args(["serve", "127.0.0.1:0"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = serve.spawn().expect("process should start");
    let mut line = String::new();
    let output = child.stdout.take().expect("stdout should be piped");
    BufReader::new(output).read_line(&mut line).expect("line should be readable");
    let address = line.trim().strip_prefix("listening on ").expect("line should contain the address").to_owned();
    Some((child, address))
}

#[test]
fn go_server_works_with_proto_file() {
    let Some((mut child, address)) = go() else { return };
    let with = |arguments: &[&str]| run(&address, &[arguments, &["-p", "tests/proto/interop.proto"]].concat());
    assert!(stdout(&with(&["list"])).contains("interop.Interop"));
    let sum = stdout(&with(&["call", "Add", "a=2", "b=40", "--json"]));
    assert!(sum.contains("42"), "{sum}");
    let counts = stdout(&with(&["call", "CountUp", "from=1", "count=3", "--json"]));
    assert_eq!(counts.lines().count(), 3, "{counts}");
    let failed = with(&["call", "Fail", "value=no"]);
    assert_eq!(failed.status.code(), Some(64 + 2), "{failed:?}");
    let report = stdout(&with(&["load", "Add", "a=1", "b=2", "-c", "2", "--duration", "300ms"]));
    assert!(report.contains("Add") && !report.contains("UNKNOWN"), "{report}");
    drop(child.stdin.take());
    child.wait().expect("process should exit at the end of its input");
}
