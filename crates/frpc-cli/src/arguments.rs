//! Command line arguments.

mod values;

pub(crate) use self::values::duration;

use self::values::{
    CALLERS_MAX, CONNECTIONS_MAX, Network, any_field, count, field, header_form, host, interval, name, network,
    numbering, origin, ramp, rate, reply_field, text_field,
};
use crate::source::Context;
use crate::top::Column;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use frpc::HeaderForm;
use frpc_build::Numbering;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Lists, describes, calls and load-tests frpc services.
#[derive(Debug, Parser)]
#[command(name = "frpc", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) context: Context,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the services of a server, or the methods of one service.
    #[command(visible_alias = "ls")]
    List(ListArguments),
    /// Print the schema of a service, method, message or enum as a .proto file that compiles.
    Describe(DescribeArguments),
    /// Compare two schemas: print each change, and whether peers with the old and the new schema understand each other.
    Diff(DiffArguments),
    /// Call a method.
    Call(CallArguments),
    /// Make many calls and measure their latency.
    Load(LoadArguments),
    /// Compare two load reports that were saved with --save.
    Compare(CompareArguments),
    /// Publish a message to a topic of a broker.
    Pub(PubArguments),
    /// Subscribe to topics of a broker.
    Sub(SubArguments),
    /// Decode the frames, calls and messages in hexadecimal text, in a capture, or on connections through a proxy.
    Decode(DecodeArguments),
    /// Trace calls through a proxy: print status, duration and size of each call when it ends.
    Trace(TraceArguments),
    /// Show a live view of a server: connections, calls, streams, memory and closed connections.
    Top(TopArguments),
    /// Connect an agent to the tools of a server, over standard input and output (Model Context Protocol).
    Mcp(McpArguments),
    /// Serve gRPC, gRPC-Web, Connect, JSON-RPC, WebSocket and a console on behalf of an frpc server.
    Gateway(GatewayArguments),
    /// Send malformed input to a server and compare its reactions with the rules of the protocol. For authors of
    /// implementations.
    Conformance(ConformanceArguments),
    /// Create a project: a service with its server, client, test and Dockerfile.
    New(NewArguments),
    /// Print shell completions to standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Common options that have no effect on some commands, as ids or as headings of the help. The commands hide and reject
/// these options.
const UNUSED: [(&str, &[&str]); 7] = [
    ("compare", &["Server", "Schema"]),
    ("completions", &["Server", "Schema"]),
    ("conformance", &["Schema", "header"]),
    ("diff", &["server", "proto", "descriptor_set"]),
    ("mcp", &["Schema", "header"]),
    ("new", &["Server", "Schema"]),
    ("top", &["Schema"]),
];

/// Returns whether a common option is one of these [`UNUSED`] ones.
fn is_of(unused: &[&str], option: &Arg) -> bool {
    unused.iter().any(|&name| option.get_help_heading() == Some(name) || option.get_id() == name)
}

/// Returns the definition of the command line.
pub(crate) fn command() -> clap::Command {
    let command = Arguments::command();
    let common: Vec<Arg> = command.get_arguments().cloned().collect();
    UNUSED.iter().fold(command, |command, (name, unused)| {
        let hidden = common.iter().filter(|option| is_of(unused, option)).map(|option| option.clone().hide(true));
        command.mut_subcommand(name, |command| command.args(hidden))
    })
}

/// Returns why the given options of a command cannot be used together. clap detects no conflict with a common option
/// that precedes the name of the command.
fn misuse(command: &clap::Command, name: &str, given: &ArgMatches) -> Option<(ErrorKind, String)> {
    let command = command.find_subcommand(name)?;
    let is_given = |option: &&Arg| given.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
    let unused = UNUSED.iter().find(|(unusing, _)| *unusing == name).map_or(&[][..], |row| row.1);
    command.get_arguments().filter(is_given).find_map(|option| {
        if is_of(unused, option) {
            return Some((ErrorKind::UnknownArgument, format!("{option} has no effect on this command")));
        }
        let other = command.get_arg_conflicts_with(option).into_iter().find(is_given)?;
        Some((ErrorKind::ArgumentConflict, format!("the argument '{option}' cannot be used with '{other}'")))
    })
}

