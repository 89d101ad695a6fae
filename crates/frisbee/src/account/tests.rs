use super::*;
use crate::{Stats, sync::AtomicBool};
use bytes::Bytes;
use proptest::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

const MIB: usize = 1 << 20;

fn budget(total: usize) -> Arc<Budget> {
    Arc::new(Budget::new(total, 0))
}

fn of(budget: &Arc<Budget>, last: u8) -> Arc<Account> {
    Arc::new(Account::of_peer(budget.enter(CallerKey::of_address(IpAddr::from([10, 0, 0, last])))))
}

/// Charges pieces of `piece` bytes to the account until it rejects one. Returns the number of pieces.
fn fill(account: &Account, piece: usize) -> usize {
    std::iter::repeat_with(|| account.take(piece)).take_while(|taken| *taken).count() * piece
}

/// A waker that records whether it was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn charged_and_held_memory_is_released() {
    let budget = budget(100_000);
    let account = Arc::new(Account::alone(budget.clone()));
    assert!(account.take(60_000));
    assert!(!account.take(60_000));
    assert!(!account.is_over());
    let hold = MemoryCharge::new(&account, 50_000);
    assert!(account.is_over());
    assert!(!account.take(1));
    drop(hold);
    account.release(60_000);
    assert_eq!(Stats(budget).memory_held(), 0);
}

/// Regression test: the counters overflowed, which panics in debug builds.
#[test]
fn excessive_charge_overflows_no_counter() {
    let account = of(&budget(100_000), 1);
    let mut charge = MemoryCharge::new(&account, 1000);
    let excessive = MemoryCharge::new(&account, usize::MAX);
    assert!(excessive.bytes() > isize::MAX.unsigned_abs() / 2 && account.is_over());
    drop(excessive);
    charge.resize(usize::MAX);
    charge.resize(10);
    account.release(account.charge_request(usize::MAX));
    assert_eq!((account.charged(), account.budget().charged()), (10, 10));
}

#[test]
fn resized_charge_is_given_back_in_full() {
    let budget = budget(100_000);
    let account = Arc::new(Account::alone(budget.clone()));
    let stats = Stats(budget);
    let mut charge = MemoryCharge::try_new(&account, 1000).expect("charge should be within the memory budget");
    assert!(MemoryCharge::try_new(&account, 100_000).is_none());
    for bytes in [5000, 200, 0, 7000] {
        charge.resize(bytes);
        assert_eq!((charge.bytes(), account.charged(), stats.charged_bytes()), (bytes, bytes, bytes));
    }
    drop(charge);
    assert_eq!((account.charged(), stats.charged_bytes(), stats.memory_held()), (0, 0, 0));
}

#[test]
fn connection_retains_eighth_of_bytes_for_reuse() {
    let budget = budget(64 * MIB);
    let account = of(&budget, 1);
    assert!((0..100).all(|_| account.take(1000)));
    let held = budget.charged();
    assert!((100_000..113_000).contains(&held), "{held}");
    (0..10).for_each(|_| account.release(1000));
    let held = budget.charged();
    assert!((90_000..=101_250).contains(&held) && account.charged() == 90_000, "{held}");
    account.release(90_000);
    assert_eq!(budget.charged(), 0, "idle connection should be charged nothing");
    let other = of(&budget, 2);
    other.charge(40 * MIB);
    assert!((0..100).all(|_| account.take(1000)));
    assert_eq!(budget.charged(), 40 * MIB + 100_000, "no memory should be kept while memory is short");
    account.release(100_000);
    other.release(40 * MIB);
    assert_eq!(budget.charged(), 0);
}

#[test]
fn only_server_connection_traffic_is_counted() {
    let budget = budget(1000);
    let account = of(&budget, 1);
    account.count(Traffic::Read, 3);
    Account::alone(budget.clone()).count(Traffic::Read, 5);
    account.traffic().expect("server account should have traffic counters").add(Traffic::Written, 9);
    let stats = Stats(budget.clone());
    assert_eq!((stats.bytes_read(), stats.bytes_written()), (3, 9));
    assert!(Account::alone(budget).traffic().is_none());
}

#[test]
fn caller_is_forgotten_with_last_connection() {
    let budget = budget(64 * MIB);
    let address = |text: &str| CallerKey::of_address(text.parse().expect("test address should be valid"));
    let peers = ["2001:db8::1", "2001:db8::ffff:1", "::ffff:10.0.0.1", "10.0.0.1"].map(address);
    let keys = peers.into_iter().chain([CallerKey::Unknown, CallerKey::User(1), CallerKey::User(1)]);
    let mut admissions: Vec<_> = keys.map(|key| budget.enter(key)).collect();
    assert_eq!(budget.callers.len(), 4);
    admissions.pop();
    assert_eq!(budget.callers.len(), 4);
    admissions.clear();
    assert_eq!(budget.callers.len(), 0);
}

