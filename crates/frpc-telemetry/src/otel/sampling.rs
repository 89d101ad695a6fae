//! The sampling decision. It precedes any allocation for a call, so a call that is not sampled costs a few dozen
//! instructions.

use frpc::observe::TraceContext;

/// Which traces are recorded: a sampling ratio, and whether to honour the decisions of peers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// Sampling threshold. A trace that starts in this process is recorded if a random number is below it.
    below: u64,
    /// Whether to honour the sampling flag of received calls.
    pub(crate) trusts: bool,
}

impl Default for Sampling {
    /// Returns settings that record every trace.
    fn default() -> Self {
        Self { below: u64::MAX, trusts: false }
    }
}

impl Sampling {
    pub(crate) fn set_ratio(&mut self, ratio: f64) {
        // The conversion saturates and maps NaN to zero.
        self.below = (ratio * 2_f64.powi(64)) as u64;
    }

    /// Returns whether to record a call with the parent context `parent`. The decision is made once per trace and
    /// process. An untrusted peer cannot influence it, not even by choosing the trace id.
    pub(crate) fn is_chosen(&self, parent: Option<&TraceContext>) -> bool {
        match parent {
            Some(parent) if self.trusts || !parent.is_remote() => parent.is_sampled(),
            _ => self.below == u64::MAX || self.below > 0 && fastrand::u64(..) < self.below,
        }
    }
}

/// Returns the trace context to propagate for a call that is not recorded. It is `parent`, or a new trace without a
/// parent, and is marked as not sampled. Servers that are called next then know that the trace is not recorded.
pub(crate) fn unrecorded(parent: Option<&TraceContext>) -> Option<TraceContext> {
    let (trace, span) = match parent {
        Some(parent) => (parent.trace_id(), parent.span_id()),
        // The id of an unrecorded span need not be unique, but must not be zero, which is invalid.
        None => {
            let random = fastrand::u128(..) | 1 << 64 | 1;
            (random.to_ne_bytes(), ((random >> 64) as u64).to_ne_bytes())
        }
    };
    TraceContext::new(trace, span, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(ratio: f64) -> Sampling {
        let mut sampling = Sampling::default();
        sampling.set_ratio(ratio);
        sampling
    }

    fn remote(flags: &str) -> TraceContext {
        let text = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
        TraceContext::from_traceparent(&text).expect("traceparent header should be valid")
    }

    #[test]
    fn new_traces_are_sampled_by_ratio() {
        let chosen = |ratio| (0..10_000).filter(|_| sampling(ratio).is_chosen(None)).count();
        assert_eq!([chosen(0.0), chosen(1.0), chosen(-1.0), chosen(f64::NAN), chosen(2.0)], [0, 10_000, 0, 0, 10_000]);
        assert!((700..1300).contains(&chosen(0.1)), "{}", chosen(0.1));
    }

    #[test]
    fn untrusted_peer_does_not_decide_sampling() {
        let (sampled, not_sampled) = (remote("01"), remote("00"));
        assert!(!sampling(0.0).is_chosen(Some(&sampled)));
        assert!(sampling(1.0).is_chosen(Some(&not_sampled)));
        for ratio in [0.0, 1.0] {
            let trusting = Sampling { trusts: true, ..sampling(ratio) };
            assert!(trusting.is_chosen(Some(&sampled)) && !trusting.is_chosen(Some(&not_sampled)));
        }
    }

    #[test]
    fn existing_trace_keeps_sampling_decision() {
        for is_sampled in [true, false] {
            let own = TraceContext::new([1; 16], [2; 8], is_sampled);
            assert_eq!([0.0, 1.0].map(|ratio| sampling(ratio).is_chosen(own.as_ref())), [is_sampled; 2]);
        }
    }

    #[test]
    fn unrecorded_call_stays_in_trace() {
        let went_on = unrecorded(Some(&remote("01"))).expect("context of a remote parent should be propagated");
        assert_eq!(went_on.to_string(), remote("00").to_string());
        assert!(!went_on.is_remote(), "sampling decision should be that of this process");
        assert_ne!(unrecorded(None).map(|new| new.trace_id()), unrecorded(None).map(|new| new.trace_id()));
    }
}
