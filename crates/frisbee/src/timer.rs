//! A timer for durations below a millisecond, for handlers and other tokio tasks.
//!
//! The timer of tokio has a resolution of one millisecond and rounds up. [`sleep`] has a resolution of microseconds: on
//! Linux it uses one `timerfd` per runtime, which the runtime polls together with its sockets. Inside a handler this is
//! the runtime of the connection's [worker](crate::Workers), so the end of a sleep wakes no other thread. io_uring
//! workers have no runtime, so their handlers use the runtime of the serving task. The `timerfd` is created by the
//! first [`sleep`] on a runtime.

#[cfg(target_os = "linux")]
mod queue;

use crate::debug::opaque_debug;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use queue::{Registration, Wait};

/// Waits for a duration, with a precision of microseconds.
///
/// The sleep never ends early. On an idle thread, it ends about 10 us late. On a busy thread, tasks that are already
/// ready run first. On systems other than Linux, and if the process has run out of file descriptors, it is as precise
/// as [`tokio::time::sleep`]. It follows the system clock even while the clock of tokio is paused. For durations of
/// many milliseconds, prefer tokio's timer, which is cheaper.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let begun = Instant::now();
/// frisbee::timer::sleep(Duration::from_micros(50)).await;
/// assert!(begun.elapsed() >= Duration::from_micros(50));
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the future cancels the wait.
///
/// # Panics
///
/// The future panics outside of a tokio runtime, and in a runtime with I/O and time drivers disabled.
pub fn sleep(duration: Duration) -> Sleep {
    // Maximum duration of a sleep, which is also the limit of tokio's timer.
    const LONGEST: Duration = Duration::from_secs(86400 * 365 * 30);
    let now = Instant::now();
    let deadline = now.checked_add(duration).unwrap_or_else(|| now + LONGEST);
    Sleep { deadline, state: State::New }
}

/// Future returned by [`sleep`], which completes at its deadline.
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    deadline: Instant,
    state: State,
}

enum State {
    New,
    #[cfg(target_os = "linux")]
    Registered(Registration),
    Tokio(Pin<Box<tokio::time::Sleep>>),
}

impl Sleep {
    fn register(&self, now: Instant, context: &Context<'_>) -> State {
        #[cfg(target_os = "linux")]
        if let Ok(registration) = Registration::new(self.deadline, now, context.waker()) {
            return State::Registered(registration);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (now, context);
        State::Tokio(Box::pin(tokio::time::sleep_until(self.deadline.into())))
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if now >= self.deadline {
            // Drop the registration, because the timer's task may not have run yet, and would wake this task again.
            self.state = State::New;
            return Poll::Ready(());
        }
        #[cfg(target_os = "linux")]
        if let State::Registered(registration) = &self.state {
            match registration.renew(context.waker()) {
                Wait::Pending => return Poll::Pending,
                Wait::Expired => return Poll::Ready(()),
                // The runtime of the timer has shut down. Register again, because this task now runs in another
                // runtime.
                Wait::Stopped => {}
            }
        }
        if !matches!(self.state, State::Tokio(_)) {
            self.state = self.register(now, context);
        }
        match &mut self.state {
            State::Tokio(sleep) => sleep.as_mut().poll(context),
            _ => Poll::Pending,
        }
    }
}

opaque_debug!([] Sleep, "Sleep", |this| deadline = this.deadline);

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    #[cfg(target_os = "linux")]
    use std::{sync::Arc, task::Wake};
    use tokio::runtime::{Builder, Runtime};

    const SHORT: Duration = Duration::from_micros(50);

    fn runtimes() -> [Runtime; 2] {
        [Builder::new_current_thread(), Builder::new_multi_thread()]
            .map(|mut builder| builder.enable_all().build().unwrap())
    }

    #[test]
    fn short_sleep_is_exact() {
        for runtime in runtimes() {
            let shortest = runtime.block_on(async {
                let mut shortest = Duration::MAX;
                for _ in 0..200 {
                    let started = Instant::now();
                    sleep(SHORT).await;
                    let took = started.elapsed();
                    assert!(took >= SHORT, "{took:?} is too early");
                    shortest = shortest.min(took);
                }
                shortest
            });
            // With millisecond resolution, a sleep would take at least this long.
            assert!(cfg!(not(target_os = "linux")) || shortest < Duration::from_micros(900), "{shortest:?} is late");
        }
    }