#[test]
fn lone_caller_takes_three_quarters_of_memory() {
    let budget = budget(64 * MIB);
    let [first, second] = [of(&budget, 1), of(&budget, 1)];
    assert_eq!(fill(&first, 4096), 48 * MIB);
    assert!(first.is_over() && !second.has_room(16 * 1024));
    // Other connections of this address still work while they hold little memory, and other addresses have separate
    // shares.
    assert!(!second.is_over() && second.has_room(8 * 1024));
    assert!(of(&budget, 2).has_room(900 * 1024));
}

#[test]
fn large_callers_get_sixteenth_of_free_memory() {
    let budget = budget(64 * MIB);
    let [idle, neighbour, stranger] = [1, 1, 2].map(|last| of(&budget, last));
    assert_eq!(idle.room(), 48 * MIB, "single caller should get three quarters");
    neighbour.charge(40 * MIB);
    assert_eq!(idle.room(), (3 * 24 - 40) * MIB / 4);
    stranger.charge(7 * MIB);
    assert_eq!(of(&budget, 3).room(), MIB);
    assert_eq!(idle.room(), 8 * 1024, "share should be reduced once another caller is large");
    stranger.charge(16 * MIB);
    assert_eq!(of(&budget, 3).room(), 0, "rest of the memory should be kept for replies");
}

#[test]
fn connections_of_caller_leave_room_for_others() {
    let budget = Arc::new(Budget::new(MIB, 0).with_connections(MIB, 4096));
    let budget = &budget;
    let connect = |last: u8| {
        let key = CallerKey::of_address(IpAddr::from([10, 0, 0, last]));
        std::iter::repeat_with(move || budget.admit(key)).map_while(|admission| admission)
    };
    let first: Vec<_> = connect(1).collect();
    let second: Vec<_> = connect(2).collect();
    assert_eq!((first.len(), second.len(), budget.charged()), (192, 3, 0));
    drop((first, second));
    assert_eq!(connect(3).collect::<Vec<_>>().len(), 192);
    let account = Account::of_peer(connect(4).next().expect("pool should have room for a connection"));
    let charge = account.charge_connection(192 * 4096 - 4096).expect("share should include the charge");
    assert!(account.charge_connection(1).is_none(), "charge should not exceed the share");
    assert_eq!(connect(4).count(), 0);
    drop(charge);
    assert_eq!(connect(4).collect::<Vec<_>>().len(), 191);
}

#[test]
fn peers_without_sockets_leave_memory_to_connections() {
    let budget = Arc::new(Budget::new(MIB, 0).with_connections(MIB, 4096));
    let peers: Vec<_> = (0..1000).map_while(|_| budget.admit_without_socket(CallerKey::Datagrams)).collect();
    assert_eq!(peers.len(), 192, "all datagrams together should have the share of one caller");
    assert!(budget.admit(CallerKey::User(1)).is_some());
}

#[test]
fn peers_without_sockets_take_no_descriptors() {
    let budget = Arc::new(Budget { descriptors: Pool::new(64), ..Budget::new(MIB, 0) });
    let datagrams: Vec<_> = (0..100).map(|_| budget.admit_without_socket(CallerKey::Datagrams)).collect();
    let connection = budget.admit(CallerKey::User(1)).expect("descriptors should be free");
    assert_eq!(budget.descriptors.free.load(Ordering::Relaxed), 63);
    drop((datagrams, connection));
    assert_eq!(budget.descriptors.free.load(Ordering::Relaxed), 64);
}

/// Checks that a new caller still finds free memory after several callers have taken as much as they could, one after
/// another.
#[test]
fn new_caller_finds_room_after_greedy_ones() {
    for (greedy, least, most) in [(1, 900, 1000), (8, 560, 660), (32, 120, 160)] {
        let budget = budget(64 * MIB);
        let hogs: Vec<_> = (0..greedy).map(|last| of(&budget, last)).collect();
        hogs.iter().for_each(|hog| _ = fill(hog, 1024));
        let room = of(&budget, 255).room() / 1024;
        assert!((least..most).contains(&room), "caller has {room} KiB after {greedy} greedy ones");
        // Many more connections of the greedy callers should hardly reduce the memory left for a new caller.
        let more: Vec<_> = (0..greedy).cycle().take(5000).map(|last| of(&budget, last)).collect();
        more.iter().for_each(|account| _ = fill(account, 1024));
        let room = of(&budget, 255).room() / 1024;
        assert!(room >= least.min(200), "caller has {room} KiB after {greedy} greedy ones with 5000 connections");
    }
}

