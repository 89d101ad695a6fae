//! Conversion of received bodies and prefixes to requests, responses and statuses.

use crate::api::extras::OptionalExtras;
use crate::observe::TraceContext;
use crate::wire::prefix::{Failure, Prefix};
use crate::{Code, Request, Response, Status};

/// Metadata key of the trace context in calls over other protocols.
const TRACEPARENT: &str = "traceparent";

impl<T> Request<T> {
    /// Returns the trace context that a caller over another protocol sent as metadata.
    pub(crate) fn traceparent(&self) -> Option<TraceContext> {
        TraceContext::from_traceparent(self.metadata().get(TRACEPARENT)?)
    }
}

impl<T> Response<T> {
    pub(crate) fn received(message: T, prefix: Option<Prefix>) -> Self {
        Self::from_parts_with_extras(message, prefix.map_or_else(OptionalExtras::default, |prefix| prefix.extras))
    }
}

impl Status {
    /// Creates a status from a received error text and prefix.
    pub(crate) fn received(text: String, prefix: Option<Prefix>) -> Self {
        let Some(prefix) = prefix else { return Self::unknown(text) };
        // A failure with the code `Ok` is still a failure.
        let failure = prefix.failure.filter(|failure| failure.code != Code::Ok);
        let mut status = Self::new(failure.as_ref().map_or(Code::Unknown, |failure| failure.code), text);
        if let Some(Failure { is_refusal, details, .. }) = failure {
            status = status.with_details(details);
            if is_refusal {
                status = status.not_run();
            }
        }
        if let Some(metadata) = prefix.extras.into_metadata() {
            status = status.with_metadata(metadata);
        }
        status
    }
}
