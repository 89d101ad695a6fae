//! Values that programs attach to a connection, and functions that run when the connection ends.

use crate::log_limit::LineLimit;
use crate::{CloseReason, Connection};
use parking_lot::Mutex;
use std::any::{Any, TypeId};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Values attached to a connection, at most one of each type.
///
/// All handles of the connection, for example in routers, handlers and streams, share the values. A connection without
/// values allocates nothing. Use a private type to avoid conflicts with other code of the program. After the connection
/// has ended, the functions registered by [`Connection::on_close`] run, and then the values are dropped. If a [protocol
/// adapter](crate::ServerBuilder::adapter) serves the connection, the functions run when the adapter takes it over, and
/// the values are dropped when the adapter returns. Values that are attached later are not kept.
///
/// ```
/// use frisbee::Connection;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Requests(AtomicU64);
///
/// fn count(connection: &Connection) -> u64 {
///     connection.attachments().get_or_insert::<Requests>().0.fetch_add(1, Ordering::Relaxed)
/// }
/// ```
pub struct Attachments {
    context: OnceLock<Box<Mutex<Context>>>,
    /// Number of changes to the attached values, modulo 2^32; see [`changes`](Self::changes).
    changes: AtomicU32,
    /// Whether the functions registered by [`on_close`](Self::on_close) have been called.
    has_ended: AtomicBool,
    /// Whether the values have been dropped. No more are attached, because nothing would drop them: a value may contain
    /// a handle of the connection.
    is_released: AtomicBool,
}

type Value = Arc<dyn Any + Send + Sync>;

type AtEnd = Box<dyn FnOnce(&CloseReason) + Send>;

#[derive(Default)]
struct Context {
    /// Attached values with their types. The list is searched linearly, because it is short.
    values: Vec<(TypeId, Value)>,
    on_close: Vec<AtEnd>,
}

impl Attachments {
    pub(crate) const fn new() -> Self {
        let (has_ended, is_released) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { context: OnceLock::new(), changes: AtomicU32::new(0), has_ended, is_released }
    }