/// Parses the command line. The first argument is the name of the program.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let misuse = matches.subcommand().and_then(|(name, given)| misuse(&command, name, given));
    if let Some((kind, text)) = misuse {
        return Err(command.error(kind, text));
    }
    let arguments = Arguments::from_arg_matches(&matches)?;
    match &arguments.command {
        // clap does not check `requires` for an option that conflicts with a given one, as --udp does with --server.
        Command::Call(call) if call.udp.is_none() && (call.notify || call.retries.is_some() || call.pad.is_some()) => {
            let text = "--notify, --retries and --pad require --udp HOST:PORT";
            Err(command.error(ErrorKind::MissingRequiredArgument, text))
        }
        _ => Ok(arguments),
    }
}

/// Address of the server and settings for connecting to it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArguments {
    /// Address of the server: HOST:PORT, unix:PATH, unix+shm:PATH, ws://HOST:PORT/PATH or wss://HOST:PORT/PATH. For a
    /// gRPC server: grpc://HOST:PORT or grpcs://HOST:PORT. For several servers, separate their addresses by commas, or
    /// name a resolver: file:PATH, dns:///HOST:PORT or etcd://HOST:PORT/PREFIX. For gRPC servers, write grpc+ before
    /// the resolver. Default: the environment variable FRPC_SERVER, or localhost:8080.
    #[arg(short, long, global = true, value_name = "ADDRESS")]
    pub(crate) server: Option<String>,
    /// Use TLS. Trusts the certificate authorities in --cacert. Without --cacert, trusts those of the system.
    #[arg(long, global = true)]
    pub(crate) tls: bool,
    /// Certificate authorities of the server, in PEM. Implies --tls.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Client certificate, in PEM.
    #[arg(long, global = true, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of --cert, in PEM.
    #[arg(long, global = true, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Name that the server's certificate must contain. Default: the host of the address.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) server_name: Option<String>,
    /// Header format of the server. Servers that use frisbee-go up to v0.10.2 require `old`.
    #[arg(long, global = true, value_parser = header_form(), default_value = "new")]
    pub(crate) header: HeaderForm,
    /// Timeout for connecting to the server.
    #[arg(long, global = true, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(crate) connect_timeout: Duration,
}

/// Files that contain the schema. Without them, the schema is requested from the server.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Schema")]
pub(crate) struct SourceArguments {
    /// A .proto file. May be repeated.
    #[arg(short, long, visible_alias = "schema", global = true, value_name = "FILE")]
    pub(crate) proto: Vec<PathBuf>,
    /// A folder in which imports are searched. May be repeated. Default: the folder of the first --proto file.
    #[arg(short = 'I', long = "include", global = true, value_name = "FOLDER")]
    pub(crate) includes: Vec<PathBuf>,
    /// An encoded FileDescriptorSet, as written by protoc with --include_imports.
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "proto")]
    pub(crate) descriptor_set: Option<PathBuf>,
    /// Numbering of the methods: `go` if the operation numbers start at 10 in every file.
    #[arg(long, global = true, value_parser = numbering(), default_value = "sequential")]
    pub(crate) numbering: Numbering,
}

