//! A function or module for each code block, with the items that its page omits.

use crate::{Outcome, items, statements};

pub(crate) mod readme {
    use super::*;

    mod build {
        super::items!("readme-1");
    }

    pub(crate) mod server {
        super::items!("readme-2");

        // This block belongs at the end of the same file.
        super::items!("simulation-1");

        /// Serves like `main` of the README, but on a free port. Returns the address.
        pub(crate) async fn start() -> Result<String, frpc::Error> {
            let server = Server::builder().add_service(GreeterServer::new(Service)).bind("127.0.0.1:0").await?;
            let address = server.local_addr().to_string();
            tokio::spawn(server.serve());
            Ok(address)
        }
    }

    /// Types of the schema, shared by the client and the server above.
    pub(crate) mod greet {
        #![allow(missing_docs, unreachable_pub)]
        frpc::include_proto!("greet");
    }

    pub(crate) async fn client() -> Outcome {
        statements!("readme-3");
        Ok(())
    }

    /// A service that other pages use.
    pub(crate) struct Service;

    impl greet::Greeter for Service {
        async fn greet(
            &self,
            _request: frpc::Request<greet::Name>,
        ) -> Result<frpc::Response<greet::Greeting>, frpc::Status> {
            Err(frpc::Status::unimplemented("a service of the documentation"))
        }

        async fn recite(
            &self,
            _request: frpc::Request<greet::Name>,
        ) -> Result<frpc::Response<frpc::ResponseStream<greet::Greeting>>, frpc::Status> {
            Err(frpc::Status::unimplemented("a service of the documentation"))
        }
    }
}

mod calls {
    use super::readme::greet::{GreeterClient, Name};
    use super::*;
    use frpc::{Channel, Request};
    use std::time::Duration;

    async fn deadlines(client: GreeterClient) -> Outcome {
        statements!("calls-1");
        Ok(())
    }

    async fn old_headers() -> Outcome {
        statements!("calls-2");
        Ok(())
    }

    fn tower() {
        statements!("frpc-tower-1");
    }
}

pub(crate) mod routers {
    use super::readme::Service as Echo;
    use super::readme::greet::GreeterServer as EchoServer;
    use super::*;
    use frisbee::{Handlers as Answers, Packet, PacketId};
    use frpc::{Call, CallResponse};
    use samples::store::Store;
    use std::sync::OnceLock;

    pub(crate) fn handlers() {
        statements!("routers-1");
    }

    mod router {
        crate::items!("routers-2");
    }

    async fn server() -> Outcome {
        let (shouting, Anything) = (Answers::new(), Answers::new());
        statements!("routers-3");
        Ok(())
    }

    async fn client() -> Outcome {
        let shout = frisbee::Operation::user(1000).ok_or("users have 10 and up")?;
        statements!("routers-4");
        Ok(())
    }

    fn attachments(connection: &frisbee::Connection, request: &frpc::Request<()>, name: String) {
        statements!("routers-5");
    }

    async fn requests_of_the_crate() -> Outcome {
        statements!("frisbee-requests-1");
        Ok(())
    }

    async fn requests() -> Outcome {
        use frisbee::Client;
        use frisbee_requests::Requester;
        use std::time::Duration;
        let shout = frisbee::Operation::user(1000).ok_or("users have 10 and up")?;
        statements!("router-connections-1");
        Ok(())
    }

    async fn reconnecting(requests: frisbee_requests::Requester, shout: frisbee::Operation) -> Outcome {
        use frisbee::Client;
        use frisbee_requests::{ReconnectingClient, RequestError};
        statements!("router-connections-2");
        Ok(())
    }

    fn fan_out(subscribers: Vec<frisbee::Connection>, shout: frisbee::Operation, payload: Vec<u8>) -> Outcome {
        use frisbee::{HeaderForm, Outbox};
        statements!("router-connections-3");
        Ok(())
    }

    fn middleware(channel: frpc::Channel) {
        statements!("middleware-1");
    }
}

mod schemas {
    use super::readme::greet::{DynGreeter, GreeterServer};
    use super::readme::{Service as Polite, Service as Curt};
    use super::*;
    use frpc::Server;
    use std::sync::Arc;

    fn chosen_at_run_time(polite: bool) {
        statements!("schemas-1");
    }
}

pub(crate) mod limits {
    use super::*;
    use std::collections::BTreeMap;

    pub(crate) fn file(text: String) -> Outcome {
        statements!("limits-1");
        Ok(())
    }

    fn ages() {
        use frpc::Server;
        use std::time::Duration;

        statements!("limits-2");
    }
}

mod operate {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::Server;
    use frpc_gateway::{Gateway, Http, ServeGateway};
    use frpc_reflection::{Health, Reflection};
    use frpc_telemetry::Counters;

    async fn serve(settings: frpc::ServerSettings) -> Outcome {
        statements!("operate-1");
        Ok(())
    }
}

mod udp {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::Server;

