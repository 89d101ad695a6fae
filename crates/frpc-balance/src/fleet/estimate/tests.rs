//! Tests of the estimate with given results of calls.

use super::*;

const HALF_LIFE: u64 = 1 << HALF_LIFE_BITS;

/// Returns the estimate of a server and a function that sets the time in milliseconds.
fn server() -> (Arc<ServerEstimate>, impl Fn(u64) -> u64) {
    let clock = FleetClock::new();
    let estimate = ServerEstimate::new(&clock);
    (estimate, move |millis| clock.advance(clock.made() + Duration::from_millis(millis)))
}

fn cost(estimate: &ServerEstimate, now: u64) -> u64 {
    estimate.assess(now, true, 1, FleetState::default());
    estimate.cost()
}

#[test]
fn latency_rises_immediately_and_falls_gradually() {
    let (estimate, at) = server();
    assert_eq!((cost(&estimate, at(1)), estimate.latency()), (PROBE, None));
    let end = |millis: u64, now: u64| estimate.end(Duration::from_millis(millis), MeasuredEnd::Answered, now);
    end(20, at(20));
    end(80, at(100));
    assert_eq!(cost(&estimate, at(100)), 1 << 26, "80 ms should be rounded to a power of two");
    end(20, at(200));
    let latency = || estimate.latency().expect("server latency should be known").as_millis();
    assert!((70..80).contains(&latency()), "{}", latency());
    end(20, at(90_000));
    assert!((20..27).contains(&latency()), "{}", latency());
}

#[test]
fn pending_call_cost_grows_with_age() {
    let (estimate, at) = server();
    let made = estimate.clock.made();
    estimate.begin(made);
    assert_eq!(cost(&estimate, at(2)), 1 << 30, "server should not be preferred while its first call is in flight");
    estimate.end(Duration::from_millis(8), MeasuredEnd::Answered, at(8));
    estimate.begin(made + Duration::from_millis(8));
    assert_eq!(cost(&estimate, at(500)), 1 << 29);
    estimate.end(Duration::from_millis(512), MeasuredEnd::Answered, at(520));
    assert_eq!(cost(&estimate, at(520 + 2 * HALF_LIFE / 1_000_000 + 1)), 1 << 27);
}

#[test]
fn refusing_server_is_probed_at_growing_intervals() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(8), MeasuredEnd::Answered, at(8));
    let (mut now, mut last) = (8, 0);
    for doubling in 0..12 {
        estimate.eject(REFUSAL);
        estimate.eject(REFUSAL);
        assert!(estimate.is_doubted() && cost(&estimate, at(now)) == EXCLUDED);
        let wait =
            (0..).find(|wait| cost(&estimate, at(now + wait)) == PROBE).expect("ejected server should be tried again");
        assert!(wait <= 40_001 && (doubling > 5 || wait > last), "ejection lasted {wait} ms, after {last} ms before");
        (now, last) = (now + wait, wait);
        estimate.begin_probe();
        assert_eq!(cost(&estimate, at(now)), EXCLUDED, "ejected server should get a single probe call");
    }
    (0..8).for_each(|_| estimate.eject(REFUSAL));
    estimate.recover();
    assert!(!estimate.is_doubted() && cost(&estimate, at(now)) < EXCLUDED);
    let open = |millis: u64| (0..1_000).filter(|_| cost(&estimate, at(millis)) < 1 << 24).count();
    let [soon, later] = [now, now + 120_000].map(open);
    assert!(soon < 300 && later > 950, "failures should count for a while: {soon}, then {later}");
}

/// Regression test: after few calls, the clock was late, so an ejection ended immediately.
#[tokio::test(start_paused = true)]
async fn ejection_begins_at_current_time() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(8), MeasuredEnd::Answered, at(8));
    tokio::time::advance(Duration::from_secs(10)).await;
    estimate.eject(REFUSAL);
    assert_eq!(cost(&estimate, at(10_000)), EXCLUDED);
}

#[test]
fn only_long_missed_deadline_ejects_server() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(30), MeasuredEnd::Answered, at(30));
    estimate.end(Duration::from_millis(90), MeasuredEnd::Late, at(120));
    assert!(!estimate.is_doubted(), "call with a short deadline should not eject the server");
    estimate.end(Duration::from_millis(300), MeasuredEnd::Abandoned, at(500));
    assert!(!estimate.is_doubted(), "call cancelled by its caller should not eject the server");
    estimate.end(Duration::from_millis(2_000), MeasuredEnd::Late, at(2_500));
    assert!(estimate.is_doubted() && cost(&estimate, at(2_500)) == EXCLUDED);
    estimate.assess(at(2_500), true, 1, FleetState { is_panic: true, ..FleetState::default() });
    assert!(estimate.cost() < EXCLUDED, "no server should count as ejected while too many are");
}

