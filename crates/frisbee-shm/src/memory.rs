//! Shared memory: creation, sealing, verification, mapping and access; also the count of unreceived bytes of a socket.
//! The only module with `unsafe`.
//!
//! Its soundness rests on three rules:
//!
//! * Memory cannot become shorter than its mapping. A file is mapped only if its seals forbid that, so no access can
//!   fault.
//! * All accesses are atomic, both to single words and to data. Concurrent writes of the peer yield stale or mixed
//!   values, but no data race.
//! * No reference to data leaves the module. Bytes are copied in and out, once each. Other modules interpret the bytes
//!   and check indices.
#![allow(unsafe_code)] // Maps memory and accesses it by pointers. Each block states why it is sound.
#![deny(unsafe_op_in_unsafe_fn)]

pub(crate) use crate::words::{End, Word};
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

/// Seals that a shared memory file must have: against changes of its length and against further seals.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// File system type of memory files with regular pages (`TMPFS_MAGIC`). Huge pages are rejected, because the system can
/// run out of them, which kills the process that touches the memory.
const ORDINARY_PAGES: u32 = 0x0102_1994;

/// Size of a connection's initial shared memory: one page with the control words of both ends and a small ring for
/// each. Connections with short messages never touch more memory.
pub(crate) const HEAD: u32 = 4096;

/// Size in bytes of the small ring in a connection's first page, sufficient for several short messages in flight.
pub(crate) const SMALL: u32 = 1024;

/// Distance in bytes between the control words of the two ends: two cache lines, because processors prefetch lines in
/// pairs.
const BLOCK: usize = 128;

const WORD: usize = size_of::<usize>();

/// Mapped shared memory, which is a connection's first page or a separate ring.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    /// Length in bytes, a power of two and a multiple of the page size.
    len: u32,
}

/// Region of shared memory that is used as a ring. Its size is a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingRegion {
    offset: u32,
    size: u32,
}

impl RingRegion {
    /// Returns the small ring of an end, which is in the connection's first page.
    pub(crate) fn small(end: End) -> Self {
        const { assert!(2 * BLOCK <= SMALL as usize && 3 * SMALL <= HEAD) };
        Self { offset: (1 + end as u32) * SMALL, size: SMALL }
    }
}

// SAFETY: the mapping belongs to this value alone and may be used and unmapped by any thread. All accesses are atomic.
unsafe impl Send for Memory {}
// SAFETY: all accesses are atomic, so several threads may access the memory at the same time.
unsafe impl Sync for Memory {}

