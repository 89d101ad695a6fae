//! Tests of the document that `rpc.discover` returns, and of the JSON schemas in it.
//!
//! The Python package `jsonschema` validates the schemas. `FRISBEE_PYTHON` names the interpreter; the default is
//! `python3`. Without the package, these tests print a message and pass, unless `FRISBEE_REQUIRE_JSONSCHEMA` is set.
//! `.ci/openrpc` sets `OPENRPC_SCHEMA` to the path of OpenRPC's schema, which then validates the document as well.

use crate::gateway::support::{Client, server};
use frisbee_tests::json::{All, Echoes, EchoesServer};
use frpc::{Acceptor, Request, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Gateway, ServeGateway as _};
use prost_types::Timestamp;
use serde_json::{Value, json};
use std::process::Command;
use std::{env, fs};

/// A service that returns its request.
struct Echo;

impl Echoes for Echo {
    async fn echo(&self, request: Request<All>) -> Result<Response<All>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn echo_all(&self, request: Request<Streaming<All>>) -> Result<Response<ResponseStream<All>>, Status> {
        Ok(Response::new(ResponseStream::new(request.into_inner())))
    }

    async fn echo_time(&self, request: Request<Timestamp>) -> Result<Response<Timestamp>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn nothing(&self, _: Request<()>) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }
}

fn echoes() -> Acceptor {
    let builder = Server::builder().add_service(EchoesServer::new(Echo)).gateway(Gateway::new().json_rpc());
    builder.build().expect("settings should be valid")
}

async fn call(server: &Acceptor, method: &str, params: &Value) -> Value {
    let mut client = Client::new(server);
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()).await;
    let mut reply = client.json().await;
    assert!(reply.get("result").is_some(), "{reply}");
    reply["result"].take()
}

async fn discover(server: &Acceptor) -> Value {
    call(server, "rpc.discover", &json!({})).await
}

fn method<'a>(document: &'a Value, name: &str) -> &'a Value {
    let methods = document["methods"].as_array().expect("methods should be a list");
    methods.iter().find(|method| method["name"] == name).expect("document should contain the method")
}

/// Returns a message in which all fields are set.
fn full() -> Value {
    json!({
        "flag": true, "small": -5, "largeNumber": "-9007199254740993", "count": 7, "largeCount": "18446744073709551615",
        "weight": 1.5, "total": "NaN", "name": "Ada", "data": "AAEC", "color": "BLUE", "maybe": "0",
        "inner": {"parts": [{"color": 77}], "word": "w"}, "parts": [{}, {"flag": true}], "words": ["a", "b"],
        "colors": ["RED", "DARK", 3], "numbers": [1, "Infinity", "-Infinity"], "byName": {"x": {"small": 1}},
        "byNumber": {"-3": "RED"}, "byFlag": {"true": "AQ=="}, "anyValue": {"deep": [null, 1, "x"]},
        "duration": "-1.500s", "at": "1972-01-01T10:00:20.021Z", "mask": "user.displayName,photo",
        "structure": {"a": {"b": []}}, "value": null, "list": [1, null], "wrapped": "12", "wrappedBytes": "AA==",
        "@other name": 4
    })
}

#[tokio::test]
async fn discovery_lists_kinds_and_ordered_params() {
    let document = discover(&server(Gateway::new().json_rpc(), |builder| builder)).await;
    assert_eq!(document["openrpc"], "1.3.2");
    let add = method(&document, "interop.Interop/Add");
    let param = |name: &str| json!({"name": name, "schema": {"$ref": format!("#/components/schemas/interop.AddRequest/properties/{name}")}});
    assert_eq!(add["params"], json!([param("a"), param("b")]));
    let result = json!({"name": "interop.Sum", "schema": {"$ref": "#/components/schemas/interop.Sum"}});
    assert_eq!((&add["x-kind"], &add["result"]), (&json!("unary"), &result));
    assert_eq!(method(&document, "interop.Interop/Chat")["x-kind"], "streaming");
}

#[tokio::test]
async fn discovery_describes_messages_with_comments_and_references() {
    let document = discover(&echoes()).await;
    let schemas = &document["components"]["schemas"];
    let names: Vec<_> = schemas.as_object().expect("schemas should be an object").keys().map(String::as_str).collect();
    assert!(names.contains(&"json.All") && names.contains(&"json.Color"), "{names:?}");
    assert_eq!(method(&document, "json.Echoes/Echo")["description"], "Echoes one message.\n\nAlso \\ \"quoted\" text.");
    assert_eq!(method(&document, "json.Echoes/EchoAll").get("description"), None);
    let all = &schemas["json.All"];
    assert_eq!(all["description"], "Has a field of every kind.");
    let fields = &all["properties"];
    assert_eq!(fields["flag"], json!({"type": "boolean", "description": "Whether it is so."}));
    let inner = json!({"allOf": [{"$ref": "#/components/schemas/json.All"}], "description": "Within this one."});
    assert_eq!(fields["inner"], inner);
    assert_eq!(fields["largeNumber"], json!({"type": "string", "pattern": "^-?[0-9]+$"}));
    assert_eq!(schemas["json.Color"]["description"], "What is painted.\nRED: Of a rose.");
    assert_eq!(schemas["google.protobuf.Timestamp"], json!({"type": "string", "format": "date-time"}));
    let renamed = method(&document, "json.Echoes/Echo")["params"].as_array().and_then(|params| params.last());
    assert_eq!(
        renamed.expect("method should have a renamed parameter")["schema"]["$ref"],
        "#/components/schemas/json.All/properties/%40other%20name"
    );
}

