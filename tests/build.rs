//! Generates the schemas that the tests share.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for proto in ["proto/interop.proto", "proto/vec.proto", "proto/vecopt.proto", "proto/extension.proto"] {
        frpc_build::compile_protos(proto)?;
    }
    Ok(())
}