/// Checks the fraction of the memory that the documentation of `ServerBuilder::memory_max` states.
#[test]
fn caller_beside_full_one_gets_part_of_memory() {
    for total in [4 * MIB, 9 * MIB, 256 * MIB] {
        let budget = budget(total);
        let full = of(&budget, 1);
        assert!(fill(&full, 4096) > total / 4 * 3 - 4096);
        let room = of(&budget, 2).room();
        assert!((total / 70..=total / 68 + 4096).contains(&room), "caller has {room} of {total} bytes");
        assert_eq!(room >= body_memory(50_000), total >= 9 * MIB);
    }
}

#[test]
fn site_networks_beyond_limit_share_one_caller() {
    let budget = budget(64 * MIB);
    let enter = |site: u16, network: u16| {
        let address = IpAddr::from([0x2001, 0xdb8, site, network, 0, 0, 0, 1]);
        Account::of_peer(budget.enter(CallerKey::of_address(address)))
    };
    let hogs: Vec<_> = (1..=1000).map(|network| enter(1, network)).collect();
    hogs.iter().for_each(|hog| _ = fill(hog, 1024));
    let room = enter(2, 0).room() / 1024;
    assert!((200..300).contains(&room), "other site has {room} KiB");
    assert_eq!(budget.callers.len(), 16);
    drop(hogs);
    assert_eq!(budget.callers.len(), 0);
}

#[test]
fn account_takes_at_most_available_room() {
    let budget = budget(64 * MIB);
    let hogs = [of(&budget, 1), of(&budget, 1), of(&budget, 2)];
    for account in &hogs {
        fill(account, 1000);
    }
    for account in [&hogs[0], &hogs[2], &of(&budget, 1), &of(&budget, 3)] {
        let room = account.room();
        assert!(!account.take(room + 1), "{room}");
        assert!(room == 0 || account.take(room), "{room}");
        account.release(room);
    }
}

#[test]
fn midsize_bodies_are_charged_by_buffer_size() {
    let kib = 1024;
    let lengths = [0, 16 * kib - 1, 16 * kib, 64 * kib - 1, 64 * kib, 128 * kib];
    let memory = [0, 16 * kib - 1, 128 * kib, 128 * kib, 64 * kib, 128 * kib];
    assert_eq!(lengths.map(body_memory), memory);
}

#[test]
fn shared_bytes_are_charged_until_last_drop() {
    let budget = MemoryBudget(budget(1000));
    let bytes = budget.share(Bytes::from_static(b"shared"));
    let other = bytes.clone();
    drop(bytes);
    assert_eq!((budget.charged(), budget.available(), &other[..]), (6, 994, &b"shared"[..]));
    drop(other);
    assert_eq!(budget.charged(), 0);
}

#[test]
fn budget_is_short_above_half_in_use() {
    let budget = MemoryBudget(budget(1000));
    let _half = budget.share(vec![0; 499].into());
    assert!(!budget.is_short());
    let _more = budget.share(vec![0; 600].into());
    assert!(budget.is_short());
    assert_eq!(budget.available(), 0);
}

#[test]
fn released_memory_wakes_one_waiter_per_caller() {
    let budget = budget(MIB);
    let [hog, first, second, other] = [1, 2, 2, 3].map(|last| of(&budget, last));
    hog.charge(MIB);
    let mut waiters: Vec<_> = [&first, &second, &other]
        .map(|account| (MemoryWaiter::new(account), Arc::<Woken>::default()))
        .into_iter()
        .collect();
    let poll = |waiter: &mut MemoryWaiter, woken: &Arc<Woken>| {
        woken.0.store(false, Ordering::Relaxed);
        let waker = Waker::from(woken.clone());
        waiter.poll_reserve(&mut Context::from_waker(&waker), 1024)
    };
    for (waiter, woken) in &mut waiters {
        assert!(poll(waiter, woken).is_pending());
    }
    let woken = |waiters: &[(MemoryWaiter, Arc<Woken>)]| -> Vec<bool> {
        waiters.iter().map(|(_, woken)| woken.0.load(Ordering::Relaxed)).collect()
    };
    hog.release(MIB / 4);
    assert_eq!(woken(&waiters), [true, false, true]);
    // A task wakes the next one when it takes its memory or is dropped.
    let (waiter, wake) = &mut waiters[0];
    let Poll::Ready(charge) = poll(waiter, wake) else { panic!("waiter should get memory once some is free") };
    assert_eq!(woken(&waiters), [false, true, true]);
    let (waiter, wake) = &mut waiters[1];
    assert!(poll(waiter, wake).is_ready());
    waiters.clear();
    assert!(budget.waiters.is_empty());
    drop(charge);
    hog.release(MIB / 4 * 3);
    assert_eq!(budget.charged(), 0);
}

