//! The memory that two processes share: made, sealed, verified, mapped, read and written; and whether the peer has received
//! it. The only module with `unsafe`.
//!
//! Its soundness rests on three rules. The memory cannot become shorter than the map: a file is mapped only if its
//! seals forbid that, so no access can fault. All accesses to it are atomic, single words and data alike, so any
//! concurrent write of the peer is a value of some age and not a data race. And no reference to data leaves the module:
//! bytes are copied in and out, each once. Other modules interpret the bytes, and check indices.
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

/// The seals that a file must have: against changes of its length, and against further seals.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The kind of file system that memory of ordinary pages belongs to (`TMPFS_MAGIC`). Memory of huge pages does not: it
/// may run out of them, which ends the process that touches it.
const ORDINARY_PAGES: u32 = 0x0102_1994;

/// The initial shared memory of a connection: a page, with the words of both ends and a small ring for
/// each. All that a connection of short messages ever touches, so that one that is idle keeps no more.
pub(crate) const HEAD: u32 = 4096;

/// The size of a ring in the head: what short messages need, with some of them on their way at once.
pub(crate) const SMALL: u32 = 1024;

/// The distance between the words of one end and those of the other: two lines of the cache, which processors fetch
/// together.
const BLOCK: usize = 128;

const WORD: usize = size_of::<usize>();

/// An end of a connection. Each has a block of words that it writes, and rings of bytes.
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

/// A word of an end's block, by its index. The flags are cleared by the peer as well.
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
    /// The length of the memory that its ring is in, or zero for the small one in the head.
    Ring = 5,
}

/// Memory that is shared, mapped: a head, or a ring by itself.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    /// A power of two, and whole pages.
    len: u32,
}

/// The region of a ring in memory; its size is a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingRegion {
    offset: u32,
    size: u32,
}

impl RingRegion {
    /// The small ring of an end, in the head.
    pub(crate) fn small(end: End) -> Self {
        const { assert!(2 * BLOCK <= SMALL as usize && 3 * SMALL <= HEAD) };
        Self { offset: (1 + end as u32) * SMALL, size: SMALL }
    }
}

