//! Counters of calls by method and status code.

mod exposition;
mod figures;
mod histogram;
mod shards;

pub use figures::{FigureKind, Metric, TopicFigures};
pub use histogram::Histogram;

use frpc::observe::{BatchObserver, CallSide, ChannelServers, ObservedMethod, ServerLoad, TranslatedService};
#[cfg(feature = "pubsub")]
use frpc::pubsub::Broker;
use frpc::{CallKind, Code};
use parking_lot::Mutex;
use shards::{Key, Shards};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts calls by method and status code, with histograms of their durations.
///
/// Register it with `batch_observer` of the builders of servers and channels. Clones share their counters. Counting
/// takes no lock and does not read the clock: each thread has its own counters, which a [snapshot](Self::snapshot)
/// sums. Method names come from the schema, never from a peer.
///
/// Durations have the resolution of the iterations of a connection's driver. At a client, a duration extends from
/// sending the request to the iteration that received the reply. At a server, it extends from the iteration that
/// received the request to the end of that iteration, when replies are written, or to the completion of a pending
/// handler.
///
/// ```
/// use samples::greeter::{GreeterClient, GreeterServer, Name};
/// use frpc::observe::CallSide;
/// use frpc_telemetry::Counters;
/// # use samples::started::Polite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let counters = Counters::new();
/// let server = frpc::Server::builder()
///     .batch_observer(counters.clone())
///     .add_service(GreeterServer::new(Polite))
///     .bind("127.0.0.1:0")
///     .await?;
/// let channel = frpc::Channel::builder().batch_observer(counters.clone());
/// # let address = server.local_addr().to_string();
/// # tokio::spawn(server.serve());
/// let client = GreeterClient::new(channel.connect(address).await?);
/// client.greet(Name { name: "Ada".to_owned() }).await?;
///
/// let snapshot = counters.snapshot();
/// for side in [CallSide::Server, CallSide::Client] {
///     let greet = snapshot.calls.iter().find(|calls| calls.side == side).expect("call should be counted");
///     assert_eq!((greet.service, greet.method), ("greeter.Greeter", "Greet"));
///     assert_eq!((greet.code, greet.durations.count()), (frpc::Code::Ok, 1));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Counters(Arc<Inner>);

#[derive(Default)]
struct Inner {
    methods: Mutex<Methods>,
    shards: Arc<Shards>,
    /// Number of attempts that failed and were retried, by method and status code.
    retried: Mutex<BTreeMap<Key, u64>>,
    late: AtomicU64,
    unserved: AtomicU64,
    /// Number of connections that clients have established.
    dialled: AtomicU64,
    /// Number of failed connection attempts by clients.
    not_dialled: AtomicU64,
    /// Live channels that use these counters. Snapshots list their servers.
    channels: Mutex<Vec<ChannelServers>>,
    #[cfg(feature = "pubsub")]
    brokers: Mutex<Vec<Broker>>,
}

#[derive(Default)]
struct Methods {
    rows: Vec<Row>,
    by_name: HashMap<(CallSide, &'static str, &'static str), u32>,
}

#[derive(Clone, Copy)]
struct Row {
    side: CallSide,
    service: &'static str,
    method: &'static str,
    kind: CallKind,
}

