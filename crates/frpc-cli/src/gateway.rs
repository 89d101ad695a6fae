//! `frpc gateway`: serves all protocols of the gateway on behalf of a server that supports none of them.

use crate::arguments::{GatewayArguments, ServerArguments};
use crate::failure::Failure;
use crate::rules::{self, CurrentRules};
use crate::schema::{Callable, Schema, Service};
use crate::show::note;
use crate::source::Context;
use crate::target::{Target, authorities, environment, identity};
use frpc::Server;
use frpc::codegen;
use frpc::tls::{Authorities, Identity, ServerTls};
use frpc_access::Principal;
use frpc_gateway::{Console, Forward, ForwardFields, Gateway, Http, ServeGateway as _};
use frpc_reflection::{Health, Reflection, ServingStatus};
use frpc_telemetry::Counters;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::FileDescriptorSet;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval at which the connection to the server is checked to update the health service.
const HEALTH_INTERVAL: Duration = Duration::from_millis(500);

/// Runs the gateway until the process receives SIGTERM or SIGINT.
pub(crate) async fn gateway(arguments: GatewayArguments, context: Context) -> Result<(), Failure> {
    let context = Context { server: forwarded_server(&arguments, &context.server)?, ..context };
    let target = context.target()?;
    let schema = context.schema().await?;
    let services = forwarded(&schema, &arguments.allow)?;
    let fields = fields(&arguments).map_err(Failure::new)?;
    let forward = backend(&arguments, &target)?.fields(fields);
    let (counters, health) = (Counters::new(), Health::new());

    let embedded = &*Box::leak(Box::new(codegen::Schema::new(visible(&schema, &services).leak())));
    let mut builder = Server::builder()
        .shutdown_timeout(arguments.drain)
        .drain_delay(arguments.drain_delay)
        .batch_observer(counters.clone())
        .add_service(Reflection::new())
        .add_service(health.clone())
        .gateway(protocols(&arguments, &counters));
    for (service, methods) in &services {
        let methods = methods.iter().map(|callable| (callable.descriptor.clone(), callable.method));
        builder = builder.add_service(forward.service(service.layout, Some(embedded), methods));
    }
    let load = |path: &PathBuf| rules::load(path, &services, arguments.listen_cacert.is_some());
    let rules = arguments.rules.as_ref().map(load).transpose()?.map(CurrentRules::new);
    if let Some(rules) = &rules {
        builder = builder.access(rules.clone());
    }
    let tls = tls(&arguments)?;
    if let Some(tls) = &tls {
        builder = builder.tls(tls.clone());
    }
    let server = builder.bind(&*arguments.listen).await?;

    let scheme = if arguments.listen_cert.is_some() { "https" } else { "http" };
    let listening = format!("listening on {scheme}://{}", server.local_addr());
    // Use a single write, because a reader may close the pipe after the first line.
    context.screen.line(&format!("{listening}\n{} to {}", forwarding(&services), target.address))?;
    let names = services.iter().map(|(service, _)| service.descriptor.full_name().to_owned());
    let mirror = tokio::spawn(mirror_health(forward, health, names.collect()));
    let reload = || {
        let replacement = arguments.rules.as_ref().map(load).transpose()?;
        // Reload TLS last, because it is the last fallible step: either all files are replaced or none.
        if let Some(tls) = &tls {
            reload_tls(tls, &arguments)?;
        }
        if let (Some(rules), Some(replacement)) = (&rules, replacement) {
            rules.replace(replacement);
        }
        Ok(())
    };
    let served = tokio::select! {
        served = server.serve_with_shutdown(frpc::signal::terminate()) => served,
        () = reload_on_hangup(reload) => unreachable!("reload loop should not end"),
    };
    mirror.abort();
    Ok(served?)
}

/// Describes the methods that are forwarded.
fn forwarding(services: &[(&Service, Vec<&Callable>)]) -> String {
    let count: usize = services.iter().map(|(_, methods)| methods.len()).sum();
    let names: Vec<_> = services.iter().map(|(service, _)| service.descriptor.full_name()).collect();
    format!("forwarding {count} methods of {}", names.join(", "))
}

/// Returns the server that calls are forwarded to.
fn forwarded_server(arguments: &GatewayArguments, server: &ServerArguments) -> Result<ServerArguments, Failure> {
    let to = (!arguments.to.is_empty()).then(|| arguments.to.join(","));
    // Require an address, because the default server of other commands is the address that this command listens on.
    let Some(address) = to.or_else(|| server.server.clone()).or_else(environment) else {
        return Err(Failure::new("no server to forward to: name it by --to ADDRESS"));
    };
    if arguments.from_grpc && ["ws://", "wss://"].iter().any(|scheme| address.starts_with(scheme)) {
        return Err(Failure::new(format!("{address}: a gRPC server is not called over WebSocket; use grpc://")));
    }
    let server = ServerArguments { server: Some(address), ..server.clone() };
    Ok(if arguments.from_grpc { of_grpc(server) } else { server })
}

