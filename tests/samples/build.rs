//! Generates the services. Most schemas are those of the examples.

use frpc_build::{Builder, Numbering};
use std::path::Path;

/// Each service has its own server, so their operations may overlap.
fn separate() -> Builder {
    frpc_build::configure().numbering(Numbering::Go)
}

fn compile(builder: Builder, proto: &str) -> Result<(), frpc_build::Error> {
    let folder = Path::new(proto).parent().unwrap_or(Path::new("."));
    builder.compile_protos(&[proto], &[folder])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    compile(separate().protobuf(true), "proto/greeter.proto")?;
    compile(separate().json(true), "proto/tools.proto")?;
    compile(separate().protobuf(true), "../../examples/quickstart/proto/quickstart.proto")?;
    for name in ["agents", "gateway"] {
        compile(separate(), &format!("../../examples/proto/{name}.proto"))?;
    }
    compile(separate().json(true), "../../examples/proto/benchmark.proto")?;
    for name in ["greet", "model"] {
        let builder = separate().json(true).protobuf(true).reflection(true);
        compile(builder, &format!("../../examples/proto/{name}.proto"))?;
    }
    Ok(())
}
