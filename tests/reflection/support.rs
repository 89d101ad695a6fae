//! A server with reflection.

use frpc::{Acceptor, Channel, Request, Response, ResponseStream, Server, ServerBuilder, Status};
use frpc_reflection::Reflection;
use std::time::Duration;

/// Maximum time to wait for an event that should happen soon.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The services of `tests/proto/catalog.proto`.
pub(crate) mod catalog {
    #![allow(missing_docs, unreachable_pub)]
    frpc::include_proto!("catalog");
}

/// A schema with a long description.
pub(crate) mod long {
    #![allow(missing_docs, unreachable_pub)]
    frpc::include_proto!("long");
}

use catalog::{Admin, AdminServer, Audit, AuditServer, Receipt, Shop, ShopServer, Thing};

pub(crate) struct House;

impl Shop for House {
    async fn buy(&self, _request: Request<Thing>) -> Result<Response<Receipt>, Status> {
        Ok(Response::new(Receipt { sum: 7 }))
    }

    async fn browse(&self, request: Request<Thing>) -> Result<Response<ResponseStream<Thing>>, Status> {
        let thing = request.into_inner();
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(thing.clone()), Ok(thing)]))))
    }
}

impl Admin for House {
    async fn fire(&self, _request: Request<Thing>) -> Result<Response<Receipt>, Status> {
        Ok(Response::new(Receipt { sum: -1 }))
    }
}

impl Audit for House {
    async fn read(&self, _request: Request<Thing>) -> Result<Response<Receipt>, Status> {
        Ok(Response::new(Receipt { sum: 1 }))
    }
}

impl long::Long for House {
    async fn call(&self, request: Request<long::M0>) -> Result<Response<long::M0>, Status> {
        Ok(Response::new(request.into_inner()))
    }
}

/// Returns a server with the services of the catalog.
pub(crate) fn builder() -> ServerBuilder {
    Server::builder()
        .add_service(ShopServer::new(House))
        .add_service(AdminServer::new(House))
        .add_service(AuditServer::new(House))
}

/// Returns a server with the services of the catalog and with reflection.
pub(crate) fn server(reflection: Reflection) -> Acceptor {
    builder().add_service(reflection).build().expect("services should not overlap")
}

/// Connects a client to an in-memory server.
pub(crate) async fn connect(server: &Acceptor) -> Channel {
    connect_with(server, frpc::Config::default()).await
}

pub(crate) async fn connect_with(server: &Acceptor, config: frpc::Config) -> Channel {
    let (here, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    Channel::builder().config(config).connect_io(here).await.expect("connection in memory should be accepted")
}