/// Adds the scheme `grpc` to the server's address if the address has no scheme.
fn of_grpc(server: ServerArguments) -> ServerArguments {
    let scheme = if server.tls || server.cacert.is_some() || server.cert.is_some() { "grpcs" } else { "grpc" };
    let with_scheme = |address: String| {
        if ["dns://", "etcd://", "file:", "unix:"].iter().any(|kind| address.starts_with(kind)) {
            format!("grpc+{address}")
        } else if address.contains("://") || address.starts_with("grpc+") {
            address
        } else {
            format!("{scheme}://{address}")
        }
    };
    ServerArguments { server: server.server.map(with_scheme), ..server }
}

/// Reloads the certificates and the access rules at each SIGHUP. If a file is invalid, reports the error and keeps the
/// previous content.
async fn reload_on_hangup(reload: impl Fn() -> Result<(), Failure>) {
    #[cfg(unix)]
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
        Ok(mut hangups) => {
            while hangups.recv().await.is_some() {
                match reload() {
                    Ok(()) => note("reloaded certificates and rules"),
                    Err(failure) => note(format_args!("not reloaded, the previous files stay in use: {failure}")),
                }
            }
        }
        Err(error) => note(format_args!("SIGHUP does not reload: {error}")),
    }
    let _ = reload;
    std::future::pending::<()>().await;
}

/// Returns the rules for changing the header fields of forwarded calls.
fn fields(arguments: &GatewayArguments) -> io::Result<ForwardFields> {
    let mut fields = ForwardFields::new();
    if arguments.listen_cert.is_some() {
        fields = fields.https();
    }
    fields = arguments.trusted_proxy.iter().fold(fields, |fields, (address, bits)| fields.trust(*address, *bits));
    fields = arguments.set_field.iter().try_fold(fields, |fields, (name, value)| fields.set(name, value))?;
    fields = arguments.remove_field.iter().fold(fields, ForwardFields::remove);
    let mut replies = arguments.set_reply_field.iter();
    fields = replies.try_fold(fields, |fields, (name, value)| fields.set_in_replies(name, value))?;
    fields = arguments.remove_reply_field.iter().fold(fields, ForwardFields::remove_from_replies);
    match &arguments.subject_field {
        Some(name) => fields.subject(name, |request| Some(Principal::of_request(request)?.name().to_owned())),
        None => Ok(fields),
    }
}

/// Returns the schema that callers can see, as an encoded descriptor set. It contains only the methods that are
/// forwarded.
fn visible(schema: &Schema, services: &[(&Service, Vec<&Callable>)]) -> Vec<u8> {
    let all: usize = schema.services.iter().map(|service| service.methods.len()).sum();
    if services.iter().map(|(_, methods)| methods.len()).sum::<usize>() == all {
        return schema.pool.encode_to_vec();
    }
    let names: HashSet<_> = services.iter().flat_map(|(_, methods)| methods).map(|method| method.name()).collect();
    let files = schema.pool.files().map(|file| {
        let mut file = file.file_descriptor_proto().clone();
        let package = file.package().to_owned();
        for service in &mut file.service {
            let prefix = if package.is_empty() { String::new() } else { format!("{package}.") };
            let prefix = format!("{prefix}{}/", service.name());
            service.method.retain(|method| names.contains(&format!("{prefix}{}", method.name())));
        }
        file.service.retain(|service| !service.method.is_empty());
        // Remove the comments of services (field 6 of a file), because their paths contain indexes of methods, which
        // have changed.
        if let Some(info) = &mut file.source_code_info {
            info.location.retain(|location| location.path.first() != Some(&6));
        }
        file
    });
    FileDescriptorSet { file: files.collect() }.encode_to_vec()
}

/// Returns the services that are forwarded, each with the methods that callers may use.
fn forwarded<'a>(schema: &'a Schema, allowed: &[String]) -> Result<Vec<(&'a Service, Vec<&'a Callable>)>, Failure> {
    let mut names = HashSet::new();
    for name in allowed {
        match schema.services.iter().find(|service| service.descriptor.full_name() == name) {
            Some(service) => names.extend(service.methods.iter().map(Callable::name)),
            None => drop(names.insert(schema.method(name)?.name())),
        }
    }
    let is_allowed = |callable: &&Callable| allowed.is_empty() || names.contains(&callable.name());
    let services = schema.services.iter().filter(|service| !service.is_provided());
    let services = services.map(|service| (service, service.methods.iter().filter(is_allowed).collect::<Vec<_>>()));
    let services: Vec<_> = services.filter(|(_, methods)| !methods.is_empty()).collect();
    if services.is_empty() {
        return Err(Failure::new("the schema has no methods to forward; name a .proto file with a service by --proto"));
    }
    Ok(services)
}

