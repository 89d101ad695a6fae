//! Tests of the layouts of peers.

use super::*;
use crate::api::extras::Extras;
use crate::calls::tests::wakers::Broken;
use crate::wire::envelope::Envelope;
use crate::wire::layouts::tests::FIRST;
use crate::wire::prefix::Prefix;
use bytes::Bytes;
use frisbee::testing::DetachedConnection;
use std::sync::mpsc;
use std::task::{Context, Waker};
use tokio::runtime::Handle;

/// Regression test: a call after the timeout for the peer's layout was held until the connection ended.
#[tokio::test(start_paused = true)]
async fn call_is_not_held_after_timeout() {
    let detached = DetachedConnection::new(Handle::current(), 1 << 20);
    let connection = detached.connection();
    let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
    let theirs =
        PeerLayout { service: "shop.Orders".to_owned(), fingerprint: Fingerprint::new([7; 16]), operations: vec![10] };
    layouts
        .add_called(vec![theirs], |_| Some(&FIRST), |_| true, |_| false, connection)
        .expect("announcement should be within the limits");
    assert!(matches!(layouts.find(10), Some(PeerMethod::Held)));
    tokio::time::sleep(HELD_TIME + Duration::from_secs(1)).await;
    let call = HeldCall::Unary(PacketId(1), Operation::FIRST_USER, Envelope::bare(Bytes::new()), None);
    layouts.hold(call, connection);
    assert!(!layouts.holds_calls());
}

/// Regression test: a panicking waker of a call that waited for a layout closed the connection.
#[tokio::test]
async fn panicking_waker_of_waiting_call_is_caught() {
    let detached = DetachedConnection::new(Handle::current(), 1 << 20);
    let layouts: Arc<PeerLayouts> = detached.connection().attachments().get_or_insert();
    let mut waiting = Box::pin(layouts.changed(|| false, detached.connection()));
    let waker = Waker::from(Arc::new(Broken));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    layouts.expire(detached.connection());
}

/// Returns an announcement of the service with these operations.
fn announced(fingerprint: Fingerprint, operations: Vec<u16>) -> PeerLayout {
    PeerLayout { service: FIRST.service.to_owned(), fingerprint, operations }
}

/// Regression test: each announcement sorted all operation numbers of the earlier ones.
#[cfg(unix)]
#[tokio::test]
async fn announcement_time_is_independent_of_earlier_ones() {
    use crate::clock::cpu_time;
    let time = |operations: std::ops::Range<u16>| {
        let detached = DetachedConnection::new(Handle::current(), 64 << 20);
        let connection = detached.connection();
        let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
        let announce = |operations: Vec<u16>| {
            // The fingerprint is that of the local layout, so the peer is not asked for a description.
            let theirs = announced(FIRST.fingerprint, operations);
            let added = layouts.add_called(vec![theirs], |_| Some(&FIRST), |_| true, |_| false, connection);
            added.expect("announcement should be within the limits");
        };
        announce(operations.collect());
        let run = |number: u16| {
            let start = cpu_time();
            announce(vec![60_000 + number]);
            cpu_time() - start
        };
        (0..100).map(run).min().expect("at least one round should run")
    };
    let (few, many) = (time(10..20), time(10..50_000));
    assert!(many < few * 10, "{few:?} after 10 operations, {many:?} after 50 000");
}

/// Regression test: the calls of the service were rejected until the peer reconnected for another reason.
#[tokio::test]
async fn layout_without_memory_closes_connection() {
    static OWN: Layout = Layout::new("shop.Offers", &[10], 1, b"\x01\x00\x00\x0bshop.Offers", "");
    let detached = DetachedConnection::new(Handle::current(), 1 << 20);
    let connection = detached.connection();
    let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
    let theirs = announced(Fingerprint::of(OWN.description), vec![10]);
    let added = layouts.add_called(vec![theirs], |_| Some(&OWN), |_| true, |_| false, connection);
    assert_eq!(added, Ok(vec![10]));
    let _all = connection.charge(1 << 20);
    layouts.handle_layout(OWN.description, connection).expect("description should have been requested");
    assert!(detached.closing().is_some_and(|reason| reason.to_string().contains(NO_MEMORY)));
}

