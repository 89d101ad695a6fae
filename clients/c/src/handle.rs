//! Handles: the pointers that C programs hold. A handle is a number in the form of a pointer and is never dereferenced.
//! A null or freed handle, or one of another type, therefore causes an error instead of a crash.
//!
//! ```text
//!  63    60 59                    24 23          4 3     0
//! +--------+------------------------+-------------+-------+
//! |  kind  |       generation       |    index    | shard |
//! +--------+------------------------+-------------+-------+
//! ```

use frpc::Status;
use parking_lot::Mutex;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("a handle holds a kind, a generation and an index: this needs pointers of 64 bits");

const SHARD_BITS: u32 = 4;
const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 36;
const SHARDS: usize = 1 << SHARD_BITS;

/// Maximum number of live objects of one type per shard of its handle table.
pub(crate) const INDEX_MAX: usize = 1 << INDEX_BITS;

/// Number of slots in the first chunk of a shard. Each further chunk doubles the number of slots.
const CHUNK_FIRST: usize = 32;
const CHUNKS: usize = (INDEX_MAX / CHUNK_FIRST).ilog2() as usize + 1;

/// A type whose objects are passed to C as handles.
pub(crate) trait Handle: Send + Sync + Sized + 'static {
    /// Number that identifies the type within its handles, from 1 to 15, so that no handle is null.
    const KIND: u8;
    /// Name of the type in error messages.
    const NAME: &'static str;
    /// Pointer by which a slot owns the object: an `Arc`, or [`Inline`] for small, short-lived objects.
    type Owner: Deref<Target = Self> + Send + Sync + 'static;

    fn table() -> &'static Table<Self>;

    /// Calls `run` with the spare slot of this thread. Returns `None` while the thread is being destroyed.
    fn with_spare<R>(run: impl FnOnce(&Spare<Self>) -> R) -> Option<R>;
}

/// An object stored directly in its slot, which saves an allocation.
pub(crate) struct Inline<T>(pub(crate) T);

impl<T> Deref for Inline<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Handle table of all objects of one type.
pub(crate) struct Table<T: Handle> {
    shards: [Shard<T>; SHARDS],
}

struct Shard<T: Handle> {
    /// Slots of the shard. They are never freed, so a stale handle finds a slot with another generation.
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    vacant: Mutex<Vacant>,
}

struct Vacant {
    indices: Vec<usize>,
    /// Number of slots that have ever been used.
    used: usize,
}

/// The vacant slot that a thread keeps for itself. A thread that frees an object and then creates one takes no lock.
pub(crate) struct Spare<T: Handle>(Cell<Option<Place>>, PhantomData<fn() -> T>);

impl<T: Handle> Spare<T> {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None), PhantomData)
    }
}

impl<T: Handle> Drop for Spare<T> {
    fn drop(&mut self) {
        if let Some(at) = self.0.take() {
            T::table().add_vacant(at);
        }
    }
}

/// ```text
///            insert           remove            last user
///   vacant ---------> live ------------> removed ---------> vacant, next generation
///                    + users             + users                 (spare or shared)
/// ```
#[repr(align(64))] // Keeps threads that use different objects from sharing a cache line.
struct Slot<T: Handle> {
    /// `generation << GENERATION_SHIFT | LIVE | users`. The object is dropped once it is not live and has no users.
    state: AtomicU64,
    value: UnsafeCell<Option<T::Owner>>,
}

const GENERATION_SHIFT: u32 = u64::BITS - GENERATION_BITS;
const LIVE: u64 = 1 << (GENERATION_SHIFT - 1);
const USERS_MAX: u64 = LIVE - 1;

// SAFETY: Users share `value` for reading. It is written only by a thread with exclusive access to the slot: one that
// took it from `vacant`, or the last user of a removed object.
unsafe impl<T: Handle> Sync for Slot<T> {}

impl<T: Handle> Table<T> {
    pub(crate) const fn new() -> Self {
        const fn shard<T: Handle>() -> Shard<T> {
            let vacant = Mutex::new(Vacant { indices: Vec::new(), used: 0 });
            Shard { chunks: [const { OnceLock::new() }; CHUNKS], vacant }
        }
        Self { shards: [const { shard() }; SHARDS] }
    }

