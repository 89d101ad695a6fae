//! Golden files: the code generated for the schemas in `proto/` is in `golden/` and is read in reviews. Each package is
//! a single file.
//!
//! `UPDATE_GOLDEN=1 cargo test -p frpc-build golden` rewrites the files; read the difference before you commit.

use frpc_build::{Builder, Codec, Numbering};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Generates `protos` and compares every file of the output with the golden file of the same name.
#[track_caller]
fn check(protos: &[&str], expected: &[&str]) {
    check_with(protos, expected, "", |builder| builder);
}

/// Like [`check`], but with options. The golden files are in `folder`.
#[track_caller]
fn check_with(protos: &[&str], expected: &[&str], folder: &str, configure: impl FnOnce(Builder) -> Builder) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let out = tempfile::tempdir().unwrap();
    let protos: Vec<PathBuf> = protos.iter().map(|name| tests.join("proto").join(name)).collect();
    configure(frpc_build::configure().out_dir(out.path()).emit_rerun_if_changed(false))
        .compile_protos(&protos, &[tests.join("proto")])
        .unwrap();

    let mut written: Vec<String> =
        fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, expected);
    for name in written {
        let text = fs::read_to_string(out.path().join(&name)).unwrap();
        let golden = tests.join("golden").join(folder).join(&name);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(golden, text).unwrap();
            continue;
        }
        let before = fs::read_to_string(&golden).unwrap_or_default().replace("\r\n", "\n");
        let line = before.lines().zip(text.lines()).take_while(|(before, now)| before == now).count();
        assert!(
            before == text,
            "{}:{}: the output is different\n golden: {:?}\n    now: {:?}\nUPDATE_GOLDEN=1 accepts it",
            golden.display(),
            line + 1,
            before.lines().nth(line),
            text.lines().nth(line),
        );
    }
}

#[test]
fn interop_schema() {
    check(&["interop.proto"], &["interop.rs"]);
}

#[test]
fn vector_schemas() {
    check_with(&["vec.proto", "vecopt.proto"], &["vec.rs", "vecopt.rs"], "", |builder| {
        builder.numbering(Numbering::Go)
    });
}

#[test]
fn every_shape_of_field_and_method() {
    check(&["shapes.proto"], &["shapes.rs"]);
}

#[test]
fn optional_fields_and_oneofs() {
    check(&["presence.proto"], &["presence.rs"]);
}

#[test]
fn names_that_collide() {
    check(&["collisions.proto"], &["collisions.rs"]);
}

#[test]
fn comments_become_harmless_rustdoc() {
    check(&["comments.proto"], &["comments.rs"]);
}

#[test]
fn several_files_and_packages() {
    check_with(&["shop/orders.proto"], &["money.rs", "shop.orders.v1.rs", "shop.rs"], "", |builder| {
        builder.message_layouts("money.Amount")
    });
}

#[test]
fn file_without_package_matches_golden_output() {
    check(&["rootless.proto"], &["_.rs"]);
}

#[test]
fn well_known_types_survive() {
    check(&["wellknown.proto"], &["wellknown.rs"]);
}

#[test]
fn views() {
    check_with(&["presence.proto"], &["presence.rs"], "views", |builder| builder.views(true));
}

#[test]
fn redacted_fields_are_hidden_in_debug() {
    check_with(&["redacted.proto"], &["redacted.rs"], "", |builder| builder.views(true));
}

#[test]
fn methods_offered_to_agents_are_marked() {
    check(&["tools.proto"], &["tools.rs"]);
}

#[test]
fn json_mapping_matches_golden_output() {
    check_with(&["presence.proto"], &["presence.rs"], "json", |builder| builder.json(true));
}

#[test]
fn messages_survive_with_protobuf_as_codec() {
    check_with(&["presence.proto", "containers.proto"], &["containers.rs", "presence.rs"], "protobuf", |builder| {
        builder.codec(Codec::Protobuf)
    });
}
