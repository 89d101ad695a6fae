//! Generates the services of the examples.

use frpc_build::Numbering;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each example has a server of its own, so their operations may be the same.
    let separate = || frpc_build::configure().numbering(Numbering::Go);
    separate().compile_protos(&["quickstart/proto/quickstart.proto"], &["quickstart/proto"])?;
    for name in ["agents", "metrics", "gateway", "replicated"] {
        separate().compile_protos(&[format!("proto/{name}.proto")], &["proto"])?;
    }
    separate().json(true).compile_protos(&["proto/benchmark.proto"], &["proto"])?;
    separate().json(true).reflection(true).compile_protos(&["proto/exchange.proto"], &["proto"])?;
    for name in ["greet", "model"] {
        let builder = separate().json(true).protobuf(true).reflection(true);
        builder.compile_protos(&[format!("proto/{name}.proto")], &["proto"])?;
    }
    separate().compile_protos(&["proto/greeter.proto"], &["proto"])?;
    Ok(())
}