/// Regression test: calls of further services were decoded with the local layout.
#[tokio::test]
async fn services_beyond_maximum_are_rejected() {
    let detached = DetachedConnection::new(Handle::current(), 64 << 20);
    let connection = detached.connection();
    let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
    let announce = |numbers: std::ops::Range<u16>| {
        let named = numbers.map(|number| announced(FIRST.fingerprint, vec![number])).collect();
        layouts.add_called(named, |_| Some(&FIRST), |_| true, |_| false, connection)
    };
    assert_eq!(announce(100..1124).map(|fresh| fresh.len()), Ok(SERVICES_MAX));
    assert_eq!(announce(100..1124), Ok(Vec::new()), "known services should be accepted");
    assert_eq!(announce(1124..1125), Err(TOO_MANY));
}

/// Regression test: the plans were created again for each announcement with other operations, up to 1024 times.
#[tokio::test]
async fn plans_of_service_are_created_once() {
    static OWN: Layout = Layout::new("shop.Orders", &[10], 1, b"\x01\x00\x00\x0bshop.Orders", "");
    let detached = DetachedConnection::new(Handle::current(), 1 << 20);
    let connection = detached.connection();
    let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
    let fingerprint = Fingerprint::of(OWN.description);
    let called = [10, 20].map(|operation| announced(fingerprint, vec![operation]));
    let added = layouts.add_called(called.into(), |_| Some(&OWN), |_| true, |_| false, connection);
    assert_eq!(added, Ok(vec![10, 20]));
    layouts.handle_layout(OWN.description, connection).expect("description should have been requested");
    let state = layouts.state.lock();
    let plans = state.services.iter().map(|service| match &service.layout {
        LayoutState::Known(_, plans) => Arc::as_ptr(plans),
        other => panic!("description should be usable, but the layout is {other:?}"),
    });
    let plans: Vec<_> = plans.collect();
    assert!(matches!(plans[..], [one, other] if one == other), "{plans:?}");
}

/// A value of a call whose destructor uses the layouts of its connection.
#[derive(Clone)]
struct LayoutUser(#[allow(dead_code, reason = "its drop is observed")] Arc<UserState>);

struct UserState {
    layouts: Arc<PeerLayouts>,
    was_locked: mpsc::Sender<bool>,
}

impl Drop for UserState {
    fn drop(&mut self) {
        // Ignore the error, because the test may have ended.
        let _ = self.was_locked.send(self.layouts.state.is_locked());
    }
}

/// Regression test: a cancelled call was dropped under the lock of the layouts, which the destructors of its values may
/// need.
#[tokio::test]
async fn cancelled_call_is_dropped_without_lock() {
    let detached = DetachedConnection::new(Handle::current(), 1 << 20);
    let connection = detached.connection();
    let layouts: Arc<PeerLayouts> = connection.attachments().get_or_insert();
    let added = layouts.add_called(
        vec![announced(Fingerprint::new([7; 16]), vec![10])],
        |_| Some(&FIRST),
        |_| true,
        |_| false,
        connection,
    );
    added.expect("announcement should be within the limits");
    let (was_locked, drops) = mpsc::channel();
    let mut options = Box::<Prefix>::default();
    let user = LayoutUser(Arc::new(UserState { layouts: layouts.clone(), was_locked }));
    Extras::extensions_mut(&mut options.extras).insert(user);
    let envelope = Envelope { options: Some(options), ..Envelope::bare(Bytes::new()) };
    layouts.hold(HeldCall::Unary(PacketId(1), Operation::FIRST_USER, envelope, None), connection);
    assert!(layouts.cancel(PacketId(1), Operation::FIRST_USER), "call should be held");
    assert_eq!(drops.try_recv(), Ok(false));
}
