//! Compiles schemas without `#[allow]` of lints.

use std::error::Error;
use std::path::Path;

/// Schemas with everything that becomes Rust code: comments and none, deprecated items, services.
const SCHEMAS: [&str; 7] = ["collisions", "comments", "interop", "presence", "shop/orders", "vec", "wellknown"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new("../../crates/frpc-build/tests/proto");
    let protos = SCHEMAS.map(|name| folder.join(format!("{name}.proto")));
    let builder = || frpc_build::configure().lint_allows(false).schema_lock(false);
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?).join("views");
    std::fs::create_dir_all(&out)?;
    builder().include_file("all.rs").compile_protos(&protos, &[folder])?;
    builder()
        .out_dir(out)
        .views(true)
        .json(true)
        .protobuf(true)
        .dyn_traits(true)
        .reflection(true)
        .btree_map(".")
        .include_file("all.rs")
        .compile_protos(&protos, &[folder])?;
    Ok(())
}