    #[tokio::test]
    async fn sleeps_end_in_order_of_their_deadlines() {
        let (ended, mut order) = tokio::sync::mpsc::unbounded_channel();
        for millis in [30, 10, 20] {
            let ended = ended.clone();
            tokio::spawn(async move {
                sleep(Duration::from_millis(millis)).await;
                let _ = ended.send(millis);
            });
        }
        assert_eq!([order.recv().await, order.recv().await, order.recv().await], [Some(10), Some(20), Some(30)]);
    }

    #[test]
    fn sleep_completes_in_another_runtime() {
        let [first, second] = runtimes();
        let mut moved = Box::pin(sleep(Duration::from_millis(5)));
        let is_pending = first.block_on(poll_fn(|context| Poll::Ready(moved.as_mut().poll(context).is_pending())));
        assert!(is_pending);
        drop(first);
        second.block_on(moved);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn dropped_sleep_leaves_no_registration() {
        let mut long = Box::pin(sleep(Duration::MAX));
        assert!(long.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        assert_eq!(queue::pending_deadlines(), 1);
        drop(long);
        assert_eq!(queue::pending_deadlines(), 0);
    }

    #[cfg(target_os = "linux")]
    struct BrokenWaker;

    #[cfg(target_os = "linux")]
    impl Wake for BrokenWaker {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }

    /// Regression test: a panicking waker ended the timer task, and other sleeps never completed.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn panicking_waker_does_not_stop_timer() {
        let broken = Arc::new(BrokenWaker).into();
        let mut first = Box::pin(sleep(20 * SHORT));
        assert!(first.as_mut().poll(&mut Context::from_waker(&broken)).is_pending());
        let second = tokio::spawn(sleep(20 * SHORT));
        tokio::task::yield_now().await;
        std::thread::sleep(60 * SHORT);
        let woken = tokio::time::timeout(Duration::from_secs(20), second).await;
        woken
            .expect("second sleep should complete although the first waker panics")
            .expect("task of the second sleep should not panic");
    }

    /// A waker that owns a sleep, like the waker of a task that sleeps.
    #[cfg(target_os = "linux")]
    struct OwningWaker(#[allow(dead_code)] std::sync::Mutex<Pin<Box<Sleep>>>);

    #[cfg(target_os = "linux")]
    impl Wake for OwningWaker {
        fn wake(self: Arc<Self>) {}
    }

    /// Regression test: a replaced waker was dropped under the lock that its own sleep acquires when dropped.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn replaced_waker_may_drop_another_sleep() {
        let context = &mut Context::from_waker(std::task::Waker::noop());
        let [mut moved, mut owned] = [(); 2].map(|()| Box::pin(sleep(Duration::MAX)));
        assert!(owned.as_mut().poll(context).is_pending());
        let waker = Arc::new(OwningWaker(std::sync::Mutex::new(owned))).into();
        assert!(moved.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(queue::pending_deadlines(), 2);
        assert!(moved.as_mut().poll(context).is_pending());
        assert_eq!(queue::pending_deadlines(), 1, "sleep of the replaced waker should be dropped");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn handler_sleep_uses_worker_timer() {
        use crate::{Client, Handlers, IoBackend, Operation, Packet, PacketId, Server, Workers};
        let operation = Operation::FIRST_USER;
        let handlers = Handlers::new().on(operation, |_connection, packet: Packet| async move {
            sleep(SHORT).await;
            Some(packet)
        });
        let server = Server::builder()
            .workers(Workers::PerCore)
            .io_backend(IoBackend::Tokio)
            .bind("127.0.0.1:0", handlers)
            .await
            .unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let (on_reply, mut replies) = tokio::sync::mpsc::unbounded_channel();
        let replies_handler = Handlers::new().on(operation, move |_connection, packet: Packet| {
            on_reply.send(packet.body).unwrap();
            async { None::<Packet> }
        });
        let connection = Client::builder().connect(address, replies_handler).await.unwrap();
        connection.send(&Packet::new(PacketId(1), operation, "text")).await.unwrap();
        assert_eq!(replies.recv().await.unwrap(), "text");
        assert!(!queue::has_queue(), "the runtime of the caller has no timer");
    }
}
