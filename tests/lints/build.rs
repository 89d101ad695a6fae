//! Compiles schemas into code without `#[allow]` attributes for lints.

use std::error::Error;
use std::path::Path;

/// All golden schemas. They contain items with and without comments, deprecated items, services, oneofs, maps and
/// enums.
const SCHEMAS: [&str; 15] = [
    "collisions",
    "comments",
    "containers",
    "hostile",
    "interop",
    "keywords",
    "only_service",
    "presence",
    "redacted",
    "rootless",
    "shapes",
    "shop/orders",
    "vec",
    "vecopt",
    "wellknown",
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new("../../crates/frpc-build/tests/proto");
    let protos = SCHEMAS.map(|name| folder.join(format!("{name}.proto")));
    let builder = || frpc_build::configure().lint_allows(false);
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
