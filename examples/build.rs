//! Generates the services of the examples.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::compile_protos("proto/quickstart.proto")?;
    frpc_build::compile_protos("proto/benchmark.proto")?;
    Ok(())
}