/// Regression test: a release checked at most 16 waiting callers. If none of them had room, no waiting task of the
/// caller that had released the memory was woken.
#[test]
fn released_memory_wakes_own_caller_behind_others() {
    let budget = budget(64 * MIB);
    let mut accounts: Vec<_> = (0..20).map(|last| of(&budget, last)).collect();
    accounts.sort_by_key(|account| account.caller_number());
    let small = accounts.pop().expect("there should be a last account");
    accounts.iter().for_each(|account| account.charge(MIB));
    small.charge(MIB / 4);
    budget.charge(budget.available().unsigned_abs() - 4 * MIB);
    let mut waiters: Vec<_> = accounts.iter().map(MemoryWaiter::new).collect();
    for waiter in &mut waiters {
        assert!(waiter.poll_reserve(&mut Context::from_waker(Waker::noop()), 1).is_pending());
    }
    let woken: [Arc<Woken>; 2] = Default::default();
    let mut first = MemoryWaiter::new(&small);
    let mut second = MemoryWaiter::new(&small);
    for (waiter, woken) in [&mut first, &mut second].into_iter().zip(&woken) {
        assert!(waiter.poll_reserve(&mut Context::from_waker(&woken.clone().into()), 1).is_pending());
    }
    let is_woken = || woken.each_ref().map(|woken| woken.0.load(Ordering::Relaxed));
    small.release(MIB / 8);
    assert_eq!(is_woken(), [true, false]);
    let Poll::Ready(_held) = first.poll_reserve(&mut Context::from_waker(Waker::noop()), 1) else {
        panic!("caller should have room for another byte")
    };
    assert_eq!(is_woken(), [true, true], "task with memory should wake the next one of its caller");
}

#[derive(Clone, Debug)]
enum Step {
    Take(usize, usize),
    Charge(usize, usize),
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..8_usize, 1..64 * 1024_usize).prop_map(|(account, bytes)| Step::Take(account, bytes)),
        1 => (0..8_usize, 1..4096_usize).prop_map(|(account, bytes)| Step::Charge(account, bytes)),
        4 => any::<usize>().prop_map(Step::Release),
    ];
    proptest::collection::vec(step, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Invariants: the parts add up to the total, reservations never use the memory set aside for replies, and all
    /// memory is released in the end.
    #[test]
    fn reservations_obey_laws_of_account(steps in steps()) {
        let budget = budget(MIB);
        let accounts: Vec<_> = (0..8_u8).map(|number| of(&budget, number / 2)).collect();
        let (mut held, mut forced): (Vec<(usize, usize)>, usize) = (Vec::new(), 0);
        for step in steps {
            match step {
                Step::Take(at, bytes) => {
                    let has_room = accounts[at].has_room(bytes);
                    let is_taken = accounts[at].take(bytes);
                    prop_assert!(is_taken || !has_room);
                    if is_taken {
                        held.push((at, bytes));
                        prop_assert!(budget.available() >= (MIB / REPLIES_PART_OF_TESTS) as isize - forced as isize);
                    }
                }
                Step::Charge(at, bytes) => {
                    accounts[at].charge(bytes);
                    forced += bytes;
                    held.push((at, bytes));
                }
                Step::Release(which) if !held.is_empty() => {
                    let (at, bytes) = held.swap_remove(which % held.len());
                    accounts[at].release(bytes);
                }
                Step::Release(_) => {}
            }
            for (at, account) in accounts.iter().enumerate() {
                let used: usize = held.iter().filter(|(of, _)| *of == at).map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(account.charged(), used);
                prop_assert!(account.granted() <= used + used / 8);
            }
            let granted: usize = accounts.iter().map(|account| account.granted()).sum();
            prop_assert_eq!(budget.available(), MIB as isize - granted as isize);
        }
        for (at, bytes) in held {
            accounts[at].release(bytes);
        }
        prop_assert_eq!(budget.available(), MIB as isize);
        prop_assert_eq!(budget.large_callers(), 0);
    }
}

/// Expected divisor of the total memory that yields the amount reserved for replies.
const REPLIES_PART_OF_TESTS: usize = 64;
