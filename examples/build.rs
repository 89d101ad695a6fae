//! Generates the services of the examples.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::compile_protos("proto/quickstart.proto")?;
    frpc_build::compile_protos("proto/benchmark.proto")?;
    frpc_build::compile_protos("proto/agents.proto")?;
    frpc_build::compile_protos("proto/metrics.proto")?;
    let two = frpc_build::configure().grpc(cfg!(feature = "grpc"));
    two.compile_protos(&["proto/greeter.proto"], &["proto"])?;
    Ok(())
}
