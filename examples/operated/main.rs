//! A production-like server: settings from a file, all protocols with access rules, schema and health for tools,
//! metrics, sockets from systemd or from the previous process, and a graceful shutdown.
//!
//! `cargo run -p operated --bin operated -- examples/operated/settings.toml`, and then `curl localhost:8080/readyz` and
//! `/metrics`; docs/operate.md describes the rest of this folder. Without a file it calls itself, prints its metrics,
//! and exits.

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    unix::main()
}

#[cfg(not(unix))]
fn main() {
    println!("sockets are passed on Unix only");
}

#[cfg(unix)]
mod polite;

/// Generated from `proto/greet.proto`.
#[cfg(unix)]
mod greet {
    frpc::include_proto!("greet");
}

#[cfg(unix)]
mod unix {
    use crate::greet::{GreeterClient, GreeterServer, Name};
    use crate::polite::Polite;
    use frisbee_restart::{EndReason, Restart, Shutdown};
    use frpc::{Server, ServerBuilder, ServerSettings};
    use frpc_gateway::{Gateway, Http, ServeGateway};
    use frpc_reflection::{Health, Introspection, Reflection};
    use frpc_telemetry::Counters;
    use serde::Deserialize;
    use std::error::Error;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;
    use tokio::task::JoinSet;

    /// The settings file.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        /// The address to listen on, unless systemd or the previous process provides the socket.
        listen: String,
        /// Accepted host names of HTTP requests, in addition to loopback.
        #[serde(default)]
        hosts: Vec<String>,
        /// The socket over which the next process receives the sockets of this one.
        restart: PathBuf,
        /// The socket on which `frpc top` can inspect the server.
        introspection: Option<PathBuf>,
        #[serde(default)]
        server: ServerSettings,
    }

    /// Returns the server's settings except the address.
    fn builder(settings: &Settings, counters: &Counters) -> Result<ServerBuilder, Box<dyn Error>> {
        let http = Http::new().connect().grpc().health().metrics(counters);
        let http = settings.hosts.iter().fold(http, Http::host);
        Ok(Server::builder()
            .settings(&settings.server)?
            .log_settings(true)
            .batch_observer(counters.clone())
            .inspectable()
            .add_service(GreeterServer::new(Polite))
            .add_service(Reflection::new())
            .add_service(Health::new())
            .gateway(Gateway::new().json_rpc().http(http).web_socket()))
    }

    #[tokio::main]
    pub(super) async fn main() -> Result<(), Box<dyn Error>> {
        tracing_subscriber::fmt().with_writer(std::io::stderr).init();
        let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else { return show().await };
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let settings: Settings = toml::from_str(&text)?;
        let mut generation = Restart::new(&settings.restart).take_over().await?;
        let listener = generation.tcp("rpc", &settings.listen).await?;
        let server = builder(&settings, &Counters::new())?.listen_on(listener)?;
        println!("listening on {}", server.local_addr());
        let mut shown = JoinSet::new();
        if let Some(path) = &settings.introspection {
            let introspection = Introspection::new().server("operated", server.inspector());
            let listener = generation.unix("introspection", path)?;
            if let Some(file) = listener.local_addr()?.as_pathname() {
                std::fs::set_permissions(file, Permissions::from_mode(0o600))?; // The socket exposes client addresses.
            }
            shown.spawn(async {
                if let Err(error) = introspection.serve_on_unix(listener).await {
                    eprintln!("without introspection: {error}");
                }
            });
        }
        // On SIGTERM or SIGINT, health reports NOT_SERVING, native peers reconnect elsewhere, and calls in progress
        // complete.
        let terminated = frpc::signal::terminate();
        let serve = |shutdown: Shutdown| {
            server.serve_with_shutdown(async {
                shutdown.await;
                drop(shown); // Operators can inspect the next process from now on.
            })
        };
        match generation.serve(terminated, serve).await? {
            EndReason::Replaced => println!("the next process serves"),
            _ => println!("stopped"),
        }
        Ok(())
    }

    /// Serves for a short time, and prints the metrics.
    async fn show() -> Result<(), Box<dyn Error>> {
        let settings =
            toml::from_str("listen = '127.0.0.1:0'\nrestart = '/nowhere'\n[server]\nmemory_max = '64MiB'\n")?;
        let counters = Counters::new();
        let server = builder(&settings, &counters)?.bind(&settings.listen).await?;
        let (address, stats) = (server.local_addr().to_string(), server.stats());
        tokio::spawn(server.serve());
        let client = GreeterClient::connect(address.as_str()).await?;
        for name in ["Ada", "Grace", ""] {
            let _ = client.greet(Name { name: name.to_owned() }).await;
        }
        let metrics = counters.snapshot().prometheus(Some(&stats));
        for line in metrics.lines().filter(|line| line.contains("_count{") || line.contains("memory_held_bytes ")) {
            println!("{line}");
        }
        Ok(())
    }
}
