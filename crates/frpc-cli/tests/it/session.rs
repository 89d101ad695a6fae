//! Runs the commands of docs/cli.md and its subpages against a server that is started as documented, and makes calls of
//! every kind.

mod load;
mod topics;

use frpc::pubsub::{Broker, History};
use frpc::{Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, ServeGateway};
use frpc_reflection::{Introspection, Reflection};
use frpc_telemetry::Counters;
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use samples::quickstart::CalculatorServer;
use samples::started::{Polite, Sums};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::{env, fs, thread};

/// The service of the example `gateway`, which also returns hostile statuses.
struct Service;

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        if request.metadata().get("tenant") == Some("hostile") {
            return Err(Status::aborted("\u{1b}[2J\u{202e}gone"));
        }
        Polite.greet(request).await
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Polite.recite(request).await
    }
}

/// Starts a server that runs until the process ends, and returns its address.
fn serve<S, F>(make: impl FnOnce() -> F + Send + 'static) -> String
where
    F: Future<Output = Result<(String, S), frpc::Error>>,
    S: Future<Output = Result<(), frpc::Error>>,
{
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
        runtime.block_on(async {
            let (address, serving) = make().await.expect("loopback port should be free");
            sender.send(address).expect("main thread should wait for the address");
            serving.await
        })
    });
    receiver.recv().expect("server thread should send its address")
}

/// Starts a greeter and, on another port, its introspection service. Returns both addresses.
fn inspected() -> [String; 2] {
    let both = serve(|| async {
        let builder = Server::builder().add_service(GreeterServer::new(Service)).inspectable();
        let builder = builder.batch_observer(Counters::new());
        // Uses tokio, because io_uring, which a build of the whole workspace enables, reports no workers.
        let builder = builder.workers(frpc::Workers::Threads(1)).io_backend(frpc::IoBackend::Tokio);
        let server = builder.bind("127.0.0.1:0").await?;
        let introspection = Introspection::new().server("gateway", server.inspector());
        let shown = Server::builder().add_service(introspection).bind("127.0.0.1:0").await?;
        let addresses = format!("{} {}", server.local_addr(), shown.local_addr());
        Ok((addresses, async { tokio::try_join!(server.serve(), shown.serve()).map(drop) }))
    });
    let mut both = both.split(' ').map(str::to_owned);
    [(); 2].map(|()| both.next().expect("two servers should be listed"))
}

/// Starts a server whose introspection service listens on a Unix socket, and returns the socket's path.
#[cfg(unix)]
fn socket(folder: &Path) -> PathBuf {
    let path = folder.join("gateway.sock");
    let at = path.clone();
    serve(|| async move {
        let builder = Server::builder().add_service(GreeterServer::new(Service)).batch_observer(Counters::new());
        let server = builder.bind("127.0.0.1:0").await?;
        let introspection = Introspection::new().server("gateway", server.inspector());
        let shown = Server::builder().add_service(introspection).bind_unix(at).await?;
        Ok((String::new(), async { tokio::try_join!(server.serve(), shown.serve()).map(drop) }))
    });
    path
}

fn greeter() -> String {
    serve(|| async {
        let builder = Server::builder().add_service(GreeterServer::new(Service)).add_service(Reflection::new());
        let broker = Broker::builder().history("kept.>", History::last(2));
        let broker = broker.presence("rooms.*", |_| Some("guest".to_owned())).build();
        let builder = builder.mount(65_280..=65_287, broker);
        let server = builder.gateway(Gateway::new().web_socket()).bind("127.0.0.1:0").await?;
        Ok((server.local_addr().to_string(), server.serve()))
    })
}

fn calculator() -> String {
    serve(|| async {
        let server = Server::builder().add_service(CalculatorServer::new(Sums)).bind("127.0.0.1:0").await?;
        Ok((server.local_addr().to_string(), server.serve()))
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates the command `frpc` with these arguments, to be run in the folder of the examples.
fn command(address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
    command.current_dir(root().join("examples")).args(arguments).env("FRPC_SERVER", address);
    command
}

fn run(address: &str, arguments: &[&str]) -> Output {
    command(address, arguments).stdin(Stdio::null()).output().expect("process should start")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("output should be UTF-8")
}

/// Extracts the commands in the sessions of a page, each with its documented output.
fn commands(page: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut is_session = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => is_session = kind == "console",
            None if !is_session => {}
            None => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => *output += &format!("{line}\n"),
                (None, None) => panic!("output without a command: {line}"),
            },
        }
    }
    commands
}

