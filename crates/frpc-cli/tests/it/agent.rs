//! Tests of `frpc mcp` with the public Rust client of the Model Context Protocol, which starts it as a child process.

use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Gateway, Mcp, ServeGateway as _};
use rmcp::model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions};
use rmcp::{ClientHandler, RoleClient};
use samples::tools::{Count, Name, Node, Tools, ToolsServer};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Maximum time to wait for an event.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Reports to the test when a call of `Wait` begins and ends.
struct Service(UnboundedSender<&'static str>);

struct OnEnd(UnboundedSender<&'static str>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        let _ = self.0.send("ended");
    }
}

impl Tools for Service {
    async fn echo(&self, request: Request<Node>) -> Result<Response<Node>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn put(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn fail(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Err(Status::not_found(format!("no name {:?}", request.into_inner().name)))
    }

    async fn wait(&self, _: Request<Name>) -> Result<Response<Name>, Status> {
        let _on_end = OnEnd(self.0.clone());
        let _ = self.0.send("began");
        std::future::pending().await
    }

    async fn count(&self, request: Request<Count>) -> Result<Response<ResponseStream<Count>>, Status> {
        let numbers = (1..=request.into_inner().number).map(|number| Ok(Count { number }));
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers.collect::<Vec<_>>()))))
    }

    async fn text(&self, _: Request<()>) -> Result<Response<String>, Status> {
        Ok(Response::new(String::new()))
    }

    async fn shout(&self, request: Request<String>) -> Result<Response<Name>, Status> {
        Ok(Response::new(Name { name: request.into_inner() }))
    }

    async fn chat(&self, _: Request<Streaming<Name>>) -> Result<Response<ResponseStream<Name>>, Status> {
        Err(Status::unimplemented("not a tool"))
    }
}

/// An agent that forwards progress notifications of its calls to the test.
struct Agent(UnboundedSender<f64>);

impl ClientHandler for Agent {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(params.progress);
    }
}

fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn next<T>(events: &mut UnboundedReceiver<T>) -> T {
    timeout(TIMEOUT, events.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("sender should not be dropped")
}

async fn lists_calls_and_cancels(lifecycle: ClientLifecycleMode) {
    let (on_event, mut events) = unbounded_channel();
    let mcp = Mcp::new().marked().method_as("tools.Tools/Fail", "fail").method_as("tools.Tools/Wait", "wait");
    let builder = Server::builder().add_service(ToolsServer::new(Service(on_event)));
    let server = builder
        .gateway(Gateway::new().mcp(mcp))
        .bind("127.0.0.1:0")
        .await
        .expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    let serving = tokio::spawn(server.serve());
    let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
    command.args(["mcp", "--to", &address]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut program = command.spawn().expect("process should start");
    let pipes =
        (program.stdout.take().expect("stdout should be piped"), program.stdin.take().expect("stdin should be piped"));
    let (on_progress, mut progress) = unbounded_channel();
    let begun = timeout(TIMEOUT, Agent(on_progress).serve_with_lifecycle(pipes, lifecycle)).await;
    let agent = begun.expect("initialization should complete in time").expect("server should accept the agent");

    let tools = agent.list_all_tools().await.expect("server should list its tools");
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["tools_Tools_Echo", "tools_Tools_Count", "fail", "wait"]);
    assert_eq!(tools[0].description.as_deref(), Some("Returns its request."));
    assert_eq!(tools[0].annotations.as_ref().and_then(|hints| hints.read_only_hint), Some(true));

    let arguments = json!({"text": "x", "kind": "KIND_LEAF"});
    let result =
        agent.call_tool(call("tools_Tools_Echo", arguments.clone())).await.expect("tool call should return a result");
    assert_eq!((result.structured_content, result.is_error.unwrap_or_default()), (Some(arguments), false));

    let result = agent.call_tool(call("fail", json!({"name": "x"}))).await.expect("tool call should return a result");
    let text = result.content[0].as_text().expect("content should be text").text.clone();
    assert_eq!((result.is_error, &*text), (Some(true), "NOT_FOUND: no name \"x\""));

    let result = agent
        .call_tool(call("tools_Tools_Count", json!({"number": 3})))
        .await
        .expect("tool call should return a result");
    let items = json!({"items": [{"number": 1}, {"number": 2}, {"number": 3}]});
    assert_eq!(result.structured_content, Some(items));
    for expected in [1.0, 2.0, 3.0] {
        assert_eq!(next(&mut progress).await.to_bits(), f64::to_bits(expected));
    }

    let request = ClientRequest::CallToolRequest(rmcp::model::Request::new(call("wait", json!({"name": "x"}))));
    let waiting = agent
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .expect("request should be sent");
    assert_eq!(next(&mut events).await, "began");
    waiting.cancel(Some("no longer needed".to_owned())).await.expect("cancellation should be sent");
    assert_eq!(next(&mut events).await, "ended");
    assert!(
        agent.call_tool(call("tools_Tools_Echo", json!({"text": "x"}))).await.is_ok(),
        "connection should stay open"
    );

    agent.cancel().await.expect("agent should shut down");
    let ended = timeout(TIMEOUT, program.wait())
        .await
        .expect("process should exit within the timeout")
        .expect("bridge should be a child process");
    assert!(ended.success(), "{ended}");
    serving.abort();
}

#[tokio::test]
async fn rust_client_uses_tools_of_2025() {
    lists_calls_and_cancels(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn rust_client_uses_tools_of_2026() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    lists_calls_and_cancels(ClientLifecycleMode::Discover { preferred_versions }).await;
}
