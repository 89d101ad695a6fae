//! Fuzz target of shared memory: its negotiation, and rings to which a hostile peer writes arbitrary bytes.

/// Executes a script of a hostile peer that shares memory: it sends a message and then writes arbitrary bytes.
pub fn shared_memory(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    frisbee_shm::hostile::script(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
