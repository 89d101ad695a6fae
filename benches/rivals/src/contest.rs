//! Subjects of the load: rivals that make calls, and raw frames, which do not.

use crate::BoxError;
use crate::background::Bound;
use crate::load::checked;
use crate::meter::Meter;
use crate::rivals::{Client, Rival, Setup};
use std::net::SocketAddr;
use std::sync::Arc;

/// The load on one connection.
#[derive(Clone, Debug)]
pub struct Load {
    /// The index of the connection.
    pub number: usize,
    /// The number of concurrent calls.
    pub in_flight: usize,
    /// Length of a text in bytes.
    pub length: usize,
    /// Counts the calls.
    pub meter: Arc<Meter>,
}

/// A system under load.
pub trait Contestant: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// An established connection.
    type Connection: Send + 'static;

    /// Serves on a free port of the loopback until dropped.
    fn serve(setup: Setup, bound: Bound) -> impl Future<Output = Result<(), BoxError>>;

    /// Opens a connection.
    fn connect(
        address: SocketAddr,
        setup: Setup,
        load: Load,
    ) -> impl Future<Output = Result<Self::Connection, BoxError>> + Send;

    /// Keeps calls in flight while the meter runs. Returns the number of calls that ended within the window.
    fn drive(connection: Self::Connection, load: Load) -> impl Future<Output = Result<u64, BoxError>> + Send;
}

impl<R: Rival> Contestant for R {
    const NAME: &'static str = R::NAME;
    type Connection = R::Client;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        R::serve(setup, bound).await
    }

    async fn connect(address: SocketAddr, setup: Setup, _load: Load) -> Result<Self::Connection, BoxError> {
        R::connect(address, setup).await
    }

    async fn drive(client: R::Client, load: Load) -> Result<u64, BoxError> {
        if load.in_flight == 1 {
            return call(client, load.number, load).await;
        }
        let callers: Vec<_> = (0..load.in_flight)
            .map(|caller| tokio::spawn(call(client.clone(), load.number * load.in_flight + caller, load.clone())))
            .collect();
        drop(client);
        let mut counted = 0;
        for caller in callers {
            counted += caller.await??;
        }
        Ok(counted)
    }
}

/// Makes one call after another.
async fn call<C: Client>(client: C, caller: usize, load: Load) -> Result<u64, BoxError> {
    let mut text = C::text(caller, load.length);
    let mut tally = load.meter.tally(caller);
    while tally.runs() {
        let begun = tally.begin();
        checked(&client, &mut text).await?;
        tally.end(begun);
    }
    Ok(tally.counted())
}

/// A contestant that can use a new connection for each call.
pub trait Reconnect: Contestant {
    /// Repeatedly connects, makes one call and closes while the meter runs. Returns the number of calls completed
    /// within the window.
    fn reconnect(address: SocketAddr, setup: Setup, load: Load) -> impl Future<Output = Result<u64, BoxError>> + Send;
}

impl<R: Rival> Reconnect for R {
    async fn reconnect(address: SocketAddr, setup: Setup, load: Load) -> Result<u64, BoxError> {
        let mut text = <R::Client as Client>::text(load.number, load.length);
        let mut tally = load.meter.tally(load.number);
        while tally.runs() {
            let begun = tally.begin();
            let client = R::connect(address, setup).await?;
            checked(&client, &mut text).await?;
            drop(client);
            tally.end(begun);
        }
        Ok(tally.counted())
    }
}
