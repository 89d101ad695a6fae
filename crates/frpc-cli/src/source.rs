//! The source of a command's schema: its arguments, or else the server.

use crate::arguments::{ServerArguments, SourceArguments};
use crate::failure::Failure;
use crate::schema::{self, MethodDescription, Schema, ServiceDescription};
use crate::show::note;
use crate::target::Target;
use frpc_reflection::{ServerSchema, v1};
use std::time::Duration;
use tokio::time::timeout;

/// Timeout of a server's description. Compat peers, such as Go's, do not reply to unknown operations.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Loads the schema named by the arguments, or requests it from the server.
pub(crate) async fn schema(source: &SourceArguments, server: &ServerArguments) -> Result<Schema, Failure> {
    match schema::load_optional(source)? {
        Some(schema) => Ok(schema),
        None => fetch(&Target::new(server)?).await,
    }
}

/// Like [`schema`], but prints a warning and returns `None` if there is no schema.
pub(crate) async fn schema_if_shown(source: &SourceArguments, server: &ServerArguments) -> Option<Schema> {
    let loaded = schema(source, server).await;
    loaded.inspect_err(|failure| note(format_args!("warning: messages are shown without their schema: {failure}"))).ok()
}

async fn fetch(target: &Target) -> Result<Schema, Failure> {
    let channel = target.connect(target.builder(), None).await?;
    let refused = |why: &str| {
        Failure::new(format!(
            "the server at {} does not show its schema ({why}): name it by --proto FILE (and -I FOLDER for imports) or by \
             --descriptor-set FILE",
            target.address
        ))
    };
    let fetched = timeout(DESCRIBE_TIMEOUT, ServerSchema::fetch(&channel)).await;
    let fetched = fetched.map_err(|_| refused("it does not answer"))?;
    let shown = fetched.map_err(|status| refused(&status.to_string()))?;
    let pool = frpc_dynamic::schema::pool(&shown.files);
    let pool = pool.map_err(|reason| Failure::new(format!("the schema of the server cannot be read: {reason}")))?;
    let services: Option<Vec<ServiceDescription>> =
        shown.services.iter().filter(|service| is_readable(service)).map(services).collect();
    let services =
        services.ok_or_else(|| Failure::new("the server describes its services by numbers that cannot be"))?;
    Schema::of(pool, &services)
}

/// Returns whether this command can decode the service's native bodies.
fn is_readable(service: &v1::Service) -> bool {
    service.codec() == v1::Codec::Polyglot
}

/// Converts a server's description of a service. Returns `None` if a number is out of range.
fn services(service: &v1::Service) -> Option<ServiceDescription> {
    let method = |method: &v1::Method| {
        Some(MethodDescription {
            name: method.name.clone(),
            operation: u16::try_from(method.operation).ok().filter(|operation| *operation >= 10)?,
        })
    };
    Some(ServiceDescription {
        service: service.name.clone(),
        layout: service.layout.to_vec(),
        names: String::new(),
        operations: service.operations.iter().map(|operation| u16::try_from(*operation).ok()).collect::<Option<_>>()?,
        methods: service.methods.iter().map(method).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_operations_are_refused() {
        let methods = vec![v1::Method { operation: 9, ..v1::Method::default() }];
        let service = v1::Service { methods, ..v1::Service::default() };
        assert!(services(&service).is_none(), "the protocol reserves it");
    }
}
