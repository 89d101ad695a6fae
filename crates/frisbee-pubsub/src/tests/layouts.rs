//! Tests of the descriptions of message layouts that brokers keep.

use super::*;
use crate::MemoryBus;
use crate::layouts::{KEPT_MAX, WANTED_MAX};
use frisbee::rpc::ConnectionExt;
use polyglot::layout::{DESCRIPTION_MAX, Description, Field, Fingerprint, Shape, Type, TypeLayout};
#[cfg(unix)]
use std::time::Duration;

/// Returns the processor time that the current thread has used. Unlike elapsed time, it does not depend on other
/// threads and processes.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("CPU time should be non-negative")
}

/// Returns the description of a message with a field of this number, and a name of this length.
fn description(number: u32, length: usize) -> Vec<u8> {
    let field = Field { number, shape: Shape::Implicit, of: Type::Int32 };
    let types = vec![TypeLayout::Message(vec![field])];
    Description { name: "n".repeat(length), types, methods: Vec::new() }.encode()
}

fn request(description: &[u8]) -> Vec<u8> {
    [&[0][..], &Fingerprint::of(description).bytes()].concat()
}

/// Returns the descriptions that a member has received.
fn described(member: &mut Member) -> Vec<Bytes> {
    member.connection().clone().collect(&mut member.outbox);
    member.take_packets().into_iter().map(|packet| packet.body).collect()
}

#[test]
fn descriptions_are_bounded_and_charged() {
    let (_runtime, broker, [mut publisher, mut reader]) = peers(Broker::builder());
    let total = u32::try_from(KEPT_MAX.0).unwrap() + 100;
    for number in 1..=total {
        assert!(matches!(publisher.send(Kind::Layout, 0, description(number, 8)), Routed::Slow));
    }
    assert_eq!(broker.0.layouts.counts().0, KEPT_MAX.0);
    let held = publisher.connection().memory_held();
    assert!(held >= 256 * KEPT_MAX.0, "{held}");
    for (number, is_kept) in [(1, false), (100, false), (101, true), (total, true)] {
        let wanted = description(number, 8);
        let _ = reader.send(Kind::Layout, 0, request(&wanted));
        let expected = if is_kept { vec![Bytes::from(wanted)] } else { Vec::new() };
        assert_eq!(described(&mut reader), expected, "{number}");
    }
    for number in 1..=200 {
        let _ = publisher.send(Kind::Layout, 0, description(number, 60_000));
    }
    let (count, bytes, _) = broker.0.layouts.counts();
    assert!(count < 100 && bytes <= KEPT_MAX.1, "{count} {bytes}");
    // A reader receives a description as soon as a publisher announces it.
    let wanted = description(7777, 8);
    let _ = reader.send(Kind::Layout, 0, request(&wanted));
    assert!(described(&mut reader).is_empty());
    let _ = publisher.send(Kind::Layout, 0, wanted.clone());
    assert_eq!(described(&mut reader), [wanted]);
}

/// Regression test: each announcement to a full broker examined all descriptions several times, with the lock held.
#[cfg(unix)]
#[test]
fn eviction_does_not_search_descriptions() {
    let (_runtime, broker, [mut publisher, _]) = peers(Broker::builder());
    let mut number = 0;
    let mut announce = |count: usize| {
        let start = cpu_time();
        for _ in 0..count {
            number += 1;
            assert!(matches!(publisher.send(Kind::Layout, 0, description(number, 8)), Routed::Slow));
        }
        cpu_time() - start
    };
    let mut least = || (0..8).map(|_| announce(100)).min().expect("at least one round should run");
    let stored = least();
    assert_eq!(broker.0.layouts.counts().0, 800);
    let _ = least();
    assert_eq!(broker.0.layouts.counts().0, KEPT_MAX.0);
    let evicting = least();
    // The search took more than a hundred times as long as storing a description.
    assert!(evicting < stored * 8, "{stored:?} without eviction, {evicting:?} with");
}

#[test]
fn malformed_descriptions_are_not_kept() {
    let (_runtime, broker, [mut publisher, _]) = peers(Broker::builder());
    for malformed in [&b""[..], b"\x00", b"\x01", b"\x02abc", &description(1, DESCRIPTION_MAX), &[0; 18]] {
        assert!(matches!(publisher.send(Kind::Layout, 0, malformed.to_vec()), Routed::Discarded), "{malformed:x?}");
    }
    assert_eq!((broker.0.layouts.counts(), publisher.connection().memory_held()), ((0, 0, 0), 0));
}

#[test]
fn bus_brokers_fetch_layouts_on_request() {
    let (bus, runtime) = (MemoryBus::new(), runtime());
    let [a, b] = [(); 2].map(|()| Broker::builder().backplane(bus.member()).build());
    let [mut at_a, mut at_b] = [&a, &b].map(|broker| Member::new(broker, runtime.handle()));
    let kept = description(1, 8);
    let _ = at_a.send(Kind::Layout, 0, kept.clone());
    assert_eq!(b.0.layouts.counts().0, 0);
    // This broker joins after the announcement.
    let mut late = Member::new(&Broker::builder().backplane(bus.member()).build(), runtime.handle());
    for reader in [&mut at_b, &mut late] {
        let _ = reader.send(Kind::Layout, 0, request(&kept));
        assert_eq!(described(reader), std::slice::from_ref(&kept));
    }
    // Descriptions that no reader has requested are dropped.
    b.0.handle_layout_of_bus(&description(2, 8));
    assert_eq!(b.0.layouts.counts().0, 1);
}

/// Regression test: 64 connections of one address used all pending requests that a broker permits.
#[test]
fn greedy_addresses_leave_requests_to_others() {
    // Pause the clock, because requests would otherwise expire after two seconds.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let _entered = runtime.enter();
    let broker = Broker::builder().build();
    let mut number = 0_u128;
    // Keep the readers, because the requests of a connection that ends are removed.
    let mut readers = Vec::new();
    let mut ask = |address: u8, requests: usize| {
        let before = broker.0.layouts.counts().2;
        for connection in 0..requests.div_ceil(WANTED_MAX.1) {
            let reader = Member::new(&broker, runtime.handle());
            for _ in 0..WANTED_MAX.1.min(requests - connection * WANTED_MAX.1) {
                number += 1;
                broker.0.layouts.want(number.to_be_bytes(), reader.connection(), Some([10, 0, 0, address].into()));
            }
            readers.push(reader);
        }
        broker.0.layouts.counts().2 - before
    };
    assert_eq!(ask(0, 1024), 128);
    for address in 1..32 {
        assert!(ask(address, 1024) > 0, "{address}");
    }
    assert_eq!(ask(32, 1), 1);
}

#[test]
fn pending_requests_of_connection_are_bounded() {
    let (_runtime, broker, [mut publisher, mut reader]) = peers(Broker::builder());
    let wanted: Vec<_> = (1..=30).map(|number| description(number, 8)).collect();
    wanted.iter().for_each(|wanted| drop(reader.send(Kind::Layout, 0, request(wanted))));
    for wanted in &wanted {
        let _ = publisher.send(Kind::Layout, 0, wanted.clone());
    }
    assert_eq!(described(&mut reader), wanted[..WANTED_MAX.1]);
    let _ = reader.send(Kind::Layout, 0, request(&description(99, 8)));
    assert_eq!(broker.0.layouts.counts().2, 1);
    reader.vanish();
    assert_eq!(broker.0.layouts.counts().2, 0);
}