    async fn server() -> Outcome {
        statements!("udp-1");
        Ok(())
    }
}

mod two_way {
    use super::*;
    use crate::fixtures::Agent;
    use frpc::Channel;
    use samples::agents::{AgentClient, AgentServer};

    async fn agent() -> Outcome {
        statements!("two-way-1");
        Ok(())
    }

    async fn controller() -> Outcome {
        statements!("two-way-2");
        Ok(())
    }
}

mod pubsub {
    use super::readme::Service as Echo;
    use super::readme::greet::GreeterServer as EchoServer;
    use super::*;
    use std::time::Duration;

    async fn broker() -> Outcome {
        statements!("pubsub-1");
        Ok(())
    }

    async fn mounted() -> Outcome {
        statements!("pubsub-2");
        Ok(())
    }

    async fn presence(client: frisbee_pubsub::Client) -> Outcome {
        use frisbee_pubsub::Broker;
        use frpc_access::Principal;
        statements!("presence-1");
        Ok(())
    }

    async fn history() -> Outcome {
        statements!("resume-1");
        Ok(())
    }
}

mod bus {
    use super::*;

    async fn broker() -> Outcome {
        statements!("bus-1");
        Ok(())
    }

    async fn settings() -> Outcome {
        statements!("bus-2");
        Ok(())
    }
}

mod durable {
    use super::*;
    use std::io;
    use std::time::Duration;

    fn is_known(_sequence: u64) -> bool {
        false
    }

    async fn bill(_topic: &str, _order: &[u8]) -> io::Result<()> {
        Ok(())
    }

    async fn quick_start() -> Outcome {
        statements!("durable-1");
    }
}

mod hand_off {
    use super::*;
    use crate::fixtures::{NoTls, PostgresConfig};
    use frpc::{Channel, Request, Response, Status};
    use samples::gateway::{Credentials, GatewayClient, Opened, Target};
    use tokio::io::copy_bidirectional;
    use tokio::net::TcpStream;

    async fn client(credentials: Credentials, postgres_config: PostgresConfig) -> Outcome {
        statements!("hand-off-1");
        Ok(())
    }

    struct Service;

    impl Service {
        fn address(&self, _target: &Target) -> Result<String, Status> {
            Err(Status::not_found("a gateway of the documentation"))
        }
    }

    items!("hand-off-2");
}

mod transports {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::tls::{Authorities, ClientTls, Identity, ServerTls};
    use frpc::{Channel, Server};

    fn adapter() {
        use tokio::io::AsyncWriteExt;
        statements!("transports-1");
    }

    async fn tls(certificate: Vec<u8>, key: Vec<u8>, clients: Vec<u8>, servers: Vec<u8>) -> Outcome {
        statements!("transports-2");
        Ok(())
    }

    #[cfg(target_os = "linux")]
    async fn shared_memory() -> Outcome {
        statements!("shared-memory-1");
        Ok(())
    }
}

mod simulation {
    use frisbee_sim::{Cable, EventKind, Fault, FaultKind, Faults, History, Register, RegisterOperation, Verdict, sim};
    use std::time::Duration;

    #[test]
    fn history() {
        super::statements!("simulation-2");
    }

    #[test]
    fn faults() {
        sim(1, |world| async move {
            super::statements!("simulation-3");
            tokio::time::sleep(Duration::from_secs(15)).await;
        });
    }

    mod readme {
        use samples::started::Polite;

        crate::items!("frisbee-sim-1");
    }
}

#[cfg(unix)]
mod restart {
    use super::readme::{Service, greet::GreeterServer};

    super::items!("restart-1");
}

mod frpc_readme {
    use super::readme::greet;
    use super::*;

    async fn client() -> Outcome {
        statements!("frpc-1");
        Ok(())
    }
}

async fn frisbee() -> Outcome {
    statements!("frisbee-1");
    Ok(())
}

async fn frisbee_pubsub() -> Outcome {
    statements!("frisbee-pubsub-1");
    Ok(())
}

mod frpc_build_readme {
    super::items!("frpc-build-1");
}

mod frpc_languages_readme {
    super::items!("frpc-languages-1");
}

pub(crate) fn core() -> Outcome {
    statements!("frisbee-core-1");
    Ok(())
}

fn frisbee_http2(mut input: bytes::Bytes, now: std::time::Instant) -> Outcome {
    statements!("frisbee-http2-1");
    Ok(())
}

mod gateway {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::Server;

    async fn server() -> Outcome {
        statements!("gateway-1");
        let _ = server;
        Ok(())
    }

    fn summary() {
        statements!("frpc-gateway-1");
    }

    mod build {
        super::items!("gateway-2");
    }
}

mod agents {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::Server;

    async fn server() -> Outcome {
        statements!("agents-1");
        let _ = server;
        Ok(())
    }
}

mod console {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::Server;

    async fn server() -> Outcome {
        statements!("console-1");
        let _ = server;
        Ok(())
    }
}

