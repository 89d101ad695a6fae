//! Tests of attempts by a connector that fails, in virtual time.

use super::*;
use crate::calls::tests::wakers::Broken;
use crate::client::links::Links;
use crate::endpoint::offer::OfferBuilder;
use frisbee::Client;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Waker};
use tokio::io::DuplexStream;
use tokio::runtime::Handle;

/// A connector that always fails and counts the attempts.
#[derive(Default)]
struct FailingConnector {
    attempts: AtomicUsize,
    /// Duration of each connection attempt.
    takes: Duration,
    panics: bool,
    is_single: bool,
    /// Operating system error to fail with. If `None`, the connection is refused.
    errno: Option<i32>,
}

impl FailingConnector {
    fn attempts(&self) -> usize {
        self.attempts.load(Ordering::Relaxed)
    }

    async fn fail(self: Arc<Self>) -> io::Result<DuplexStream> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "connector panics on request of the test");
        tokio::time::sleep(self.takes).await;
        Err(self.errno.map_or(io::ErrorKind::ConnectionRefused.into(), io::Error::from_raw_os_error))
    }
}

const TIMEOUT: Duration = Duration::from_secs(1);

fn factory() -> LinkFactory {
    LinkFactory {
        #[cfg(feature = "grpc")]
        grpc: None,
        client: Client::builder().connect_timeout(TIMEOUT),
        reconnect_timeout: TIMEOUT,
        offer: Arc::<OfferBuilder>::default().done().expect("empty offer should be valid"),
        runtime: Handle::current(),
    }
}

fn dialler(failing: &Arc<FailingConnector>) -> Dialler {
    let connector = failing.clone();
    let mut dialler = Dialler::connector("nowhere", move || connector.clone().fail());
    dialler.is_single = failing.is_single;
    dialler
}

fn now() -> WaitPolicy {
    WaitPolicy { since: Instant::now(), until: None }
}