impl Counters {
    /// Creates counters at zero.
    ///
    /// ```
    /// use frpc::Server;
    /// use frpc_telemetry::Counters;
    ///
    /// let counters = Counters::new();
    /// let server = Server::builder().batch_observer(counters);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the current counts. Calls that end concurrently may be missing.
    ///
    /// ```
    /// use frpc_telemetry::Counters;
    ///
    /// let snapshot = Counters::new().snapshot();
    /// assert!(snapshot.calls.is_empty());
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let Inner { methods, shards, retried, late, unserved, dialled, not_dialled, .. } = &*self.0;
        let channels = self.0.channels.lock().clone();
        #[cfg(feature = "pubsub")]
        let topics = TopicFigures::of(&self.0.brokers.lock());
        #[cfg(not(feature = "pubsub"))]
        let topics = None;
        let sums = shards.sums();
        // Read the methods after the sums, so that every key has a row.
        let rows = methods.lock().rows.clone();
        let row = |key: &Key| rows.get(key.row as usize).copied();
        let code = |key: &Key| Code::from_i32(i32::from(key.code));
        let calls = sums.into_iter().filter_map(|(key, durations)| {
            let Row { side, service, method, kind } = row(&key)?;
            Some(Calls { side, service, method, kind, code: code(&key), durations })
        });
        let retried = retried.lock().clone();
        let retried = retried.iter().filter_map(|(key, count)| {
            let Row { service, method, .. } = row(key)?;
            Some(Retried { service, method, code: code(key), count: *count })
        });
        Snapshot {
            calls: calls.collect(),
            retried: retried.collect(),
            late_replies: late.load(Ordering::Relaxed),
            unserved: unserved.load(Ordering::Relaxed),
            connections_made: dialled.load(Ordering::Relaxed),
            connections_failed: not_dialled.load(Ordering::Relaxed),
            servers: figures::added_up(channels.iter().flat_map(ChannelServers::loads)),
            translated: TranslatedService::all(),
            topics,
        }
    }

    /// Includes a broker in snapshots. [`Snapshot::topics`] sums all registered brokers.
    ///
    /// ```
    /// use frpc_telemetry::Counters;
    /// use frpc::pubsub::Broker;
    ///
    /// let counters = Counters::new();
    /// counters.show_topics(&Broker::new());
    /// assert_eq!(counters.snapshot().topics.map(|topics| topics.published), Some(0));
    /// ```
    #[cfg(feature = "pubsub")]
    pub fn show_topics(&self, broker: &Broker) {
        self.0.brokers.lock().push(broker.clone());
    }
}

impl BatchObserver for Counters {
    fn register(&self, about: &ObservedMethod) -> u32 {
        let (side, service, method, kind) = (about.side(), about.service(), about.method(), about.kind());
        let mut methods = self.0.methods.lock();
        let Methods { rows, by_name } = &mut *methods;
        *by_name.entry((side, service, method)).or_insert_with(|| {
            rows.push(Row { side, service, method, kind });
            u32::try_from(rows.len() - 1).expect("number of methods should fit into u32")
        })
    }

    fn ended(&self, method: u32, code: Code, calls: u64, nanos: u64) {
        self.0.shards.add(Key::new(method, code), calls, nanos);
    }

    fn reclassified(&self, method: u32, code: Code, nanos: u64) {
        // Add -1 by wrapping. The sums wrap as well, so one shard may subtract a call that another added.
        self.0.shards.add(Key::new(method, Code::Ok), 1_u64.wrapping_neg(), nanos);
        self.ended(method, code, 1, nanos);
    }

    fn retried(&self, method: u32, code: Code) {
        *self.0.retried.lock().entry(Key::new(method, code)).or_default() += 1;
    }

    fn late_reply(&self) {
        self.0.late.fetch_add(1, Ordering::Relaxed);
    }

    fn unserved(&self) {
        self.0.unserved.fetch_add(1, Ordering::Relaxed);
    }