pub(crate) mod json {
    use super::readme::greet;
    use super::*;
    use frpc::json::{Options, Types};
    use frpc::prost_types::Any;

    mod build {
        super::items!("json-1");
    }

    pub(crate) fn messages() -> Outcome {
        statements!("json-2");
        statements!("json-3");
        Ok(())
    }

    pub(crate) fn scalars() -> Outcome {
        statements!("frpc-json-1");
        Ok(())
    }
}

pub(crate) mod tensors {
    use super::*;
    use frpc::tensor::{Image, Tensor};
    use frpc::{Request, Response, Status};
    use samples::model::{Description, Model, Scaling};

    struct Service;

    items!("tensors-1");

    pub(crate) fn readme() -> Outcome {
        statements!("frpc-tensor-1");
        Ok(())
    }
}

pub(crate) fn polyglot() -> Outcome {
    statements!("polyglot-1");
    Ok(())
}

mod from_tonic {
    mod client {
        crate::items!("from-tonic-1");
    }

    mod certificates {
        crate::items!("from-tonic-2");
    }
}

mod introspection {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::{Inspector, Server};

    #[cfg(unix)]
    async fn server() -> Outcome {
        statements!("introspection-1");
        Ok(())
    }

    fn connections(inspector: Inspector) {
        statements!("introspection-2");
    }

    async fn http(server: Server) -> Outcome {
        use frpc_gateway::{Gateway, Http, ServeGateway};
        use frpc_reflection::Introspection;
        statements!("introspection-3");
        Ok(())
    }
}

mod reflection {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::{Call, CallResponse, Channel, Next, Server, Status};
    use frpc_reflection::{Health, Reflection};

    async fn server() -> Outcome {
        statements!("reflection-1");
        Ok(())
    }

    mod build {
        super::items!("reflection-2");
    }

    async fn admit(call: Call, next: Next) -> Result<CallResponse, Status> {
        next.run(call).await
    }

    fn settings() {
        statements!("reflection-3");
    }

    async fn client(channel: Channel) -> Outcome {
        statements!("reflection-4");
        Ok(())
    }

    fn statuses(health: Health) {
        statements!("reflection-5");
    }

    fn readme() {
        statements!("frpc-reflection-1");
    }
}

mod observe {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::{Channel, Code, Server};

    async fn counters() -> Outcome {
        statements!("observe-1");
        Ok(())
    }

    fn reading(counters: frpc_telemetry::Counters) {
        statements!("observe-2");
    }

    fn page(counters: frpc_telemetry::Counters) {
        statements!("observe-3");
    }

    fn facade(counters: frpc_telemetry::Counters, server: Server) {
        statements!("observe-4");
    }

    mod observer {
        use frpc::Code;
        super::items!("traces-1");
    }

    fn traces() {
        statements!("traces-2");
    }

    mod handler {
        super::items!("traces-3");
    }

    fn readme(provider: opentelemetry_sdk::trace::SdkTracerProvider) {
        use frpc::{Channel, Server};
        use opentelemetry::trace::TracerProvider as _;
        statements!("frpc-telemetry-1");
    }
}

mod compression {
    use super::readme::Service;
    use super::readme::greet::GreeterServer;
    use super::*;
    use frpc::{Channel, Server};

    async fn both_ends() -> Outcome {
        statements!("compression-1");
        Ok(())
    }
}

mod security {
    use super::readme::Service;
    use super::readme::greet::{GreeterServer, Greeting, Name};
    use super::*;
    use frpc::{Request, Response, Status};
    use frpc_access::Principal;
    use frpc_access::jwt::Claims;

    mod server {
        use super::{GreeterServer, Service};

        super::super::items!("security-1");
    }

    mod handler {
        use super::*;

        struct Service;

        super::super::items!("security-2");
    }

    async fn client() -> Outcome {
        statements!("security-3");
        Ok(())
    }

    fn topics() -> Outcome {
        use frpc::Server;
        use frpc_access::{Access, Who};

        statements!("security-4");
        Ok(())
    }

    fn readme(secret: [u8; 32]) -> Outcome {
        use frpc::Server;

        statements!("frpc-access-1");
        Ok(())
    }
}

mod fleet {
    use super::*;
    use frpc_balance::Balance;

    async fn resolvers() -> Outcome {
        statements!("resolvers-1");
        Ok(())
    }

    async fn etcd() -> Outcome {
        use super::readme::Service;
        use super::readme::greet::GreeterServer;
        statements!("resolvers-2");
        Ok(())
    }

    async fn dns() -> Outcome {
        statements!("resolvers-3");
        Ok(())
    }

    async fn readme() -> Outcome {
        statements!("frpc-balance-1");
        Ok(())
    }

    async fn kubernetes() -> Outcome {
        statements!("resolvers-4");
        Ok(())
    }

    async fn hedging() -> Outcome {
        statements!("fleet-1");
        Ok(())
    }

    async fn zones() -> Outcome {
        statements!("fleet-2");
        Ok(())
    }
}
