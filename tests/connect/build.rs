//! Compiles the schema of gRPC's interop cases, and the schemas of Connect's conformance suite. The latter are not part
//! of this repository: `CONNECT_SUITE` names their folder. Without this variable, the program for the suite is empty.

use std::env;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::configure().protobuf(true).compile_protos(&["grpc_testing.proto"], &["."])?;
    println!("cargo::rustc-check-cfg=cfg(suite)");
    println!("cargo::rerun-if-env-changed=CONNECT_SUITE");
    let Some(folder) = env::var_os("CONNECT_SUITE").map(PathBuf::from) else { return Ok(()) };
    println!("cargo::rustc-cfg=suite");
    let package = "connectrpc/conformance/v1";
    frpc_build::configure()
        .json(true)
        .protobuf(true)
        .build_client(false)
        .enable_type_names()
        .file_descriptor_set_path(PathBuf::from(env::var("OUT_DIR")?).join("suite.bin"))
        .compile_protos(&["service.proto", "server_compat.proto"].map(|file| format!("{package}/{file}")), &[folder])?;
    Ok(())
}
