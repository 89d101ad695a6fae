//! Tests of `Any` in JSON protocols. Its content may have any type in the schema of the server's services.

use crate::gateway::greeter::{TIMEOUT, post, rest};
use crate::gateway::support::Client;
use frisbee_tests::json::{All, Echoes, EchoesServer};
use frpc::{Acceptor, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use prost_types::{Any, Timestamp, Value as ProtoValue};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// A service that returns its request, or an `Any` of the type that a name states.
struct Echo;

impl Echoes for Echo {
    async fn echo(&self, request: Request<All>) -> Result<Response<All>, Status> {
        let mut all = request.into_inner();
        if let Some(any) = &all.any
            && any.type_url.ends_with("/json.All")
        {
            // Content received as JSON is converted to protobuf's encoding.
            let content: All =
                prost::Message::decode(&*any.value).map_err(|error| Status::internal(error.to_string()))?;
            all.small = content.small;
        }
        if !all.name.is_empty() {
            let value = if all.name == "bomb" { bomb() } else { Vec::new() };
            let name = if all.name == "bomb" { "google.protobuf.ListValue" } else { &all.name };
            all.any = Some(Any { type_url: format!("type.googleapis.com/{name}"), value });
        }
        Ok(Response::new(all))
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

/// Returns a list of two million empty values. It takes four megabytes encoded, and far more when it is decoded.
fn bomb() -> Vec<u8> {
    assert!(size_of::<ProtoValue>() >= 32);
    [0x0a, 0].repeat(2 << 20)
}

fn builder() -> ServerBuilder {
    Server::builder().add_service(EchoesServer::new(Echo))
}

fn echoes() -> Acceptor {
    builder().gateway(Gateway::new().json_rpc()).build().expect("settings should be valid")
}

async fn by_json_rpc(params: &Value) -> Value {
    let mut client = Client::new(&echoes());
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "json.Echoes/Echo", "params": params}).to_string()).await;
    client.json().await
}

/// Makes a Connect call. Returns the status line and the body of the response.
async fn by_connect(message: &Value) -> (String, Value) {
    let server = builder().gateway(Gateway::new().http(Http::new().connect())).bind("127.0.0.1:0").await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    let serving = tokio::spawn(server.serve());
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let request = post("/json.Echoes/Echo", "connection: close\r\n", &message.to_string());
    socket.write_all(request.as_bytes()).await.expect("write should succeed");
    let response =
        tokio::time::timeout(TIMEOUT, rest(&mut socket)).await.expect("read should complete within the timeout");
    serving.abort();
    let (head, body) = response.split_once("\r\n\r\n").expect("response should have a head");
    let line = head.lines().next().unwrap_or_default().to_owned();
    (line, serde_json::from_str(body).expect("text should be valid JSON"))
}

#[tokio::test]
async fn any_round_trips_known_message_types() {
    let message = |any: Value| json!({"small": 0, "any": any});
    let all = json!({"@type": "type.googleapis.com/json.All", "small": 3, "words": ["a"]});
    for (any, small) in [
        (all.clone(), Some(3)),
        (json!({"@type": "x/google.protobuf.Timestamp", "value": "1972-01-01T10:00:20Z"}), None),
        (json!({"@type": "x/google.protobuf.Any", "value": all}), None),
        (json!({"@type": "x/google.protobuf.Struct", "value": {"a": [1, null]}}), None),
    ] {
        let mut expected = json!({"any": any});
        if let Some(small) = small {
            expected["small"] = json!(small);
        }
        assert_eq!(by_json_rpc(&message(any.clone())).await["result"], expected);
        assert_eq!(by_connect(&message(any)).await, ("HTTP/1.1 200 OK".to_owned(), expected));
    }
}

#[tokio::test]
async fn unknown_any_type_error_names_type() {
    let stranger = json!({"any": {"@type": "type.googleapis.com/other.Stranger", "x": 1}});
    let reply = by_json_rpc(&stranger).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let named = "type \"type.googleapis.com/other.Stranger\" of an Any is not known";
    assert!(reply["error"]["message"].as_str().is_some_and(|text| text.contains(named)), "{reply}");
    let (line, body) = by_connect(&stranger).await;
    assert_eq!((line.as_str(), &body["code"]), ("HTTP/1.1 400 Bad Request", &json!("invalid_argument")));
    assert!(body["message"].as_str().is_some_and(|text| text.contains(named)), "{body}");

    // The handler creates this `Any`.
    let reply = by_json_rpc(&json!({"name": "other.Stranger"})).await;
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert!(reply["error"]["message"].as_str().is_some_and(|text| text.contains(named)), "{reply}");
}

#[tokio::test]
async fn any_reply_memory_is_limited() {
    let reply = by_json_rpc(&json!({"name": "bomb"})).await;
    let text = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("bytes of memory, but only 67108864 remain of the limit"), "{reply}");
}
