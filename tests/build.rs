//! Generates the schemas that the tests share.

use frpc_build::Numbering;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Go programs serve some of these schemas. All of them number operations from 10, as Go does.
    for name in ["interop", "vec", "vecopt", "extension", "nesting"] {
        let builder = frpc_build::configure().numbering(Numbering::Go).dyn_traits(true).json(true);
        builder.compile_protos(&[format!("proto/{name}.proto")], &["proto"])?;
    }
    let examples = frpc_build::configure().numbering(Numbering::Go);
    examples.compile_protos(&["../examples/proto/greet.proto"], &["../examples/proto"])?;
    let market = frpc_build::configure().numbering(Numbering::Go).json(true).reflection(true);
    market.compile_protos(&["../examples/proto/exchange.proto"], &["../examples/proto"])?;
    let quickstart = frpc_build::configure().numbering(Numbering::Go);
    quickstart.compile_protos(&["../examples/quickstart/proto/quickstart.proto"], &["../examples/quickstart/proto"])?;
    // Maps are sorted, so that their entries are always written in the same order.
    let json = frpc_build::configure().json(true).btree_map(".");
    let descriptors = Path::new(&env::var("OUT_DIR")?).join("json.bin");
    let json = json.file_descriptor_set_path(descriptors);
    json.compile_protos(&["proto/json.proto"], &["proto"])?;
    let shown = frpc_build::configure().json(true).protobuf(true).reflection(true);
    let shown = shown.numbering(Numbering::Go);
    shown.compile_protos(&["proto/catalog.proto"], &["proto"])?;
    long_schema()?;
    // Generates several versions of one package.
    for version in ["first", "second", "moved", "stranger"] {
        let out = Path::new(&env::var("OUT_DIR")?).join(version);
        fs::create_dir_all(&out)?;
        let folder = format!("proto/versions/{version}");
        let proto = format!("{folder}/versions.proto");
        frpc_build::configure().out_dir(out).compile_protos(&[proto], &[folder])?;
    }
    for version in ["v1", "v2", "v3"] {
        let out = Path::new(&env::var("OUT_DIR")?).join(version);
        fs::create_dir_all(&out)?;
        let folder = format!("../examples/evolve/proto/{version}");
        let builder = frpc_build::configure().message_layouts("shop.Order").out_dir(out);
        builder.compile_protos(&[format!("{folder}/shop.proto")], &[folder])?;
    }
    for (version, schema) in [("old", "shop"), ("new", "shop"), ("interop", "interop")] {
        let out = Path::new(&env::var("OUT_DIR")?).join(version);
        fs::create_dir_all(&out)?;
        let folder = format!("proto/evolution/{version}");
        let proto = format!("{folder}/{schema}.proto");
        let builder = frpc_build::configure().btree_map(".").message_layouts(".");
        builder.out_dir(&out).compile_protos(&[&proto], &[&folder])?;
        let out = out.join("protobuf");
        fs::create_dir_all(&out)?;
        let builder = frpc_build::configure().btree_map(".").codec(frpc_build::Codec::Protobuf);
        builder.out_dir(out).compile_protos(&[proto], &[folder])?;
    }
    // Generates the first schema again, with a method that reads requests in place.
    let out = Path::new(&env::var("OUT_DIR")?).join("viewed");
    fs::create_dir_all(&out)?;
    let folder = "proto/versions/first";
    let viewed = frpc_build::configure().views(true).undecoded_requests("Parrot.Say").out_dir(out);
    viewed.compile_protos(&[format!("{folder}/versions.proto")], &[folder])?;
    Ok(())
}

/// Writes a schema of several hundred kilobytes, which consists mostly of comments.
fn long_schema() -> Result<(), Box<dyn std::error::Error>> {
    let out = env::var("OUT_DIR")?;
    let mut schema = "syntax = \"proto3\";\npackage long;\nservice Long { rpc Call(M0) returns (M0); }\n".to_owned();
    for at in 0..16 {
        schema += &"// A line of a long comment.\n".repeat(700);
        schema += &format!("message M{at} {{}}\n");
    }
    let path = Path::new(&out).join("long.proto");
    fs::write(&path, schema)?;
    let builder = frpc_build::configure().reflection(true).disable_comments(".");
    let builder = builder.numbering(Numbering::Go);
    Ok(builder.emit_rerun_if_changed(false).compile_protos(&[path], &[out])?)
}
