//! The command `frpc`: lists, describes, calls and load-tests services, and decodes frames.
//!
//! The user documentation is docs/cli.md in the repository. This library exists only for the tests of the command.
//! Programs should use [frpc] and [frpc_dynamic] instead.

#![forbid(unsafe_code)]
// Deny `eprintln!`, which panics if standard error is closed. Use `show::note` instead.
#![deny(clippy::print_stderr)]

mod arguments;
mod call;
mod conformance;
mod decode;
mod describe;
mod diff;
mod failure;
mod gateway;
mod input;
mod list;
mod load;
mod mcp;
mod new;
mod parameters;
mod pubsub;
mod rules;
mod schema;
mod show;
mod source;
mod target;
mod tensors;
mod top;
mod trace;
mod udp;

use arguments::{Arguments, Command};
use failure::Failure;
use source::Context;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};

/// Runs the command with these arguments and returns its exit code. The first argument is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match arguments::parse(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Ignore the error, because standard output may be closed.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
        }
    };
    let Arguments { command, context } = arguments;
    let screen = context.screen;
    let builder = match command {
        // The gateway serves connections, so it uses one worker thread per core.
        Command::Gateway(_) => Builder::new_multi_thread(),
        // Starting worker threads would take longer than the few calls that other commands make.
        _ => Builder::new_current_thread(),
    };
    match run_on(builder, perform(command, context)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            screen.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

async fn perform(command: Command, context: Context) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list::list(&arguments, &context).await,
        Command::Describe(arguments) => describe::describe(&arguments, &context).await,
        Command::Diff(arguments) => diff::diff(&arguments, &context).await,
        Command::Call(arguments) if arguments.udp.is_some() => udp::call(&arguments, &context).await,
        Command::Call(arguments) => call::call(arguments, &context).await,
        Command::Load(arguments) => load::load(&arguments, &context).await,
        Command::Compare(arguments) => load::compare(&arguments, &context.screen),
        Command::Pub(arguments) => pubsub::publish(arguments, &context).await,
        Command::Sub(arguments) => pubsub::subscribe(arguments, &context).await,
        Command::Decode(arguments) => decode::decode(arguments, &context).await,
        Command::Trace(arguments) => trace::trace(arguments, &context).await,
        Command::Top(arguments) => top::top(arguments, &context).await,
        Command::Mcp(arguments) => mcp::mcp(arguments, &context).await,
        Command::Conformance(arguments) => conformance::conformance(&arguments, &context).await,
        Command::Gateway(arguments) => gateway::gateway(arguments, context).await,
        Command::New(arguments) => new::new(&arguments, &context.screen),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut arguments::command(), "frpc", &mut script);
            context.screen.line(String::from_utf8_lossy(&script).trim_end())
        }
    }
}

/// Maximum time to wait at exit for connections to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// Interval at which the command checks at exit whether its connections have closed.
const CLOSE_INTERVAL: Duration = Duration::from_millis(1);

/// Runs a future, and then waits until its connections have closed.
fn run_on(mut builder: Builder, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(work);
    // Close connections properly, with a TLS alert, so that servers can distinguish the client from a killed one.
    runtime.block_on(async {
        let started = Instant::now();
        while Handle::current().metrics().num_alive_tasks() > 0 && started.elapsed() < CLOSE_TIMEOUT {
            tokio::time::sleep(CLOSE_INTERVAL).await;
        }
    });
    // Do not wait for the runtime: a read from a terminal cannot be cancelled and would keep the process alive.
    runtime.shutdown_background();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn command_ends_when_its_connections_have_closed() {
        let has_closed = Arc::new(AtomicBool::new(false));
        let closing = has_closed.clone();
        let outcome = run_on(Builder::new_current_thread(), async move {
            tokio::spawn(async move {
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                closing.store(true, Ordering::Relaxed);
            });
            Ok(())
        });
        assert!(outcome.is_ok() && has_closed.load(Ordering::Relaxed));
    }
}