fn making(failing: &Arc<FailingConnector>) -> Arc<ConnectTask> {
    ConnectTask::new(factory(), dialler(failing), None, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_randomly_up_to_limit() {
    let mut failures = Failures::default();
    let pauses: Vec<_> = (0..40).map(|_| failures.fail(Instant::now(), false)).collect();
    assert!(pauses[0] <= PAUSE_FIRST);
    assert!(pauses.iter().all(|pause| *pause <= PAUSE_MAX));
    assert!(pauses[10..].iter().any(|pause| *pause > PAUSE_MAX / 4));
    assert!(pauses.windows(2).any(|pair| pair[0] > pair[1]), "pauses should vary");
}

#[tokio::test(start_paused = true)]
async fn other_protocol_redials_after_long_pause() {
    let now = Instant::now();
    let pauses: Vec<_> = (0..200).map(|_| Failures::default().fail(now, true)).collect();
    assert!(pauses.iter().all(|pause| (PAUSE_MAX / 2..=PAUSE_MAX).contains(pause)), "{pauses:?}");
    assert!(pauses.iter().any(|pause| *pause > PAUSE_MAX.mul_f64(0.9)));
    assert!(pauses.iter().any(|pause| *pause < PAUSE_MAX.mul_f64(0.6)));
}

/// Regression test: after the process had been out of file descriptors, calls still failed with the error of the last
/// attempt.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn pauses_do_not_grow_without_descriptors() {
    let failing = Arc::new(FailingConnector { errno: Some(24), ..FailingConnector::default() });
    let making = making(&failing);
    let waited = tokio::time::timeout(Duration::from_secs(30), making.make(Instant::now(), None)).await;
    assert!(waited.is_err(), "no attempt should succeed");
    let next = making.progress.lock().failures.next_attempt.expect("failed attempt should have scheduled the next one");
    assert!(next.saturating_duration_since(Instant::now()) <= PAUSE_FIRST);
}

#[tokio::test(start_paused = true)]
async fn attempts_continue_only_while_caller_waits() {
    let failing = Arc::default();
    let making = making(&failing);
    assert!(making.failure().is_none());
    for _ in 0..2 {
        let before = failing.attempts();
        let waited = tokio::time::timeout(Duration::from_secs(30), making.make(Instant::now(), None)).await;
        assert!(waited.is_err(), "call without a timeout should wait");
        assert!(failing.attempts() > before + 10);
        let after = failing.attempts();
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(failing.attempts() <= after + 1, "{} attempts were made without a caller", failing.attempts() - after);
    }
    assert!(making.failure().is_some());
    assert!(making.with_failure("no".to_owned()).starts_with("no; "));
    assert_eq!(making.dialler.name, "nowhere");
}

#[tokio::test(start_paused = true)]
async fn caller_fails_when_pause_exceeds_timeout() {
    let failing = Arc::default();
    let making = making(&failing);
    let started = Instant::now();
    let next = |making: &ConnectTask, pause: Duration| {
        let mut progress = making.progress.lock();
        progress.failures.next_attempt = Some(started + pause);
        progress.failure = Some("refused".to_owned());
    };
    next(&making, TIMEOUT);
    assert!(
        making.ensure_task(started, Some(TIMEOUT)).is_ok(),
        "call should wait, because the next attempt is within its timeout"
    );
    next(&making, TIMEOUT + Duration::from_nanos(1));
    let status = making.ensure_task(started, Some(TIMEOUT)).expect_err("task should not start");
    assert_eq!((status.message(), status.may_have_run()), ("not sent: refused", false));
    assert!(making.ensure_task(started, None).is_ok(), "call without a timeout should wait");
    making.stop();
}

#[tokio::test(start_paused = true)]
async fn dialler_panic_is_retried_and_exhaustion_final() {
    let failing = Arc::new(FailingConnector { panics: true, ..FailingConnector::default() });
    let status = making(&failing).connection(now()).await.err().expect("call should fail without a connection");
    assert!(status.message().contains("connecting panicked"), "{status}");
    assert!(failing.attempts() > 1, "connecting should be tried again");
    let links = Links::by(factory(), dialler(&failing), None);
    let error = links.dial().await.expect_err("connection should be refused");
    assert!(error.to_string().contains("nowhere"), "{error}");

    let failing = Arc::new(FailingConnector { is_single: true, ..FailingConnector::default() });
    let making = making(&failing);
    let status = making.make(Instant::now(), None).await.err().expect("single transport should not be replaced");
    assert!(status.message().contains("cannot reconnect"), "{status}");
    assert_eq!(failing.attempts(), 1);
}

/// Regression test: of two callers waiting for the same connection attempt, only the one that had polled last was
/// woken.
#[tokio::test(start_paused = true)]
async fn first_attempt_and_concurrent_call_both_end() {
    let failing = Arc::new(FailingConnector { takes: TIMEOUT / 10, ..FailingConnector::default() });
    let links = Links::by(factory(), dialler(&failing), None);
    let both = async { tokio::join!(links.dial(), links.connect(now())) };
    let (first, call) =
        tokio::time::timeout(10 * TIMEOUT, both).await.expect("attempt and call should end within the timeout");
    assert!(first.is_err() && call.is_err());
}

/// Regression test: the first attempt of a channel that was closed meanwhile stated that the runtime had ended.
#[tokio::test(start_paused = true)]
async fn first_attempt_states_close_of_channel() {
    let failing = Arc::new(FailingConnector { takes: TIMEOUT / 10, ..FailingConnector::default() });
    let links = Links::by(factory(), dialler(&failing), None);
    let (first, ()) = tokio::join!(links.dial(), async { links.close() });
    let error = first.expect_err("channel should be closed").to_string();
    assert!(error.contains("closed by its owner") && !error.contains(RUNTIME_ENDED), "{error}");
}

#[tokio::test(start_paused = true)]
async fn links_name_server_and_last_failure() {
    let failing = Arc::default();
    let links = Links::by(factory(), dialler(&failing), None);
    assert_eq!((links.name(), links.failure()), ("nowhere", None));
    assert!(links.connect(now()).await.is_err());
    assert!(links.failure().is_some());
    // This wait begins after the longest delay, so the next attempt starts in time.
    let late = WaitPolicy { since: Instant::now() + PAUSE_MAX, until: Some(Instant::now().into_std()) };
    let status = links.connect(late).await.err().expect("call should fail after its deadline");
    assert!(status.message().starts_with("not sent: no connection before the deadline; "), "{status}");
}

#[test]
fn callers_get_error_after_channel_runtime_ends() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let [channels, callers] = [(); 2].map(|()| runtime().expect("runtime should start"));
    let failing = Arc::default();
    let making = channels.block_on(async { making(&failing) });
    let started = callers.block_on(async { Instant::now() });
    let caller = callers.spawn({
        let making = making.clone();
        async move { making.make(started, None).await.err().map(|status| status.message().to_owned()) }
    });
    callers.block_on(tokio::task::yield_now());
    channels.block_on(tokio::task::yield_now());
    drop(channels);
    let error =
        callers.block_on(caller).expect("caller task should not panic").expect("call should fail without a connection");
    assert!(error.contains(RUNTIME_ENDED), "{error}");
}

/// Regression test: a panicking waker of a caller ended the connect task, so all later calls failed.
#[tokio::test(start_paused = true)]
async fn panicking_waker_leaves_connect_task_running() {
    let failing = Arc::new(FailingConnector { takes: TIMEOUT / 10, ..FailingConnector::default() });
    let making = making(&failing);
    let waker = Waker::from(Arc::new(Broken));
    let mut broken = [Box::pin(making.make(Instant::now(), None)), Box::pin(making.make(Instant::now(), None))];
    broken.iter_mut().for_each(|call| assert!(call.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()));
    let status = making.connection(now()).await.err().expect("call should fail without a connection");
    assert!(!status.message().contains(RUNTIME_ENDED), "{status}");
    assert!(failing.attempts() > 1, "connecting should be tried again");
}
