//! Generates the services.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let separate = || frpc_build::configure().numbering(Numbering::Go);
    separate().compile_protos(&["../quickstart/proto/quickstart.proto"], &["../quickstart/proto"])?;
    Ok(separate().json(true).compile_protos(&["../proto/benchmark.proto"], &["../proto"])?)
}
