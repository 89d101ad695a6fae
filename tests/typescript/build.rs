//! Generates the services of the test server, in all layouts that the tests use.

use frpc_build::Numbering;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = frpc_build::configure().json(true).reflection(true);
    builder.compile_protos(&["proto/desk.proto", "proto/forms.proto"], &["proto"])?;
    for version in ["first", "second", "moved"] {
        let out = Path::new(&env::var("OUT_DIR")?).join(version);
        fs::create_dir_all(&out)?;
        let folder = format!("../proto/versions/{version}");
        let versions = frpc_build::configure().numbering(Numbering::Go).out_dir(out);
        versions.compile_protos(&[format!("{folder}/versions.proto")], &[folder])?;
    }
    Ok(())
}