    fn slot(&self, at: Place) -> Option<&Slot<T>> {
        let index = at.index();
        let (chunk, offset) = match (index / CHUNK_FIRST).checked_ilog2() {
            None => (0, index),
            Some(doubled) => (doubled as usize + 1, index - (CHUNK_FIRST << doubled)),
        };
        self.shards.get(at.shard())?.chunks.get(chunk)?.get()?.get(offset)
    }

    /// Takes a slot that no other thread uses, adding one to the table if necessary.
    fn take_vacant(&self) -> Option<Place> {
        // Try the thread's spare slot first, because taking it needs no lock.
        if let Some(at) = T::with_spare(|spare| spare.0.take()).flatten() {
            return Some(at);
        }
        let shard = own_shard();
        let of = self.shards.get(shard)?;
        let mut vacant = of.vacant.lock();
        let index = match vacant.indices.pop() {
            Some(index) => index,
            None if vacant.used < INDEX_MAX => {
                let index = vacant.used;
                // Each chunk doubles the number of slots, so a new one is needed when the index reaches a power of two.
                if index == 0 || (index >= CHUNK_FIRST && index.is_power_of_two()) {
                    let chunk = of.chunks.iter().find(|chunk| chunk.get().is_none())?;
                    let slots = || Slot { state: AtomicU64::new(0), value: UnsafeCell::new(None) };
                    chunk.get_or_init(|| std::iter::repeat_with(slots).take(index.max(CHUNK_FIRST)).collect());
                }
                vacant.used += 1;
                index
            }
            None => return None,
        };
        Some(Place((index << SHARD_BITS | shard) as u32))
    }

    fn add_vacant(&self, at: Place) {
        if let Some(shard) = self.shards.get(at.shard()) {
            shard.vacant.lock().indices.push(at.index());
        }
    }
}

/// Returns the shard in which this thread creates objects.
fn own_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: Cell<usize> = const { Cell::new(usize::MAX) });
    OWN.with(|own| {
        if own.get() == usize::MAX {
            // Relaxed, because the counter only spreads threads over the shards.
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        own.get()
    })
}

/// Location of a slot in the handle table, as encoded in a handle.
#[derive(Clone, Copy)]
struct Place(u32);

impl Place {
    fn shard(self) -> usize {
        self.0 as usize & (SHARDS - 1)
    }

    fn index(self) -> usize {
        self.0 as usize >> SHARD_BITS
    }
}

/// Returns the location, the slot and the generation encoded in a handle, or `None` if the handle belongs to another
/// type.
fn place<T: Handle>(handle: *const T) -> Option<(Place, &'static Slot<T>, u64)> {
    let bits = handle.addr();
    if bits >> (SHARD_BITS + INDEX_BITS + GENERATION_BITS) != usize::from(T::KIND) {
        return None;
    }
    let at = Place((bits & ((1 << (SHARD_BITS + INDEX_BITS)) - 1)) as u32);
    let generation = (bits >> (SHARD_BITS + INDEX_BITS)) as u64 & ((1 << GENERATION_BITS) - 1);
    Some((at, T::table().slot(at)?, generation))
}

fn invalid<T: Handle>(handle: *const T) -> Status {
    let reason = if handle.is_null() { "NULL" } else { "freed, or not a handle of this type" };
    Status::invalid_argument(format!("the {} is {reason}", T::NAME))
}

/// Stores an object and returns its handle, which keeps the object alive until [`remove`].
///
/// # Errors
/// If there are too many objects.
#[inline(always)] // Moves the object only once.
pub(crate) fn insert<T: Handle>(value: T::Owner) -> Result<*mut T, Status> {
    let table = T::table();
    let Some((at, slot)) = table.take_vacant().and_then(|at| Some((at, table.slot(at)?))) else {
        return Err(Status::resource_exhausted(format!("{INDEX_MAX} handles of a {} are in use", T::NAME)));
    };
    // SAFETY: The slot is vacant, so no other thread uses it.
    unsafe { *slot.value.get() = Some(value) };
    let generation = slot.state.load(Ordering::Relaxed) >> GENERATION_SHIFT;
    // Release: a thread that acquires the handle sees the value written above.
    slot.state.store(generation << GENERATION_SHIFT | LIVE, Ordering::Release);
    let mut bits = usize::from(T::KIND);
    bits = bits << GENERATION_BITS | generation as usize;
    bits = bits << (SHARD_BITS + INDEX_BITS) | at.0 as usize;
    Ok(std::ptr::without_provenance_mut(bits))
}