#[test]
fn new_server_gets_calls_in_growing_share() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(10), MeasuredEnd::Answered, at(10));
    estimate.connect();
    let fleet_state = FleetState { is_slow_start: true, ..FleetState::default() };
    let open = |millis: u64| {
        let now = at(millis);
        (0..1_000).filter(|_| (estimate.assess(now, true, 1, fleet_state), estimate.cost() == 1 << 23).1).count()
    };
    let parts = [10, 2_500, 5_100].map(open);
    assert!((50..200).contains(&parts[0]) && (400..700).contains(&parts[1]) && parts[2] == 1_000, "{parts:?}");
}

#[test]
fn times_are_rounded_to_power_of_two() {
    assert_eq!([1, 2, 90, 91, 128, 181, 182, 255].map(coarse), [1, 2, 64, 128, 128, 128, 256, 256]);
}

/// Returns the rank and cost of the cheapest of these servers by their load reports, with one call on each.
fn promised(estimates: &[&ServerEstimate]) -> Option<(u32, u64)> {
    let clock = &estimates[0].clock;
    let cost = |index: u32| estimates[index as usize].cost() * (1 + estimates[index as usize].others());
    clock.reports.best(clock.now(), cost)
}

#[test]
fn overly_optimistic_report_gains_little() {
    let (estimate, at) = server();
    let honest = ServerEstimate::new(&estimate.clock);
    for (index, estimate, millis) in [(0, &estimate, 80), (1, &honest, 40)] {
        estimate.set_rank(Some(index));
        estimate.end(Duration::from_millis(millis), MeasuredEnd::Answered, at(80));
        cost(estimate, at(80));
    }
    let best = || promised(&[&estimate, &honest]);
    estimate.report(Report { in_progress: 0, micros: 0 }, 0);
    honest.report(Report { in_progress: 0, micros: 9_000 }, 0);
    assert_eq!(best(), Some((1, 9_000_000)), "report of zero microseconds should not make a server look fastest");
    honest.report(Report { in_progress: 0, micros: 20_000 }, 0);
    assert_eq!(best(), Some((0, 10_000_000)));
    estimate.report(Report { in_progress: u32::MAX, micros: 0 }, 0);
    let whole = estimate.cost() * (1 + estimate.others());
    assert!((9_000_000..=10_000_000).contains(&whole), "reported latency above the peak should be limited: {whole}");
}

#[test]
fn reporting_server_cost_is_per_concurrent_call() {
    let (estimate, at) = server();
    estimate.set_rank(Some(0));
    estimate.end(Duration::from_millis(30), MeasuredEnd::Answered, at(30));
    let load = |now: u64, own: usize| {
        estimate.assess(now, true, own, FleetState::default());
        (estimate.cost(), estimate.others())
    };
    estimate.report(Report { in_progress: 5, micros: 60_000 }, 2);
    assert_eq!((estimate.cost(), estimate.others()), (10_000_000, 3), "report should apply immediately");
    assert_eq!(load(at(31), 3), (10_000_000, 3));
    estimate.begin(estimate.clock.made() + Duration::from_millis(31));
    assert_eq!(load(at(631), 3), (100_000_000, 3), "600 ms should be shared by at most six calls");
    estimate.end(Duration::from_millis(600), MeasuredEnd::Answered, at(631));
    let halved = 31 + HALF_LIFE / 1_000_000 + 1;
    assert_eq!(load(at(halved), 1), (10_000_000, 1), "reported load should decay by half");
    assert_eq!(load(at(30 + REPORTED_FOR / 1_000_000), 1), (10_000_000, 0));
    assert!(load(at(32 + REPORTED_FOR / 1_000_000), 1).0 < 10_000_000, "server should be judged by its calls again");
    estimate.report(Report { in_progress: 5, micros: 60_000 }, 9);
    assert_eq!(estimate.others(), 0, "calls in transit should not count as those of other clients");
    estimate.connect();
    assert!(load(at(99_000), 1).0 != 10_000_000, "report from before the reconnect should not be used");
}

