//! Tests of `frpc gateway --rules`: which callers are admitted by each protocol, and errors in rules files.

use crate::gateway::{GREET, Gateway, plain};
use crate::ways::{Certified, run, stdout};
use jsonwebtoken::{EncodingKey, Header, encode};
use samples::greet::{Greeting, Name};
use samples::started::Polite;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};
use tonic::Code;
use tonic_prost::ProstCodec;

const SECRET: &[u8; 32] = b"a secret of the tests' issuer...";

/// Rules by which readers may greet unless they are guests, only one tenant may recite, and Eve's greetings are rate
/// limited.
const RULES: &str = r#"
[jwt]
issuer = "tests"
audience = "greeter"

[[jwt.keys]]
kid = "one"
algorithm = "HS256"
secret = "secret"

[[allow]]
methods = ["greet.Greeter/*"]
who = [{ role = "reader" }]

[[allow]]
methods = ["greet.Greeter/Recite"]
who = [{ claims = { tenant = "blue" } }, { subject = "Bob" }]

[[allow]]
methods = ["frpc.reflection.v1.Reflection/*", "grpc.health.v1.Health/Check"]
who = [{ anybody = true }]

[[deny]]
methods = ["*"]
who = [{ known = true, role = "guest" }]

[[limit]]
methods = ["greet.Greeter/Greet"]
who = [{ subject = "Eve" }]
one-in = "1h"
burst = 2
"#;

fn rules(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    fs::write(folder.path().join("secret"), [&SECRET[..], b"\n"].concat()).expect("secret file should be written");
    let path = folder.path().join("rules.toml");
    fs::write(&path, text).expect("rules file should be written");
    let path = path.display().to_string();
    (folder, path)
}

/// Creates a token that is valid for an hour.
fn token(subject: &str, roles: &[&str], tenant: &str) -> String {
    let expires = SystemTime::now() + Duration::from_secs(3600);
    let expires = expires.duration_since(SystemTime::UNIX_EPOCH).expect("time should not go backwards").as_secs();
    let claims = json!({
        "iss": "tests", "aud": "greeter", "sub": subject, "exp": expires, "roles": roles, "tenant": tenant,
    });
    encode(&Header::default(), &claims, &EncodingKey::from_secret(SECRET)).expect("token should be signed")
}

/// Outcome of a call to `Greet` by each protocol: a status code, or the output of the command.
struct Codes {
    json_rpc: String,
    connect: String,
    grpc_web: String,
    grpc: Code,
    web_socket: Output,
}

