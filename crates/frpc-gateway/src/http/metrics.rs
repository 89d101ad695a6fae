//! The `/metrics` page for Prometheus.

use super::answer::Answer;
use crate::Http;
use frpc::{AdapterContext, Stats};
use frpc_telemetry::{Counters, Snapshot};

/// Sources of the metrics at `/metrics`: counters and server statistics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    counters: Option<Counters>,
    /// Statistics of further servers by name. If empty, the server that serves the request is reported.
    servers: Vec<(String, Stats)>,
}

impl Metrics {
    /// Returns the response to a request for `/metrics` if metrics are enabled.
    pub(crate) fn answer(&self, context: &AdapterContext, method: &str) -> Option<Answer> {
        let counters = self.counters.as_ref()?;
        if !matches!(method, "GET" | "HEAD") {
            return Some(Answer::wrong_method("GET, HEAD", "metrics are read by GET"));
        }
        let snapshot = counters.snapshot();
        let text = match &self.servers[..] {
            [] => snapshot.prometheus(Some(&context.stats())),
            servers => snapshot.prometheus_of(servers),
        };
        Some(Answer::new(200, Snapshot::PROMETHEUS_TYPE, text))
    }
}

impl Http {
    /// Serves `/metrics` in the Prometheus text format: the values of `counters`, the figures of channels and topics
    /// known to them (`Counters::show_topics`), and the figures of the server's connections. To count the calls of this
    /// server, pass the counters to the server too:
    ///
    /// ```
    /// use frpc_gateway::{Gateway, Http, ServeGateway};
    /// use frpc_telemetry::Counters;
    ///
    /// let counters = Counters::new();
    /// let gateway = Gateway::new().http(Http::new().metrics(&counters));
    /// let server = frpc::Server::builder().batch_observer(counters).gateway(gateway);
    /// ```
    ///
    /// All callers of the server can read the page. If Prometheus calls the server by a name, add that
    /// [name](Self::host).
    pub fn metrics(mut self, counters: &Counters) -> Self {
        self.metrics.counters = Some(counters.clone());
        self
    }

    /// Reports the connections of this server on the [`metrics`](Self::metrics) page, with the label `server`, instead
    /// of the connections of the server that serves the page. For a page on a separate port. May be called for several
    /// servers.
    ///
    /// ```
    /// use frpc_gateway::{Gateway, Http, ServeGateway};
    /// use frpc_telemetry::Counters;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Error> {
    /// let counters = Counters::new();
    /// let server = frpc::Server::builder().batch_observer(counters.clone()).bind("127.0.0.1:0").await?;
    /// let page = Http::new().metrics(&counters).metrics_of("main", server.stats());
    /// let operators = frpc::Server::builder().gateway(Gateway::new().http(page));
    /// # Ok(())
    /// # }
    /// ```
    pub fn metrics_of(mut self, name: impl Into<String>, stats: Stats) -> Self {
        self.metrics.servers.push((name.into(), stats));
        self
    }
}
