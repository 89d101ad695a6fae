//! The memory that two processes share: made, sealed, verified, mapped, read and written. The only module with `unsafe`.
//!
//! Its soundness rests on three rules. The memory cannot become shorter than the map: a file is mapped only if its seals
//! forbid that, so no access can fault. All accesses to it are atomic, single words and data alike, so whatever the peer
//! writes at whatever time is a value of some age and not a data race. And no reference to data leaves the module: bytes
//! are copied in and out, each once. What the bytes mean, and whether an index can be right, is for others to judge.
#![allow(unsafe_code)] // Mapping memory, and reading it by pointers; each block states why it is sound.
#![deny(unsafe_op_in_unsafe_fn)]

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use tokio::io::ReadBuf;

/// What the seals of a file must forbid: that it changes its length, and that seals are added.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The kind of file system that memory of ordinary pages belongs to (`TMPFS_MAGIC`). Memory of huge pages does not: it
/// may run out of them, which ends the process that touches it.
const ORDINARY_PAGES: u32 = 0x0102_1994;

/// The bytes in front of the rings: one page.
const HEAD: usize = 4096;

/// The distance between the words of one end and those of the other: two lines of the cache, which processors fetch
/// together.
const BLOCK: usize = 128;

const WORD: usize = size_of::<usize>();

/// An end of a connection. Each has a block of words that it writes, and a ring of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A word of an end's block, by its place. The flags are cleared by the peer as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// How many bytes the end has written to its ring, modulo 2³².
    Written = 0,
    /// How many bytes it has read from the peer's ring, modulo 2³².
    Read = 1,
    /// It will write no more.
    Closed = 2,
    /// It sleeps until there are bytes to read.
    WantsData = 3,
    /// It sleeps until there is room to write.
    WantsRoom = 4,
}

/// The words of both ends and their rings, mapped.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    /// The size of a ring, a power of two.
    ring: u32,
}

