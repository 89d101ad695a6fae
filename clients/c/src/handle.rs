//! Handles: the pointers that C holds. A handle is a number in the form of a pointer and is never dereferenced, so a null
//! or freed handle, or one of another type, is an error and not a crash.
//!
//! ```text
//!  63    60 59                    24 23          4 3     0
//! +--------+------------------------+-------------+-------+
//! |  kind  |       generation       |    index    | shard |
//! +--------+------------------------+-------------+-------+
//! ```

use frpc::Status;
use parking_lot::RwLock;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("a handle holds a kind, a generation and an index: this needs pointers of 64 bits");

const SHARD_BITS: u32 = 4;
const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 36;
const SHARDS: usize = 1 << SHARD_BITS;

/// Objects of one type that exist at the same time in one shard.
const INDEX_MAX: usize = 1 << INDEX_BITS;

/// A type with handles.
pub(crate) trait Handle: Send + Sync + Sized + 'static {
    /// Differs between types; 1 to 15, so that no handle is null.
    const KIND: u8;
    /// The name in error texts.
    const NAME: &'static str;

    fn table() -> &'static Table<Self>;
}

/// The objects of one type.
pub(crate) struct Table<T> {
    shards: [RwLock<Shard<T>>; SHARDS],
}

struct Shard<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

struct Slot<T> {
    generation: u64,
    value: Option<Arc<T>>,
}

impl<T> Table<T> {
    pub(crate) const fn new() -> Self {
        Self { shards: [const { RwLock::new(Shard { slots: Vec::new(), free: Vec::new() }) }; SHARDS] }
    }
}

/// The shard of objects that this thread creates.
fn own_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: Cell<usize> = const { Cell::new(usize::MAX) });
    OWN.with(|own| {
        if own.get() == usize::MAX {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        own.get()
    })
}

struct Parts {
    shard: usize,
    index: usize,
    generation: u64,
}

fn parts<T: Handle>(handle: *const T) -> Option<Parts> {
    let bits = handle.addr();
    let kind = bits >> (SHARD_BITS + INDEX_BITS + GENERATION_BITS);
    (kind == usize::from(T::KIND)).then_some(Parts {
        shard: bits & (SHARDS - 1),
        index: (bits >> SHARD_BITS) & (INDEX_MAX - 1),
        generation: (bits >> (SHARD_BITS + INDEX_BITS)) as u64 & ((1 << GENERATION_BITS) - 1),
    })
}

#[cold]
fn invalid<T: Handle>(handle: *const T) -> Status {
    let reason = if handle.is_null() { "NULL" } else { "freed, or not a handle of this type" };
    Status::invalid_argument(format!("the {} is {reason}", T::NAME))
}

/// Makes a handle, which keeps the object until [`remove`].
pub(crate) fn insert<T: Handle>(value: Arc<T>) -> Result<*mut T, Status> {
    let shard = own_shard();
    let mut slots = T::table().shards.get(shard).expect("a shard is below SHARDS").write();
    let index = match slots.free.pop() {
        Some(index) => index,
        None if slots.slots.len() < INDEX_MAX => {
            slots.slots.push(Slot { generation: 0, value: None });
            slots.slots.len() - 1
        }
        None => return Err(Status::resource_exhausted(format!("{INDEX_MAX} handles of a {} are in use", T::NAME))),
    };
    let slot = slots.slots.get_mut(index).expect("an index of `free` is one of a slot");
    slot.value = Some(value);
    let mut bits = usize::from(T::KIND);
    bits = bits << GENERATION_BITS | slot.generation as usize;
    bits = bits << INDEX_BITS | index;
    bits = bits << SHARD_BITS | shard;
    Ok(std::ptr::without_provenance_mut(bits))
}

/// The object of a handle.
///
/// # Errors
/// If the handle is null, freed, or of another type.
pub(crate) fn get<T: Handle>(handle: *const T) -> Result<Arc<T>, Status> {
    let found = parts(handle).and_then(|parts| {
        let shard = T::table().shards.get(parts.shard)?.read();
        let slot = shard.slots.get(parts.index)?;
        slot.value.clone().filter(|_| slot.generation == parts.generation)
    });
    found.ok_or_else(|| invalid(handle))
}

/// Frees a handle and returns its object.
///
/// # Errors
/// As [`get`].
pub(crate) fn remove<T: Handle>(handle: *const T) -> Result<Arc<T>, Status> {
    let removed = parts(handle).and_then(|parts| {
        let mut shard = T::table().shards.get(parts.shard)?.write();
        let slot = shard.slots.get_mut(parts.index)?;
        if slot.generation != parts.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = (slot.generation + 1) & ((1 << GENERATION_BITS) - 1);
        shard.free.push(parts.index);
        Some(value)
    });
    removed.ok_or_else(|| invalid(handle))
}

/// Implements [`Handle`] for a type.
macro_rules! handle {
    ($type:ty, $kind:literal, $name:literal) => {
        impl $crate::handle::Handle for $type {
            const KIND: u8 = $kind;
            const NAME: &'static str = $name;

            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new();
                &TABLE
            }
        }
    };
}
pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::*;

    struct Counter(u32);
    handle!(Counter, 14, "cup");
    struct Other;
    handle!(Other, 15, "plate");

    #[test]
    fn handle_returns_object_until_freed() {
        let cup = insert(Arc::new(Counter(7))).unwrap();
        assert_eq!(get(cup).unwrap().0, 7);
        assert_eq!(remove(cup).unwrap().0, 7);
        assert!(get(cup).is_err() && remove(cup).is_err());
    }

    #[test]
    fn freed_handle_is_refused_after_its_slot_is_reused() {
        let first = insert(Arc::new(Counter(1))).unwrap();
        remove(first).unwrap();
        let second = insert(Arc::new(Counter(2))).unwrap();
        assert_ne!(first, second);
        assert!(get(first).is_err());
        remove(second).unwrap();
    }

    #[test]
    fn handles_of_null_and_of_other_types_are_refused() {
        assert_eq!(get(std::ptr::null::<Counter>()).err().unwrap().message(), "the cup is NULL");
        let plate = insert(Arc::new(Other)).unwrap();
        let error = get(plate.cast::<Counter>()).err().unwrap();
        assert_eq!(error.message(), "the cup is freed, or not a handle of this type");
        assert!(get(std::ptr::without_provenance::<Counter>(usize::MAX)).is_err());
        remove(plate).unwrap();
    }
}
