//! Generates the schemas that the tests share.

use frpc_build::Numbering;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Some are served by Go, and all count from 10 as it does.
    for name in ["interop", "vec", "vecopt", "extension", "nesting"] {
        let builder = frpc_build::configure().numbering(Numbering::Go).dyn_traits(true).json(true);
        builder.compile_protos(&[format!("proto/{name}.proto")], &["proto"])?;
    }
    // No peer knows this one, so that there is nothing to lock. Entries of maps are always written in the same order.
    let json = frpc_build::configure().json(true).btree_map(".").schema_lock(false);
    json.compile_protos(&["proto/json.proto"], &["proto"])?;
    // One package in several versions.
    for version in ["first", "second", "broken", "stranger"] {
        let out = Path::new(&env::var("OUT_DIR")?).join(version);
        fs::create_dir_all(&out)?;
        let folder = format!("proto/versions/{version}");
        let proto = format!("{folder}/versions.proto");
        frpc_build::configure().out_dir(out).compile_protos(&[proto], &[folder])?;
    }
    // The first once more, with a method whose handler looks at requests where they lie.
    let out = Path::new(&env::var("OUT_DIR")?).join("viewed");
    fs::create_dir_all(&out)?;
    let folder = "proto/versions/first";
    let viewed = frpc_build::configure().views(true).undecoded_requests("Parrot.Say").out_dir(out);
    viewed.compile_protos(&[format!("{folder}/versions.proto")], &[folder])?;
    Ok(())
}