async fn greet(gateway: &Gateway, token: &str) -> Codes {
    let grpc = {
        let channel = tonic::transport::Channel::from_shared(format!("http://{}", gateway.address));
        let channel =
            channel.expect("address should be valid").connect().await.expect("server should accept the connection");
        let mut client = tonic::client::Grpc::new(channel);
        client.ready().await.expect("connection should be established");
        let mut request = tonic::Request::new(Name { name: "Ada".to_owned() });
        if !token.is_empty() {
            let bearer = format!("Bearer {token}").parse().expect("metadata value should be valid");
            request.metadata_mut().insert("authorization", bearer);
        }
        let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Greet");
        let reply = client.unary(request, path, ProstCodec::<Name, Greeting>::default()).await;
        reply.map_or_else(|status| status.code(), |_| Code::Ok)
    };
    tokio::task::block_in_place(|| {
        let metadata = match token {
            "" => json!({}),
            token => json!({ "authorization": format!("Bearer {token}") }),
        };
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "greet.Greeter.Greet", "params": ["Ada"], "metadata": metadata,
        });
        let field = match token {
            "" => String::new(),
            token => format!("authorization: Bearer {token}\r\n"),
        };
        let post = |kind: &str, body: &[u8]| {
            gateway.post("/greet.Greeter/Greet", &format!("{field}content-type: {kind}\r\n"), body)
        };
        let mut arguments = vec!["call".to_owned(), "Greet".to_owned(), "name=Ada".to_owned()];
        if !token.is_empty() {
            arguments.extend(["-H".to_owned(), format!("authorization=Bearer {token}")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(GREET).collect();
        Codes {
            json_rpc: gateway.line(&call.to_string()),
            connect: post("application/json", br#"{"name":"Ada"}"#),
            grpc_web: post("application/grpc-web+proto", b"\0\0\0\0\x05\x0a\x03Ada"),
            grpc,
            web_socket: run(&format!("ws://{}/", gateway.address), &arguments),
        }
    })
}

impl Codes {
    #[track_caller]
    fn succeed(&self) {
        assert!(self.json_rpc.contains("Hello, Ada!"), "{}", self.json_rpc);
        assert!(self.connect.contains("Hello, Ada!"), "{}", self.connect);
        assert!(self.grpc_web.contains("Hello, Ada!"), "{}", self.grpc_web);
        assert_eq!(self.grpc, Code::Ok);
        assert!(stdout(&self.web_socket).contains("Hello, Ada!"));
    }

    #[track_caller]
    fn fail(&self, name: &str, code: Code) {
        assert!(self.json_rpc.contains(&format!("\"status\":\"{name}\"")), "{}", self.json_rpc);
        assert!(self.connect.contains(&format!("\"code\":\"{}\"", name.to_lowercase())), "{}", self.connect);
        let number = format!("grpc-status:{}", code as i32);
        assert!(self.grpc_web.replace("status: ", "status:").contains(&number), "{}", self.grpc_web);
        assert_eq!(self.grpc, code);
        assert_eq!(self.web_socket.status.code(), Some(64 + code as i32), "{:?}", self.web_socket);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_admit_and_refuse_by_each_protocol() {
    let address = plain(Polite, None).await;
    let (_folder, path) = rules(RULES);
    let gateway = Gateway::new(&address, &[&GREET[..], &["--rules", &path]].concat());
    greet(&gateway, &token("Ada", &["reader"], "red")).await.succeed();
    greet(&gateway, "").await.fail("UNAUTHENTICATED", Code::Unauthenticated);
    greet(&gateway, "forged").await.fail("UNAUTHENTICATED", Code::Unauthenticated);
    greet(&gateway, &token("Ada", &[], "blue")).await.fail("PERMISSION_DENIED", Code::PermissionDenied);
    let guest = token("Ada", &["reader", "guest"], "blue");
    greet(&gateway, &guest).await.fail("PERMISSION_DENIED", Code::PermissionDenied);
    tokio::task::block_in_place(|| {
        let recite = |token: &str| {
            let metadata = format!("authorization=Bearer {token}");
            let arguments = ["call", "Recite", "name=Ada", "--json", "-H", &metadata];
            run(&gateway.address, &[&arguments, &GREET[..]].concat())
        };
        assert_eq!(stdout(&recite(&token("Ada", &[], "blue"))).lines().count(), 3);
        assert_eq!(stdout(&recite(&token("Bob", &[], "red"))).lines().count(), 3);
        assert_eq!(recite(&token("Ada", &[], "red")).status.code(), Some(64 + 7));
        // Services of the gateway itself: reflection and health.
        assert!(stdout(&run(&gateway.address, &["list"])).contains("greet.Greeter"));
    });
}

/// Regression test: the signal SIGHUP terminated the gateway and its calls.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn hangup_reloads_rules_and_certificates() {
    let address = plain(Polite, None).await;
    let (certified, next) = (Certified::new(), Certified::new());
    let [ca, cert, key] = ["ca", "cert", "key"].map(|name| certified.shown(name));
    let (_folder, path) = rules(RULES);
    let own = ["--listen-cert", &cert, "--listen-key", &key, "--rules", &path];
    let (gateway, mut errors) = Gateway::watched(&address, &[&GREET[..], &own].concat());
    tokio::task::block_in_place(|| {
        let bearer = format!("authorization=Bearer {}", token("Ada", &["reader"], "red"));
        let greet = |authority: &str| {
            let arguments = ["call", "Greet", "name=Ada", "-H", &bearer, "--cacert", authority];
            run(&gateway.address, &[&arguments, &GREET[..]].concat()).status.code()
        };
        assert_eq!(greet(&ca), Some(0));
        let mut reload = || {
            gateway.signal("HUP");
            errors.next().expect("gateway should report the reload")
        };
        // An error in one file leaves all files unchanged.
        fs::copy(next.shown("cert"), &cert).expect("folder should be writable");
        let report = reload();
        assert!(report.contains("not reloaded") && report.contains(&cert), "{report}");
        assert_eq!(greet(&ca), Some(0));
        fs::copy(next.shown("key"), &key).expect("folder should be writable");
        fs::write(&path, RULES.replace("role = \"reader\"", "role = \"writer\"")).expect("folder should be writable");
        assert_eq!(reload(), "reloaded certificates and rules");
        assert_eq!(greet(&next.shown("ca")), Some(64 + 7), "new rules should reject readers");
        assert_eq!(greet(&ca), Some(64 + 14), "old certificate should be replaced");
        fs::write(&path, "[[allow]]\n").expect("folder should be writable");
        let report = reload();
        assert!(report.contains("not reloaded") && report.contains("rules.toml:1"), "{report}");
        assert_eq!(greet(&next.shown("ca")), Some(64 + 7));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn method_limit_holds_across_protocols() {
    let address = plain(Polite, None).await;
    let (_folder, path) = rules(RULES);
    let gateway = Gateway::new(&address, &[&GREET[..], &["--rules", &path]].concat());
    let eve = token("Eve", &["reader"], "red");
    // The calls by gRPC and JSON-RPC are within the limit, and the others exceed it.
    let codes = greet(&gateway, &eve).await;
    assert_eq!(codes.grpc, Code::Ok);
    assert!(codes.json_rpc.contains("Hello, Ada!"), "{}", codes.json_rpc);
    assert!(codes.connect.contains(r#""code":"resource_exhausted""#), "{}", codes.connect);
    greet(&gateway, &eve).await.fail("RESOURCE_EXHAUSTED", Code::ResourceExhausted);
    greet(&gateway, &token("Ada", &["reader"], "red")).await.succeed();
}

#[tokio::test(flavor = "multi_thread")]
async fn certificate_names_are_conditions() {
    let certified = Certified::new();
    let address = plain(Polite, None).await;
    let text = |host: &str| {
        format!("[[allow]]\nmethods = [\"*\"]\nwho = [{{ host = \"{host}\" }}, {{ common-name = \"{host}\" }}]\n")
    };
    let (ca, cert, key) = (certified.shown("ca"), certified.shown("cert"), certified.shown("key"));
    let own = ["--listen-cert", &cert, "--listen-key", &key, "--listen-cacert", &ca];
    for (host, code) in [("client.example.org", None), ("other.example.org", Some(64 + 7))] {
        let (_folder, path) = rules(&text(host));
        let gateway = Gateway::new(&address, &[&GREET[..], &own, &["--rules", &path]].concat());
        tokio::task::block_in_place(|| {
            let arguments = ["call", "Greet", "name=Ada", "--cacert", &ca, "--cert", &cert, "--key", &key];
            let called = run(&gateway.address, &[&arguments, &GREET[..]].concat());
            match code {
                None => assert!(stdout(&called).contains("Hello, Ada!")),
                code => assert_eq!(called.status.code(), code, "{called:?}"),
            }
        });
    }
}

#[test]
fn rules_file_error_names_line() {
    const ALLOW: &str = "[[allow]]\nmethods = [\"*\"]\nwho = [{ anybody = true }]\n";
    let jwt = "[jwt]\nissuer = \"tests\"\naudience = \"greeter\"\n";
    let key = "[[jwt.keys]]\nkid = \"a\"\nalgorithm = \"HS256\"\nsecret = \"secret\"\n";
    let limit = |rest: &str| format!("{ALLOW}[[limit]]\nwho = [{{ anybody = true }}]\n{rest}");
    let who = |who: &str| format!("[[allow]]\nmethods = [\"*\"]\nwho = {who}\n");
    for (text, place, problem) in [
        (String::new(), "rules.toml: ", "no rule admits a caller; add [[allow]]"),
        ("# nothing\n".to_owned(), "rules.toml: ", "no rule admits a caller; add [[allow]]"),
        (ALLOW.replace("allow", "permit"), "rules.toml:1: ", "unknown field `permit`, expected one of `jwt`, `allow`"),
        (ALLOW.replace("who", "whom"), "rules.toml:3: ", "unknown field `whom`, expected `methods` or `who`"),
        (who("[{ rule = \"a\" }]"), "rules.toml:3: ", "unknown field `rule`"),
        (format!("{ALLOW}= 1\n"), "rules.toml:4: ", ""),
        (
            ALLOW.replace('*', "greet.Greeter/Sing"),
            "rules.toml:2: ",
            "one of: greet.Greeter/Greet, greet.Greeter/Recite",
        ),
        (ALLOW.replace('*', "grpc.health.v1.Health/Chek"), "rules.toml:2: ", "grpc.health.v1.Health/Check"),
        (ALLOW.replace('*', "greet.Gr*"), "rules.toml:2: ", "no method matches \"greet.Gr*\""),
        (ALLOW.replace("\"*\"", ""), "rules.toml:2: ", "`methods` is empty"),
        (
            format!("{ALLOW}{}", ALLOW.replace("allow", "deny").replace("\"*\"", "")),
            "rules.toml:5: ",
            "`methods` is empty",
        ),
        (limit("per-second = 1\nmethods = []\n"), "rules.toml:7: ", "`methods` is empty"),
        (limit("one-in = \"0s\"\n"), "rules.toml:4: ", "one-in = 0 limits no call"),
        (who("[]"), "rules.toml:3: ", "`who` is empty"),
        (who("[{}]"), "rules.toml:3: ", "a condition without keys"),
        (who("[{ role = \"a\" }]"), "rules.toml:3: ", "callers have no tokens; add [jwt]"),
        (who("[{ host = \"a\" }]"), "rules.toml:3: ", "add --listen-cacert FILE"),
        (who("[{ known = true }]"), "rules.toml:3: ", "no caller can be known"),
        (who("[{ known = false, role = \"a\" }]"), "rules.toml:3: ", "a condition cannot be false"),
        (who("[{ anybody = false }]"), "rules.toml:3: ", "a condition cannot be false"),
        (who("[{ anybody = true, role = \"a\" }]"), "rules.toml:3: ", "the other keys have no effect"),
        (who("[{ subject = \"\" }]"), "rules.toml:3: ", "a name is empty"),
        (who("[{ role = \"a\", host = \"b\" }]"), "rules.toml:3: ", "a condition matches a token or a certificate"),
        // Regression: a date without quotes was accepted and matched no claim, so a deny rule rejected nobody.
        (
            format!("{jwt}{key}{}", who("[{ claims = { born = [1990-01-01] } }]")),
            "rules.toml:10: ",
            "write the date in quotes",
        ),
        (limit(""), "rules.toml:4: ", "one of `per-second = 10` and `one-in"),
        (limit("per-second = 0\n"), "rules.toml:4: ", "per-second = 0 admits no call"),
        (limit("per-second = 1\nburst = 0\n"), "rules.toml:4: ", "burst = 0 admits no call"),
        (limit("one-in = \"soon\"\n"), "rules.toml:6: ", "use a number with a unit"),
        (format!("{jwt}{ALLOW}"), "rules.toml:1: ", "[jwt] has no keys"),
        (format!("{}{key}{ALLOW}", jwt.replace("tests", "")), "rules.toml:1: ", "`issuer` is empty"),
        (format!("{}{key}{ALLOW}", jwt.replace("greeter", "")), "rules.toml:1: ", "`audience` is empty"),
        (format!("{jwt}{key}{key}{ALLOW}"), "rules.toml:8: ", "two keys have the kid \"a\""),
        (format!("{jwt}jwks = \"none.json\"\n{ALLOW}"), "none.json: ", "No such file"),
        (format!("{jwt}jwks = \"secret\"\n{ALLOW}"), "secret: ", "invalid JWKS"),
        (format!("{jwt}[[jwt.keys]]\nkid = \"a\"\nalgorithm = \"HS256\"\n{ALLOW}"), "rules.toml:4: ", "one of `pem"),
        (format!("{jwt}[[jwt.keys]]\nkid = \"a\"\nalgorithm = \"none\"\n{ALLOW}"), "rules.toml:6: ", "unknown variant"),
    ] {
        let (_folder, path) = rules(&text);
        let refused =
            run("127.0.0.1:1", &[&["gateway", "--listen", "127.0.0.1:0"], &GREET[..], &["--rules", &path]].concat());
        let shown = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{text}: {refused:?}");
        assert!(shown.contains(place) && shown.contains(problem), "{text}: {shown}");
    }
    let missing = run("127.0.0.1:1", &[&["gateway"], &GREET[..], &["--rules", "no.toml"]].concat());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no.toml"), "{missing:?}");
    assert!(!Path::new("no.toml").exists());
}