    /// Returns a number that changes whenever a value is attached or removed. Callers that cache a value compare the
    /// number to detect an outdated cache. Costs a single atomic load.
    #[inline]
    pub fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    /// Returns the attached value of the type `T`, if there is one.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let context = self.context.get()?.lock();
        let (_, value) = context.values.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        value.clone().downcast().ok()
    }

    /// Returns the attached value of the type `T`, and attaches the default value first if there is none. `T::default`
    /// is called under the lock and must not access the attachments. After the end of the connection, returns a new
    /// value without attaching it.
    pub fn get_or_insert<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut context = self.context().lock();
        let found = context.values.iter().find(|(id, _)| *id == TypeId::of::<T>());
        if let Some(value) = found.and_then(|(_, value)| value.clone().downcast().ok()) {
            return value;
        }
        let value = Arc::new(T::default());
        if !self.is_released() {
            context.values.push((TypeId::of::<T>(), value.clone()));
            self.changes.fetch_add(1, Ordering::Release);
        }
        value
    }

    /// Returns whether the values have been dropped. The caller must hold the lock.
    fn is_released(&self) -> bool {
        // Pairs with the fence in `drop_values`: either that function finds the context, or this one finds the flag.
        fence(Ordering::SeqCst);
        self.is_released.load(Ordering::Relaxed)
    }

    /// Attaches a value and returns the previous value of its type. Drops the value instead after the end of the
    /// connection.
    pub fn insert<T: Send + Sync + 'static>(&self, value: T) -> Option<Arc<T>> {
        let mut context = self.context().lock();
        if self.is_released() {
            drop(context);
            drop(value);
            return None;
        }
        let earlier = context.remove(TypeId::of::<T>());
        context.values.push((TypeId::of::<T>(), Arc::new(value)));
        self.changes.fetch_add(1, Ordering::Release);
        drop(context);
        earlier?.downcast().ok()
    }

    /// Removes and returns the attached value of the type `T`.
    pub fn remove<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let removed = self.context.get()?.lock().remove(TypeId::of::<T>())?;
        self.changes.fetch_add(1, Ordering::Release);
        removed.downcast().ok()
    }

    fn context(&self) -> &Mutex<Context> {
        self.context.get_or_init(Box::default)
    }

    /// Registers a function to be called when the connection has ended, or calls it with `reason` if that has happened.
    fn on_close(&self, run: impl FnOnce(&CloseReason) + Send + 'static, reason: impl FnOnce() -> CloseReason) {
        let mut context = self.context().lock();
        // Pairs with the fence in `run_on_close`: either that function finds the context, or this one finds the flag.
        fence(Ordering::SeqCst);
        match self.has_ended.load(Ordering::Relaxed) {
            false => context.on_close.push(Box::new(run)),
            true => {
                // Call the function outside of the lock, because it may use the attachments.
                drop(context);
                let reason = reason();
                run(&reason);
            }
        }
    }

    /// Calls the functions that were registered by [`on_close`](Self::on_close), and then drops the attached values.
    pub(crate) fn handle_close(&self, reason: &CloseReason) {
        self.run_on_close(reason);
        self.drop_values();
    }

    /// Calls the functions that were registered by [`on_close`](Self::on_close).
    pub(crate) fn run_on_close(&self, reason: &CloseReason) {
        self.has_ended.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let Some(context) = self.context.get() else { return };
        let on_close = std::mem::take(&mut context.lock().on_close);
        // Call the functions outside of the lock, because they may use the attachments. Catch panics, so that the
        // remaining functions still run.
        for run in on_close {
            if catch_unwind(AssertUnwindSafe(|| run(reason))).is_err() {
                static LINE: LineLimit = LineLimit::new();
                if let Some(suppressed) = LINE.may_say(Instant::now()) {
                    tracing::error!(target: "frisbee::handler", suppressed, "a function given to `on_close` panicked");
                }
            }
        }
    }

    /// Drops the attached values. Values that contain handles of the connection would otherwise form a reference cycle.
    pub(crate) fn drop_values(&self) {
        self.is_released.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let Some(context) = self.context.get() else { return };
        let values = std::mem::take(&mut context.lock().values);
        // Drop the values outside of the lock, because their destructors may use the attachments. Ignore panics, because
        // the driver must still complete the close.
        for value in values {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
        }
    }
}

impl Context {
    fn remove(&mut self, id: TypeId) -> Option<Value> {
        let at = self.values.iter().position(|(other, _)| *other == id)?;
        Some(self.values.swap_remove(at).1)
    }
}

impl Connection {
    /// Returns the values attached to the connection. All handles share them.
    pub fn attachments(&self) -> &Attachments {
        &self.0.attachments
    }

    /// Registers a function that runs when the connection has ended. Runs it immediately if the connection has already
    /// ended. The functions run after [`Router::disconnected`](crate::Router::disconnected), in the order of
    /// registration, in the task of the connection. They must not block.
    pub fn on_close(&self, run: impl FnOnce(&CloseReason) + Send + 'static) {
        // The reason is set before the registered functions are called, so the default is never used.
        self.0.attachments.on_close(run, || self.close_reason().unwrap_or(CloseReason::Local));
    }
}

impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.context.get().map_or(0, |context| context.lock().values.len());
        f.debug_struct("Attachments").field("values", &values).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outbox, Packet, Routed, Router, Server, memory};
    use std::sync::mpsc;

    #[test]
    fn attachments_share_one_value_per_type() {
        let attachments = Attachments::new();
        assert!(attachments.get::<u32>().is_none() && attachments.remove::<u32>().is_none());
        assert!(attachments.context.get().is_none(), "lookup should allocate no memory");
        let one = attachments.get_or_insert::<u32>();
        assert!(Arc::ptr_eq(&one, &attachments.get_or_insert::<u32>()));
        assert_eq!(attachments.insert(7_u32).as_deref(), Some(&0));
        attachments.insert("text".to_owned());
        assert_eq!(attachments.insert(8_u32).as_deref(), Some(&7));
        let changes = attachments.changes();
        assert_eq!(attachments.remove::<u32>().as_deref(), Some(&8));
        assert_ne!(attachments.changes(), changes, "changed attachment should invalidate earlier permissions");
        assert_eq!(attachments.get::<String>().as_deref().map(String::as_str), Some("text"));
    }

    /// Value whose destructor panics.
    struct Broken;

    impl Drop for Broken {
        fn drop(&mut self) {
            panic!("destructor panics on request of the test");
        }
    }

    /// Regression test: if the driver was dropped, `Connection::closed` never completed after a panic in a destructor.
    #[test]
    fn panicking_destructor_spares_other_attachments() {
        let attachments = Attachments::new();
        let other = Arc::new(7_u32);
        attachments.insert(Broken);
        attachments.insert(other.clone());
        attachments.handle_close(&CloseReason::Local);
        assert_eq!(Arc::strong_count(&other), 1);
    }

    #[test]
    fn close_hooks_run_once_with_attachments() {
        let attachments = Arc::new(Attachments::new());
        let (events, ran) = mpsc::channel();
        attachments.insert(5_u8);
        for number in 0..3 {
            let (events, attached) = (events.clone(), attachments.clone());
            let run = move |_: &CloseReason| {
                assert_ne!(number, 1, "the second one fails");
                events.send((number, attached.get::<u8>().is_some())).unwrap();
            };
            attachments.on_close(run, || CloseReason::Local);
        }
        attachments.handle_close(&CloseReason::Local);
        attachments.handle_close(&CloseReason::Local);
        assert_eq!(ran.try_iter().collect::<Vec<_>>(), [(0, true), (2, true)]);
        assert!(attachments.get::<u8>().is_none());
        let late_events = events.clone();
        attachments.on_close(move |_| late_events.send((9, false)).unwrap(), || CloseReason::Local);
        assert_eq!(ran.try_recv(), Ok((9, false)));
    }

    /// Regression test: a value that was attached after the end was never dropped if it contained a handle of the
    /// connection.
    #[test]
    fn value_attached_after_end_is_dropped() {
        for has_values in [false, true] {
            let attachments = Attachments::new();
            if has_values {
                attachments.insert(1_u8);
            }
            attachments.handle_close(&CloseReason::Local);
            let value = Arc::new(());
            assert!(attachments.insert(value.clone()).is_none());
            assert_eq!(Arc::strong_count(&value), 1);
            assert_eq!(Arc::strong_count(&attachments.get_or_insert::<u32>()), 1);
            assert!(attachments.get::<u32>().is_none());
        }
    }

    /// Registers a function while the connection ends.
    struct LateHook(mpsc::Sender<&'static str>);

    impl Router for LateHook {
        type Session = Connection;

        fn connected(&self, connection: &Connection) -> Connection {
            connection.clone()
        }

        fn route(&self, _: &mut Connection, _: Packet, _: &mut Outbox) -> Routed {
            Routed::Continue
        }

        fn disconnected(&self, connection: Connection, _: &CloseReason) {
            let events = self.0.clone();
            connection.on_close(move |_| events.send("hook").unwrap());
            self.0.send("disconnected").unwrap();
        }
    }

    /// Regression test: a function that was registered while the connection ended ran before `Router::disconnected`.
    #[tokio::test]
    async fn late_close_hook_follows_disconnected() {
        let (events, ran) = mpsc::channel();
        let acceptor = Server::builder().build(LateHook(events)).unwrap();
        let (here, there) = memory();
        drop(here);
        acceptor.serve_connection(there).await;
        assert_eq!(ran.try_iter().collect::<Vec<_>>(), ["disconnected", "hook"]);
    }
}
