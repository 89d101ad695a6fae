//! Requirements on ring sizes and on the system.

use std::io;

/// Minimum size of a ring buffer in bytes: one page.
pub const RING_MIN: u32 = 4096;

/// Maximum size of a ring buffer in bytes. Two busy ends never have more bytes in flight.
pub const RING_MAX: u32 = 16 * 1024 * 1024;

/// Fails unless `bytes` is a valid size for a ring buffer.
pub(crate) fn check_ring(bytes: u32) -> io::Result<()> {
    if bytes.is_power_of_two() && (RING_MIN..=RING_MAX).contains(&bytes) {
        return Ok(());
    }
    let problem = format!("a ring of {bytes} bytes is not a power of two from {RING_MIN} to {RING_MAX}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// Fails if memory must not be shared, because the system does not overcommit memory or because too many threads are
/// blocked in closing descriptors from peers.
pub(crate) fn check_system() -> io::Result<()> {
    crate::received::CLOSING.check()?;
    let policy = std::fs::read("/proc/sys/vm/overcommit_memory")?;
    if policy.starts_with(b"2") {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "the system does not overcommit memory"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_size_is_bounded_power_of_two() {
        let sizes = [RING_MIN, 65_536, RING_MAX];
        assert!(sizes.into_iter().all(|size| check_ring(size).is_ok()));
        let others = [0, RING_MIN / 2, RING_MIN + 1, 65_535, RING_MAX * 2, u32::MAX];
        assert!(others.into_iter().all(|size| check_ring(size).is_err()));
    }
}
