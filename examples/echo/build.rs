//! Generates the service.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(frpc_build::configure().numbering(Numbering::Go).compile_protos(&["../proto/benchmark.proto"], &["../proto"])?)
}
