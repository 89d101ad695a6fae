//! Generates the services.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["greet", "model"] {
        let builder = frpc_build::configure().numbering(Numbering::Go).json(true).protobuf(true).reflection(true);
        builder.compile_protos(&[format!("../proto/{name}.proto")], &["../proto"])?;
    }
    Ok(())
}
