//! Generates the three versions, each into a folder of its own.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for version in ["v1", "v2", "v3"] {
        let out = Path::new(&std::env::var("OUT_DIR")?).join(version);
        std::fs::create_dir_all(&out)?;
        let folder = format!("proto/{version}");
        // Each message carries the fingerprint of its version.
        let builder = frpc_build::configure().message_layouts("shop.Order").out_dir(out);
        builder.compile_protos(&[format!("{folder}/shop.proto")], &[folder])?;
    }
    Ok(())
}