// SAFETY: the map belongs to this value alone and may be used and unmapped by any thread; all accesses are atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Makes memory of this length, a power of two and whole pages, and the file by which another process can map it.
    pub(crate) fn create(len: u32) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match rustix::fs::memfd_create(c"frisbee-shm", flags | MemfdFlags::NOEXEC_SEAL) {
            // Before Linux 6.3.
            Err(Errno::INVAL) => rustix::fs::memfd_create(c"frisbee-shm", flags)?,
            made => made?,
        };
        rustix::fs::ftruncate(&file, len.into())?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Ok((Self::map(&file, len)?, file))
    }

    /// Maps memory that the peer has made, after having verified that its length cannot change.
    pub(crate) fn map(file: &OwnedFd, len: u32) -> io::Result<Self> {
        // An error for a file that is no memory at all: this check is first, since it calls no file system of the
        // peer's.
        if !rustix::fs::fcntl_get_seals(file)?.contains(SEALS) {
            return Err(unfit("its length is not sealed"));
        }
        if rustix::fs::fstatfs(file)?.f_type as u32 != ORDINARY_PAGES {
            return Err(unfit("it has no ordinary pages"));
        }
        let is_whole = len.is_power_of_two() && len >= HEAD;
        if !is_whole || rustix::fs::fstat(file)?.st_size as u64 != u64::from(len) {
            return Err(unfit("its length differs from the announced one"));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced. All of it is backed by pages of the
        // file, for as long as it is mapped: the seals have been verified, and cannot be taken back.
        let start =
            unsafe { rustix::mm::mmap(null_mut(), len as usize, protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let start = NonNull::new(start.cast()).ok_or_else(|| unfit("it was mapped at zero"))?;
        Ok(Self { start, len })
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// All of it, as one ring.
    pub(crate) fn whole(&self) -> RingRegion {
        RingRegion { offset: 0, size: self.len }
    }

    pub(crate) fn word(&self, end: End, word: Word) -> &AtomicU32 {
        let address = end as usize * BLOCK + word as usize * size_of::<u32>();
        const { assert!((Word::Ring as usize + 1) * size_of::<u32>() <= BLOCK && 2 * BLOCK <= HEAD as usize) };
        // SAFETY: the address lies within the first page, as asserted for the last one, and all memory has that. It is
        // aligned, since the map begins with a page. The map lives as long as the reference, and this process accesses it
        // by atomic operations alone.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(address).cast()) }
    }

    /// Copies bytes to a ring, from a position on. At most as many as the ring has. The caller knows that the other end
    /// does not read them; an end that does reads bytes of some age.
    pub(crate) fn store(&self, ring: RingRegion, position: u32, from: &[u8]) {
        assert!(from.len() <= ring.size as usize, "{} bytes do not fit in a ring of {}", from.len(), ring.size);
        let (start, address, first) = self.address(ring, position, from.len());
        let (before, behind) = from.split_at(first);
        // SAFETY: `address` guarantees `first` bytes of the ring, and the rest is at most as long as the part before
        // them.
        unsafe {
            store(before.as_ptr(), address.as_ptr(), before.len());
            store(behind.as_ptr(), start.as_ptr(), behind.len());
        }
    }

    /// Copies so many bytes out of a ring, from a position on, and no more than there is room for.
    pub(crate) fn load(&self, ring: RingRegion, position: u32, count: usize, into: &mut ReadBuf<'_>) {
        let count = count.min(into.remaining()).min(ring.size as usize);
        let (start, address, first) = self.address(ring, position, count);
        // SAFETY: only initialised bytes are written to it.
        let target = unsafe { into.unfilled_mut() }.as_mut_ptr().cast::<u8>();
        // SAFETY: `address` guarantees `first` bytes of the ring, and the rest is at most as long as the part before
        // them. The target has room for `count`, and is memory of this process that is borrowed mutably.
        unsafe {
            load(address.as_ptr(), target, first);
            load(start.as_ptr(), target.add(first), count - first);
        }
        // SAFETY: the first `count` bytes have been written above.
        unsafe { into.assume_init(count) };
        into.advance(count);
    }

    /// The start of a ring, the address of a position in it, and how many of `count` bytes, at most the size of the
    /// ring, fit before the ring wraps.
    fn address(&self, ring: RingRegion, position: u32, count: usize) -> (NonNull<u8>, NonNull<u8>, usize) {
        assert!(u64::from(ring.offset) + u64::from(ring.size) <= u64::from(self.len), "{ring:?} in {} bytes", self.len);
        let offset = (position & (ring.size - 1)) as usize;
        // SAFETY: the whole ring lies within the map, as asserted, and the offset is less than its size.
        let (start, address) = unsafe {
            let start = self.start.add(ring.offset as usize);
            (start, start.add(offset))
        };
        (start, address, count.min(ring.size as usize - offset))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing that borrows it is left. It can only fail for other
        // arguments.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast::<c_void>(), self.len as usize) };
    }
}

/// How many bytes that were sent on a socket its peer has not received, by the count of the kernel, which includes its own
/// records of them.
pub(crate) fn unread(socket: impl AsFd) -> io::Result<u32> {
    /// `SIOCOUTQ`, which has the number of `TIOCOUTQ` for sockets.
    const UNREAD: rustix::ioctl::Opcode = 0x5411;
    // SAFETY: the operation writes one `int`, for sockets as for terminals.
    let count = unsafe {
        let operation = rustix::ioctl::Getter::<UNREAD, std::ffi::c_int>::new();
        rustix::ioctl::ioctl(socket, operation)?
    };
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

fn unfit(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unsuitable shared memory of the peer: {why}"))
}

/// Copies whole blocks of 64 bytes, and returns how many bytes they have. In assembler, whose accesses are to the compiler what those of
/// another program are: atomic ones of more than a word do not exist, and long messages take a sixth of their time less.
///
/// # Safety
/// As [`store`] or [`load`], whichever of the two is shared.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_blocks(from: *const u8, to: *mut u8, count: usize) -> usize {
    let end = count / 64 * 64;
    if end > 0 {
        // SAFETY: it reads and writes `end` bytes, at most `count`, in loads and stores of 16 bytes, which all processors of
        // this architecture have, and changes nothing else but the registers that it names and the flags.
        unsafe {
            std::arch::asm!(
                "2:",
                "movdqu {a}, xmmword ptr [{from} + {at}]",
                "movdqu {b}, xmmword ptr [{from} + {at} + 16]",
                "movdqu {c}, xmmword ptr [{from} + {at} + 32]",
                "movdqu {d}, xmmword ptr [{from} + {at} + 48]",
                "movdqu xmmword ptr [{to} + {at}], {a}",
                "movdqu xmmword ptr [{to} + {at} + 16], {b}",
                "movdqu xmmword ptr [{to} + {at} + 32], {c}",
                "movdqu xmmword ptr [{to} + {at} + 48], {d}",
                "add {at}, 64",
                "cmp {at}, {end}",
                "jb 2b",
                from = in(reg) from,
                to = in(reg) to,
                at = inout(reg) 0_usize => _,
                end = in(reg) end,
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                c = out(xmm_reg) _,
                d = out(xmm_reg) _,
                options(nostack),
            );
        }
    }
    end
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_blocks(_: *const u8, _: *mut u8, _: usize) -> usize {
    0
}

/// Copies private bytes to shared ones.
///
/// # Safety
/// `from` is valid for reads of so many bytes, of memory without other writers. `to` is valid for reads and writes of
/// as many, which this process accesses by atomic operations alone.
unsafe fn store(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: as for this function; at most `count` bytes are copied.
    let (from, to, count) = unsafe {
        let copied = copy_blocks(from, to, count);
        (from.add(copied), to.add(copied), count - copied)
    };
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
/// `from` is valid for reads and writes of so many bytes, which this process accesses by atomic operations alone. `to`
/// is valid for writes of as many, of memory without other users.
unsafe fn load(from: *mut u8, to: *mut u8, count: usize) {
    // SAFETY: as for this function; at most `count` bytes are copied.
    let (from, to, count) = unsafe {
        let copied = copy_blocks(from, to, count);
        (from.add(copied), to.add(copied), count - copied)
    };
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

    fn bytes_at(memory: &Memory, ring: RingRegion, position: u32, count: usize) -> Vec<u8> {
        let mut space = vec![MaybeUninit::uninit(); count];
        let mut into = ReadBuf::uninit(&mut space);
        memory.load(ring, position, count, &mut into);
        into.filled().to_vec()
    }

    #[test]
    fn bytes_survive_every_alignment_and_the_wrap_around() {
        let (memory, file) = Memory::create(4096).expect("shared memory should be created");
        let other = Memory::map(&file, 4096).expect("shared memory should be mapped");
        let data: Vec<u8> = (0..=255).collect();
        for ring in [RingRegion::small(End::Server), memory.whole()] {
            for position in (0..24).chain(4096 - 40..4096 + 8).chain([u32::MAX - 9]) {
                for count in (0..40).chain(60..70).chain(120..140).chain([256]) {
                    memory.store(ring, position, &data[..count]);
                    assert_eq!(bytes_at(&other, ring, position, count), &data[..count], "{count} at {position}");
                }
            }
        }
    }

    #[test]
    fn writing_to_a_small_ring_changes_nothing_else_in_the_head() {
        let (memory, _) = Memory::create(HEAD).expect("shared memory should be created");
        memory.store(RingRegion::small(End::Client), 500, &[1; SMALL as usize]);
        memory.store(RingRegion::small(End::Server), u32::MAX - 7, &[2; SMALL as usize]);
        let bytes = bytes_at(&memory, memory.whole(), 0, HEAD as usize);
        let small = SMALL as usize;
        let expected = [vec![0; small], vec![1; small], vec![2; small], vec![0; small]].concat();
        assert!(bytes == expected);
    }

    #[test]
    #[should_panic = "in 4096 bytes"]
    fn a_ring_that_does_not_lie_in_the_memory_is_not_written() {
        let (memory, _) = Memory::create(HEAD).expect("shared memory should be created");
        memory.store(RingRegion { offset: SMALL, size: HEAD }, 0, &[1]);
    }

    #[test]
    fn no_more_is_copied_than_there_is_room_for() {
        let (memory, _) = Memory::create(4096).expect("shared memory should be created");
        let mut space = [0; 10];
        let mut into = ReadBuf::new(&mut space);
        memory.load(memory.whole(), 4090, usize::MAX, &mut into);
        assert_eq!(into.filled().len(), 10);
    }

    #[test]
    fn each_end_has_words_of_its_own() {
        let (memory, file) = Memory::create(4096).expect("shared memory should be created");
        let other = Memory::map(&file, 4096).expect("shared memory should be mapped");
        let words = [Word::Written, Word::Read, Word::Closed, Word::WantsData, Word::WantsRoom, Word::Ring];
        for (number, (end, word)) in
            [End::Client, End::Server].into_iter().flat_map(|end| words.map(|word| (end, word))).enumerate()
        {
            memory.word(end, word).store(number as u32 + 1, Ordering::Relaxed);
        }
        let found =
            [End::Client, End::Server].map(|end| words.map(|word| other.word(end, word).load(Ordering::Relaxed)));
        assert_eq!(found, [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]);
    }

    #[test]
    fn memory_whose_length_can_change_is_not_mapped() {
        let file =
            rustix::fs::memfd_create(c"unsealed", MemfdFlags::ALLOW_SEALING).expect("memory should be available");
        rustix::fs::ftruncate(&file, 4096).expect("it may grow");
        for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
            let error = Memory::map(&file, 4096).expect_err("mapping should be rejected");
            assert!(error.to_string().contains("not sealed"), "{error}, without {missing:?}");
            rustix::fs::fcntl_add_seals(&file, missing).expect("seals may be added until the last");
        }
        Memory::map(&file, 4096).expect("shared memory should be mapped");
    }

    #[test]
    fn memory_of_another_length_and_other_files_are_not_mapped() {
        let (_, file) = Memory::create(4096).expect("shared memory should be created");
        assert!(Memory::map(&file, 8192).expect_err("mapping should be rejected").to_string().contains("length"));
        assert!(Memory::map(&file, 2048).expect_err("mapping should be rejected").to_string().contains("length"));
        assert!(Memory::map(&file, 0).expect_err("mapping should be rejected").to_string().contains("length"));
        let ordinary = tempfile::tempfile().expect("there is room for a file").into();
        Memory::map(&ordinary, 4096).expect_err("mapping should be rejected");
    }
}
