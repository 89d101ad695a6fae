//! Metrics other than call durations: servers of channels, topics, and the connections of a server. `exposition.rs`
//! formats them for Prometheus; programs may export them in other formats.

use super::Snapshot;
use frpc::Stats;
use frpc::observe::{ServerLoad, TranslatedService};
#[cfg(feature = "pubsub")]
use frpc::pubsub::Broker;
use std::collections::BTreeMap;

/// Number of servers with their own labels, which bounds the cardinality of the metrics. Further servers are merged as
/// [`OTHERS`].
const SERVERS_SHOWN: usize = 64;

/// Label value for the servers beyond [`SERVERS_SHOWN`].
const OTHERS: &str = "others";

/// A metric with its current value, named as in the Prometheus export.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// Name of the metric, which ends with its unit, and with `_total` for counters.
    pub name: &'static str,
    /// Description of the metric in one sentence.
    pub help: &'static str,
    /// Kind of the metric: counter or gauge.
    pub kind: FigureKind,
    /// Label names and values. Peers cannot choose any of them: they are names in the schema, status codes, close
    /// reasons, or server names from the program or its resolver.
    pub labels: Vec<(&'static str, String)>,
    /// Current value of the metric.
    pub value: u64,
}

/// Kind of a [`Metric`], which determines how its value changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FigureKind {
    /// A monotonic count that starts at zero when the program starts.
    Counter,
    /// A value that can rise and fall.
    Gauge,
}

/// Sums the loads that several channels report for the same server. Servers after the first [`SERVERS_SHOWN`] by name
/// are merged into one.
pub(super) fn added_up(loads: impl Iterator<Item = ServerLoad>) -> Vec<ServerLoad> {
    let mut by_name = BTreeMap::<String, ServerLoad>::new();
    for load in loads {
        match by_name.get_mut(&load.server) {
            Some(sum) => add(sum, &load),
            None => drop(by_name.insert(load.server.clone(), load)),
        }
    }
    let mut servers: Vec<_> = by_name.into_values().collect();
    if servers.len() > SERVERS_SHOWN {
        let mut others = ServerLoad::new(OTHERS, None, false);
        servers.split_off(SERVERS_SHOWN).iter().for_each(|load| add(&mut others, load));
        servers.push(others);
    }
    servers
}

fn add(sum: &mut ServerLoad, load: &ServerLoad) {
    sum.connections += load.connections;
    sum.in_progress += load.in_progress;
    sum.suspicions += load.suspicions;
}

/// Totals of the brokers registered with `Counters::show_topics`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct TopicFigures {
    /// Number of published messages.
    pub published: u64,
    /// Number of messages lost, summed over all subscribers.
    pub lost: u64,
    /// Current number of subscriptions to topics.
    pub subscriptions: u64,
    /// Number of bytes currently queued for subscribers, summed over all of them.
    pub waiting: u64,
}

#[cfg(feature = "pubsub")]
impl TopicFigures {
    /// Returns the totals over all brokers, or `None` if there are no brokers.
    pub(super) fn of(brokers: &[Broker]) -> Option<Self> {
        if brokers.is_empty() {
            return None;
        }
        let mut sum = Self::default();
        for broker in brokers {
            sum.published += broker.published();
            sum.lost += broker.lost();
            sum.subscriptions += broker.subscriptions() as u64;
            sum.waiting += broker.waiting() as u64;
        }
        Some(sum)
    }
}

/// Builder for the list of a snapshot's metrics.
struct MetricSet(Vec<Metric>);

impl MetricSet {
    fn counter(&mut self, name: &'static str, help: &'static str, value: u64) {
        self.put(FigureKind::Counter, name, help, Vec::new(), value);
    }

    fn gauge(&mut self, name: &'static str, help: &'static str, value: u64) {
        self.put(FigureKind::Gauge, name, help, Vec::new(), value);
    }

    fn put(
        &mut self,
        kind: FigureKind,
        name: &'static str,
        help: &'static str,
        labels: Vec<(&'static str, String)>,
        value: u64,
    ) {
        self.0.push(Metric { name, help, kind, labels, value });
    }
}

impl Snapshot {
    /// Returns all metrics except call durations, with the connection metrics of a server if `stats` is given. Metrics
    /// of one name are consecutive.
    ///
    /// ```
    /// let figures = frpc_telemetry::Counters::new().snapshot().figures(None);
    /// assert!(figures.iter().any(|figure| figure.name == "frpc_late_replies_total" && figure.value == 0));
    /// ```
    pub fn figures(&self, stats: Option<&Stats>) -> Vec<Metric> {
        let mut figures = MetricSet(Vec::new());
        self.put_calls(&mut figures);
        self.put_servers(&mut figures);
        self.put_translated(&mut figures);
        if let Some(topics) = &self.topics {
            put_topics(&mut figures, topics);
        }
        if let Some(stats) = stats {
            put_stats(&mut figures, stats);
        }
        figures.0
    }

    /// Like [`figures`](Self::figures), but includes the connection metrics of several servers, distinguished by the
    /// label `server`.
    pub fn figures_of(&self, servers: &[(String, Stats)]) -> Vec<Metric> {
        let mut figures = self.figures(None);
        let mut of_servers = Vec::new();
        for (name, stats) in servers {
            let mut of_server = MetricSet(Vec::new());
            put_stats(&mut of_server, stats);
            for figure in &mut of_server.0 {
                figure.labels.push(("server", name.clone()));
            }
            of_servers.append(&mut of_server.0);
        }
        // The metrics of one name must be consecutive. Names are in the order of their first metrics.
        let names: Vec<_> = of_servers.iter().map(|figure| figure.name).collect();
        of_servers.sort_by_key(|figure| names.iter().position(|name| *name == figure.name));
        figures.append(&mut of_servers);
        figures
    }

