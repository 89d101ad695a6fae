//! The arguments of the command.

use clap::{Args, Parser, Subcommand, ValueEnum};
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
    /// HOST:PORT, unix:PATH, or ws://HOST:PORT/PATH. Default: the environment variable FRPC_SERVER, or localhost:8080.
    #[arg(short, long, global = true, value_name = "ADDRESS")]
    pub(crate) server: Option<String>,
    /// Speak TLS and trust the authorities in --cacert.
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

/// Where the schema comes from.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Schema")]
pub(crate) struct SourceArguments {
    /// A .proto file, with the lock beside it. May be given several times.
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) proto: Vec<PathBuf>,
    /// A folder in which imports are looked up. Default: the folder of the first --proto.
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

/// What is shown, and how.
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
pub(crate) struct ListArguments {
    /// List the methods of this service.
    pub(crate) service: Option<String>,
    /// List the methods of all services, with their messages.
    #[arg(short, long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// The full name of a service, method, message or enum. Default: everything.
    pub(crate) symbols: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The method: greet.Greeter/Greet, or Greet if no other service has one.
    pub(crate) method: String,
    /// The request: NAME=VALUE, NAME=@FILE, NAME:=JSON; or JSON, @FILE, or - for standard input.
    pub(crate) parameters: Vec<String>,
    /// Send an entry of metadata. With KEY=@FILE the value is read from a file, without its last line break.
    #[arg(short = 'H', long = "metadata", value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// How long the call may take. The server learns it.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
    /// Write only this field of each reply to standard output: the bytes or the text itself.
    #[arg(long, value_name = "FIELD")]
    pub(crate) out_field: Option<String>,
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
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is no number"))?;
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
    fn a_duration_is_a_number_with_a_unit() {
        for (text, millis) in [("100ms", 100), ("2.5s", 2500), ("1m", 60_000), ("1h", 3_600_000), ("1500us", 1)] {
            assert_eq!(duration(text).map(|read| read.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "5", "s", "1.2.3s", "1x", "-1s", "99999999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