/// Reference to an object that is in use. The object may outlive its handle.
pub(crate) struct InUse<T: Handle> {
    at: Place,
    slot: &'static Slot<T>,
}

/// Acquires a reference to the object of a handle, or returns `None` if the handle is invalid. If `removes` is set,
/// also frees the handle.
fn acquire<T: Handle>(handle: *const T, removes: bool) -> Option<InUse<T>> {
    let (at, slot, generation) = place(handle)?;
    let acquired = slot.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, |state| {
        let is_live = state >> GENERATION_SHIFT == generation && state & LIVE != 0;
        // Fail if the count is at its maximum, because an increment would overflow into the flags.
        let used = (is_live && state & USERS_MAX < USERS_MAX).then(|| state + 1)?;
        // Count the remover as a user, so that a concurrent release does not drop the object before the remover is
        // done.
        Some(if removes { used & !LIVE } else { used })
    });
    acquired.ok()?;
    Some(InUse { at, slot })
}

/// Returns a reference to the object of a handle.
///
/// # Errors
/// If the handle is null, freed, or of another type.
pub(crate) fn get<T: Handle>(handle: *const T) -> Result<InUse<T>, Status> {
    acquire(handle, false).ok_or_else(|| invalid(handle))
}

/// Frees a handle and returns a reference to its object.
///
/// # Errors
/// Like [`get`].
pub(crate) fn remove<T: Handle>(handle: *const T) -> Result<InUse<T>, Status> {
    acquire(handle, true).ok_or_else(|| invalid(handle))
}

/// Frees a handle and returns the owner of its object. Returns `None` if the handle is invalid or its object is in use.
pub(crate) fn take<T: Handle>(handle: *const T) -> Option<T::Owner> {
    let (at, slot, generation) = remove_unused(handle)?;
    // SAFETY: The object was removed and has no users, and all previous uses by other threads happened before.
    let owner = unsafe { (*slot.value.get()).take() };
    slot.vacate(at, generation);
    owner
}

/// Frees a handle.
///
/// # Errors
/// Like [`get`].
pub(crate) fn free<T: Handle>(handle: *const T) -> Result<(), Status> {
    match remove_unused(handle) {
        Some((at, slot, generation)) => {
            slot.vacate(at, generation);
            Ok(())
        }
        None => remove(handle).map(drop),
    }
}

/// Frees a handle unless it is invalid or its object is in use. The caller must vacate the returned slot.
fn remove_unused<T: Handle>(handle: *const T) -> Option<(Place, &'static Slot<T>, u64)> {
    let (at, slot, generation) = place(handle)?;
    let unused = generation << GENERATION_SHIFT | LIVE;
    // The exchange succeeds only if there are no users, so this thread has exclusive access to the object.
    slot.state.compare_exchange(unused, unused - LIVE, Ordering::Acquire, Ordering::Relaxed).ok()?;
    Some((at, slot, generation))
}

impl<T: Handle> Slot<T> {
    /// Drops the object in a slot whose handle was freed and which has no users.
    fn vacate(&self, at: Place, generation: u64) {
        // SAFETY: The object was removed and has no users, and all previous uses by other threads happened before.
        drop(unsafe { (*self.value.get()).take() });
        // Wrap around, because the generation returns to 0 after its maximum.
        self.state.store(generation.wrapping_add(1) << GENERATION_SHIFT, Ordering::Release);
        let left = T::with_spare(|spare| spare.0.replace(Some(at)));
        // Make the replaced spare slot available to all threads. An exiting thread keeps no spare slot.
        if let Some(at) = left.unwrap_or(Some(at)) {
            T::table().add_vacant(at);
        }
    }
}

impl<T: Handle> Deref for InUse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: The slot counts this user, so the value is not written before the user ends.
        unsafe { &*self.slot.value.get() }.as_deref().expect("slot in use should hold an object")
    }
}

impl<T: Handle> Drop for InUse<T> {
    fn drop(&mut self) {
        let state = self.slot.state.fetch_sub(1, Ordering::AcqRel);
        // Drop the object if the handle was freed and this was its last user.
        if state & (LIVE | USERS_MAX) == 1 {
            self.slot.vacate(self.at, state >> GENERATION_SHIFT);
        }
    }
}

