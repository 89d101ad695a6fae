//! How well a server works, by calls of which the ends are stated.

use super::*;

const HALF_LIFE: u64 = 1 << HALF_LIFE_BITS;

/// A server, and the means to set the time in milliseconds.
fn server() -> (Arc<Pulse>, impl Fn(u64) -> u64) {
    let clock = FleetClock::new();
    let pulse = Pulse::new(&clock);
    (pulse, move |millis| clock.advance(clock.made() + Duration::from_millis(millis)))
}

fn cost(pulse: &Pulse, now: u64) -> u64 {
    pulse.assess(now, true, 1, Outlook::default());
    pulse.cost()
}

#[test]
fn a_longer_time_counts_at_once_and_a_shorter_one_by_and_by() {
    let (pulse, at) = server();
    assert_eq!((cost(&pulse, at(1)), pulse.latency()), (TRIAL, None));
    let end = |millis: u64, now: u64| pulse.end(Duration::from_millis(millis), TimedEnd::Answered, now);
    end(20, at(20));
    end(80, at(100));
    assert_eq!(cost(&pulse, at(100)), 1 << 26, "80 ms, to a power of two");
    end(20, at(200));
    let latency = || pulse.latency().expect("it is measured").as_millis();
    assert!((70..80).contains(&latency()), "{}", latency());
    end(20, at(90_000));
    assert!((20..27).contains(&latency()), "{}", latency());
}

#[test]
fn a_call_that_waits_counts_by_its_age_and_an_old_measure_less_and_less() {
    let (pulse, at) = server();
    let made = pulse.clock.made();
    pulse.begin(made);
    assert_eq!(cost(&pulse, at(2)), 1 << 30, "its first call is under way");
    pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(8));
    pulse.begin(made + Duration::from_millis(8));
    assert_eq!(cost(&pulse, at(500)), 1 << 29);
    pulse.end(Duration::from_millis(512), TimedEnd::Answered, at(520));
    assert_eq!(cost(&pulse, at(520 + 2 * HALF_LIFE / 1_000_000 + 1)), 1 << 27);
}

#[test]
fn a_server_that_refuses_gets_a_trial_at_growing_intervals_until_it_has_answered() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(8));
    let (mut now, mut last) = (8, 0);
    for doubling in 0..12 {
        pulse.refuse();
        pulse.refuse();
        assert!(pulse.is_doubted() && cost(&pulse, at(now)) == EXCLUDED);
        let wait = (0..).find(|wait| cost(&pulse, at(now + wait)) == TRIAL).expect("it is tried some time");
        assert!(wait <= 40_001 && (doubling > 5 || wait > last), "{wait} ms after {last} ms");
        (now, last) = (now + wait, wait);
        pulse.begin_trial();
        assert_eq!(cost(&pulse, at(now)), EXCLUDED, "one call is enough");
    }
    (0..8).for_each(|_| pulse.refuse());
    pulse.recover();
    assert!(!pulse.is_doubted() && cost(&pulse, at(now)) < EXCLUDED);
    let open = |millis: u64| (0..1_000).filter(|_| cost(&pulse, at(millis)) < 1 << 24).count();
    let [soon, later] = [now, now + 120_000].map(open);
    assert!(soon < 300 && later > 950, "its failures count for a while: {soon}, then {later}");
}

#[test]
fn a_deadline_that_passes_casts_doubt_only_if_it_was_long() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(30), TimedEnd::Answered, at(30));
    pulse.end(Duration::from_millis(90), TimedEnd::Late, at(120));
    assert!(!pulse.is_doubted(), "the deadline was short");
    pulse.end(Duration::from_millis(300), TimedEnd::GivenUp, at(500));
    assert!(!pulse.is_doubted(), "the caller had another reason");
    pulse.end(Duration::from_millis(2_000), TimedEnd::Late, at(2_500));
    assert!(pulse.is_doubted() && cost(&pulse, at(2_500)) == EXCLUDED);
    pulse.assess(at(2_500), true, 1, Outlook { is_panic: true, ..Outlook::default() });
    assert!(pulse.cost() < EXCLUDED, "too many are ejected, so nobody is");
}

#[test]
fn a_server_that_comes_to_others_has_calls_in_a_growing_part_of_the_time() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(10), TimedEnd::Answered, at(10));
    pulse.connect();
    let outlook = Outlook { is_slow_start: true, ..Outlook::default() };
    let open = |millis: u64| {
        let now = at(millis);
        (0..1_000).filter(|_| (pulse.assess(now, true, 1, outlook), pulse.cost() == 1 << 23).1).count()
    };
    let parts = [10, 2_500, 5_100].map(open);
    assert!((50..200).contains(&parts[0]) && (400..700).contains(&parts[1]) && parts[2] == 1_000, "{parts:?}");
}

