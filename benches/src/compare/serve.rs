//! The process that serves.

use crate::contestants::dispatch;
use benches::BoxError;
use benches::background::Bound;
use benches::contest::Contestant;
use benches::process::exit_with_parent;
use benches::rivals::Setup;
use std::time::Duration;
use tokio::runtime::Runtime;

#[derive(clap::Args)]
pub(crate) struct ServeArguments {
    /// The contestant.
    name: String,
    #[arg(long, default_value_t = 0)]
    sleep_us: u64,
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
}

pub(crate) fn main(arguments: &ServeArguments) -> Result<(), BoxError> {
    exit_with_parent();
    let sleep = Some(Duration::from_micros(arguments.sleep_us)).filter(|sleep| !sleep.is_zero());
    let setup = Setup { sleep, in_flight: arguments.in_flight };
    let served = dispatch!(all, arguments.name.as_str(), serve(setup));
    served.ok_or("there is no such contestant")?
}

fn serve<C: Contestant>(setup: Setup) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    std::thread::spawn(move || {
        if let Ok(Ok(address)) = address.recv() {
            println!("listening {address}");
        }
    });
    Runtime::new()?.block_on(C::serve(setup, bound))
}