/// Returns whether `text` matches the documented output, in which `…` matches anything.
fn fits(text: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

#[test]
fn page_commands_print_documented_output() {
    let address = greeter();
    let page = ["docs/cli.md", "docs/cli-load.md", "docs/cli-inspect.md"]
        .map(|page| fs::read_to_string(root().join(page)).expect("documentation page should be readable"))
        .concat();
    let program = Path::new(env!("CARGO_BIN_EXE_frpc")).parent().expect("program should be in a folder");
    let path = env::join_paths(
        [program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.expect("paths should not contain a colon");
    let commands = commands(&page);
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let introspection = socket(folder.path());
    assert!(commands.len() >= 10, "only {} commands were found", commands.len());
    for (command, shown) in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(root().join("examples"));
        let output =
            shell.env("PATH", &path).env("FRPC_SERVER", &address).env("INTROSPECTION", &introspection).output();
        let output = output.expect("shell should be installed");
        let written = String::from_utf8(output.stdout).expect("output should be UTF-8");
        // The value of a field is written unchanged, without a line feed.
        assert!(fits(written.trim_end(), shown.trim_end()), "{command}\n{written}\nis not\n{shown}");
    }
}

#[test]
fn diff_names_changes_that_break_peers() {
    let [old, new] = ["old", "new"].map(|version| format!("../tests/proto/evolution/{version}/shop.proto"));
    let output = run("", &["diff", &old, &new, "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("output should be UTF-8");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("lines should be JSON")).collect();
    let items = |is_safe: bool| {
        let found = lines.iter().filter(move |line| line["safe"] == is_safe);
        found.map(|line| line["item"].as_str().expect("each line should have the member `item`")).collect::<Vec<_>>()
    };
    assert_eq!(items(false), ["shop.Shop/Cancel", "shop.Amount.cents = 1"]);
    for item in ["shop.Shop/Quote", "shop.Order.note = 4", "shop.Size.depth = 3", "shop.Color.GREEN = 1"] {
        assert!(items(true).contains(&item), "item {item} should be in {text}");
    }
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(reported.contains("2 changes break peers of the other version"), "{reported}");

    assert_eq!(stdout(&run("", &["diff", &old, &old])), "");
}

/// Regression test: health and reflection of the server were reported as removed, and a mistyped path as an address
/// without a port.
#[test]
fn diff_accepts_servers_and_reports_missing_files() {
    let address = greeter();
    assert_eq!(stdout(&run("", &["diff", &address, "proto/greet.proto"])), "");
    assert_eq!(stdout(&run("", &["diff", "proto/greet.proto", &address])), "");
    for (path, reason) in [("proto/absent.bin", "No such file"), ("proto", "Is a directory")] {
        let output = run("", &["diff", path, "proto/greet.proto"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(path) && text.contains(reason), "{output:?}");
    }
}

/// Regression test: a mistyped rule selected no case, so the command succeeded.
#[test]
fn unknown_conformance_rule_is_rejected() {
    // The rule `reply` has cases only for clients.
    for rule in ["nope", "reply"] {
        let output = run("", &["conformance", "--rule", rule]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(1) && text.contains(&format!("no rule `{rule}` for a server")),
            "{output:?}"
        );
    }
}

/// Regression test: invalid arguments were reported like an unavailable server, for which scripts try again.
#[test]
fn invalid_addresses_are_not_reported_as_unavailable() {
    let call = |address: &str| run("", &["call", "-p", "proto/greet.proto", "-s", address, "Greet", "name=you"]);
    for output in [
        call("127.0.0.1"),
        call("127.0.0.1:99999"),
        run("", &["gateway", "-p", "proto/greet.proto", "--to", "127.0.0.1:1", "--listen", "nope"]),
    ] {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

/// Regression test: a server that a channel never reached was reported as one that does not show its schema.
#[test]
fn unreached_server_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = free.local_addr().expect("socket should have a local address");
    drop(free);
    for address in [format!("grpc://{address}"), format!("{address},{address}")] {
        let output = run("", &["list", "-s", &address]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(78) && !text.contains("schema"), "{output:?}");
    }
}

/// Runs `frpc diff` on two versions of the package `stock` with these declarations.
fn diff_of(versions: [&str; 2]) -> Output {
    let folder = tempfile::tempdir().expect("folder should be created");
    let mut number = 0;
    let [old, new] = versions.map(|declarations| {
        number += 1;
        let path = folder.path().join(format!("{number}.proto"));
        let text = format!("syntax = \"proto3\"; package stock; {declarations}");
        fs::write(&path, text).expect("schema should be written");
        path.to_str().expect("path should be UTF-8").to_owned()
    });
    run("", &["diff", &old, &new])
}

/// Regression test: values of maps were compared only if their messages had the same name.
#[test]
fn diff_compares_values_of_maps() {
    let [old, new] = [("A", "string"), ("B", "repeated string")].map(|(name, kind)| {
        format!("message Shelf {{ map<string, {name}> items = 1; }} message {name} {{ {kind} of = 1; }}")
    });
    let output = diff_of([&old, &new]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("stock.A.of = 1") && output.status.code() == Some(1), "{output:?}");
}

/// Regression test: changes of presence and oneofs were not printed, although they can lose values.
#[test]
fn diff_prints_changes_of_presence_and_oneofs() {
    let kept = "A same = 5; repeated int32 list = 6; oneof kept { int32 z = 7; }";
    let old = format!("string a = 1; optional int32 b = 2; int32 c = 3; oneof d {{ int32 e = 4; }} {kept}");
    let new = format!("optional string a = 1; int32 b = 2; oneof f {{ int32 c = 3; }} int32 e = 4; {kept}");
    let [old, new] = [old, new].map(|fields| format!("message A {{ {fields} }}"));
    let text = stdout(&diff_of([&old, &new]));
    let expected = [
        "safe   stock.A.a = 1: optional added",
        "safe   stock.A.b = 2: optional removed",
        "safe   stock.A.c = 3: moved into oneof f",
        "safe   stock.A.e = 4: moved out of oneof d",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

/// Regression test: a new first alias, and the values of an enum that replaced another one, were not printed.
#[test]
fn diff_prints_names_of_enum_values_in_json() {
    let old = "enum E { option allow_alias = true; NONE = 0; RED = 1; ROSE = 1; } enum F { LOW = 0; HIGH = 1; } \
               message A { map<string, F> levels = 1; }";
    let new = "enum E { option allow_alias = true; NONE = 0; ROSE = 1; RED = 1; } enum G { FEW = 0; HIGH = 1; } \
               message A { map<string, G> levels = 1; }";
    let text = stdout(&diff_of([old, new]));
    let expected = [
        "safe   stock.E.RED = 1: first name became ROSE, also in JSON",
        "safe   stock.F.LOW = 0: renamed to FEW, also in JSON",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn diff_names_removed_fields_without_reserved_numbers() {
    let old = "message A { int32 a = 2; int32 b = 5; int32 c = 7; int32 d = 8; }";
    let text = stdout(&diff_of([old, "message A { reserved 2, 5 to 7; }"]));
    let expected = [
        "safe   stock.A.a = 2: field removed",
        "safe   stock.A.b = 5: field removed",
        "safe   stock.A.c = 7: field removed",
        "safe   stock.A.d = 8: field removed; reserve its number, so that it is not used again",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn gateway_calls_server_of_another_schema_version() {
    let folder = tempfile::tempdir().expect("folder should be created");
    let schema = folder.path().join("quickstart.proto");
    let text = fs::read_to_string(root().join("examples/quickstart/proto/quickstart.proto"));
    let text = text.expect("schema should be readable");
    let edited = text.replace("int64 a = 1;", "repeated string notes = 7; string reason = 5; int64 a = 1;");
    assert_ne!(edited, text, "request should have further fields in front of the others");
    fs::write(&schema, edited).expect("schema should be written");
    let gateway = crate::gateway::Gateway::new(&calculator(), &["-p", schema.to_str().expect("path should be UTF-8")]);
    let body = br#"{"notes": ["x"], "reason": "y", "a": 2, "b": 40}"#;
    let sum = gateway.post("/quickstart.Calculator/Add", "content-type: application/json\r\n", body);
    assert!(sum.starts_with("HTTP/1.1 200") && sum.contains("42"), "{sum}");
}

#[test]
fn all_four_method_kinds_are_called() {
    let address = calculator();
    let call = |arguments: &[&str]| {
        let fixed = ["call", "-p", "quickstart/proto/quickstart.proto", "--json"];
        stdout(&run(&address, &[&fixed, arguments].concat()))
    };
    assert_eq!(call(&["Add", "a=-20", "b=62"]), "{\"value\":\"42\"}\n");
    assert_eq!(call(&["CountUp", "from=7", "count=2"]), "{\"value\":\"7\"}\n{\"value\":\"8\"}\n");
    let three = "{\"value\":1} {\"value\":2}\n{\"value\":\"3\"}";
    assert_eq!(call(&["SumUp", three]), "{\"total\":\"6\",\"count\":3}\n");
    assert_eq!(call(&["RunningSum", three]), "{\"value\":\"1\"}\n{\"value\":\"3\"}\n{\"value\":\"6\"}\n");
}

#[test]
fn each_stdin_line_is_answered_before_next() {
    let mut command =
        command(&calculator(), &["call", "-p", "quickstart/proto/quickstart.proto", "--json", "RunningSum", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("process should start");
    let mut input = child.stdin.take().expect("stdin should be piped");
    let mut output = BufReader::new(child.stdout.take().expect("stdout should be piped"));
    for (number, sum) in [(1, 1), (5, 6), (-6, 0)] {
        writeln!(input, "{{\"value\": {number}}}").expect("command should read the request");
        let mut line = String::new();
        output.read_line(&mut line).expect("line should be readable");
        let expected = if sum == 0 { "{}\n".to_owned() } else { format!("{{\"value\":\"{sum}\"}}\n") };
        assert_eq!(line, expected);
    }
    drop(input);
    assert!(child.wait().expect("process should exit").success());
}

#[test]
fn malformed_stdin_line_ends_call() {
    let arguments = ["call", "-p", "quickstart/proto/quickstart.proto", "SumUp", "-"];
    let mut command = command(&calculator(), &arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("program should be built");
    let mut input = child.stdin.take().expect("stdin should be piped");
    input.write_all(b"{\"value\": 1}\n\n{\"valu\": 1}\n").expect("command should read the requests");
    let output = child.wait_with_output().expect("process should exit");
    drop(input);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("line 3 of standard input is not a valid `quickstart.Number`"), "{text}");
}

#[test]
fn server_text_is_escaped_on_both_outputs() {
    let address = greeter();
    let call = |more: &[&str]| {
        let fixed = ["call", "-p", "proto/greet.proto", "Greet"];
        run(&address, &[&fixed, more].concat())
    };
    let hostile = "name=\u{1b}[31m\u{202e}x";
    assert!(stdout(&call(&[hostile])).contains("Hello, \\u001b[31m\\u202ex!"));
    // Raw text is allowed in a pipe.
    let raw = stdout(&call(&[hostile, "--out-field", "text"]));
    assert_eq!(raw, "Hello, \u{1b}[31m\u{202e}x!");
    let failed = call(&["name=x", "-H", "tenant=hostile"]);
    assert_eq!(failed.status.code(), Some(64 + 10));
    assert_eq!(String::from_utf8_lossy(&failed.stderr), "ABORTED (10): \\u{1b}[2J\\u{202e}gone\n");
}

#[test]
fn metadata_file_and_deadline_are_applied() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let secret = folder.path().join("tenant");
    fs::write(&secret, "hostile\n").expect("metadata file should be written");
    let address = greeter();
    let entry = format!("Tenant=@{}", secret.display());
    let fixed = ["call", "-p", "proto/greet.proto", "Greet", "name=x"];
    assert_eq!(run(&address, &[&fixed[..], &["-H", &entry]].concat()).status.code(), Some(74));
    assert_eq!(run(&address, &[&fixed[..], &["--deadline", "1ns"]].concat()).status.code(), Some(68));
    assert_eq!(run("127.0.0.1:1", &fixed).status.code(), Some(78));
}

#[test]
fn missing_reflection_error_suggests_proto_option() {
    let output = run(&calculator(), &["list"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("does not show its schema") && text.contains("--proto FILE"), "{text}");
}

#[test]
fn schema_and_frames_are_described_in_json() {
    let schema = ["-p", "proto/greet.proto", "--json"];
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let text = stdout(&run("", &[arguments, &schema].concat()));
        text.lines().map(|line| serde_json::from_str(line).expect("output lines should be valid JSON")).collect()
    };
    let files = lines(&["describe", "greet.Name"]);
    assert_eq!((files.len(), &files[0]["file"]), (1, &json!("greet.proto")));
    assert!(files[0]["proto"].as_str().expect("member should be a string").contains("message Name {"), "{files:?}");
    let frames = lines(&["decode", "000f00000000 00000000 000f0007000a 00000008 0800050a03796f75"]);
    assert_eq!(
        (&frames[0]["from"], &frames[0]["text"], &frames[0]["message"]),
        (&json!("client"), &json!("PING"), &json!(null))
    );
    assert_eq!(
        (&frames[1]["id"], &frames[1]["bytes"], &frames[1]["message"]),
        (&json!(7), &json!(8), &json!({ "name": "you" }))
    );
}

/// Waits until a process writes `remark` as its first line of standard error, and returns the rest.
fn after_first_remark(child: &mut Child, remark: &str) -> BufReader<ChildStderr> {
    let mut line = String::new();
    let mut remarks = BufReader::new(child.stderr.take().expect("stderr should be piped"));
    remarks.read_line(&mut line).expect("line should be readable");
    assert_eq!(line, remark);
    remarks
}

#[test]
fn frames_are_decoded_from_text_and_live_connection() {
    let schema = ["-p", "proto/greet.proto"];
    let request = "00 0f 00 01 00 0a 00 00 00 08 08 00 05 0a 03 79 6f 75";
    let shown = "> request 1 of greet.Greeter/Greet, 8 bytes\n    greet.Name {\"name\":\"you\"}\n";
    assert_eq!(stdout(&run("", &[&["decode", request], &schema[..]].concat())), shown);
    // Regression: bytes that are no frame were reported, but the command succeeded.
    for rest in ["00 0f 00", "00 10 00 00 00 00 00 00 00 00"] {
        let output = run("", &[&["decode", request, rest], &schema[..]].concat());
        assert!(output.status.code() == Some(1) && output.stdout.starts_with(shown.as_bytes()), "{output:?}");
    }
    // Makes the same call through a proxy.
    let arguments = [&["decode", "--proxy", "127.0.0.1:0"], &schema[..]].concat();
    let mut proxy = command(&greeter(), &arguments);
    let mut proxy = proxy.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("process should start");
    let mut remarks = BufReader::new(proxy.stderr.take().expect("stderr should be piped"));
    let mut line = String::new();
    remarks.read_line(&mut line).expect("line should be readable");
    let address = line.split_whitespace().nth(2).expect("line should contain the address").to_owned();
    let reply = stdout(&run(&address, &["call", "-p", "proto/greet.proto", "Greet", "name=you", "--json"]));
    assert_eq!(reply, "{\"text\":\"Hello, you!\"}\n");
    let mut lines = BufReader::new(proxy.stdout.take().expect("stdout should be piped")).lines();
    let mut seen = Vec::new();
    while !seen.iter().any(|line: &String| line.contains("Hello, you!")) {
        seen.push(lines.next().expect("reply should pass the proxy").expect("bytes should be UTF-8"));
    }
    proxy.kill().expect("process should be running");
    proxy.wait().expect("proxy should have been killed");
    let all = seen.join("\n");
    assert!(all.contains("0: > HELLO version 1") && all.contains("of greet.Greeter/Greet"), "{all}");
    assert!(all.contains("greet.Greeting {\"text\":\"Hello, you!\"}"), "{all}");
}

#[test]
fn decode_uses_schema_of_named_server() {
    let request = "00 0f 00 01 00 0a 00 00 00 08 08 00 05 0a 03 79 6f 75";
    let shown = stdout(&run(&greeter(), &["decode", request]));
    assert!(shown.contains("greet.Greeter/Greet") && shown.contains("{\"name\":\"you\"}"), "{shown}");
}

#[test]
fn out_field_writes_wide_integer_unquoted() {
    let shown = stdout(&run(
        &calculator(),
        &["call", "-p", "quickstart/proto/quickstart.proto", "Add", "a=2", "b=3", "--out-field", "value"],
    ));
    assert_eq!(shown, "5\n");
}

#[test]
fn out_field_writes_default_when_absent() {
    let address = calculator();
    let call = |arguments: &[&str]| {
        let fixed = ["call", "-p", "quickstart/proto/quickstart.proto"];
        stdout(&run(&address, &[&fixed, arguments].concat()))
    };
    assert_eq!(call(&["Add", "a=2", "b=-2", "--out-field", "value"]), "0\n");
    assert_eq!(call(&["SumUp", "--out-field", "count"]), "0\n");
}

/// Regression test: if standard error was closed, the command panicked and exited with code 101.
#[test]
fn closed_standard_error_changes_no_exit_code() {
    let address = greeter();
    let code = |arguments: &[&str]| {
        let (closed, stderr) = std::io::pipe().expect("descriptor should be available");
        drop(closed);
        let mut command = command(&address, arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).status().expect("process should start").code()
    };
    let fixed = ["call", "-p", "proto/greet.proto", "Greet"];
    assert_eq!(code(&[&fixed[..], &["name=Ada", "-vvv"]].concat()), Some(0));
    assert_eq!(code(&[&fixed[..], &["name="]].concat()), Some(67));
    assert_eq!(code(&[&fixed[..], &["nmae=Ada"]].concat()), Some(1));
}

/// Regression test: the trace waited for a call, which it did not show.
#[test]
fn trace_of_no_call_ends_at_once() {
    assert_eq!(stdout(&run("127.0.0.1:1", &["trace", "--listen", "127.0.0.1:0", "-n", "0"])), "");
}

#[test]
fn trace_shows_statuses_and_ends_after_requested_count() {
    let arguments = ["trace", "-p", "proto/greet.proto", "--listen", "127.0.0.1:0", "-n", "3", "--frames", "Gree"];
    let mut trace = command(&greeter(), &arguments);
    let mut trace = trace.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("process should start");
    let mut remarks = BufReader::new(trace.stderr.take().expect("stderr should be piped"));
    let mut line = String::new();
    remarks.read_line(&mut line).expect("line should be readable");
    let address = line.split_whitespace().nth(2).expect("line should contain the address").to_owned();
    let call = |rest: &[&str]| run(&address, &[&["call", "-p", "proto/greet.proto"], rest].concat());
    assert!(call(&["Greet", "name=you"]).status.success());
    assert_eq!(call(&["Greet", "name="]).status.code(), Some(67));
    assert!(call(&["Recite", "name=you"]).status.success());
    let mut text = String::new();
    trace
        .stdout
        .take()
        .expect("stdout should be piped")
        .read_to_string(&mut text)
        .expect("trace output should be UTF-8");
    assert!(trace.wait().expect("trace should end by itself").success());
    let shown: Vec<&str> = text.lines().filter(|line| line.contains(" ms, sent ")).collect();
    assert_eq!(shown.len(), 3, "{text}");
    assert!(shown[0].starts_with("0: greet.Greeter/Greet OK "), "{text}");
    assert!(shown[1].starts_with("1: greet.Greeter/Greet INVALID_ARGUMENT "), "{text}");
    assert!(shown[2].starts_with("2: greet.Greeter/Recite OK ") && shown[2].contains("received 3 of "), "{text}");
    assert!(text.contains("    > request ") && text.contains("greet.Greeting {\"text\":\"Hello, you!\"}"), "{text}");
}

#[test]
fn top_writes_text_or_json_to_pipe() {
    let [address, introspection] = inspected();
    assert!(run(&address, &["call", "-p", "proto/greet.proto", "Greet", "name=you"]).status.success());
    let text = stdout(&run(&introspection, &["top"]));
    assert!(text.starts_with("gateway: ") && text.contains("1 workers") && text.contains("number  peer"), "{text}");
    assert!(text.contains("calls: 0.0/s, 0.0 errors/s; 1 have ended, 0 of them failed"), "{text}");
    let text = stdout(&run(&introspection, &["top", "--methods", "--interval", "100ms", "--filter", "Greet"]));
    let greet = text.lines().find(|line| line.starts_with("greet.Greeter/Greet ")).unwrap_or_else(|| panic!("{text}"));
    assert!(greet.ends_with(" 1") && greet.contains("0.0") && text.contains("method "), "{text}");
    let json: Value = serde_json::from_str(&stdout(&run(&introspection, &["top", "--json"])))
        .expect("output of `top` should be valid JSON");
    assert_eq!(json["servers"][0]["server"]["opened"], "1", "{json}");
    assert_eq!(json["servers"][0]["server"]["methods"][0]["figures"]["ok"], "1", "{json}");
    let refused = run(&address, &["top"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no introspection"), "{refused:?}");
    // Regression: an interval of 0 stood for the default, and JSON was neither sorted nor filtered.
    for wrong in [["--interval", "0s"], ["--interval", "1ms"], ["--filter", "Greet"], ["--sort", "p99"]] {
        let refused = run(&introspection, &[&["top", "--json"], &wrong[..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
}

/// Regression test: SIGTERM, as sent by `timeout 10 frpc top`, left the terminal in raw mode.
#[cfg(target_os = "linux")]
#[test]
fn terminated_top_restores_terminal() {
    let [_, introspection] = inspected();
    // The program `script` of util-linux provides a terminal.
    let top = format!("echo $$; exec {} top", env!("CARGO_BIN_EXE_frpc"));
    let mut script = Command::new("script");
    script.args(["-qec", &top, "/dev/null"]).env("FRPC_SERVER", introspection).stdin(Stdio::piped());
    let Ok(mut script) = script.stdout(Stdio::piped()).spawn() else {
        return println!("skipped: `script` of util-linux is not installed");
    };
    let mut output = BufReader::new(script.stdout.take().expect("stdout should be piped"));
    let mut id = String::new();
    output.read_line(&mut id).expect("shell should print its process id");
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("\x1b[?1049h") {
        assert!(output.read_until(b'h', &mut shown).expect("output should be readable") > 0, "{shown:?}");
    }
    let status = Command::new("kill").arg(id.trim()).status().expect("`kill` should be installed");
    assert!(status.success());
    output.read_to_end(&mut shown).expect("output should be readable");
    script.wait().expect("`script` should be running");
    assert!(String::from_utf8_lossy(&shown).ends_with("\x1b[?1049l"), "{}", String::from_utf8_lossy(&shown));
}

#[test]
fn verbose_call_shows_frames() {
    let address = greeter();
    let output = run(&address, &["call", "-p", "proto/greet.proto", "Greet", "name=you", "-vvv"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.contains("* > HELLO"), "{text}");
    assert!(text.contains("greet.Greeting {\"text\":\"Hello, you!\"}"), "{text}");
}

/// Regression test: an enum that only another file used was missing.
#[test]
fn describe_prints_enums_of_other_files() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let files = [
        ("color.proto", "package shop; enum Color { RED = 0; }"),
        ("item.proto", "import \"color.proto\"; message Item { shop.Color color = 1; }"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), format!("syntax = \"proto3\"; {text}")).expect("file should be written");
    }
    let (proto, includes) = (folder.path().join("item.proto"), folder.path().to_str().expect("path should be UTF-8"));
    let text = stdout(&run("", &["describe", "-p", proto.to_str().expect("path should be UTF-8"), "-I", includes]));
    assert!(text.contains("enum Color {"), "{text}");
}

#[test]
fn describe_output_round_trips_through_compiler() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let protos = root().join("tests/conformance/proto");
    let mut count = 0;
    for entry in fs::read_dir(&protos).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        if !path.is_file() {
            continue;
        }
        let proto = path.to_str().expect("path should be UTF-8");
        let includes = protos.to_str().expect("path should be UTF-8");
        let text = stdout(&run("", &["describe", "-p", proto, "-I", includes]));
        // Several files cannot be printed as a single one.
        if text.starts_with("// ") || text.is_empty() {
            continue;
        }
        let again = folder.path().join(path.file_name().expect("file should have a name"));
        fs::write(&again, &text).expect("schema file should be written");
        let again = again.to_str().expect("path should be UTF-8");
        let here = folder.path().to_str().expect("path should be UTF-8");
        assert_eq!(stdout(&run("", &["describe", "-p", again, "-I", here, "-I", includes])), text, "{proto}");
        count += 1;
    }
    assert!(count >= 30, "only {count} schemas were compared");
}
