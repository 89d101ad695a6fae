//! The negotiation of shared memory, and rings whose other end writes any bytes.

/// Bytes of a peer with which memory is shared: a message, and a script of its writes.
pub fn shared_memory(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    frisbee_shm::hostile::script(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