/// Opens the connections to the server that calls are forwarded to.
fn backend(arguments: &GatewayArguments, target: &Target) -> Result<Forward, Failure> {
    let channels = (0..arguments.connections).map(|_| target.connect_lazy()).collect::<Result<Vec<_>, _>>()?;
    for channel in &channels {
        let channel = channel.clone();
        // Stay connected, to track the state of the server even without calls.
        tokio::spawn(async move { channel.stay_connected().await });
    }
    Ok(Forward::to(channels))
}

/// Returns a gateway with all its protocols enabled.
fn protocols(arguments: &GatewayArguments, counters: &Counters) -> Gateway {
    let mut http = Http::new().connect().grpc().health().console(Console::new());
    http = arguments.host.iter().fold(http, Http::host);
    http = arguments.trusted_proxy.iter().fold(http, |http, (address, bits)| http.trust(*address, *bits));
    if !arguments.origin.is_empty() {
        http = arguments.origin.iter().fold(http, Http::origin).cors();
    }
    if arguments.metrics {
        http = http.metrics(counters);
    }
    Gateway::new().json_rpc().http(http).web_socket()
}

fn tls(arguments: &GatewayArguments) -> Result<Option<ServerTls>, Failure> {
    let Some((certificate, identity, clients)) = tls_files(arguments)? else { return Ok(None) };
    let tls = match clients {
        None => ServerTls::new(identity),
        Some(clients) => ServerTls::mutual(identity, clients),
    };
    tls.map(Some).map_err(|error| Failure::file(certificate, &error))
}

/// Reloads the files with the gateway's certificate, its private key and the client authorities.
fn reload_tls(tls: &ServerTls, arguments: &GatewayArguments) -> Result<(), Failure> {
    let Some((certificate, identity, clients)) = tls_files(arguments)? else { return Ok(()) };
    let reloaded = match clients {
        None => tls.reload(identity),
        Some(clients) => tls.reload_mutual(identity, clients),
    };
    reloaded.map_err(|error| Failure::file(certificate, &error))
}

/// The path of the gateway's certificate, its TLS identity, and the authorities that must have issued the certificates
/// of clients, if they need one.
type TlsFiles<'a> = (&'a Path, Identity, Option<Authorities>);

/// Reads the files of the gateway's TLS settings. Returns `None` if TLS is disabled.
fn tls_files(arguments: &GatewayArguments) -> Result<Option<TlsFiles<'_>>, Failure> {
    let (Some(certificate), Some(key)) = (&arguments.listen_cert, &arguments.listen_key) else { return Ok(None) };
    let identity = identity(certificate, key)?;
    let clients = arguments.listen_cacert.as_deref().map(authorities).transpose()?;
    Ok(Some((certificate, identity, clients)))
}

/// Keeps the health of the gateway and of these forwarded services up to date with the state of the connection to the
/// server.
async fn mirror_health(forward: Forward, health: Health, services: Vec<String>) {
    let mut interval = tokio::time::interval(HEALTH_INTERVAL);
    loop {
        interval.tick().await;
        let status = if forward.is_ready() { ServingStatus::Serving } else { ServingStatus::NotServing };
        for name in services.iter().map(String::as_str).chain([""]) {
            // Set the status only if it has changed, because setting it allocates the service name.
            if health.status(name) != Some(status) {
                health.set(name, status);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{self, Arguments, Command};

    /// Regression test: the option was ignored, and calls were forwarded without gRPC.
    #[test]
    fn grpc_server_is_not_called_over_web_socket() {
        let line = ["frpc", "gateway", "--from-grpc", "--to", "ws://a:1/"].map(Into::into);
        let Arguments { command, context } = arguments::parse(line).expect("options should be accepted");
        let Command::Gateway(arguments) = command else { panic!("command should be `gateway`") };
        let refused = forwarded_server(&arguments, &context.server).expect_err("WebSocket should be rejected");
        assert!(refused.to_string().contains("use grpc://"), "{refused}");
    }

    #[test]
    fn grpc_scheme_is_added_once() {
        for (given, address) in [
            ("10.0.0.7:50051", "grpc://10.0.0.7:50051"),
            ("grpcs://shop.example", "grpcs://shop.example"),
            ("unix:/run/shop", "grpc+unix:/run/shop"),
            ("grpc+unix:/run/shop", "grpc+unix:/run/shop"),
            ("file:/etc/shop", "grpc+file:/etc/shop"),
            ("grpc+file:/etc/shop", "grpc+file:/etc/shop"),
        ] {
            assert_eq!(of_grpc(ServerArguments::of(given)).server.as_deref(), Some(address));
        }
    }
}
