//! Generates the service and its client.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(frpc_build::compile_protos("proto/quickstart.proto")?)
}
