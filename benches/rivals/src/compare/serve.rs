//! The server process.

use crate::contestants::dispatch;
use rivals::BoxError;
use rivals::background::Bound;
use rivals::contest::Contestant;
use rivals::process::exit_with_parent;
use rivals::rivals::streams::Streams;
use rivals::rivals::{Setup, Wait};
use std::time::Duration;
use tokio::runtime::Runtime;

#[derive(clap::Args)]
pub(crate) struct ServeArguments {
    /// The contestant.
    name: String,
    /// Delay of the handler.
    #[arg(long, default_value_t = 0)]
    sleep_us: u64,
    /// The handler blocks a thread during its delay.
    #[arg(long)]
    blocks: bool,
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    /// Serve streams instead of calls.
    #[arg(long)]
    streams: bool,
}

pub(crate) fn main(arguments: &ServeArguments) -> Result<(), BoxError> {
    exit_with_parent();
    let wait = Some(Duration::from_micros(arguments.sleep_us)).filter(|wait| !wait.is_zero());
    let wait = wait.map(if arguments.blocks { Wait::Block } else { Wait::Sleep });
    let setup = Setup { wait, in_flight: arguments.in_flight };
    let name = arguments.name.as_str();
    let served = if arguments.streams {
        dispatch!(streams, name, serve_streams(()))
    } else {
        dispatch!(all, name, serve(setup))
    };
    served.ok_or("there is no such contestant")?
}

fn serve<C: Contestant>(setup: Setup) -> Result<(), BoxError> {
    run(|bound| C::serve(setup, bound))
}

fn serve_streams<S: Streams>((): ()) -> Result<(), BoxError> {
    run(S::serve)
}

/// Reports the server's address, and serves.
fn run<F: Future<Output = Result<(), BoxError>>>(serve: impl FnOnce(Bound) -> F) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    std::thread::spawn(move || {
        if let Ok(Ok(address)) = address.recv() {
            println!("listening {address}");
        }
    });
    Runtime::new()?.block_on(serve(bound))
}
