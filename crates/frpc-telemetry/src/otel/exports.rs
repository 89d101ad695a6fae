//! Counts spans on their way to a collector. The queue and its thread are the SDK's; this module admits spans to the
//! queue and counts the lost ones.

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Maximum number of queued spans, including the batch that is being sent. Equal to the default of the SDK.
const WAITING_MAX: u64 = 2048;

/// Flag in the number of queued spans after a shutdown has begun. It exceeds [`WAITING_MAX`], so further spans are
/// dropped.
const IS_SHUT_DOWN: u64 = 1 << 63;

/// Counters of exported spans, and of spans lost because the collector is down or slow.
///
/// [`processor`](Self::processor) wraps an exporter in the SDK's [`BatchSpanProcessor`] with a queue of 2048 spans.
/// Each ended span is in exactly one of the counts: exported, failed, dropped or waiting. Clones share their counters.
///
/// ```
/// use frpc_telemetry::otel::{Exports, Telemetry};
/// use opentelemetry::trace::TracerProvider as _;
/// use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
///
/// let exports = Exports::new();
/// let exporter = InMemorySpanExporter::default(); // Or that of opentelemetry-otlp.
/// let provider = SdkTracerProvider::builder().with_span_processor(exports.processor(exporter)).build();
/// let telemetry = Telemetry::new().spans(provider.tracer("greeter"));
/// # drop(telemetry);
/// provider.shutdown().expect("in-memory exporter should shut down");
/// assert_eq!((exports.exported(), exports.failed(), exports.dropped(), exports.waiting()), (0, 0, 0, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exports(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// For each processor, the number of ended spans that are queued for export or being sent.
    waiting: Mutex<Vec<Arc<AtomicU64>>>,
    exported: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl Exports {
    /// Creates span export counters that start at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a processor that exports spans in batches on a dedicated thread and updates these counters.
    pub fn processor(&self, exporter: impl SpanExporter + 'static) -> impl SpanProcessor + 'static {
        let config = BatchConfigBuilder::default().with_max_queue_size(WAITING_MAX as usize).build();
        let (counts, waiting) = (self.0.clone(), Arc::<AtomicU64>::default());
        counts.waiting.lock().push(waiting.clone());
        let exporter = CountedExporter { counts: counts.clone(), waiting: waiting.clone(), exporter };
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        BoundedProcessor { counts, waiting, batches }
    }

    /// Returns the number of spans that the exporter has sent.
    pub fn exported(&self) -> u64 {
        self.0.exported.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that the exporter failed to send. They are not retried.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that were dropped because the export queue was full or shut down.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that are queued for export or being sent, at most 2048 for each processor.
    pub fn waiting(&self) -> u64 {
        self.0.waiting.lock().iter().map(|waiting| waiting.load(Ordering::Relaxed) & !IS_SHUT_DOWN).sum()
    }
}

/// A span processor that admits spans only while the SDK's queue has space, because the SDK does not count the spans
/// that it drops.
#[derive(Debug)]
struct BoundedProcessor {
    counts: Arc<Counts>,
    /// Number of spans that were admitted to the queue and not exported yet, and [`IS_SHUT_DOWN`].
    waiting: Arc<AtomicU64>,
    batches: BatchSpanProcessor,
}

impl SpanProcessor for BoundedProcessor {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        let Self { counts, waiting, .. } = self;
        // Ignore spans that are not sampled, like the processor of the SDK does.
        if !span.span_context.is_sampled() {
            return;
        }
        let enter = |waiting| (waiting < WAITING_MAX).then_some(waiting + 1);
        if waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_err() {
            counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.waiting.fetch_or(IS_SHUT_DOWN, Ordering::Relaxed);
        self.batches.shutdown_with_timeout(timeout)?;
        // The thread of the queue has ended, so a span that was admitted during the shutdown is lost.
        let lost = self.waiting.swap(IS_SHUT_DOWN, Ordering::Relaxed) & !IS_SHUT_DOWN;
        self.counts.dropped.fetch_add(lost, Ordering::Relaxed);
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// A span exporter that counts exported and failed spans.
#[derive(Debug)]
struct CountedExporter<E> {
    counts: Arc<Counts>,
    waiting: Arc<AtomicU64>,
    exporter: E,
}

/// Guard of a batch of spans that is being sent. Counts the batch as failed if the export is cancelled.
struct ExportGuard<'a> {
    counts: &'a Counts,
    waiting: &'a AtomicU64,
    spans: u64,
    is_sent: bool,
}

impl Drop for ExportGuard<'_> {
    fn drop(&mut self) {
        let Counts { exported, failed, .. } = self.counts;
        let count = if self.is_sent { exported } else { failed };
        count.fetch_add(self.spans, Ordering::Relaxed);
        self.waiting.fetch_sub(self.spans, Ordering::Relaxed);
    }
}

impl<E: SpanExporter> SpanExporter for CountedExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let Self { counts, waiting, .. } = self;
        let mut sending = ExportGuard { counts, waiting, spans: batch.len() as u64, is_sent: false };
        let result = self.exporter.export(batch).await;
        sending.is_sent = result.is_ok();
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::{Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};

    /// A span exporter that fails every second batch.
    #[derive(Debug, Default)]
    struct Refused(AtomicU64);

    impl SpanExporter for Refused {
        async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
            let is_sent = self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            if is_sent { Ok(()) } else { Err(OTelSdkError::InternalFailure("no collector".to_owned())) }
        }
    }

    fn make(provider: &SdkTracerProvider, spans: u64) {
        let tracer = provider.tracer("test");
        (0..spans).for_each(|_| drop(tracer.start("span")));
    }

    #[test]
    fn each_span_is_exported_failed_or_dropped() {
        let exports = Exports::new();
        let provider = SdkTracerProvider::builder().with_span_processor(exports.processor(Refused::default())).build();
        make(&provider, 10);
        provider.force_flush().expect("exporter should accept the first batch");
        assert_eq!((exports.exported(), exports.failed(), exports.waiting()), (10, 0, 0));
        make(&provider, 5);
        let _ = provider.force_flush();
        assert_eq!((exports.exported(), exports.failed(), exports.waiting()), (10, 5, 0));
        make(&provider, 20_000);
        let _ = provider.shutdown();
        assert_eq!(exports.exported() + exports.failed() + exports.dropped(), 20_015);
        assert_eq!(exports.waiting(), 0);
    }

    #[test]
    fn counted_spans_still_reach_exporter() {
        let (exports, exporter) = (Exports::new(), InMemorySpanExporter::default());
        let provider = SdkTracerProvider::builder().with_span_processor(exports.processor(exporter.clone())).build();
        make(&provider, 3);
        provider.force_flush().expect("in-memory exporter should accept spans");
        assert_eq!(exporter.get_finished_spans().expect("exporter should not be shut down").len(), 3);
        assert_eq!(exports.exported(), 3);
    }

    /// Regression test: a span that ended during a shutdown was counted as waiting forever.
    #[test]
    fn spans_are_dropped_after_shutdown() {
        let (exports, exporter) = (Exports::new(), InMemorySpanExporter::default());
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        make(&provider, 1);
        let span = exporter.get_finished_spans().expect("exporter should not be shut down").remove(0);
        let [stopped, running] = [Refused::default(), Refused::default()].map(|exporter| exports.processor(exporter));
        stopped.on_end(span.clone());
        stopped.shutdown().expect("exporter should shut down");
        stopped.on_end(span.clone());
        assert_eq!((exports.exported(), exports.dropped(), exports.waiting()), (1, 1, 0));
        running.on_end(span);
        running.force_flush().expect("exporter should accept the span");
        assert_eq!((exports.exported(), exports.dropped(), exports.waiting()), (2, 1, 0));
    }
}
