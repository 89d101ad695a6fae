//! Compiles the schemas of protobuf's conformance suite, which are not part of this repository. `PROTOBUF_SUITE` names
//! their folder. Without it, the program for the suite is empty.

use std::env;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rustc-check-cfg=cfg(suite)");
    println!("cargo::rerun-if-env-changed=PROTOBUF_SUITE");
    let Some(folder) = env::var_os("PROTOBUF_SUITE").map(PathBuf::from) else { return Ok(()) };
    println!("cargo::rustc-cfg=suite");
    frpc_build::configure()
        .codec(frpc_build::Codec::Protobuf)
        .json(true)
        .include_file("all.rs")
        .compile_protos(&["conformance/conformance.proto", "google/protobuf/test_messages_proto3.proto"], &[folder])?;
    Ok(())
}
