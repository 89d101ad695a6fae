//! The arguments of the command.

use crate::top::Column;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Lists, describes, calls and loads services of frpc.
#[derive(Debug, Parser)]
#[command(name = "frpc", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List services, or the methods of one.
    #[command(visible_alias = "ls")]
    List(ListArguments),
    /// Show the schema of a service, method, message or enum, as proto that compiles.
    Describe(DescribeArguments),
    /// Call a method.
    Call(CallArguments),
    /// Make many calls and measure them.
    Load(LoadArguments),
    /// Compare two loads that were saved with --save.
    Compare(CompareArguments),
    /// Publish a message to a topic of a broker.
    Pub(PubArguments),
    /// Subscribe to topics of a broker.
    Sub(SubArguments),
    /// Show the frames, calls and messages of bytes, of a capture, or of connections through a proxy.
    Decode(DecodeArguments),
    /// Follow calls through a proxy: each with its status, time and bytes when it has ended.
    Trace(TraceArguments),
    /// Show the activity of a server, live: connections, calls, streams, memory, closes.
    Top(TopArguments),
    /// Connect an agent's standard input and output to the tools of a server (Model Context Protocol).
    Mcp(McpArguments),
    /// Serve gRPC, gRPC-Web, Connect, JSON-RPC, WebSocket and a console in front of a server that has none of them.
    Gateway(GatewayArguments),
    /// Create a project: a service with its server, client, test and Dockerfile.
    New(NewArguments),
    /// Write the completions of a shell to standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The server, and the way to it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArguments {
    /// HOST:PORT, unix:PATH, unix+shm:PATH, ws://HOST:PORT/PATH or wss://HOST:PORT/PATH. Default: the environment variable FRPC_SERVER, or localhost:8080.
    #[arg(short, long, global = true, value_name = "ADDRESS")]
    pub(crate) server: Option<String>,
    /// Speak TLS. Trusted are the authorities in --cacert, or else those of the system.
    #[arg(long, global = true)]
    pub(crate) tls: bool,
    /// The authorities that may have certified the server, in PEM. Implies --tls.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// The certificate of this client, in PEM.
    #[arg(long, global = true, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The private key of --cert, in PEM.
    #[arg(long, global = true, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// The name in the certificate of the server. Default: the host of the address.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) server_name: Option<String>,
    /// The form of headers: `old` for servers on frisbee-go up to v0.10.2.
    #[arg(long, global = true, value_enum, default_value_t = Header::New)]
    pub(crate) header: Header,
    /// How long connecting may take.
    #[arg(long, global = true, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(crate) connect_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Header {
    New,
    Old,
}

/// The source of the schema, unless the server shows it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Schema")]
pub(crate) struct SourceArguments {
    /// A .proto file, with the lock next to it. May be given several times.
    #[arg(short, long, visible_alias = "schema", global = true, value_name = "FILE")]
    pub(crate) proto: Vec<PathBuf>,
    /// A folder for imports. Default: the folder of the first --proto.
    #[arg(short = 'I', long = "include", global = true, value_name = "FOLDER")]
    pub(crate) includes: Vec<PathBuf>,
    /// An encoded FileDescriptorSet, as protoc writes it with --include_imports.
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "proto")]
    pub(crate) descriptor_set: Option<PathBuf>,
    /// The folder of the schema locks. Default: the folder of each --proto; none for --descriptor-set.
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) lock_dir: Option<PathBuf>,
    /// How methods without a lock get their operations: `go` if every file begins at 10.
    #[arg(long, global = true, value_enum, default_value_t = Numbering::Sequential)]
    pub(crate) numbering: Numbering,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Numbering {
    Sequential,
    Go,
    Lock,
}

