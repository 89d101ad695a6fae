//! Tests that grpcurl, the reference client of gRPC reflection, can read a server's schema.

use super::support::builder;
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use frpc_reflection::{Health, Reflection};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const MODULE: &str = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3";

/// Returns the path of grpcurl. Builds it if Go is installed.
fn grpcurl() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join("grpcurl");
        if program.exists() {
            return Some(program);
        }
        let built = Command::new("go").args(["install", MODULE]).env("GOBIN", folder).output();
        let problem = match built {
            Ok(built) if built.status.success() => return Some(program),
            Ok(built) => String::from_utf8_lossy(&built.stderr).into_owned(),
            Err(_) => "Go is not installed".to_owned(),
        };
        assert!(
            std::env::var_os("FRISBEE_REQUIRE_GO").is_none(),
            "grpcurl should be installed, because FRISBEE_REQUIRE_GO is set: {problem}"
        );
        let line = format!("\nSKIPPED: nothing was tested with grpcurl: {problem}\n");
        // Written to the terminal directly, because captured output is shown only for failed tests.
        let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), line.as_bytes());
        None
    };
    BUILT.get_or_init(build).as_deref()
}

/// Starts a server with all protocols and returns its address.
async fn serve() -> String {
    let gateway = Gateway::new().http(Http::new().connect().grpc());
    let builder = builder().add_service(Reflection::new().hide("catalog.Admin")).add_service(Health::new());
    let server = builder.gateway(gateway).bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

/// Returns the output of grpcurl, or its error.
async fn run(grpcurl: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = tokio::process::Command::new(grpcurl);
    command.args(["-plaintext", "-max-time", "60"]).args(arguments).kill_on_drop(true);
    let output = command.output().await.expect("process should start");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpcurl_lists_and_describes_services_by_reflection() {
    let Some(grpcurl) = grpcurl() else { return };
    let address = serve().await;
    let listed = run(grpcurl, &[&address, "list"]).await.unwrap();
    let expected = [
        "catalog.Audit",
        "catalog.Shop",
        "frpc.reflection.v1.Reflection",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ];
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(
        run(grpcurl, &[&address, "list", "catalog.Shop"]).await.unwrap(),
        "catalog.Shop.Browse\ncatalog.Shop.Buy\n"
    );

    let shop = run(grpcurl, &[&address, "describe", "catalog.Shop"]).await.unwrap();
    for part in
        ["// Sells.", "// Buys one.", "rpc Buy ( .catalog.Thing ) returns ( .catalog.Receipt )", "IDEMPOTENT", "sales"]
    {
        assert!(shop.contains(part), "description {shop} should contain {part}");
    }
    assert!(shop.contains("returns ( stream .catalog.Thing )"), "{shop}");
    let part = run(grpcurl, &[&address, "describe", "catalog.Thing.Part"]).await.unwrap();
    assert!(part.contains("int32 count = 1;"), "{part}");
    let error = run(grpcurl, &[&address, "describe", "catalog.Admin"]).await.unwrap_err();
    assert!(error.contains("not found"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpcurl_calls_services_through_reflection() {
    let Some(grpcurl) = grpcurl() else { return };
    let address = serve().await;
    let call = async |data: &str, method: &str| {
        let printed = run(grpcurl, &["-d", data, &address, method]).await.unwrap();
        let values = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        values.collect::<Result<Vec<_>, _>>().unwrap_or_else(|error| panic!("{error} in {printed}"))
    };
    let thing = r#"{"name": "cup", "parts": [{"count": 2}], "colour": "RED"}"#;
    assert_eq!(call(thing, "catalog.Shop/Buy").await, [json!({"sum": "7"})]);
    let cup = json!({"name": "cup", "parts": [{"count": 2}], "colour": "RED"});
    assert_eq!(call(thing, "catalog.Shop/Browse").await, [cup.clone(), cup]);
    assert_eq!(
        call(r#"{"service": "catalog.Shop"}"#, "grpc.health.v1.Health/Check").await,
        [json!({"status": "SERVING"})]
    );
    let listed = call("{}", "frpc.reflection.v1.Reflection/List").await;
    let services = listed.iter().flat_map(|piece| piece["services"].as_array().into_iter().flatten());
    assert!(services.into_iter().any(|service| service["name"] == "catalog.Shop"), "{listed:?}");
}
