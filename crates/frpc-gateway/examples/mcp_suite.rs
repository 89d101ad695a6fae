//! The server that the conformance suite of the Model Context Protocol calls, with tools of the names that it expects:
//! `.ci/mcp`. It serves the address in its argument until it is killed.

use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Gateway, Mcp, ServeGateway as _};
use samples::tools::{Clock, ClockServer, Count, Name, Node, Tools, ToolsServer};

struct Suite;

impl Tools for Suite {
    async fn echo(&self, request: Request<Node>) -> Result<Response<Node>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn put(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn fail(&self, _: Request<Name>) -> Result<Response<Name>, Status> {
        Err(Status::failed_precondition("this tool always fails"))
    }

    async fn wait(&self, _: Request<Name>) -> Result<Response<Name>, Status> {
        std::future::pending().await
    }

    async fn count(&self, request: Request<Count>) -> Result<Response<ResponseStream<Count>>, Status> {
        Ok(count_to(request.get_ref().number))
    }

    async fn text(&self, _: Request<()>) -> Result<Response<String>, Status> {
        Ok(Response::new("This is a simple text response for testing.".to_owned()))
    }

    async fn shout(&self, request: Request<String>) -> Result<Response<Name>, Status> {
        Ok(Response::new(Name { name: request.into_inner().to_uppercase() }))
    }

    async fn chat(&self, _: Request<Streaming<Name>>) -> Result<Response<ResponseStream<Name>>, Status> {
        Err(Status::unimplemented("not a tool"))
    }
}

impl Clock for Suite {
    async fn tick(&self, _: Request<()>) -> Result<Response<ResponseStream<Count>>, Status> {
        Ok(count_to(3))
    }
}

fn count_to(last: u32) -> Response<ResponseStream<Count>> {
    Response::new(ResponseStream::new(frpc::iter((1..=last).map(|number| Ok(Count { number })))))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: mcp_suite ADDRESS")?;
    let origin = format!("http://{}", address.replace("127.0.0.1", "localhost"));
    let mcp = Mcp::new()
        .method_as("tools.Tools/Text", "test_simple_text")
        .method_as("tools.Tools/Fail", "test_error_handling")
        .method_as("tools.Clock/Tick", "test_tool_with_progress")
        .service("tools.Tools");
    let http = frpc_gateway::Http::new().origin(origin);
    let gateway = Gateway::new().http(http).mcp(mcp);
    let builder = Server::builder().add_service(ToolsServer::new(Suite)).add_service(ClockServer::new(Suite));
    let server = builder.gateway(gateway).bind(address).await?;
    server.serve().await?;
    Ok(())
}