    fn put_calls(&self, to: &mut MetricSet) {
        for retried in &self.retried {
            let labels = vec![
                ("service", retried.service.to_owned()),
                ("method", retried.method.to_owned()),
                ("code", retried.code.name().to_ascii_lowercase()),
            ];
            let help = "Attempts of calls that were followed by another attempt.";
            to.put(FigureKind::Counter, "frpc_client_retries_total", help, labels, retried.count);
        }
        let help = "Replies received after their calls had ended.";
        to.counter("frpc_late_replies_total", help, self.late_replies);
        to.counter("frpc_unserved_total", "Requests that were refused without a method.", self.unserved);
        let help = "Connections made by clients, including replacements.";
        to.counter("frpc_client_connections_made_total", help, self.connections_made);
        let help = "Failed connection attempts of clients.";
        to.counter("frpc_client_connections_failed_total", help, self.connections_failed);
    }

    fn put_servers(&self, to: &mut MetricSet) {
        let mut gauge = |name, help, value: fn(&ServerLoad) -> u64| {
            for load in &self.servers {
                to.put(FigureKind::Gauge, name, help, vec![("server", load.server.clone())], value(load));
            }
        };
        let help = "Calls and streams of channels in progress, by server.";
        gauge("frpc_client_server_calls", help, |load| load.in_progress);
        let help = "Connections of channels that accept calls, by server.";
        gauge("frpc_client_server_connections", help, |load| load.connections);
        let help = "Channels that have ejected a server, because of its answers or missed deadlines.";
        gauge("frpc_client_server_suspicions", help, |load| load.suspicions);
    }

    fn put_translated(&self, to: &mut MetricSet) {
        let mut put = |kind, name, help, value: fn(&TranslatedService) -> u64| {
            for service in &self.translated {
                to.put(kind, name, help, vec![("service", service.service.to_owned())], value(service));
            }
        };
        let help = "Calls with peers that have another version of the schema.";
        put(FigureKind::Counter, "frpc_translated_calls_total", help, |service| service.calls);
        let help = "Fields from such peers that their readers do not know.";
        put(FigureKind::Counter, "frpc_skipped_fields_total", help, |service| service.skipped_fields);
        let help = "Other versions of the schema that connected peers have.";
        put(FigureKind::Gauge, "frpc_translated_layouts", help, |service| service.layouts.len() as u64);
    }
}

fn put_topics(to: &mut MetricSet, topics: &TopicFigures) {
    to.counter("frisbee_topics_published_total", "Messages published to topics.", topics.published);
    let help = "Messages lost because subscribers were too slow.";
    to.counter("frisbee_topics_lost_total", help, topics.lost);
    to.gauge("frisbee_topics_subscriptions", "Subscriptions to topics.", topics.subscriptions);
    to.gauge("frisbee_topics_waiting_bytes", "Bytes queued for subscribers.", topics.waiting);
}

fn put_stats(to: &mut MetricSet, stats: &Stats) {
    to.counter("frisbee_connections_opened_total", "Connections opened since the start.", stats.opened());
    to.gauge("frisbee_connections", "Open connections.", stats.open());
    for (kind, count) in stats.closed() {
        let help = "Ended connections, by the kind of reason.";
        let labels = vec![("reason", kind.name().to_owned())];
        to.put(FigureKind::Counter, "frisbee_connections_closed_total", help, labels, count);
    }
    to.counter("frisbee_bytes_read_total", "Bytes received from peers.", stats.bytes_read());
    to.counter("frisbee_bytes_written_total", "Bytes written to peers.", stats.bytes_written());
    to.counter("frisbee_streams_opened_total", "Streams opened since the start.", stats.streams_opened());
    to.gauge("frisbee_streams", "Open streams.", stats.streams());
    let help = "Bytes queued for writing, in steps of 16 KiB per connection.";
    to.gauge("frisbee_output_waiting_bytes", help, stats.output_waiting() as u64);
    let help = "Bytes of long requests and replies of other protocols, and bytes held by handlers.";
    to.gauge("frisbee_holds_bytes", help, stats.charged_bytes() as u64);
    let help = "Requests, streams and messages rejected because of a limit.";
    to.counter("frisbee_shed_total", help, stats.rejected());
    to.counter("frisbee_accept_failures_total", "Failures to accept a connection.", stats.not_accepted());
    let help = "Bytes held for peers and charged to the memory limit: input, output queues and streams.";
    to.gauge("frisbee_memory_held_bytes", help, stats.memory_held() as u64);
    to.gauge("frisbee_memory_max_bytes", "Maximum number of bytes held for peers.", stats.memory_max() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_loads_are_summed_and_rows_bounded() {
        let load = |name: String| ServerLoad::new(name.clone(), Some(2), name == "s000");
        let names = || (0..100).map(|number| format!("s{number:03}"));
        let loads = added_up(names().chain(names()).map(load));
        assert_eq!(loads.len(), SERVERS_SHOWN + 1);
        let counts = |load: &ServerLoad| (load.server.clone(), load.connections, load.in_progress, load.suspicions);
        assert_eq!(counts(&loads[0]), ("s000".to_owned(), 2, 4, 2));
        assert_eq!(counts(&loads[SERVERS_SHOWN]), (OTHERS.to_owned(), 72, 144, 0));
    }
}