/// The shown parts and their form.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// One JSON value to a line, for programs; failures as JSON on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not escape control characters, if standard output is no terminal.
    #[arg(long, global = true)]
    pub(crate) raw: bool,
    /// Show more on standard error: -v the connection and metadata, -vv bodies, -vvv frames.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The folder to create. Its last part is the name of the project.
    #[arg(value_name = "NAME")]
    pub(crate) path: PathBuf,
    /// A server and a client in Python, in place of Rust.
    #[arg(long, conflicts_with = "typescript")]
    pub(crate) python: bool,
    /// A client for Node beside the server in Rust.
    #[arg(long)]
    pub(crate) typescript: bool,
    /// A checkout of frisbee or the URL of its repository, from which the project takes the libraries; with --python also a wheel.
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) from: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// List the methods of this service.
    #[arg(value_parser = name)]
    pub(crate) service: Option<String>,
    /// List the methods of all services, with their messages.
    #[arg(short, long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// The full name of a service, method, message or enum. Default: everything.
    #[arg(value_parser = name)]
    pub(crate) symbols: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The method: greet.Greeter/Greet, or Greet if no other service has one.
    #[arg(value_parser = name)]
    pub(crate) method: String,
    /// The request: NAME=VALUE, NAME=@FILE, NAME:=JSON; or JSON, @FILE, or - for standard input.
    pub(crate) parameters: Vec<String>,
    /// Send an entry of metadata. With KEY=@FILE the value is read from a file, without its last line break; KEY=@@x is @x.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// How long the call may take. The server learns it.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
    /// Write only this field of each reply to standard output: the bytes or the text itself.
    #[arg(long, value_name = "FIELD")]
    pub(crate) out_field: Option<String>,
    /// Call by a datagram of JSON-RPC in place of --server. Without a schema the request is JSON. The deadline is 3s by default.
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["server", "tls", "cacert", "cert"])]
    pub(crate) udp: Option<String>,
    /// Send a notification, which gets no reply.
    #[arg(long, requires = "udp", conflicts_with_all = ["retries", "out_field"])]
    pub(crate) notify: bool,
    /// Send the datagram so often again while there is no reply. Default: 2 if the schema declares the method idempotent, or else 0.
    #[arg(long, requires = "udp", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) retries: Option<u32>,
    /// Fill the request with spaces to this length. Replies are at most three times as long, by default.
    #[arg(long, requires = "udp", value_name = "BYTES", default_value_t = crate::udp::DEFAULT_PAD)]
    pub(crate) pad: usize,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// The server, as for --server: HOST:PORT or unix:PATH.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: Option<String>,
    /// Send an entry of metadata with each request, as for `call`.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GatewayArguments {
    /// Listen here, for every protocol.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// The server that calls are forwarded to, as for --server. The options under "Server" are for this connection.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: Option<String>,
    /// The server speaks gRPC.
    #[cfg(feature = "grpc-backend")]
    #[arg(long)]
    pub(crate) from_grpc: bool,
    /// The connections to the server that share the calls.
    #[arg(long, value_name = "COUNT", default_value = "1")]
    pub(crate) connections: NonZeroUsize,
    /// Forward only this method, or all methods of this service. May be given several times. Default: all.
    #[arg(long, value_name = "METHOD")]
    pub(crate) allow: Vec<String>,
    /// Admit callers by the rules of this file, in TOML, and no others.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Admit requests that call the gateway by this name, in addition to localhost and its addresses.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Admit pages of this origin, such as https://app.example.com.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    /// Believe x-forwarded-for and similar fields of proxies at this address, or in this network: 10.0.0.0/8.
    #[arg(long, value_name = "ADDRESS", value_parser = network)]
    pub(crate) trusted_proxy: Vec<Network>,
    /// Send the name of the caller, as the rules have verified it, in this header field.
    #[arg(long, value_name = "NAME", requires = "rules")]
    pub(crate) subject_field: Option<String>,
    /// Set a header field of every request. May be given several times, as may the next three.
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    pub(crate) set_field: Vec<(String, String)>,
    /// Remove a header field of every request.
    #[arg(long, value_name = "NAME")]
    pub(crate) remove_field: Vec<String>,
    /// Set a header field of every successful reply.
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    pub(crate) set_reply_field: Vec<(String, String)>,
    /// Remove a header field of every reply.
    #[arg(long, value_name = "NAME")]
    pub(crate) remove_reply_field: Vec<String>,
    /// Show metrics for Prometheus at /metrics, to every client of the port.
    #[arg(long)]
    pub(crate) metrics: bool,
    /// Serve TLS with this certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_key")]
    pub(crate) listen_cert: Option<PathBuf>,
    /// The private key of --listen-cert, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_cert")]
    pub(crate) listen_key: Option<PathBuf>,
    /// Admit only clients with a certificate of these authorities, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_cert")]
    pub(crate) listen_cacert: Option<PathBuf>,
    /// How long calls in progress may take to end after SIGTERM or SIGINT.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub(crate) drain: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// The method, as for `call`.
    #[arg(value_parser = name)]
    pub(crate) method: String,
    /// The request, as for `call`, with templates such as {{random 1 6}} for each call; docs/cli.md lists them.
    pub(crate) parameters: Vec<String>,
    /// An open loop: start so many calls a second. Without it the callers call one after the other.
    #[arg(short, long, value_name = "CALLS", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// An open loop whose rate grows or shrinks first: 100:1000:10s.
    #[arg(long, value_name = "FROM:TO:TIME", value_parser = ramp, conflicts_with = "rate")]
    pub(crate) ramp: Option<Ramp>,
    /// How long calls are started.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(crate) duration: Duration,
    /// The most calls in flight. Default: 10, and 1000 in an open loop.
    #[arg(short, long, value_name = "CALLERS")]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// The connections that share the calls.
    #[arg(long, value_name = "COUNT", default_value = "1")]
    pub(crate) connections: NonZeroUsize,
    /// The share of the first method, if there are several.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1)]
    pub(crate) weight: u32,
    /// Another method with its share and its parameters, which are separated by spaces: '3 Greet name=you'.
    #[arg(long, value_name = "WEIGHT METHOD PARAMETERS")]
    pub(crate) also: Vec<String>,
    /// Count calls that take this time or longer.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10ms")]
    pub(crate) slow: Duration,
    /// Write the report as a page with plots.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as JSON, for `frpc compare`.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Send an entry of metadata with each call.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// How long each call may take. The server learns it.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The report of the first load.
    pub(crate) before: PathBuf,
    /// The report of the second load.
    pub(crate) after: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PubArguments {
    /// The topic: orders.created.
    pub(crate) topic: String,
    /// The message, @FILE, or - for a message from each line of standard input. With --type as a request of `call`, and lines are JSON.
    #[arg(required = true)]
    pub(crate) message: Vec<String>,
    /// The type of the message, from the schema. Without it, messages are bytes.
    #[arg(long = "type", value_name = "MESSAGE")]
    pub(crate) of: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SubArguments {
    /// The topics, with * for any one token and > at the end for the rest: orders.*
    pub(crate) pattern: String,
    /// Share the messages with the other members of this group.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// The first message, if the broker keeps a history. After a lost connection messages come from the history.
    #[arg(long, value_name = "START", conflicts_with = "group")]
    pub(crate) from: Option<SubStart>,
    /// The type of the messages, from the schema. Without it, messages are shown as text.
    #[arg(long = "type", value_name = "MESSAGE")]
    pub(crate) of: Option<String>,
    /// End after so many messages.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
}

/// The first message of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubStart {
    /// The next one that is published.
    Now,
    /// The last one of each topic.
    Last,
    /// The oldest one of each topic.
    Oldest,
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArguments {
    /// Frames in hexadecimal digits, or - for standard input.
    pub(crate) hex: Vec<String>,
    /// The frames in HEX were sent by the server.
    #[arg(long)]
    pub(crate) from_server: bool,
    /// A capture in the classic pcap format.
    #[arg(long, value_name = "FILE", conflicts_with = "hex")]
    pub(crate) pcap: Option<PathBuf>,
    /// Listen here, and carry each connection to --server.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["hex", "pcap"])]
    pub(crate) proxy: Option<String>,
    /// Write a dissector for Wireshark and tshark, in Lua, with the names of the methods.
    #[arg(long, conflicts_with_all = ["hex", "pcap", "proxy"])]
    pub(crate) wireshark: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Only calls of methods whose name contains this: Greet, greet.Greeter.
    pub(crate) method: Option<String>,
    /// Listen here, and carry each connection to --server.
    #[arg(long, value_name = "ADDRESS", default_value = "localhost:0")]
    pub(crate) listen: String,
    /// Only the connection with this number, from 0.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) connection: Option<u64>,
    /// Only calls that have failed.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only calls that took this time or longer.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) slow: Option<Duration>,
    /// Show the frames of each call as well, when it has ended.
    #[arg(long)]
    pub(crate) frames: bool,
    /// End after so many calls were shown.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// The time between two looks, from 100ms to 1m.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    pub(crate) interval: Duration,
    /// Show it once, as text, after two looks. So it is if standard output is no terminal. With --json it is one look.
    #[arg(long)]
    pub(crate) once: bool,
    /// Show methods with the figures of their calls, in place of connections. The key m changes between them.
    #[arg(short, long)]
    pub(crate) methods: bool,
    /// The column by which connections or methods are sorted; one of methods shows these.
    #[arg(long, value_enum)]
    pub(crate) sort: Option<Column>,
    /// Show only connections whose peer, or methods whose name, contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
}

/// A rate that changes at the beginning of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) length: Duration,
}