#[test]
fn report_does_not_readmit_ejected_server() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(8), MeasuredEnd::Answered, at(8));
    estimate.eject(SILENCE);
    assert!(estimate.is_doubted() && cost(&estimate, at(8)) == EXCLUDED);
    estimate.report(Report { in_progress: 0, micros: 1_000 }, 0);
    assert_eq!((estimate.cost(), cost(&estimate, at(9))), (EXCLUDED, EXCLUDED));
    assert_eq!((cost(&estimate, at(1_000)), cost(&estimate, at(3_000))), (EXCLUDED, PROBE));
}

#[test]
fn smaller_weight_raises_cost() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(10), MeasuredEnd::Answered, at(10));
    estimate.set_share(0.25);
    assert_eq!(cost(&estimate, at(10)), 4 << 23);
    let heavy = ServerEstimate::new(&estimate.clock);
    for (index, estimate, micros) in [(0, &estimate, 10_000), (1, &heavy, 20_000)] {
        estimate.set_rank(Some(index));
        estimate.report(Report { in_progress: 0, micros }, 0);
    }
    assert_eq!(promised(&[&estimate, &heavy]), Some((1, 20_000_000)), "heavy server should be compared by its report");
}

#[test]
fn failure_penalty_rises_and_decays() {
    let (estimate, at) = server();
    let mut state = *estimate.state.lock();
    let now = at(1);
    for (failure_penalty, opening) in [(0.25, 0.5625), (0.4375, 0.316_406_25)] {
        state.eject(REFUSAL, now);
        assert_eq!((state.failure_penalty_at(now), state.opening(now)), (failure_penalty, opening));
    }
    let later = [1, 2, 3].map(|halves| state.failure_penalty_at(now + halves * HALF_LIFE));
    assert_eq!(later, [0.218_75, 0.109_375, 0.054_687_5]);
}

#[test]
fn failure_excludes_server_for_stated_time_once() {
    let (estimate, at) = server();
    let fresh = *estimate.state.lock();
    let mut pauses = Vec::new();
    let now = at(1);
    for _ in 0..500 {
        let mut state = fresh;
        state.eject(SILENCE, now);
        let pause = (state.ejected_until - now) as f64 / SILENCE.0 as f64;
        assert!((0.75..1.25).contains(&pause), "ejection lasts {pause} of the stated time");
        pauses.push(pause);
        let until = state.ejected_until;
        state.eject(SILENCE, until - 1);
        assert_eq!(
            (state.ejections, state.ejected_until),
            (1, until),
            "failure of a call that was already in flight should not extend the ejection"
        );
        state.eject(SILENCE, until);
        assert_eq!(state.ejections, 2);
    }
    assert!(
        pauses.iter().any(|pause| *pause < 0.9) && pauses.iter().any(|pause| *pause > 1.1),
        "pauses should be random"
    );
}

#[test]
fn server_warms_up_after_each_connection() {
    let (estimate, at) = server();
    assert!(!estimate.is_starting(at(1)), "server that was never connected should not count as starting");
    at(10);
    estimate.connect();
    assert_eq!(
        [10, 2_000, 5_009, 5_010, 9_000].map(|millis| estimate.is_starting(at(millis))),
        [true, true, true, false, false]
    );
    // Slow starts do not apply to servers that join at the same time.
    estimate.end(Duration::from_millis(10), MeasuredEnd::Answered, at(10));
    assert!((0..200).all(|_| cost(&estimate, at(10)) == 1 << 23), "only server should receive all calls");
}

#[test]
fn first_call_makes_server_expensive_until_measured() {
    let (estimate, at) = server();
    assert_eq!(cost(&estimate, at(1)), PROBE);
    estimate.begin_probe();
    assert_eq!(estimate.cost(), 1 << 30);
    estimate.end(Duration::from_millis(8), MeasuredEnd::Answered, at(9));
    assert_eq!(estimate.cost(), 1 << 23, "cost should be updated before the next refresh");
}

#[test]
fn closed_server_costs_more_despite_report() {
    let (estimate, at) = server();
    estimate.set_rank(Some(3));
    estimate.open.store(false, Ordering::Relaxed);
    estimate.report(Report { in_progress: 0, micros: 10_000 }, 0);
    assert_eq!((estimate.cost(), estimate.rank()), (CLOSED_TIMES * 10_000_000, 3));
    assert_eq!(cost(&estimate, at(1)), 10_000_000);
}

