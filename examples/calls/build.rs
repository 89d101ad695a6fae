//! Generates the services.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each program has its own server, so operations may overlap.
    let separate = || frpc_build::configure().numbering(Numbering::Go);
    separate().compile_protos(&["../quickstart/proto/quickstart.proto"], &["../quickstart/proto"])?;
    separate().compile_protos(&["../proto/agents.proto"], &["../proto"])?;
    Ok(separate().compile_protos(&["../proto/metrics.proto"], &["../proto"])?)
}