/// The most calls a second that make sense: their distance is then as long as reading a clock takes.
const RATE_MAX: f64 = 1e8;

/// Reads the name of a service or method. Other tools take the address of the server in its place.
fn name(text: &str) -> Result<String, String> {
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port || text.contains("://") || text.starts_with("unix:") {
        return Err(format!("this is an address: name the server by --server {text}"));
    }
    Ok(text.to_owned())
}

/// A network of trusted proxies.
pub(crate) type Network = (IpAddr, u8);

/// Reads an address or a network, such as 10.0.0.0/8.
fn network(text: &str) -> Result<Network, String> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().map_err(|_| format!("{address:?} is not an IP address"))?;
    let max = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Ok(max), str::parse).ok().filter(|bits| *bits <= max);
    Ok((address, bits.ok_or_else(|| format!("a network of this kind has 0 to {max} bits"))?))
}

/// Reads a header field and its value.
fn field(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a field is NAME=VALUE")?;
    frpc::Metadata::new().insert(name.to_ascii_lowercase(), value).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= RATE_MAX => Ok(rate),
        _ => Err(format!("a rate is a number of calls a second above 0, and {RATE_MAX} at most")),
    }
}

fn ramp(text: &str) -> Result<Ramp, String> {
    let mut parts = text.splitn(3, ':');
    let (Some(from), Some(to), Some(length)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("a ramp is FROM:TO:TIME, such as 100:1000:10s".to_owned());
    };
    Ok(Ramp { from: rate(from)?, to: rate(to)?, length: duration(length)? })
}

/// Reads a duration: a number with a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a duration is a number with a unit: 100ms, 2.5s, 1m, 1h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_free_of_contradictions() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn short_options_have_one_meaning_in_all_commands() {
        let mut meanings = std::collections::BTreeMap::new();
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments() {
                let Some(short) = argument.get_short() else { continue };
                let meaning = meanings.entry(short).or_insert_with(|| argument.get_id().clone());
                assert_eq!(meaning, argument.get_id(), "-{short} of {}", command.get_name());
            }
        }
    }

    #[test]
    fn a_ramp_is_two_rates_and_a_duration() {
        let length = Duration::from_secs(10);
        assert_eq!(ramp("100:1000:10s"), Ok(Ramp { from: 100.0, to: 1000.0, length }));
        for text in ["100", "100:1000", "0:1:1s", "1:x:1s", "1:2:3", "1e9:1:1s", "nan:1:1s"] {
            assert!(ramp(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        for (text, millis) in [("100ms", 100), ("2.5s", 2500), ("1m", 60_000), ("1h", 3_600_000), ("1500us", 1)] {
            assert_eq!(duration(text).map(|read| read.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "5", "s", "1.2.3s", "1x", "-1s", "99999999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
