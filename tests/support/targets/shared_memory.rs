//! Fuzz target of shared memory: its negotiation, and rings to which a hostile peer writes arbitrary bytes.

/// A peer that shares memory sends a message and then executes a script of writes.
pub fn shared_memory(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    frisbee_shm::hostile::script(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
