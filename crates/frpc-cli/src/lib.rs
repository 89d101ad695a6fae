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
mod tap;
mod target;
mod tensors;
mod top;
mod trace;
mod udp;

use arguments::{Arguments, Command};
use failure::Failure;
use show::Screen;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

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
    let screen = Screen::new(&arguments.output);
    match perform(arguments, &screen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            screen.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn perform(arguments: Arguments, screen: &Screen) -> Result<(), Failure> {
    let Arguments { command, server, source, output: _ } = arguments;
    match command {
        Command::List(list) => on_runtime(async {
            let schema = source::schema(&source, &server).await?;
            list::list(&list, &schema, screen)
        }),
        Command::Describe(describe) => on_runtime(async {
            let schema = source::schema(&source, &server).await?;
            describe::describe(&describe, &schema, screen)
        }),
        Command::Diff(arguments) => on_runtime(diff::diff(&arguments, &source, &server, screen)),
        Command::Call(call) if call.udp.is_some() => on_runtime(udp::call(&call, &source, screen)),
        Command::Call(call) => on_runtime(async {
            let schema = Arc::new(source::schema(&source, &server).await?);
            call::call(call, &server, &schema, screen).await
        }),
        Command::Load(load) => on_runtime(async {
            let schema = source::schema(&source, &server).await?;
            load::load(&load, &server, schema, screen).await
        }),
        Command::Compare(compare) => load::compare(&compare, screen),
        Command::Pub(publish) => on_runtime(pubsub::publish(publish, &server, &source, screen)),
        Command::Sub(subscribe) => on_runtime(pubsub::subscribe(subscribe, &server, &source, screen)),
        Command::Decode(decode) => on_runtime(decode::decode(decode, &server, &source, screen)),
        Command::Trace(trace) => on_runtime(trace::trace(trace, &server, &source, screen)),
        Command::Top(top) => on_runtime(top::top(top, &server, screen)),
        Command::Mcp(arguments) => on_runtime(mcp::mcp(arguments, &server)),
        Command::Conformance(arguments) => on_runtime(conformance::conformance(&arguments, &server, screen)),
        // The gateway serves connections, so it uses one worker thread per core.
        Command::Gateway(arguments) => {
            run_on(tokio::runtime::Builder::new_multi_thread(), gateway::gateway(arguments, &server, &source, screen))
        }
        Command::New(arguments) => new::new(&arguments, screen),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut arguments::command(), "frpc", &mut script);
            screen.line(String::from_utf8_lossy(&script).trim_end())
        }
    }
}

/// Maximum time to wait at exit for connections to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// Interval at which the command checks at exit whether its connections have closed.
const CLOSE_INTERVAL: Duration = Duration::from_millis(1);

/// Runs a future on the current thread. Starting worker threads would take longer than the few calls that most commands
/// make.
fn on_runtime(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    run_on(tokio::runtime::Builder::new_current_thread(), work)
}

fn run_on(
    mut builder: tokio::runtime::Builder,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
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
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn command_ends_when_its_connections_have_closed() {
        let has_closed = Arc::new(AtomicBool::new(false));
        let closing = has_closed.clone();
        let outcome = on_runtime(async move {
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
