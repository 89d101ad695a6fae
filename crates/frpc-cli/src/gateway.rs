//! `frpc gateway`: every protocol of the gateway in front of a server that has none of them.

use crate::arguments::{GatewayArguments, ServerArguments, SourceArguments};
use crate::failure::Failure;
use crate::rules;
use crate::schema::{Callable, Schema, Service};
use crate::show::Screen;
use crate::source;
use crate::target::{Target, read};
use frpc::codegen;
use frpc::tls::{Authorities, Identity, ServerTls};
use frpc::{Server, ServerBuilder};
use frpc_gateway::{Console, Forward, Gateway, Http, ServeGateway as _};
use frpc_reflection::{Health, Reflection, ServingStatus};
use frpc_telemetry::Counters;
use std::collections::HashSet;
use std::time::Duration;

/// Packages of services about a server itself. The gateway has its own.
const OWN_PACKAGES: [&str; 4] = ["frpc.introspection.", "frpc.reflection.", "grpc.health.", "grpc.reflection."];

/// How often the connection to the backend is checked for the health service.
const HEALTH_INTERVAL: Duration = Duration::from_millis(500);

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn gateway(
    arguments: GatewayArguments,
    server: &ServerArguments,
    source: &SourceArguments,
    screen: &Screen,
) -> Result<(), Failure> {
    let server = ServerArguments { server: arguments.to.clone().or_else(|| server.server.clone()), ..server.clone() };
    // The default of other commands is the address where this one listens.
    if server.server.is_none() && std::env::var_os("FRPC_SERVER").is_none_or(|address| address.is_empty()) {
        return Err(Failure::new("no server to forward to: name it by --to ADDRESS"));
    }
    let target = Target::new(&server)?;
    let schema = source::schema(source, &server).await?;
    let services = forwarded(&schema, &arguments.allow)?;
    let forward = backend(&arguments, &target)?;
    let (counters, health) = (Counters::new(), Health::new());

    let embedded = &*Box::leak(Box::new(codegen::Schema::new(schema.pool.encode_to_vec().leak())));
    let mut builder = Server::builder()
        .shutdown_timeout(arguments.drain)
        .batch_observer(counters.clone())
        .add_service(Reflection::new())
        .add_service(health.clone())
        .gateway(protocols(&arguments, &counters));
    for (service, methods) in &services {
        let methods = methods.iter().map(|callable| (callable.descriptor.clone(), callable.method));
        builder = builder.add_service(forward.service(service.layout, Some(embedded), methods));
    }
    if let Some(path) = &arguments.rules {
        builder = builder.access(rules::load(path, &services, arguments.listen_cacert.is_some())?);
    }
    let builder = with_tls(builder, &arguments)?;
    let server = builder.bind(&*arguments.listen).await?;

    let count: usize = services.iter().map(|(_, methods)| methods.len()).sum();
    let names: Vec<_> = services.iter().map(|(service, _)| service.descriptor.full_name()).collect();
    let scheme = if arguments.listen_cert.is_some() { "https" } else { "http" };
    // In one write: a reader that wants the address alone may close the pipe after the first line.
    let (at, names) = (server.local_addr(), names.join(", "));
    screen
        .line(&format!("listening on {scheme}://{at}\nforwarding {count} methods of {names} to {}", target.address))?;
    let mirror = tokio::spawn(mirror_health(forward, health));
    let served = server.serve_with_shutdown(frpc::signal::terminate()).await;
    mirror.abort();
    Ok(served?)
}

/// The services of the schema with the methods that callers may call.
fn forwarded<'a>(schema: &'a Schema, allowed: &[String]) -> Result<Vec<(&'a Service, Vec<&'a Callable>)>, Failure> {
    let mut names = HashSet::new();
    for name in allowed {
        match schema.services.iter().find(|service| service.descriptor.full_name() == name) {
            Some(service) => names.extend(service.methods.iter().map(Callable::name)),
            None => drop(names.insert(schema.method(name)?.name())),
        }
    }
    let is_own = |service: &&Service| OWN_PACKAGES.iter().any(|own| service.descriptor.full_name().starts_with(own));
    let is_allowed = |callable: &&Callable| allowed.is_empty() || names.contains(&callable.name());
    let services = schema.services.iter().filter(|service| !is_own(service));
    let services = services.map(|service| (service, service.methods.iter().filter(is_allowed).collect::<Vec<_>>()));
    let services: Vec<_> = services.filter(|(_, methods)| !methods.is_empty()).collect();
    if services.is_empty() {
        return Err(Failure::new("the schema has no methods to forward; name a .proto file with a service by --proto"));
    }
    Ok(services)
}

/// The connections to the backend.
fn backend(arguments: &GatewayArguments, target: &Target) -> Result<Forward, Failure> {
    #[cfg(feature = "grpc-backend")]
    if arguments.from_grpc {
        return target.grpc();
    }
    let channels = (0..arguments.connections.get()).map(|_| target.connect_lazy()).collect::<Result<Vec<_>, _>>()?;
    for channel in &channels {
        let channel = channel.clone();
        // The state of the server is known without calls.
        tokio::spawn(async move { channel.stay_connected().await });
    }
    Ok(Forward::to(channels))
}

/// All protocols.
fn protocols(arguments: &GatewayArguments, counters: &Counters) -> Gateway {
    let mut http = Http::new().connect().grpc().health().console(Console::new());
    http = arguments.host.iter().fold(http, Http::host);
    if !arguments.origin.is_empty() {
        http = arguments.origin.iter().fold(http, Http::origin).cors();
    }
    if arguments.metrics {
        http = http.metrics(counters);
    }
    Gateway::new().json_rpc().http(http).web_socket()
}

fn with_tls(builder: ServerBuilder, arguments: &GatewayArguments) -> Result<ServerBuilder, Failure> {
    let (Some(certificate), Some(key)) = (&arguments.listen_cert, &arguments.listen_key) else { return Ok(builder) };
    let wrong = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", certificate.display()));
    let identity = Identity::from_pem(read(certificate)?, read(key)?).map_err(|error| wrong(&error))?;
    let tls = match &arguments.listen_cacert {
        None => ServerTls::new(identity),
        Some(path) => {
            let clients = Authorities::from_pem(read(path)?)
                .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
            ServerTls::mutual(identity, clients)
        }
    };
    Ok(builder.tls(tls.map_err(|error| wrong(&error))?))
}

/// Has the health service report whether the backend is connected.
async fn mirror_health(forward: Forward, health: Health) {
    let mut interval = tokio::time::interval(HEALTH_INTERVAL);
    loop {
        interval.tick().await;
        let status = if forward.is_ready() { ServingStatus::Serving } else { ServingStatus::NotServing };
        health.set("", status);
    }
}
