//! Generates the service and its client.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(frpc_build::configure().compile_protos(&["proto/kill_soak.proto"], &["proto"])?)
}
