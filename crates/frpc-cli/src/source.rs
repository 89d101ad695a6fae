//! Options that all commands have in common, and the source of a command's schema: the files that its arguments name,
//! or else the server.

use crate::arguments::{ServerArguments, SourceArguments};
use crate::failure::Failure;
use crate::schema::{self, Schema};
use crate::show::{Screen, note};
use crate::target::Target;
use clap::Args;
use frpc::{Code, Status};
use frpc_reflection::{ServerSchema, fetch_grpc_files, v1};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Timeout for requesting the schema of a server. Servers that do not reply to unknown operations, such as Go servers,
/// cause this timeout.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Options that all commands have in common.
#[derive(Debug, Args)]
pub(crate) struct Context {
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    #[command(flatten)]
    pub(crate) screen: Screen,
}

impl Context {
    /// Returns the server that the arguments name.
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        Target::new(&self.server)
    }

    /// Loads the schema from the files that the arguments name. If they name none, requests the schema from the server.
    pub(crate) async fn schema(&self) -> Result<Schema, Failure> {
        let target = self.target();
        let is_grpc = target.as_ref().is_ok_and(Target::is_grpc);
        let mut schema = match schema::load_optional(&self.source)? {
            Some(schema) => schema,
            None => fetch(&target?).await?,
        };
        schema.is_grpc = is_grpc;
        Ok(schema)
    }

    /// Loads the schema from the files that the arguments name. If they name none and `asks_server` is set, requests
    /// the schema from the server. If the server shows none, prints a warning and returns `None`.
    pub(crate) async fn schema_if_shown(&self, asks_server: bool) -> Result<Option<Arc<Schema>>, Failure> {
        let mut schema = schema::load_optional(&self.source)?;
        if schema.is_none() && asks_server {
            let warn =
                |failure: &Failure| note(format_args!("warning: messages are shown without their schema: {failure}"));
            schema = self.schema().await.inspect_err(warn).ok();
        }
        Ok(schema.map(Arc::new))
    }
}

async fn fetch(target: &Target) -> Result<Schema, Failure> {
    let channel = target.connect(target.builder(), None).await?;
    let refused = |status: Status| {
        // A channel to several servers, or to a gRPC server, connects when it is first used.
        if status.code() == Code::Unavailable && !status.may_have_run() {
            return status.into();
        }
        Failure::new(format!(
            "the server at {} does not show its schema ({status}): name it by --proto FILE (and -I FOLDER for imports) \
             or by --descriptor-set FILE",
            target.address
        ))
    };
    if target.is_grpc() {
        let files = fetch_grpc_files(&channel).await.map_err(refused)?;
        return Schema::of_grpc(&files);
    }
    // A channel to several servers may still have to connect.
    let limit = DESCRIBE_TIMEOUT.saturating_add(target.connect_timeout());
    let fetched = timeout(limit, ServerSchema::fetch(&channel)).await;
    let fetched = fetched.unwrap_or_else(|_| Err(Status::deadline_exceeded("it does not reply")));
    let shown = fetched.map_err(refused)?;
    let pool = schema::untrusted_pool(&shown.files)?;
    // Omit services with other codecs, because their native bodies cannot be decoded.
    let readable = shown.services.iter().filter(|service| service.codec() == v1::Codec::Polyglot);
    let services: Option<Vec<_>> = readable.map(v1::Service::description).collect();
    let services = services.ok_or_else(|| Failure::new("the schema of the server has invalid operation numbers"))?;
    Schema::of(pool, &services)
}