#[derive(Debug, Args)]
pub(crate) struct ConformanceArguments {
    /// Test a client instead of a server. COMMAND is run with the address of a server as an additional argument. It
    /// must call the method Add of tests/proto/interop.proto with 1 and 2, and exit with 0 if the call succeeds, or
    /// with 64 plus the status code if it fails.
    #[arg(long, value_name = "COMMAND", conflicts_with = "server")]
    pub(crate) client: Option<String>,
    /// Test this rule only. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) rule: Vec<String>,
    /// Write a report in JUnit's XML format to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// Folder to create. Its last component becomes the name of the project.
    #[arg(value_name = "NAME")]
    pub(crate) path: PathBuf,
    /// Create a server and a client in Python instead of Rust.
    #[arg(long, conflicts_with = "typescript")]
    pub(crate) python: bool,
    /// Add a client for Node.js to the Rust server.
    #[arg(long)]
    pub(crate) typescript: bool,
    /// Source of the libraries: a checkout of frisbee or the URL of its repository. With --python, it can also be a
    /// wheel.
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) from: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// List the methods of this service.
    #[arg(value_parser = name)]
    pub(crate) service: Option<String>,
    /// List the methods of all services, with their request and reply messages.
    #[arg(short, long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// Full name of a service, method, message or enum. Default: everything.
    #[arg(value_parser = name)]
    pub(crate) symbols: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The earlier schema: a .proto file, a descriptor set, or the address of a server that provides its schema.
    pub(crate) before: String,
    /// The later schema.
    pub(crate) after: String,
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The method: greet.Greeter/Greet, or Greet if the name is unique.
    #[arg(value_parser = name)]
    pub(crate) method: String,
    /// The request: NAME=VALUE, NAME=@FILE, NAME:=JSON; or JSON, @FILE, or - for standard input.
    pub(crate) parameters: Vec<String>,
    /// Send a metadata entry. With KEY=@FILE, the value is read from a file and a line break at its end is removed.
    /// KEY=@@x stands for the value @x.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// Timeout of the call, which is also sent to the server.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
    /// Print only this field of each reply to standard output, as text or raw bytes.
    #[arg(long, value_name = "FIELD")]
    pub(crate) out_field: Option<String>,
    /// Send the call as a JSON-RPC datagram to this UDP address instead of connecting to --server. Without a schema,
    /// the request must be JSON. The deadline defaults to 3s.
    #[arg(long, value_name = "HOST:PORT",
        conflicts_with_all = ["server", "tls", "cacert", "cert", "server_name", "header", "connect_timeout"])]
    pub(crate) udp: Option<String>,
    /// Send a notification, to which the server does not reply.
    #[arg(long, requires = "udp", conflicts_with_all = ["retries", "out_field"])]
    pub(crate) notify: bool,
    /// Maximum number of times that the request is sent again if there is no reply. Default: 2 if the schema declares
    /// the method idempotent, otherwise 0.
    #[arg(long, requires = "udp", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) retries: Option<u32>,
    /// Pad the request with spaces to this length. By default, servers limit a reply to three times the length of its
    /// request. Default: 400.
    #[arg(long, requires = "udp", value_name = "BYTES")]
    pub(crate) pad: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Address of the server, like --server: HOST:PORT or unix:PATH.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "server")]
    pub(crate) to: Option<String>,
    /// Send a metadata entry with each request. The syntax is that of `call`.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GatewayArguments {
    /// Address to listen on, for all protocols.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// Address of the server to which calls are forwarded, in the syntax of --server. May be repeated to balance calls
    /// over several servers. The options under "Server" apply to these connections.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "server")]
    pub(crate) to: Vec<String>,
    /// Forward calls to the server with gRPC. Equivalent to the scheme grpc:// in --to, or grpcs:// with TLS.
    #[arg(long)]
    pub(crate) from_grpc: bool,
    /// Number of connections to the server, at most 10000.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = count(CONNECTIONS_MAX))]
    pub(crate) connections: usize,
    /// Forward only this method, or only the methods of this service. May be repeated. Default: all methods.
    #[arg(long, value_name = "METHOD")]
    pub(crate) allow: Vec<String>,
    /// Admit only callers that the rules in this TOML file allow.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Accept requests for this host name, in addition to localhost and the addresses of the gateway. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub(crate) host: Vec<String>,
    /// Accept requests from web pages of this origin, such as https://app.example.com. May be repeated.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(crate) origin: Vec<String>,
    /// Trust x-forwarded-for and similar header fields in requests from this proxy address or network, such as
    /// 10.0.0.0/8, and apply limits to the clients that they state. May be repeated.
    #[arg(long, value_name = "ADDRESS", value_parser = network)]
    pub(crate) trusted_proxy: Vec<Network>,
    /// Send the caller's verified name to the server in this header field.
    #[arg(long, value_name = "NAME", value_parser = text_field, requires = "rules")]
    pub(crate) subject_field: Option<String>,
    /// Set a header field in every request. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    pub(crate) set_field: Vec<(String, String)>,
    /// Remove a header field from every request. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = any_field)]
    pub(crate) remove_field: Vec<String>,
    /// Set a header field in every successful reply. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = reply_field)]
    pub(crate) set_reply_field: Vec<(String, String)>,
    /// Remove a header field from every reply. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = any_field)]
    pub(crate) remove_reply_field: Vec<String>,
    /// Serve Prometheus metrics at /metrics. They are visible to every client of the port.
    #[arg(long)]
    pub(crate) metrics: bool,
    /// Serve TLS with this certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_key")]
    pub(crate) listen_cert: Option<PathBuf>,
    /// The private key of --listen-cert, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_cert")]
    pub(crate) listen_key: Option<PathBuf>,
    /// Accept only clients whose certificate was issued by these authorities, in PEM.
    #[arg(long, value_name = "FILE", requires = "listen_cert")]
    pub(crate) listen_cacert: Option<PathBuf>,
    /// Maximum time that calls in progress may continue after SIGTERM or SIGINT.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub(crate) drain: Duration,
    /// How long connections are still accepted after SIGTERM or SIGINT, while `/readyz` replies with status 503.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0s")]
    pub(crate) drain_delay: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// The method to call, named as for `call`.
    #[arg(value_parser = name)]
    pub(crate) method: String,
    /// The request, with the syntax of `call`. It may contain templates such as {{random 1 6}}, which are expanded for
    /// each call; docs/cli-load.md lists them.
    pub(crate) parameters: Vec<String>,
    /// Start this many calls per second (open loop). Without this option, each caller makes its next call when its
    /// previous call has ended (closed loop).
    #[arg(short, long, value_name = "CALLS", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Change the rate of an open loop linearly at the start: from 100 to 1000 in 10 seconds with 100:1000:10s.
    #[arg(long, value_name = "FROM:TO:TIME", value_parser = ramp, conflicts_with = "rate")]
    pub(crate) ramp: Option<Ramp>,
    /// How long the load test starts calls.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(crate) duration: Duration,
    /// Maximum number of calls in flight, at most 100000. Default: 10, or 1000 in an open loop.
    #[arg(short, long, value_name = "CALLERS", value_parser = count(CALLERS_MAX))]
    pub(crate) concurrency: Option<usize>,
    /// Number of connections among which the calls are distributed, at most 10000.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = count(CONNECTIONS_MAX))]
    pub(crate) connections: usize,
    /// Weight of METHOD if --also adds further methods. Each method is called in proportion to its weight.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1)]
    pub(crate) weight: u32,
    /// Also call this method. The value consists of a weight, the method and its parameters, separated by spaces, such
    /// as '3 Greet name=you'. May be repeated.
    #[arg(long, value_name = "WEIGHT METHOD PARAMETERS")]
    pub(crate) also: Vec<String>,
    /// Count a call as slow if it takes at least this long.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10ms")]
    pub(crate) slow: Duration,
    /// Write the report as an HTML page with plots.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as JSON, for `frpc compare`.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Send a metadata entry with each call.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// Timeout of each call, which is also sent to the server.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Report of the first load test.
    pub(crate) before: PathBuf,
    /// Report of the second load test.
    pub(crate) after: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PubArguments {
    /// The topic: orders.created.
    pub(crate) topic: String,
    /// The message, @FILE, or - to read one message per line from standard input. With --type, the syntax is that of a
    /// request of `call`, and the lines are JSON.
    #[arg(required = true)]
    pub(crate) message: Vec<String>,
    /// Message type from the schema. Without it, messages are sent as plain bytes.
    #[arg(long = "type", value_name = "MESSAGE")]
    pub(crate) of: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SubArguments {
    /// Topic pattern, such as orders.*; * matches one token, and > at the end matches all further tokens.
    pub(crate) pattern: String,
    /// Share the messages with the other members of this group.
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// First message to receive, if the broker keeps a history. After a reconnect, the broker also sends the messages
    /// that were missed.
    #[arg(long, value_name = "START", conflicts_with = "group")]
    pub(crate) from: Option<SubStart>,
    /// Message type from the schema. Without it, messages are shown as text.
    #[arg(long = "type", value_name = "MESSAGE")]
    pub(crate) of: Option<String>,
    /// Exit after this many messages.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
}

/// First message that a subscription receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubStart {
    /// The next message that is published.
    Now,
    /// The last message of each topic.
    Last,
    /// The oldest message of each topic that the broker keeps.
    Oldest,
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArguments {
    /// Frames as hexadecimal digits, or - to read them from standard input.
    pub(crate) hex: Vec<String>,
    /// Treat the frames in HEX as frames sent by the server.
    #[arg(long, conflicts_with_all = ["pcap", "proxy", "wireshark"])]
    pub(crate) from_server: bool,
    /// A capture in the classic pcap format.
    #[arg(long, value_name = "FILE", conflicts_with = "hex")]
    pub(crate) pcap: Option<PathBuf>,
    /// Listen on this address, and forward each connection to --server.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["hex", "pcap"])]
    pub(crate) proxy: Option<String>,
    /// Print a dissector in Lua for Wireshark and tshark, with the names of the methods.
    #[arg(long, conflicts_with_all = ["hex", "pcap", "proxy"])]
    pub(crate) wireshark: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Show only methods whose name contains this text: Greet, greet.Greeter.
    pub(crate) method: Option<String>,
    /// Listen on this address, and forward each connection to --server.
    #[arg(long, value_name = "ADDRESS", default_value = "localhost:0")]
    pub(crate) listen: String,
    /// Show only the connection with this number, starting from 0.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) connection: Option<u64>,
    /// Show only failed calls.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Show only calls that take at least this long.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) slow: Option<Duration>,
    /// Also show the frames of each call when it has ended.
    #[arg(long)]
    pub(crate) frames: bool,
    /// Exit after showing this many calls.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TopArguments {
    /// Refresh interval, from 100ms to 1m.
    #[arg(short, long, value_name = "TIME", value_parser = interval, default_value = "1s")]
    pub(crate) interval: Duration,
    /// Print the view once, as text, after taking two samples. This is the default if standard output is not a
    /// terminal. With --json, print one sample.
    #[arg(long)]
    pub(crate) once: bool,
    /// Show statistics of calls by method instead of connections. The key m switches between both.
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) methods: bool,
    /// Sort by this column. A column of the methods table also selects that table, like --methods.
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) sort: Option<Column>,
    /// Show only connections whose peer address contains this text. In the methods table, show only methods whose name
    /// contains it.
    #[arg(long, value_name = "TEXT", conflicts_with = "json")]
    pub(crate) filter: Option<String>,
}