// SAFETY: the map belongs to this value alone and may be used and unmapped by any thread; all accesses are atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Makes memory with rings of this size, a power of two, and the file by which another process can map it.
    pub(crate) fn create(ring: u32) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match rustix::fs::memfd_create(c"frisbee-shm", flags | MemfdFlags::NOEXEC_SEAL) {
            // Before Linux 6.3.
            Err(Errno::INVAL) => rustix::fs::memfd_create(c"frisbee-shm", flags)?,
            made => made?,
        };
        rustix::fs::ftruncate(&file, len(ring) as u64)?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Ok((Self::map(&file, ring)?, file))
    }

    /// Maps memory that the peer has made, after having verified that nobody can change its length.
    pub(crate) fn map(file: &OwnedFd, ring: u32) -> io::Result<Self> {
        // An error for what is no memory at all: this is asked first, since it takes no file system of the peer's.
        if !rustix::fs::fcntl_get_seals(file)?.contains(SEALS) {
            return Err(unfit("its length is not sealed"));
        }
        if rustix::fs::fstatfs(file)?.f_type as u32 != ORDINARY_PAGES {
            return Err(unfit("it has no ordinary pages"));
        }
        if !ring.is_power_of_two() || rustix::fs::fstat(file)?.st_size as u64 != len(ring) as u64 {
            return Err(unfit("its length is not that of its rings"));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the place, so nothing that is mapped is replaced. Behind all of it there are pages
        // of the file, for as long as it is mapped: the seals have been verified, and cannot be taken back.
        let start = unsafe { rustix::mm::mmap(null_mut(), len(ring), protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let start = NonNull::new(start.cast()).ok_or_else(|| unfit("it was mapped at zero"))?;
        Ok(Self { start, ring })
    }

    /// The size of a ring.
    pub(crate) fn ring(&self) -> u32 {
        self.ring
    }

    pub(crate) fn word(&self, end: End, word: Word) -> &AtomicU32 {
        let place = end as usize * BLOCK + word as usize * size_of::<u32>();
        const { assert!((Word::WantsRoom as usize + 1) * size_of::<u32>() <= BLOCK && 2 * BLOCK <= HEAD) };
        // SAFETY: the place lies within the head, as asserted for the last one, and is aligned, since the map begins with
        // a page. The map lives as long as the reference, and this process accesses its head by atomic operations alone.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(place).cast()) }
    }

    /// Copies bytes to the ring of an end, from a position on. At most as many as the ring has, of which the caller knows
    /// that the other end does not read them; an end that does reads bytes of some age.
    pub(crate) fn store(&self, end: End, position: u32, from: &[u8]) {
        assert!(from.len() <= self.ring as usize, "{} bytes do not fit in a ring of {}", from.len(), self.ring);
        let (place, first) = self.place(end, position, from.len());
        let (before, behind) = from.split_at(first);
        // SAFETY: `place` says that there are `first` bytes of the ring, and the rest is at most what is in front of them.
        unsafe {
            store(before.as_ptr(), place.as_ptr(), before.len());
            store(behind.as_ptr(), self.ring_of(end).as_ptr(), behind.len());
        }
    }

    /// Copies so many bytes out of the ring of an end, from a position on, and no more than there is room for.
    pub(crate) fn load(&self, end: End, position: u32, count: usize, into: &mut ReadBuf<'_>) {
        let count = count.min(into.remaining()).min(self.ring as usize);
        let (place, first) = self.place(end, position, count);
        // SAFETY: only initialised bytes are written to it.
        let target = unsafe { into.unfilled_mut() }.as_mut_ptr().cast::<u8>();
        // SAFETY: `place` says that there are `first` bytes of the ring, and the rest is at most what is in front of
        // them. The target has room for `count`, and is memory of this process that is borrowed mutably.
        unsafe {
            load(place.as_ptr(), target, first);
            load(self.ring_of(end).as_ptr(), target.add(first), count - first);
        }
        // SAFETY: the first `count` bytes have been written above.
        unsafe { into.assume_init(count) };
        into.advance(count);
    }

    /// Where a position of a ring is, and how many of `count` bytes, at most the size of the ring, stand behind it before
    /// the ring begins anew.
    fn place(&self, end: End, position: u32, count: usize) -> (NonNull<u8>, usize) {
        let offset = (position & (self.ring - 1)) as usize;
        // SAFETY: the offset is less than the size of the ring.
        let place = unsafe { self.ring_of(end).add(offset) };
        (place, count.min(self.ring as usize - offset))
    }

    fn ring_of(&self, end: End) -> NonNull<u8> {
        // SAFETY: behind the head there are two rings.
        unsafe { self.start.add(HEAD + end as usize * self.ring as usize) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing that borrows it is left. It can only fail for other
        // arguments.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast::<c_void>(), len(self.ring)) };
    }
}

/// The length of memory with rings of this size.
fn len(ring: u32) -> usize {
    HEAD + 2 * ring as usize
}

fn unfit(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the peer's memory is not fit to be shared: {why}"))
}

/// Copies private bytes to shared ones.
///
/// # Safety
/// `from` is valid for reads of so many bytes, of memory that nobody else writes. `to` is valid for reads and writes of as
/// many, which this process accesses by atomic operations alone.
unsafe fn store(from: *const u8, to: *mut u8, count: usize) {
    let lead = to.align_offset(WORD).min(count);
    let words_end = lead + (count - lead) / WORD * WORD;
    let mut at = 0;
    // SAFETY: `at` stays below `count`, and by WORD below where whole words end; `to` is aligned for them there.
    unsafe {
        while at < lead {
            AtomicU8::from_ptr(to.add(at)).store(from.add(at).read(), Ordering::Relaxed);
            at += 1;
        }
        while at < words_end {
            let word = from.add(at).cast::<usize>().read_unaligned();
            AtomicUsize::from_ptr(to.add(at).cast()).store(word, Ordering::Relaxed);
            at += WORD;
        }
        while at < count {
            AtomicU8::from_ptr(to.add(at)).store(from.add(at).read(), Ordering::Relaxed);
            at += 1;
        }
    }
}

/// Copies shared bytes to private ones.
///
/// # Safety
/// `from` is valid for reads and writes of so many bytes, which this process accesses by atomic operations alone. `to` is
/// valid for writes of as many, of memory that nobody else accesses.
unsafe fn load(from: *mut u8, to: *mut u8, count: usize) {
    let lead = from.align_offset(WORD).min(count);
    let words_end = lead + (count - lead) / WORD * WORD;
    let mut at = 0;
    // SAFETY: `at` stays below `count`, and by WORD below where whole words end; `from` is aligned for them there.
    unsafe {
        while at < lead {
            to.add(at).write(AtomicU8::from_ptr(from.add(at)).load(Ordering::Relaxed));
            at += 1;
        }
        while at < words_end {
            let word = AtomicUsize::from_ptr(from.add(at).cast()).load(Ordering::Relaxed);
            to.add(at).cast::<usize>().write_unaligned(word);
            at += WORD;
        }
        while at < count {
            to.add(at).write(AtomicU8::from_ptr(from.add(at)).load(Ordering::Relaxed));
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;

    fn bytes_at(memory: &Memory, end: End, position: u32, count: usize) -> Vec<u8> {
        let mut space = vec![MaybeUninit::uninit(); count];
        let mut into = ReadBuf::uninit(&mut space);
        memory.load(end, position, count, &mut into);
        into.filled().to_vec()
    }

    #[test]
    fn bytes_come_out_as_they_went_in_at_every_alignment_and_around_the_end() {
        let (memory, file) = Memory::create(4096).expect("there is memory");
        let other = Memory::map(&file, 4096).expect("it was made just now");
        let data: Vec<u8> = (0..=255).collect();
        for position in (0..24).chain(4096 - 40..4096 + 8).chain([u32::MAX - 9]) {
            for count in (0..40).chain([256]) {
                memory.store(End::Server, position, &data[..count]);
                assert_eq!(bytes_at(&other, End::Server, position, count), &data[..count], "{count} at {position}");
            }
        }
        assert!(bytes_at(&other, End::Client, 0, 4096).iter().all(|byte| *byte == 0), "the other ring is untouched");
    }

    #[test]
    fn no_more_is_copied_than_there_is_room_for() {
        let (memory, _) = Memory::create(4096).expect("there is memory");
        let mut space = [0; 10];
        let mut into = ReadBuf::new(&mut space);
        memory.load(End::Client, 4090, usize::MAX, &mut into);
        assert_eq!(into.filled().len(), 10);
    }

    #[test]
    fn each_end_has_words_of_its_own() {
        let (memory, file) = Memory::create(4096).expect("there is memory");
        let other = Memory::map(&file, 4096).expect("it was made just now");
        let words = [Word::Written, Word::Read, Word::Closed, Word::WantsData, Word::WantsRoom];
        for (number, (end, word)) in
            [End::Client, End::Server].into_iter().flat_map(|end| words.map(|word| (end, word))).enumerate()
        {
            memory.word(end, word).store(number as u32 + 1, Ordering::Relaxed);
        }
        let found =
            [End::Client, End::Server].map(|end| words.map(|word| other.word(end, word).load(Ordering::Relaxed)));
        assert_eq!(found, [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]);
    }

    #[test]
    fn memory_whose_length_can_change_is_not_mapped() {
        let file = rustix::fs::memfd_create(c"unsealed", MemfdFlags::ALLOW_SEALING).expect("there is memory");
        rustix::fs::ftruncate(&file, len(4096) as u64).expect("it may grow");
        for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
            let error = Memory::map(&file, 4096).expect_err("it lacks seals");
            assert!(error.to_string().contains("not sealed"), "{error}, without {missing:?}");
            rustix::fs::fcntl_add_seals(&file, missing).expect("seals may be added until the last");
        }
        Memory::map(&file, 4096).expect("it has all seals now");
    }

    #[test]
    fn memory_of_another_length_and_other_files_are_not_mapped() {
        let (_, file) = Memory::create(4096).expect("there is memory");
        assert!(Memory::map(&file, 8192).expect_err("it is shorter").to_string().contains("length"));
        assert!(Memory::map(&file, 2048).expect_err("it is longer").to_string().contains("length"));
        assert!(Memory::map(&file, 0).expect_err("there are no rings").to_string().contains("length"));
        let ordinary = tempfile::tempfile().expect("there is room for a file").into();
        Memory::map(&ordinary, 4096).expect_err("files have no seals");
    }
}
