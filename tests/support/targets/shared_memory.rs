//! A fuzz target for shared memory: for the negotiation, and for rings to which a hostile peer writes arbitrary bytes.

/// Runs a script of a hostile peer. The peer sends a message to negotiate shared memory, and then writes arbitrary
/// bytes to it.
pub fn shared_memory(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    frisbee_shm::hostile::script(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