/// Call rate that changes linearly at the start of a load test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) length: Duration,
}

#[cfg(test)]
impl ServerArguments {
    /// Returns the default arguments with a server's address.
    pub(crate) fn of(address: &str) -> Self {
        Self {
            server: Some(address.to_owned()),
            tls: false,
            cacert: None,
            cert: None,
            key: None,
            server_name: None,
            header: HeaderForm::Current,
            connect_timeout: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_definitions_are_consistent() {
        command().debug_assert();
    }

    /// Regression test: commands without a server or a schema accepted and listed these options.
    #[test]
    fn options_without_effect_are_hidden_and_rejected() {
        let parsed = |line: &str| parse(line.split(' ').map(OsString::from)).map_err(|error| error.to_string());
        for line in [
            "frpc new shop --from . --tls",
            "frpc --server a:1 new shop --from .",
            "frpc compare a b -p c",
            "frpc mcp --header old",
            "frpc diff a b --server c:1",
        ] {
            assert!(parsed(line).expect_err(line).contains("has no effect on this command"), "{line}");
        }
        let help = parsed("frpc new --help").expect_err("help should be printed");
        assert!(!help.contains("Server") && !help.contains("--proto") && help.contains("--json"), "{help}");
        for line in [
            "frpc mcp --to a:1 --server b:1",
            "frpc gateway --to a:1 --server b:1",
            "frpc decode --from-server --pcap a",
            // Regression: a conflict with an option before the command was not detected.
            "frpc --server b:1 mcp --to a:1",
            "frpc --json top --methods",
            "frpc --connect-timeout 1s call --udp a:1 Greet",
            "frpc -p a list --descriptor-set b",
        ] {
            assert!(parsed(line).expect_err(line).contains("cannot be used with"), "{line}");
        }
        parsed("frpc --json diff a b --numbering go --tls").expect("options of servers and schemas should be accepted");
    }

    /// Regression test: a load with 10 billion callers exhausted the memory.
    #[test]
    fn excessive_counts_are_rejected() {
        for line in ["load Add -c 100001", "load Add --connections 10001", "gateway --connections 10001"] {
            let line = ["frpc", line].join(" ");
            let error = parse(line.split(' ').map(OsString::from)).expect_err(&line).to_string();
            assert!(error.contains("is not in 1..="), "{error}");
        }
    }

    #[test]
    fn short_options_mean_same_in_all_commands() {
        let mut meanings = std::collections::BTreeMap::new();
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments() {
                let Some(short) = argument.get_short() else { continue };
                let meaning = meanings.entry(short).or_insert_with(|| argument.get_id().clone());
                assert_eq!(meaning, argument.get_id(), "-{short} should have one meaning: {}", command.get_name());
            }
        }
    }
}
