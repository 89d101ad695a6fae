//! Generates the three versions, each into a folder of its own.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for version in ["v1", "v2", "v3"] {
        let out = Path::new(&std::env::var("OUT_DIR")?).join(version);
        std::fs::create_dir_all(&out)?;
        let folder = format!("proto/{version}");
        frpc_build::configure().out_dir(out).compile_protos(&[format!("{folder}/shop.proto")], &[folder])?;
    }
    Ok(())
}