#[test]
fn failed_probe_ejects_server_again() {
    let (estimate, at) = server();
    estimate.end(Duration::from_millis(500), MeasuredEnd::Answered, at(500));
    estimate.eject(REFUSAL);
    let due = estimate.state.lock().ejected_until / 1_000_000 + 1;
    assert_eq!(cost(&estimate, at(due)), PROBE);
    estimate.begin_probe();
    estimate.end(Duration::from_millis(5), MeasuredEnd::Abandoned, at(due + 5));
    assert_eq!(
        (estimate.state.lock().ejections, estimate.cost()),
        (1, EXCLUDED),
        "call cancelled by its caller should not change the ejection"
    );
    estimate.end(Duration::from_millis(5), MeasuredEnd::Late, at(due + 5));
    assert_eq!(estimate.state.lock().ejections, 2);
    assert_eq!(cost(&estimate, at(due + 6)), EXCLUDED);
}

#[test]
fn fleet_changes_are_seen_before_next_call() {
    let (estimate, at) = server();
    at(1);
    let assert_observed = |what: &dyn Fn(), is_change: bool| {
        estimate.clock.take_due();
        estimate.clock.take_changed();
        assert!(!estimate.clock.is_due());
        what();
        assert_eq!((estimate.clock.is_due(), estimate.clock.take_changed()), (true, is_change));
    };
    assert_observed(&|| estimate.connect(), true);
    assert_observed(&|| estimate.event(ServerEvent::Retired), true);
    assert_observed(&|| estimate.event(ServerEvent::Alive), false);
    assert_observed(&|| estimate.eject(REFUSAL), false);
    assert_observed(&|| estimate.recover(), false);
}

#[test]
fn error_answer_ejects_server_until_next_answer() {
    let (estimate, _) = server();
    for code in [Code::Unavailable, Code::ResourceExhausted] {
        estimate.event(ServerEvent::Answered(Code::Internal));
        assert!(!estimate.is_doubted(), "failure should not eject the server, because the call caused it");
        estimate.event(ServerEvent::Answered(code));
        assert!(estimate.is_doubted(), "{code:?}");
        estimate.event(ServerEvent::Answered(Code::NotFound));
        assert!(!estimate.is_doubted(), "server should be trusted after a successful call");
    }
    estimate.event(ServerEvent::Overtaken);
    assert!(estimate.is_doubted());
}

#[test]
fn connection_change_is_assessed_immediately() {
    let clock = FleetClock::new();
    let estimate = ServerEstimate::new(&clock);
    let changes = |event| {
        clock.take_due();
        clock.take_changed();
        estimate.event(event);
        (clock.is_due(), clock.take_changed())
    };
    assert_eq!(changes(ServerEvent::Alive), (true, false));
    assert_eq!(changes(ServerEvent::Connected), (true, true));
    assert_eq!(changes(ServerEvent::Retired), (true, true));
}

#[test]
fn measured_call_sets_fleet_time() {
    let clock = FleetClock::new();
    let estimate = ServerEstimate::new(&clock);
    let at = |millis: u64| clock.made() + Duration::from_millis(millis);
    let cost = |millis: u64| {
        estimate.assess(clock.advance(at(millis)), true, 1, FleetState::default());
        estimate.cost()
    };
    estimate.event(ServerEvent::Timed(at(1)));
    estimate.event(ServerEvent::NotMeasured);
    assert_eq!(cost(2), PROBE, "server should get a measuring call");
    estimate.event(ServerEvent::Timed(at(2)));
    let took = Duration::from_millis(8);
    estimate.event(ServerEvent::Measured { took, end: MeasuredEnd::Answered, at: at(10) });
    assert_eq!((clock.now(), estimate.latency()), (10_000_000, Some(took)));
    assert_eq!(cost(10), 1 << 23, "cost should be the latency just measured");
}

#[test]
fn load_report_of_ranked_server_decides() {
    let clock = FleetClock::new();
    let estimate = ServerEstimate::new(&clock);
    estimate.set_rank(Some(0));
    assert!(!clock.has_reports());
    estimate.event(ServerEvent::Reported { report: Report { in_progress: 3, micros: 400 }, own: 2 });
    assert!(clock.has_reports());
    assert_eq!(
        (estimate.cost(), estimate.others()),
        (100_000, 1),
        "report should exclude the two calls without a reply"
    );
}