impl Memory {
    /// Creates shared memory of this length, a power of two and a multiple of the page size. Also returns the file that
    /// another process can map it with.
    pub(crate) fn create(len: u32) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match rustix::fs::memfd_create(c"frisbee-shm", flags | MemfdFlags::NOEXEC_SEAL) {
            // Linux before 6.3 does not support NOEXEC_SEAL.
            Err(Errno::INVAL) => rustix::fs::memfd_create(c"frisbee-shm", flags)?,
            made => made?,
        };
        rustix::fs::ftruncate(&file, len.into())?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Ok((Self::map(&file, len)?, file))
    }

    /// Maps shared memory created by the peer, after verifying that its length cannot change.
    pub(crate) fn map(file: &OwnedFd, len: u32) -> io::Result<Self> {
        // Check the seals first, because only a memfd has them. On another file, the following calls could block in a
        // file system that the peer controls, such as FUSE.
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
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced. The mapping is backed by pages of
        // the file for its whole lifetime, because the seals were verified and cannot be removed.
        let start =
            unsafe { rustix::mm::mmap(null_mut(), len as usize, protection, MapFlags::SHARED, file.as_fd(), 0)? };
        let start = NonNull::new(start.cast()).ok_or_else(|| unfit("it was mapped at zero"))?;
        Ok(Self { start, len })
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns a ring region that covers the whole memory.
    pub(crate) fn whole(&self) -> RingRegion {
        RingRegion { offset: 0, size: self.len }
    }

    pub(crate) fn word(&self, end: End, word: Word) -> &AtomicU32 {
        let address = end as usize * BLOCK + word as usize * size_of::<u32>();
        const { assert!((Word::Ring as usize + 1) * size_of::<u32>() <= BLOCK && 2 * BLOCK <= HEAD as usize) };
        // SAFETY: the address is within the first page, as asserted for the last word, and all memory has at least a
        // page. It is aligned because the mapping starts at a page boundary. The mapping lives as long as the
        // reference, and this process accesses it only by atomic operations.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(address).cast()) }
    }

    /// Copies bytes into a ring, starting at a position. There must be at most as many bytes as the size of the ring.
    /// The caller makes sure that the peer is not reading them; a peer that does so reads stale or mixed bytes.
    pub(crate) fn store(&self, ring: RingRegion, position: u32, from: &[u8]) {
        assert!(from.len() <= ring.size as usize, "{} bytes do not fit in a ring of {}", from.len(), ring.size);
        let (start, address, first) = self.address(ring, position, from.len());
        let (before, behind) = from.split_at(first);
        // SAFETY: `address` guarantees `first` bytes within the ring. The rest is not longer than the part of the ring
        // before them.
        unsafe {
            store(before.as_ptr(), address.as_ptr(), before.len());
            store(behind.as_ptr(), start.as_ptr(), behind.len());
        }
    }

    /// Copies `count` bytes out of a ring, starting at a position. Copies fewer if `into` has less space.
    pub(crate) fn load(&self, ring: RingRegion, position: u32, count: usize, into: &mut ReadBuf<'_>) {
        let count = count.min(into.remaining()).min(ring.size as usize);
        let (start, address, first) = self.address(ring, position, count);
        // SAFETY: only initialized bytes are written to it.
        let target = unsafe { into.unfilled_mut() }.as_mut_ptr().cast::<u8>();
        // SAFETY: `address` guarantees `first` bytes within the ring. The rest is not longer than the part of the ring
        // before them. The target has space for `count` bytes and is mutably borrowed memory of this process.
        unsafe {
            load(address.as_ptr(), target, first);
            load(start.as_ptr(), target.add(first), count - first);
        }
        // SAFETY: the first `count` bytes were written above.
        unsafe { into.assume_init(count) };
        into.advance(count);
    }

    /// Returns the address of a ring, the address of a position in it, and how many of `count` bytes fit before the
    /// ring wraps. `count` is at most the size of the ring.
    fn address(&self, ring: RingRegion, position: u32, count: usize) -> (NonNull<u8>, NonNull<u8>, usize) {
        assert!(u64::from(ring.offset) + u64::from(ring.size) <= u64::from(self.len), "{ring:?} in {} bytes", self.len);
        let offset = (position & (ring.size - 1)) as usize;
        // SAFETY: the whole ring is within the mapping, as asserted, and the offset is less than the size of the ring.
        let (start, address) = unsafe {
            let start = self.start.add(ring.offset as usize);
            (start, start.add(offset))
        };
        (start, address, count.min(ring.size as usize - offset))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and nothing borrows it any longer. munmap can only fail for
        // other arguments.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast::<c_void>(), self.len as usize) };
    }
}