#[tokio::test]
async fn discovery_document_over_reply_limit_fails() {
    let mut config = frpc::Config::default();
    config.body_max = 4096;
    let builder = Server::builder().add_service(EchoesServer::new(Echo)).gateway(Gateway::new().json_rpc());
    let server = builder.config(config).build().expect("settings should be valid");
    let mut client = Client::new(&server);
    client.say(r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#).await;
    assert_eq!(client.json().await["error"]["code"], -32008);
}

/// A Python program that validates the document. It also checks which messages match the schemas, and prints them.
const JUDGE: &str = r##"
import json, os, sys
import jsonschema
from jsonschema import Draft7Validator
from referencing import Registry, Resource
given = json.load(open(sys.argv[1]))
document = given["document"]
draft7 = Resource.from_contents(Draft7Validator.META_SCHEMA)
said = []
for name, schema in document["components"]["schemas"].items():
    Draft7Validator.check_schema(schema)
said.append("schemas")
registry = Registry().with_resource("urn:document", Resource.from_contents({"$schema": "http://json-schema.org/draft-07/schema#", **document}))
def validator(reference):
    return Draft7Validator({"$ref": "urn:document" + reference}, registry=registry)
for method in document["methods"]:
    for described in method["params"] + [method["result"]]:
        list(validator(described["schema"]["$ref"]).iter_errors(None))
for name, message in given["right"]:
    validator("#/components/schemas/" + name).validate(message)
for name, message in given["wrong"]:
    assert not validator("#/components/schemas/" + name).is_valid(message), (name, message)
said.append("messages")
if "OPENRPC_SCHEMA" in os.environ:
    openrpc = json.load(open(os.environ["OPENRPC_SCHEMA"]))
    openrpc["$schema"] = "http://json-schema.org/draft-07/schema#"
    tools = [("https://meta.json-schema.tools" + end, draft7) for end in ("", "/")]
    Draft7Validator(openrpc, registry=Registry().with_resources(tools)).validate(document)
    said.append("openrpc")
print(" ".join(said))
"##;

/// Validates messages by the schemas of a document. Returns Python's output, or `None` if the package is missing.
fn judged(document: &Value) -> Option<String> {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let file = folder.path().join("given.json");
    fs::write(&file, document.to_string()).expect("file should be written");
    let python = env::var_os("FRISBEE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).args(["-c", JUDGE]).arg(file).output().ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("No module named 'jsonschema'") || stderr.contains("No module named 'referencing'") {
        return None;
    }
    assert!(output.status.success(), "{stderr}");
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[tokio::test]
async fn discovery_schemas_accept_only_valid_messages() {
    let server = echoes();
    let document = discover(&server).await;
    let reply = call(&server, "json.Echoes/Echo", &full()).await;
    assert_eq!(reply["inner"], full()["inner"]);
    let right = json!([
        ["json.All", full()],
        ["json.All", reply],
        ["json.All", call(&server, "json.Echoes/Echo", &json!({})).await],
        ["google.protobuf.Empty", call(&server, "json.Echoes/Nothing", &json!({})).await],
        ["google.protobuf.Timestamp", "1972-01-01T10:00:20.021Z"],
    ]);
    let wrong = json!([
        ["json.All", {"unknown": 1}],
        ["json.All", {"small": "x"}],
        ["json.All", {"small": 2_147_483_648_u64}],
        ["json.All", {"largeNumber": "x"}],
        ["json.All", {"color": "GREEN"}],
        ["json.All", {"word": "a", "other": {}}],
        ["json.All", {"byNumber": {"x": "RED"}}],
        ["json.All", {"byFlag": {"yes": ""}}],
        ["json.All", {"inner": {"parts": [{"flag": 1}]}}],
        ["json.All", {"duration": "1 s"}],
        ["google.protobuf.Empty", {"a": 1}],
    ]);
    let Some(stderr) = judged(&json!({"document": document, "right": right, "wrong": wrong})) else {
        assert!(
            env::var_os("FRISBEE_REQUIRE_JSONSCHEMA").is_none(),
            "jsonschema should be installed, because FRISBEE_REQUIRE_JSONSCHEMA is set"
        );
        eprintln!("skipped: there is no Python with the package jsonschema");
        return;
    };
    let openrpc = if env::var_os("OPENRPC_SCHEMA").is_some() { " openrpc" } else { "" };
    assert_eq!(stderr, format!("schemas messages{openrpc}"));
}