/// Implements [`Handle`] for a type that is passed to C.
macro_rules! handle {
    ($type:ty, $kind:literal, $name:literal) => {
        $crate::handle::handle!($type, $kind, $name, std::sync::Arc<$type>);
    };
    ($type:ty, $kind:literal, $name:literal, $owner:ty) => {
        impl $crate::handle::Handle for $type {
            const KIND: u8 = $kind;
            const NAME: &'static str = $name;
            type Owner = $owner;

            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new();
                &TABLE
            }

            fn with_spare<R>(run: impl FnOnce(&$crate::handle::Spare<$type>) -> R) -> Option<R> {
                thread_local! {
                    static SPARE: $crate::handle::Spare<$type> = const { $crate::handle::Spare::new() };
                }
                SPARE.try_with(run).ok()
            }
        }
    };
}
pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct Counter(u32);
    handle!(Counter, 14, "cup");
    struct Other;
    handle!(Other, 15, "plate", Inline<Other>);

    #[test]
    fn handle_returns_object_until_freed() {
        let cup = insert::<Counter>(Arc::new(Counter(7))).unwrap();
        assert_eq!(get(cup).unwrap().0, 7);
        assert_eq!(remove(cup).unwrap().0, 7);
        assert!(get(cup).is_err() && remove(cup).is_err());
    }

    #[test]
    fn object_in_use_outlives_its_handle() {
        let cup = insert::<Counter>(Arc::new(Counter(7))).unwrap();
        let used = get(cup).unwrap();
        drop(remove(cup).unwrap());
        assert!(get(cup).is_err() && remove(cup).is_err());
        assert_eq!(used.0, 7);
    }

    #[test]
    fn slot_of_ended_thread_is_reused() {
        struct Rare;
        handle!(Rare, 13, "vase");
        let place_of = |handle: *mut Rare| handle.addr() & ((1 << (SHARD_BITS + INDEX_BITS)) - 1);
        let make_and_free = move || {
            let vase = insert::<Rare>(Arc::new(Rare)).unwrap();
            free(vase).unwrap();
            assert!(free(vase).is_err());
            place_of(vase)
        };
        // Each new thread uses the next shard. After `SHARDS` threads, shards are shared.
        let places: Vec<_> = (0..2 * SHARDS).map(|_| std::thread::spawn(make_and_free).join().unwrap()).collect();
        let used = places.iter().filter(|at| **at >> SHARD_BITS > 0).count();
        assert_eq!(used, 0, "each shard needs one slot: {places:?}");
    }

    #[test]
    fn concurrent_threads_get_distinct_handles() {
        struct Busy(usize);
        handle!(Busy, 12, "bowl", Inline<Busy>);
        let ends = (0..4).map(|thread| {
            std::thread::spawn(move || {
                for round in 0..1000 {
                    let bowls: Vec<_> =
                        (0..50).map(|at| insert::<Busy>(Inline(Busy(thread * 50 + at))).unwrap()).collect();
                    for (at, bowl) in bowls.iter().enumerate() {
                        let used = get(*bowl).unwrap();
                        assert_eq!(used.0, thread * 50 + at, "in round {round}");
                        free(*bowl).unwrap();
                        assert_eq!(used.0, thread * 50 + at, "freed object should exist while it is in use");
                    }
                    assert!(bowls.iter().all(|bowl| get(*bowl).is_err()));
                }
            })
        });
        ends.collect::<Vec<_>>().into_iter().for_each(|end| end.join().unwrap());
    }

    #[test]
    fn freed_handle_is_rejected_after_slot_reuse() {
        let first = insert::<Counter>(Arc::new(Counter(1))).unwrap();
        remove(first).unwrap();
        let second = insert::<Counter>(Arc::new(Counter(2))).unwrap();
        assert_ne!(first, second);
        assert!(get(first).is_err());
        remove(second).unwrap();
    }

    #[test]
    fn null_and_mistyped_handles_are_rejected() {
        assert_eq!(get(std::ptr::null::<Counter>()).err().unwrap().message(), "the cup is NULL");
        let plate = insert::<Other>(Inline(Other)).unwrap();
        let error = get(plate.cast::<Counter>()).err().unwrap();
        assert_eq!(error.message(), "the cup is freed, or not a handle of this type");
        assert!(get(std::ptr::without_provenance::<Counter>(usize::MAX)).is_err());
        remove(plate).unwrap();
    }
}
