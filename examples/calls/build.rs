//! Generates the services.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each program has a server of its own, so operations may be the same.
    let separate = || frpc_build::configure().numbering(Numbering::Go);
    separate().compile_protos(&["../quickstart/proto/quickstart.proto"], &["../quickstart/proto"])?;
    separate().compile_protos(&["../proto/agents.proto"], &["../proto"])?;
    Ok(separate().compile_protos(&["../proto/metrics.proto"], &["../proto"])?)
}
