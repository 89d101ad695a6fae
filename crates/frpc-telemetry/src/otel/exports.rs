//! Counts spans on their way to a collector. The queue and its thread are the SDK's; this module admits spans to the
//! queue and counts the lost ones.

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Maximum number of queued spans, including the batch that is being sent. Equal to the default of the SDK.
const WAITING_MAX: u64 = 2048;

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
    /// Number of ended spans that are queued for export or being sent.
    waiting: AtomicU64,
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
        let exporter = CountedExporter { counts: self.0.clone(), exporter };
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        BoundedProcessor { counts: self.0.clone(), batches }
    }

    /// Returns the number of spans that the exporter has sent.
    pub fn exported(&self) -> u64 {
        self.0.exported.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that the exporter failed to send. They are not retried.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that were dropped because the export queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Returns the number of spans that are queued for export or being sent, at most 2048.
    pub fn waiting(&self) -> u64 {
        self.0.waiting.load(Ordering::Relaxed)
    }
}

/// A span processor that admits spans only while the SDK's queue has space, because the SDK does not count the spans
/// that it drops.
#[derive(Debug)]
struct BoundedProcessor {
    counts: Arc<Counts>,
    batches: BatchSpanProcessor,
}

impl SpanProcessor for BoundedProcessor {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        let Counts { waiting, dropped, .. } = &*self.counts;
        // Ignore spans that are not sampled, like the processor of the SDK does.
        if !span.span_context.is_sampled() {
            return;
        }
        let enter = |waiting| (waiting < WAITING_MAX).then_some(waiting + 1);
        if waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_err() {
            dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// A span exporter that counts exported and failed spans.
#[derive(Debug)]
struct CountedExporter<E> {
    counts: Arc<Counts>,
    exporter: E,
}

/// Guard of a batch of spans that is being sent. Counts the batch as failed if the export is cancelled.
struct ExportGuard<'a> {
    counts: &'a Counts,
    spans: u64,
    is_sent: bool,
}

impl Drop for ExportGuard<'_> {
    fn drop(&mut self) {
        let Counts { waiting, exported, failed, .. } = self.counts;
        let count = if self.is_sent { exported } else { failed };
        count.fetch_add(self.spans, Ordering::Relaxed);
        waiting.fetch_sub(self.spans, Ordering::Relaxed);
    }
}

impl<E: SpanExporter> SpanExporter for CountedExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let mut sending = ExportGuard { counts: &self.counts, spans: batch.len() as u64, is_sent: false };
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
}