#[test]
fn times_are_rounded_to_the_nearest_power_of_two() {
    assert_eq!([1, 2, 90, 91, 128, 181, 182, 255].map(coarse), [1, 2, 64, 128, 128, 128, 256, 256]);
}

/// The costs of servers in these places, with one call each.
fn promised(pulses: &[&Pulse]) -> Option<(u32, u64)> {
    pulses[0].clock.best_report(|place| pulses[place as usize].cost() * (1 + pulses[place as usize].others()))
}

#[test]
fn a_report_that_promises_too_much_gains_little() {
    let (pulse, at) = server();
    let honest = Pulse::new(&pulse.clock);
    for (place, pulse, millis) in [(0, &pulse, 80), (1, &honest, 40)] {
        pulse.set_place(Some(place));
        pulse.end(Duration::from_millis(millis), TimedEnd::Answered, at(80));
        cost(pulse, at(80));
    }
    let best = || promised(&[&pulse, &honest]);
    pulse.report(Report { in_progress: 0, micros: 0 }, 0);
    honest.report(Report { in_progress: 0, micros: 9_000 }, 0);
    assert_eq!(best(), Some((1, 9_000_000)), "the other one is taken for 10 ms");
    honest.report(Report { in_progress: 0, micros: 20_000 }, 0);
    assert_eq!(best(), Some((0, 10_000_000)));
    pulse.report(Report { in_progress: u32::MAX, micros: 0 }, 0);
    let whole = pulse.cost() * (1 + pulse.others());
    assert!((9_000_000..=10_000_000).contains(&whole), "nor by a number that is too high: {whole}");
}

#[test]
fn the_cost_of_a_server_that_reports_is_that_of_each_call_beside_those_of_others() {
    let (pulse, at) = server();
    pulse.set_place(Some(0));
    pulse.end(Duration::from_millis(30), TimedEnd::Answered, at(30));
    let known = |now: u64, own: usize| {
        pulse.assess(now, true, own, Outlook::default());
        (pulse.cost(), pulse.others())
    };
    pulse.report(Report { in_progress: 5, micros: 60_000 }, 2);
    assert_eq!((pulse.cost(), pulse.others()), (10_000_000, 3), "at once");
    assert_eq!(known(at(31), 3), (10_000_000, 3));
    pulse.begin(pulse.clock.made() + Duration::from_millis(31));
    assert_eq!(known(at(631), 3), (100_000_000, 3), "600 ms, of at most six calls");
    pulse.end(Duration::from_millis(600), TimedEnd::Answered, at(631));
    let halved = 31 + HALF_LIFE / 1_000_000 + 1;
    assert_eq!(known(at(halved), 1), (10_000_000, 1), "half of it");
    assert_eq!(known(at(30 + REPORTED_FOR / 1_000_000), 1), (10_000_000, 0));
    assert!(known(at(32 + REPORTED_FOR / 1_000_000), 1).0 < 10_000_000, "by its calls again");
    pulse.report(Report { in_progress: 5, micros: 60_000 }, 9);
    assert_eq!(pulse.others(), 0, "those that have not come yet, or whose answers are under way");
    pulse.connect();
    assert!(known(at(99_000), 1).0 != 10_000_000, "another process, maybe");
}

#[test]
fn a_report_of_an_ejected_server_does_not_end_that() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(8));
    pulse.outrun();
    assert!(pulse.is_doubted() && cost(&pulse, at(8)) == EXCLUDED);
    pulse.report(Report { in_progress: 0, micros: 1_000 }, 0);
    assert_eq!((pulse.cost(), cost(&pulse, at(9))), (EXCLUDED, EXCLUDED));
    assert_eq!((cost(&pulse, at(1_000)), cost(&pulse, at(3_000))), (EXCLUDED, TRIAL));
}

#[test]
fn a_smaller_weight_costs_more() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(10), TimedEnd::Answered, at(10));
    pulse.set_share(0.25);
    assert_eq!(cost(&pulse, at(10)), 4 << 23);
    let heavy = Pulse::new(&pulse.clock);
    for (place, pulse, micros) in [(0, &pulse, 10_000), (1, &heavy, 20_000)] {
        pulse.set_place(Some(place));
        pulse.report(Report { in_progress: 0, micros }, 0);
    }
    assert_eq!(promised(&[&pulse, &heavy]), Some((1, 20_000_000)), "by its report as well");
}

