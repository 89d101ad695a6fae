//! Items that stand in for the reader's own program.

use frpc::{Request, Response, ResponseStream, Status};
use samples::agents::{self, Command, Empty, Load, Output};

/// A service for the controller in two-way.md.
pub(crate) struct Agent;

impl agents::Agent for Agent {
    async fn report(&self, _request: Request<Empty>) -> Result<Response<Load>, Status> {
        Err(Status::unimplemented("an agent of the documentation"))
    }

    async fn run(&self, _request: Request<Command>) -> Result<Response<ResponseStream<Output>>, Status> {
        Err(Status::unimplemented("an agent of the documentation"))
    }
}

/// A settings type like that of tokio-postgres, for hand-off.md.
pub(crate) struct PostgresConfig;

pub(crate) struct NoTls;

impl PostgresConfig {
    pub(crate) async fn connect_raw<T>(&self, raw: T, _tls: NoTls) -> std::io::Result<((), T)> {
        Ok(((), raw))
    }
}
