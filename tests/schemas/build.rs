//! Compiles all schemas. Some of them are compiled several times, with different options.

use frpc_build::Codec;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// All schemas in `proto/`, compiled as one crate with default options.
const SCHEMAS: [&str; 14] = [
    "again",
    "enums",
    "imports",
    "maps",
    "names",
    "nested",
    "peers",
    "recursive",
    "redacted",
    "reports",
    "scalars",
    "services",
    "wellknown",
    "forward",
];

/// Schemas whose generated code is committed.
const GOLDEN: [&str; 12] = [
    "collisions",
    "comments",
    "hostile",
    "interop",
    "keywords",
    "presence",
    "rootless",
    "shapes",
    "shop/orders",
    "vec",
    "vecopt",
    "wellknown",
];

fn main() -> Result<(), Box<dyn Error>> {
    let protos = SCHEMAS.map(|name| format!("proto/{name}.proto"));
    frpc_build::configure().out_dir(folder("default")?).include_file("all.rs").compile_protos(&protos, &["proto"])?;
    frpc_build::configure()
        .out_dir(folder("compiled")?)
        .compile_well_known_types(true)
        .utf8_bytes(".")
        .bytes(".")
        .boxed(".")
        .json(true)
        .protobuf(true)
        .include_file("all.rs")
        .compile_protos(&["proto/wellknown.proto"], &["proto"])?;
    frpc_build::configure()
        .out_dir(folder("protobuf")?)
        .codec(Codec::Protobuf)
        .json(true)
        .protobuf(true)
        .include_file("all.rs")
        .compile_protos(&protos, &["proto"])?;
    frpc_build::configure()
        .out_dir(folder("views")?)
        .views(true)
        .json(true)
        .protobuf(true)
        .btree_map(".")
        .utf8_bytes(".")
        .undecoded_requests(".services.First")
        .dyn_traits(true)
        .include_file("all.rs")
        .compile_protos(&protos, &["proto"])?;
    frpc_build::configure()
        .out_dir(folder("options")?)
        .bytes(".options.Chunk")
        .utf8_bytes(["Page.single", "Page.maybe", "Page.many", "Page.named", "Page.left", "Zeros.text"])
        .btree_map("Zeros.nested")
        .btree_map("Holder.parts")
        .boxed(["Holder.part", "Holder.wrapped", "Holder.at", "Holder.choice.boxed_part", "Holder.choice.boxed_number"])
        .boxed(["Zeros.boxed_wrapper"])
        .type_attribute(".options.Part", "#[derive(PartialOrd, Ord)]")
        .field_attribute("Holder.levels", "#[allow(unused)]")
        .trait_attribute("Chunks", "#[doc = \"Turns.\"]")
        .extern_path(".base", "crate::views::base")
        .enable_type_names()
        .views(true)
        .json(true)
        .protobuf(true)
        .compile_protos(&["proto/options.proto"], &["proto"])?;
    frpc_build::configure()
        .out_dir(folder("enclosed")?)
        .codec(Codec::Protobuf)
        .json(true)
        .protobuf(true)
        .bytes(".options.Chunk")
        .utf8_bytes(["Page.single", "Page.maybe", "Page.many", "Page.named", "Page.left"])
        .btree_map("Holder.parts")
        .boxed(["Holder.part", "Holder.wrapped", "Holder.at", "Holder.choice.boxed_part", "Holder.choice.boxed_number"])
        .extern_path(".base", "crate::protobuf::base")
        .compile_protos(&["proto/options.proto"], &["proto"])?;
    // The services of the code that the console copies.
    let desk = Path::new("../typescript/proto");
    frpc_build::configure()
        .out_dir(folder("copied")?)
        .json(true)
        .reflection(true)
        .compile_protos(&[desk.join("desk.proto"), desk.join("forms.proto")], &[desk])?;
    let golden = Path::new("../../crates/frpc-build/tests/proto");
    let protos = GOLDEN.map(|name| golden.join(format!("{name}.proto")));
    // Map entries are sorted, because the vectors contain them in this order.
    frpc_build::configure()
        .out_dir(folder("golden")?)
        .btree_map(".")
        .include_file("all.rs")
        .compile_protos(&protos, &[golden])?;
    compile_single_types()
}

/// Writes and compiles a schema in which every field type is the only one in a message and in a oneof. The derived
/// traits of a message depend on all of its fields, so a second field could hide a missing trait.
fn compile_single_types() -> Result<(), Box<dyn Error>> {
    const SCALARS: [&str; 15] = [
        "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
        "sfixed64", "bool", "string", "bytes",
    ];
    const WELL_KNOWN: [&str; 10] = [
        "Any",
        "Duration",
        "Empty",
        "FieldMask",
        "ListValue",
        "SourceContext",
        "Struct",
        "Timestamp",
        "Value",
        "NullValue",
    ];
    const WRAPPERS: [&str; 9] = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];

    let well_known = WELL_KNOWN.map(|name| format!("google.protobuf.{name}"));
    let wrappers = WRAPPERS.map(|name| format!("google.protobuf.{name}Value"));
    let own = ["frpc.Tensor", "frpc.Image", "Kind", "Part"];
    let types = SCALARS.into_iter().chain(own).map(str::to_owned).chain(well_known).chain(wrappers);
    let files = ["any", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "wrappers"];
    let imports = files.map(|name| format!("import \"google/protobuf/{name}.proto\";"));
    let mut schema = format!(
        "syntax = \"proto3\"; package single; import \"frpc/tensor.proto\"; {}
         enum Kind {{ NONE = 0; SOME = 1; }} message Part {{ uint32 number = 1; }}",
        imports.join(" ")
    );
    for (at, name) in types.enumerate() {
        schema += &format!(
            "message Field{at} {{ {name} value = 1; }} message Member{at} {{ oneof choice {{ {name} value = 1; }} }}
             message Values{at} {{ map<string, {name}> values = 1; }} message Outer{at} {{ Field{at} field = 1; }}"
        );
    }
    let source = folder("single_source")?;
    fs::write(source.join("single.proto"), schema)?;
    frpc_build::configure()
        .out_dir(folder("single")?)
        .views(true)
        .json(true)
        .protobuf(true)
        // This script writes the file, so the file is newer than the start of the script. If cargo watched it, each
        // cargo command would run the script again.
        .emit_rerun_if_changed(false)
        .compile_protos(&[source.join("single.proto")], &[source])?;
    Ok(())
}

/// Returns a folder with this name in cargo's output folder.
fn folder(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = PathBuf::from(env::var("OUT_DIR")?).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
