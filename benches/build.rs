//! Generates the services with frpc-build, and tonic's on the same message types.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    const SERDE: &str = "#[derive(::serde::Serialize, ::serde::Deserialize)]";
    frpc_build::configure()
        .type_attribute(".benchmark", SERDE)
        .type_attribute(".mixed", SERDE)
        .bytes([".bulk"])
        .utf8_bytes([".bulk"])
        .json(true)
        // Required by gRPC.
        .protobuf(true)
        // Both ends are always built together.
        // The Go servers number methods this way.
        .numbering(frpc_build::Numbering::Go)
        .compile_protos(
            &["proto/benchmark.proto", "proto/bulk.proto", "proto/flows.proto", "proto/mixed.proto"],
            &["proto"],
        )?;
    let folder = std::path::PathBuf::from(std::env::var("OUT_DIR")?).join("later");
    std::fs::create_dir_all(&folder)?;
    frpc_build::configure().out_dir(folder).compile_protos(&["proto/later/benchmark.proto"], &["proto/later"])?;

    #[cfg(feature = "tonic")]
    {
        let folder = std::path::PathBuf::from(std::env::var("OUT_DIR")?).join("tonic");
        std::fs::create_dir_all(&folder)?;
        tonic_prost_build::configure()
            .out_dir(folder)
            .extern_path(".benchmark", "crate::proto::benchmark")
            .extern_path(".flows", "crate::proto::flows")
            .compile_fds(protox::compile(["proto/benchmark.proto", "proto/flows.proto"], ["proto"])?)?;
    }
    Ok(())
}