#[test]
fn each_failure_raises_the_aversion_by_a_part_of_the_rest_and_it_halves_by_and_by() {
    let (pulse, at) = server();
    let mut state = *pulse.state.lock();
    let now = at(1);
    for (aversion, opening) in [(0.25, 0.5625), (0.4375, 0.316_406_25)] {
        state.eject(REFUSAL, now);
        assert_eq!((state.aversion_at(now), state.opening(now)), (aversion, opening));
    }
    let later = [1, 2, 3].map(|halves| state.aversion_at(now + halves * HALF_LIFE));
    assert_eq!(later, [0.218_75, 0.109_375, 0.054_687_5]);
}

#[test]
fn a_failure_excludes_a_server_for_about_the_stated_time_and_one_that_was_under_way_no_longer() {
    let (pulse, at) = server();
    let fresh = *pulse.state.lock();
    let mut pauses = Vec::new();
    let now = at(1);
    for _ in 0..500 {
        let mut state = fresh;
        state.eject(SILENCE, now);
        let pause = (state.ejected_until - now) as f64 / SILENCE.0 as f64;
        assert!((0.75..1.25).contains(&pause), "{pause} of the stated time");
        pauses.push(pause);
        let until = state.ejected_until;
        state.eject(SILENCE, until - 1);
        assert_eq!((state.ejections, state.ejected_until), (1, until), "it was under way");
        state.eject(SILENCE, until);
        assert_eq!(state.ejections, 2);
    }
    assert!(pauses.iter().any(|pause| *pause < 0.9) && pauses.iter().any(|pause| *pause > 1.1), "they are drawn");
}

#[test]
fn a_server_is_coming_for_five_seconds_after_each_of_its_connections() {
    let (pulse, at) = server();
    assert!(!pulse.is_coming(at(1)), "it has never come");
    at(10);
    pulse.connect();
    assert_eq!(
        [10, 2_000, 5_009, 5_010, 9_000].map(|millis| pulse.is_coming(at(millis))),
        [true, true, true, false, false]
    );
    // Those that come all together are as good as each other.
    pulse.end(Duration::from_millis(10), TimedEnd::Answered, at(10));
    assert!((0..200).all(|_| cost(&pulse, at(10)) == 1 << 23), "it comes to nobody");
}

#[test]
fn the_first_call_to_a_server_makes_it_expensive_until_it_is_measured() {
    let (pulse, at) = server();
    assert_eq!(cost(&pulse, at(1)), TRIAL);
    pulse.begin_trial();
    assert_eq!(pulse.cost(), 1 << 30);
    pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(9));
    assert_eq!(pulse.cost(), 1 << 23, "the next call need not wait for the next refresh");
}

#[test]
fn a_server_that_is_not_open_costs_more_also_when_it_reports() {
    let (pulse, at) = server();
    pulse.set_place(Some(3));
    pulse.open.store(false, Ordering::Relaxed);
    pulse.report(Report { in_progress: 0, micros: 10_000 }, 0);
    assert_eq!((pulse.cost(), pulse.place()), (CLOSED_TIMES * 10_000_000, 3));
    assert_eq!(cost(&pulse, at(1)), 10_000_000);
}

#[test]
fn the_trial_of_an_ejected_server_excludes_it_again_if_its_deadline_passes_however_short() {
    let (pulse, at) = server();
    pulse.end(Duration::from_millis(500), TimedEnd::Answered, at(500));
    pulse.refuse();
    let due = pulse.state.lock().ejected_until / 1_000_000 + 1;
    assert_eq!(cost(&pulse, at(due)), TRIAL);
    pulse.begin_trial();
    pulse.end(Duration::from_millis(5), TimedEnd::GivenUp, at(due + 5));
    assert_eq!((pulse.state.lock().ejections, pulse.cost()), (1, EXCLUDED), "its caller had another reason");
    pulse.end(Duration::from_millis(5), TimedEnd::Late, at(due + 5));
    assert_eq!(pulse.state.lock().ejections, 2);
    assert_eq!(cost(&pulse, at(due + 6)), EXCLUDED);
}

#[test]
fn connections_that_come_and_go_and_servers_that_show_are_seen_before_the_next_call() {
    let (pulse, at) = server();
    at(1);
    let seen = |what: &dyn Fn(), is_change: bool| {
        pulse.clock.take_due();
        pulse.clock.take_changed();
        assert!(!pulse.clock.is_due());
        what();
        assert_eq!((pulse.clock.is_due(), pulse.clock.take_changed()), (true, is_change));
    };
    seen(&|| pulse.connect(), true);
    seen(&|| pulse.disconnect(), true);
    seen(&|| pulse.show(), false);
    seen(&|| pulse.refuse(), false);
    seen(&|| pulse.recover(), false);
}
