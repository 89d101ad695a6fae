//! Tests of the metrics that calls record.

use frpc::codegen::{Layout, Method};
use frpc::observe::{BatchObserver as _, CallSide, ObservedMethod};
use frpc::{CallKind, Channel, Code, Server};
use frpc_telemetry::Counters;
use frpc_telemetry::metrics::MetricsExporter;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use samples::greet::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A recorder that stores values by name and labels: the last value of a counter or gauge, and the number of values of
/// a histogram. For `# HELP` and a name, it stores how often the metric was described.
#[derive(Clone, Default)]
struct RecordedFigures(Arc<Mutex<BTreeMap<String, f64>>>);

impl RecordedFigures {
    fn describe(&self, name: &KeyName) {
        *self.0.lock().unwrap().entry(format!("# HELP {}", name.as_str())).or_default() += 1.0;
    }
}

/// A metric of [`RecordedFigures`], with its key.
struct Value {
    key: String,
    recorded: RecordedFigures,
}

impl Value {
    fn new(key: &Key, recorded: &RecordedFigures) -> Arc<Self> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Self { key: format!("{}{{{}}}", key.name(), labels.join(",")), recorded: recorded.clone() })
    }

    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut recorded = self.recorded.0.lock().unwrap();
        let value = recorded.entry(self.key.clone()).or_default();
        *value = change(*value);
    }
}

impl CounterFn for Value {
    fn increment(&self, value: u64) {
        self.change(|before| before + value as f64);
    }

    fn absolute(&self, value: u64) {
        self.change(|_| value as f64);
    }
}

impl GaugeFn for Value {
    fn increment(&self, value: f64) {
        self.change(|before| before + value);
    }

    fn decrement(&self, value: f64) {
        self.change(|before| before - value);
    }

    fn set(&self, value: f64) {
        self.change(|_| value);
    }
}

impl HistogramFn for Value {
    fn record(&self, value: f64) {
        assert!(value > 0.0 && value < 60.0, "duration should be in seconds: {value}");
        self.change(|before| before + 1.0);
    }
}

impl Recorder for RecordedFigures {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Value::new(key, self))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(Value::new(key, self))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(Value::new(key, self))
    }
}

#[tokio::test]
async fn recorder_receives_each_call_once() {
    let counters = Counters::new();
    let builder = Server::builder().batch_observer(counters.clone()).add_service(GreeterServer::new(Polite));
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, mut figures) =
        (server.local_addr().to_string(), MetricsExporter::new(&counters).stats(&server.stats()));
    tokio::spawn(server.serve());
    let builder = Channel::builder().batch_observer(counters.clone()).calls::<GreeterClient>();
    let client =
        GreeterClient::new(builder.connect(address.as_str()).await.expect("server should accept the connection"));
    let recorded = RecordedFigures::default();
    for round in 1..=2 {
        for name in ["Ada", "Eve", ""] {
            let _ = client.greet(Name { name: name.to_owned() }).await;
        }
        with_local_recorder(&recorded, || {
            figures.record();
            figures.record();
        });
        let values = recorded.0.lock().unwrap().clone();
        for (code, calls) in [("ok", 2), ("invalid_argument", 1)] {
            let labels = format!("service=greet.Greeter,method=Greet,code={code}");
            let key = format!("frpc_client_call_duration_seconds{{{labels}}}");
            assert_eq!(values.get(&key), Some(&f64::from(calls * round)), "{values:#?}");
        }
        assert_eq!(values.get("frpc_client_connections_made_total{}"), Some(&1.0));
        assert_eq!(values.get("frisbee_connections{}"), Some(&1.0));
        assert_eq!(values.get(&format!("frpc_client_server_connections{{server={address}}}")), Some(&1.0));
    }
}

/// Regression test: metrics that were missing in the first record were never described.
#[test]
fn figures_that_appear_later_are_described_once() {
    static LAYOUT: Layout = Layout::new("test.Test", &[10], 1, b"", "");
    let about = ObservedMethod::new(CallSide::Client, Method::new(&LAYOUT, "One", 10), CallKind::Unary);
    let counters = Counters::new();
    let method = counters.register(&about);
    let (recorded, mut exporter) = (RecordedFigures::default(), MetricsExporter::new(&counters));
    assert!(format!("{exporter:?}").starts_with("MetricsExporter"));
    for _ in 0..3 {
        with_local_recorder(&recorded, || exporter.record());
        counters.retried(method, Code::Unavailable);
    }
    let recorded = recorded.0.lock().unwrap();
    let names = recorded.keys().filter_map(|key| key.split_once('{')).map(|(name, _)| name);
    for name in names {
        assert_eq!(recorded.get(&format!("# HELP {name}")), Some(&1.0), "{name}");
    }
    assert!(recorded.keys().any(|key| key.contains("retries")), "{recorded:#?}");
}

/// Regression test: after a recorded success had been reclassified, the next success was recorded twice.
#[test]
fn success_revoked_after_record_counts_once() {
    static LAYOUT: Layout = Layout::new("test.Test", &[10], 1, b"", "");
    let about = ObservedMethod::new(CallSide::Client, Method::new(&LAYOUT, "One", 10), CallKind::Unary);
    let counters = Counters::new();
    let method = counters.register(&about);
    let (recorded, mut exporter) = (RecordedFigures::default(), MetricsExporter::new(&counters));
    let mut record = || with_local_recorder(&recorded, || exporter.record());
    counters.ended(method, Code::Ok, 1, 1000);
    record();
    counters.reclassified(method, Code::Cancelled, 1000);
    record();
    counters.ended(method, Code::Ok, 1, 1000);
    record();
    let recorded = recorded.0.lock().unwrap();
    let count =
        |code| recorded.get(&format!("frpc_client_call_duration_seconds{{service=test.Test,method=One,code={code}}}"));
    assert_eq!((count("ok"), count("cancelled")), (Some(&1.0), Some(&1.0)), "{recorded:?}");
}

/// Regression test: the gauges of a server kept their last values after its channel had been dropped.
#[tokio::test]
async fn gauges_of_dropped_channel_become_zero() {
    let server = Server::builder().bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let counters = Counters::new();
    let builder = Channel::builder().batch_observer(counters.clone());
    let channel = builder.connect(address.as_str()).await.expect("server should accept the connection");
    let (recorded, mut exporter) = (RecordedFigures::default(), MetricsExporter::new(&counters));
    let mut connections = || {
        with_local_recorder(&recorded, || exporter.record());
        let key = format!("frpc_client_server_connections{{server={address}}}");
        recorded.0.lock().unwrap().get(&key).copied()
    };
    assert_eq!(connections(), Some(1.0));
    drop(channel);
    assert_eq!(connections(), Some(0.0));
}