    fn dialled(&self, is_connected: bool) {
        let count = if is_connected { &self.0.dialled } else { &self.0.not_dialled };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn channel(&self, servers: ChannelServers) {
        let mut channels = self.0.channels.lock();
        // Remove dropped channels, because they would otherwise accumulate.
        channels.retain(ChannelServers::is_alive);
        channels.push(servers);
    }
}

/// Values of [`Counters`] at a point in time.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Completed calls by method, side and status code, in the order of the methods' first calls.
    pub calls: Vec<Calls>,
    /// Attempts that failed on clients and were retried, by method and status code.
    pub retried: Vec<Retried>,
    /// Number of replies that clients received after the call was cancelled or timed out, including confirmations of
    /// cancellations.
    pub late_replies: u64,
    /// Number of requests that servers rejected because no method has their operation number or the schemas are
    /// incompatible.
    pub unserved: u64,
    /// Number of connections that clients have established. After the first connection of a channel, each one replaces
    /// a lost or drained connection or leads to an additional server.
    pub connections_made: u64,
    /// Number of failed connection attempts by clients.
    pub connections_failed: u64,
    /// Load on the servers of all live channels, sorted by name. Servers after the first 64 are merged. Channels that
    /// use a custom connector are not listed.
    pub servers: Vec<ServerLoad>,
    /// Services of this process that have peers with another version of the schema.
    pub translated: Vec<TranslatedService>,
    /// Totals of the brokers registered with `Counters::show_topics` (feature `pubsub`), or `None` if there are no
    /// brokers.
    pub topics: Option<TopicFigures>,
}

/// Completed calls of one method with one status code, counted on the client or on the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Calls {
    /// Whether the calls were counted on the client or on the server.
    pub side: CallSide,
    /// Full name of the service, including its package.
    pub service: &'static str,
    /// Name of the method within its service.
    pub method: &'static str,
    /// Kind of the calls: whether requests and responses are streams.
    pub kind: CallKind,
    /// Status code of the calls. [`Code::Cancelled`] if the caller cancelled and, on a server, also if the connection
    /// closed.
    pub code: Code,
    /// Histogram of the durations of the calls.
    pub durations: Histogram,
}

/// Attempts of one method that failed with one status code and were retried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Retried {
    /// Full name of the service, including its package.
    pub service: &'static str,
    /// The name of the method within its service.
    pub method: &'static str,
    /// Status code of the failed attempts.
    pub code: Code,
    /// Number of retried attempts.
    pub count: u64,
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").field("methods", &self.0.methods.lock().rows.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::codegen::{Layout, Method};
    use std::time::Duration;

    static LAYOUT: Layout = Layout::new("test.Test", &[10, 11], 1, b"", "");
    static METHODS: [Method; 2] = [Method::new(&LAYOUT, "One", 10), Method::new(&LAYOUT, "Two", 11)];

    fn about(method: usize) -> ObservedMethod {
        ObservedMethod::new(CallSide::Client, METHODS[method], CallKind::Unary)
    }

    #[test]
    fn counts_are_summed_and_outlive_threads() {
        let counters = Counters::new();
        let rows = [counters.register(&about(0)), counters.register(&about(1))];
        assert_eq!((rows, counters.register(&about(0))), ([0, 1], 0));
        for _ in 0..2 {
            std::thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let (counters, row) = (counters.clone(), rows[(thread % 2) as usize]);
                    scope.spawn(move || {
                        for _ in 0..1000 {
                            counters.ended(row, Code::Ok, 1, 1000);
                        }
                        counters.ended(row, Code::Internal, 7, 1000);
                    });
                }
            });
        }
        let snapshot = counters.snapshot();
        let counted = snapshot.calls.iter().map(|calls| (calls.method, calls.code, calls.durations.count()));
        let expected =
            ["One", "Two"].into_iter().flat_map(|method| [(method, Code::Ok, 4000), (method, Code::Internal, 28)]);
        assert_eq!(counted.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(snapshot.calls[1].durations.sum().as_nanos(), 28_000);
    }

    #[test]
    fn success_revoked_before_read_counts_zero() {
        let counters = Counters::new();
        let row = counters.register(&about(0));
        // Omit the success itself, because the snapshot may read the thread's shard before the success is counted in
        // it.
        counters.reclassified(row, Code::Cancelled, 1000);
        let calls = counters.snapshot().calls;
        let counted: Vec<_> = calls.iter().map(|calls| (calls.code, calls.durations.count())).collect();
        assert_eq!(counted, [(Code::Ok, 0), (Code::Cancelled, 1)]);
        assert_eq!(calls[0].durations.sum(), Duration::ZERO);
    }
}
