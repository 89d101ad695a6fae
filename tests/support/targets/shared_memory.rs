//! The agreement on shared memory, and rings whose other end writes whatever it likes.

/// Bytes of a peer with which memory is shared: a message, and a script of what it writes.
pub fn shared_memory(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    frisbee_shm::hostile::script(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