/// Returns the number of bytes sent on a socket that the peer has not received. The kernel's count includes its own
/// overhead.
pub(crate) fn unread(socket: impl AsFd) -> io::Result<u32> {
    /// The ioctl `SIOCOUTQ`, which equals `TIOCOUTQ` for sockets.
    const UNREAD: rustix::ioctl::Opcode = 0x5411;
    // SAFETY: the operation writes one `int`, for sockets as well as for terminals.
    let count = unsafe {
        let operation = rustix::ioctl::Getter::<UNREAD, std::ffi::c_int>::new();
        rustix::ioctl::ioctl(socket, operation)?
    };
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

fn unfit(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unsuitable shared memory of the peer: {why}"))
}

/// Copies whole blocks of 64 bytes and returns the number of copied bytes.
///
/// Written in assembly because atomic accesses wider than a word do not exist in Rust. To the compiler, assembly
/// accesses are equivalent to accesses by another process. Long messages take a sixth less time.
///
/// # Safety
/// Like [`store`] or [`load`], depending on which side is shared.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_blocks(from: *const u8, to: *mut u8, count: usize) -> usize {
    let end = count / 64 * 64;
    if end > 0 {
        // SAFETY: it reads and writes `end` bytes, which is at most `count`, in loads and stores of 16 bytes, which all
        // processors of this architecture support. It modifies only the named registers and the flags.
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

/// Copies private bytes to shared memory.
///
/// # Safety
/// `from` must be valid for reads of `count` bytes and have no concurrent writers. `to` must be valid for reads and
/// writes of `count` bytes that this process accesses only by atomic operations.
unsafe fn store(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: guaranteed by the caller; at most `count` bytes are copied.
    let (from, to, count) = unsafe {
        let copied = copy_blocks(from, to, count);
        (from.add(copied), to.add(copied), count - copied)
    };
    let lead = to.align_offset(WORD).min(count);
    let words_end = lead + (count - lead) / WORD * WORD;
    let mut at = 0;
    // SAFETY: `at` stays below `count`, and whole words end at or below `count`. `to` is aligned to words in their
    // loop.
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

/// Copies bytes from shared memory to private memory.
///
/// # Safety
/// `from` must be valid for reads and writes of `count` bytes that this process accesses only by atomic operations.
/// `to` must be valid for writes of `count` bytes and have no other users.
unsafe fn load(from: *mut u8, to: *mut u8, count: usize) {
    // SAFETY: guaranteed by the caller; at most `count` bytes are copied.
    let (from, to, count) = unsafe {
        let copied = copy_blocks(from, to, count);
        (from.add(copied), to.add(copied), count - copied)
    };
    let lead = from.align_offset(WORD).min(count);
    let words_end = lead + (count - lead) / WORD * WORD;
    let mut at = 0;
    // SAFETY: `at` stays below `count`, and whole words end at or below `count`. `from` is aligned to words in their
    // loop.
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
    fn bytes_survive_alignment_and_wraparound() {
        let (memory, file) = Memory::create(4096).expect("shared memory should be created");
        let other = Memory::map(&file, 4096).expect("shared memory should be mapped");
        let data: Vec<u8> = (0..=255).collect();
        for ring in [RingRegion::small(End::Server), memory.whole()] {
            for position in (0..24).chain(4096 - 40..4096 + 8).chain([u32::MAX - 9]) {
                for count in (0..40).chain(60..70).chain(120..140).chain([256]) {
                    memory.store(ring, position, &data[..count]);
                    assert_eq!(
                        bytes_at(&other, ring, position, count),
                        &data[..count],
                        "{count} bytes at {position} should be as written"
                    );
                }
            }
        }
    }

    #[test]
    fn small_ring_write_stays_within_ring() {
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
    fn write_outside_memory_panics() {
        let (memory, _) = Memory::create(HEAD).expect("shared memory should be created");
        memory.store(RingRegion { offset: SMALL, size: HEAD }, 0, &[1]);
    }

    #[test]
    fn load_never_exceeds_buffer_space() {
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
    fn unsealed_memory_is_not_mapped() {
        let file =
            rustix::fs::memfd_create(c"unsealed", MemfdFlags::ALLOW_SEALING).expect("memory file should be created");
        rustix::fs::ftruncate(&file, 4096).expect("memory without seals should be resizable");
        for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
            let error = Memory::map(&file, 4096).expect_err("unsealed memory should not be mapped");
            assert!(
                error.to_string().contains("not sealed"),
                "error {error} should report the missing seal {missing:?}"
            );
            rustix::fs::fcntl_add_seals(&file, missing).expect("seal should be added");
        }
        Memory::map(&file, 4096).expect("sealed memory should be mapped");
    }

    #[test]
    fn mismatched_length_or_file_is_not_mapped() {
        let (_, file) = Memory::create(4096).expect("shared memory should be created");
        assert!(
            Memory::map(&file, 8192)
                .expect_err("memory whose length differs from the announced one should not be mapped")
                .to_string()
                .contains("length")
        );
        assert!(
            Memory::map(&file, 2048)
                .expect_err("memory whose length differs from the announced one should not be mapped")
                .to_string()
                .contains("length")
        );
        assert!(
            Memory::map(&file, 0)
                .expect_err("memory whose length differs from the announced one should not be mapped")
                .to_string()
                .contains("length")
        );
        let ordinary = tempfile::tempfile().expect("temporary file should be created").into();
        Memory::map(&ordinary, 4096).expect_err("regular file should not be mapped as shared memory");
    }
}
