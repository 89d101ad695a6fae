//! The files of the schema lock: their places, when they are read and written, and cargo's instructions.

#[allow(dead_code)]
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::shop::Shop;
use crate::support::{Build, files_in};
use frpc_build::{Codec, ErrorKind, LockUpdate, Numbering};
use prost_types::FileDescriptorSet;

/// Set in the process that a test starts to capture a build's output for cargo.
const FOLDER: &str = "FRPC_BUILD_TEST_FOLDER";

/// The folder of that process's locks, if not that of the schema.
const LOCKS: &str = "FRPC_BUILD_TEST_LOCKS";

/// Not a test by itself: the body of the tests below, run in a process with a separate environment.
#[test]
fn build_in_a_process_of_its_own() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let mut builder = frpc_build::configure().out_dir(folder.join("out"));
    if let Some(locks) = env::var_os(LOCKS) {
        builder = builder.lock_dir(locks);
    }
    let result = builder.compile_protos(&[folder.join("shop.proto")], &[folder]);
    if let Err(error) = result {
        println!("error: {error}");
    }
}

/// Builds `shop.proto` with `FRPC_UPDATE_LOCK` set to `update`, and returns the output without folders.
fn printed(shop: &Shop, update: Option<&str>) -> Vec<String> {
    printed_with(shop, update, None)
}

/// The same with all locks in a folder.
fn printed_with(shop: &Shop, update: Option<&str>, locks: Option<&Path>) -> Vec<String> {
    let folder = shop.0.protos.path();
    fs::create_dir_all(folder.join("out")).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "lock_files::build_in_a_process_of_its_own", "--nocapture"]);
    command.env(FOLDER, folder).env_remove("FRPC_UPDATE_LOCK").envs(update.map(|value| ("FRPC_UPDATE_LOCK", value)));
    command.envs(locks.map(|locks| (LOCKS, locks)));
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap().replace(&format!("{}/", folder.display()), "");
    text.lines().filter(|line| line.contains("cargo:") || line.contains("error: ")).map(str::to_owned).collect()
}

fn warnings(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.split_once("cargo:warning=").map(|(_, text)| text)).collect()
}

#[test]
fn the_lock_is_text_for_a_review() {
    let expected = "\
# The wire layout of this package, written by frpc-build. Commit this file together with the schema.
# A build with FRPC_UPDATE_LOCK=1 in its environment records changes of the schema that are safe.
frpc-lock 1

file shop.proto

service shop.Orders
  10 Get shop.GetRequest -> shop.Item
  11 Put shop.Item -> shop.GetRequest

service shop.Stock
  12 Watch shop.Filter -> stream shop.Item

message shop.Filter
  oneof by 1 string name = 1
  oneof by 2 enum shop.Color color = 2
  optional i32 least = 3

message shop.GetRequest
  string id = 1
  i32 limit = 2

message shop.Item
  string name = 1
  enum shop.Color color = 2
  repeated string tags = 3
  message shop.Part part = 4

message shop.Part
  i64 weight = 1
  f64 size = 2

enum shop.Color
  0 RED = 0
  1 GREEN = 5
  2 BLUE = 2
";
    assert_eq!(Shop::locked().lock(), expected);
}

/// The first block of this language in docs/schema-lock.md.
fn documented(language: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema-lock.md");
    let text = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let (_, block) = text.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_lock_in_the_documentation_is_that_of_the_schema_there() {
    let schema = documented("proto");
    let build = Build::of_files(&[("shop.proto", &schema.replace("  string more = 3;\n", ""))]);
    let record = || build.run(|builder| builder.lock_update(LockUpdate::Safe), &["shop.proto"]);
    record().unwrap();
    fs::write(build.protos.path().join("shop.proto"), &schema).unwrap();
    record().unwrap();
    assert_eq!(fs::read_to_string(build.protos.path().join("shop.frpc.lock")).unwrap(), documented("text"));
}

#[test]
fn missing_lock_gives_one_warning_with_remedy_and_no_file() {
    let shop = Shop::unlocked();
    let lines = printed(&shop, None);
    assert_eq!(
        warnings(&lines),
        ["shop.frpc.lock does not exist yet, so changes of the schema that break older peers go unnoticed; \
          `FRPC_UPDATE_LOCK=1 cargo build` creates it, to be committed with the schema"]
    );
    assert!(!shop.path().exists());
}

#[test]
fn missing_locks_of_several_files_warn_of_dependence() {
    let build = Build::of_files(&[("a/a.proto", A), ("b/b.proto", &B.replace("both", "second"))]);
    let set = protox::compile(["a/a.proto", "b/b.proto"], [build.protos.path()]).unwrap();
    let locks = build.around.path();
    let output = frpc_build::configure().lock_dir(locks).generate(set, &["a/a.proto", "b/b.proto"]).unwrap();
    let expected = format!(
        "these locks do not exist yet: {0}/both.frpc.lock, {0}/second.frpc.lock, so changes of the schema that break older \
         peers go unnoticed, and operations depend on which files are built together; another run with \
         `FRPC_UPDATE_LOCK=1` in its environment creates them, to be committed with the schema",
        locks.display()
    );
    assert_eq!(output.warnings, [expected]);
}

#[test]
fn a_lock_that_comes_later_runs_the_build_again() {
    let shop = Shop::unlocked();
    let lines = printed(&shop, None);
    // A file that does not exist would make cargo run the build script every time.
    assert!(!lines.iter().any(|line| line.contains("rerun-if-changed") && line.contains("frpc.lock")), "{lines:?}");
    let folder = format!("cargo:rerun-if-changed={}", shop.0.protos.path().display());
    assert!(lines.contains(&folder), "{lines:?}");
    // That of a package holds what cargo writes.
    fs::write(shop.0.protos.path().join("Cargo.toml"), "").unwrap();
    assert!(!printed(&shop, None).contains(&folder));
}

#[test]
fn missing_lock_folder_does_not_rerun_every_build() {
    let shop = Shop::unlocked();
    let locks = shop.0.protos.path().join("locks");
    let reruns =
        || printed_with(&shop, None, Some(&locks)).into_iter().filter(|line| line.contains("rerun-if-changed"));
    assert!(reruns().all(|line| !line.contains("locks")), "{:?}", reruns().collect::<Vec<_>>());
    fs::create_dir(&locks).unwrap();
    assert!(reruns().any(|line| line.ends_with("locks")), "{:?}", reruns().collect::<Vec<_>>());
}

#[test]
fn recording_an_appended_field_warns_about_go_peers() {
    let shop = Shop::locked();
    shop.edit(&[("int32 limit = 2;", "int32 limit = 2;\n  bool more = 3;")]);
    let lines = printed(&shop, Some("1"));
    let expected = "shop.frpc.lock records appended fields. Go peers that send a message with an appended field have \
                    to be rebuilt first: frpc peers refuse what they send without it";
    assert_eq!(warnings(&lines), [expected, "wrote shop.frpc.lock, to be committed with the schema"]);
    assert!(warnings(&printed(&shop, Some("1"))).is_empty());
}

#[test]
fn the_environment_selects_the_changes_that_are_recorded() {
    let shop = Shop::unlocked();
    let lines = printed(&shop, Some("1"));
    assert_eq!(warnings(&lines), ["wrote shop.frpc.lock, to be committed with the schema"]);
    assert_eq!(shop.lock(), Shop::locked().lock());

    let lines = printed(&shop, None);
    assert!(lines.iter().any(|line| line.ends_with("cargo:rerun-if-env-changed=FRPC_UPDATE_LOCK")), "{lines:?}");
    assert!(lines.iter().any(|line| line == "cargo:rerun-if-changed=shop.frpc.lock"), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("rerun-if-changed")).count(), 2, "{lines:?}");
    assert!(warnings(&lines).is_empty(), "{lines:?}");

    shop.edit(&[("int32 limit", "int64 limit")]);
    for update in [None, Some(""), Some("0"), Some("1")] {
        let lines = printed(&shop, update);
        assert!(lines.last().unwrap().starts_with("error: shop.proto:15:3: the schema differs"), "{lines:?}");
        assert_eq!(shop.lock(), Shop::locked().lock());
    }
    let lines = printed(&shop, Some("breaking"));
    assert_eq!(warnings(&lines), ["wrote shop.frpc.lock, to be committed with the schema"]);
    assert!(shop.lock().contains("\n  i64 limit = 2\n"));
    assert!(warnings(&printed(&shop, Some("breaking"))).is_empty(), "there was nothing to write");
    let lines = printed(&shop, Some("yes"));
    assert_eq!(lines.last().unwrap(), "error: FRPC_UPDATE_LOCK is \"yes\"; it can be `1` or `breaking`");
}

#[test]
fn nothing_is_generated_or_recorded_when_the_build_fails() {
    let shop = Shop::locked();
    let (before, lock) = (shop.0.read("shop.rs"), shop.lock());
    shop.edit(&[("int32 limit", "int64 limit")]);
    let error = shop.0.run(|builder| builder, &["shop.proto"]).unwrap_err();
    assert_eq!((error.kind(), error.line()), (ErrorKind::Lock, Some(15)));
    assert_eq!(shop.0.read("shop.rs"), before);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking).type_attribute(".", "#[derive(")).unwrap_err();
    assert_eq!(shop.lock(), lock);
}

#[test]
fn files_are_replaced_as_a_whole() {
    let shop = Shop::locked();
    let generated = shop.0.out().join("shop.rs");
    let files = [shop.path(), generated].map(|path| {
        let before = fs::read_to_string(&path).unwrap();
        // An open handle of the file, or another name of it, keeps the old text: no reader sees half of the new one.
        let other = path.with_extension("other");
        fs::hard_link(&path, &other).unwrap();
        (path, other, before)
    });
    shop.edit(&[("int32 limit = 2;", "int32 limit = 2;\n  string more = 3;")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    for (path, other, before) in files {
        assert!(fs::read_to_string(&path).unwrap().contains("more"));
        assert_eq!(fs::read_to_string(other).unwrap(), before);
    }
    assert_eq!(files_in(shop.0.protos.path()), ["shop.frpc.lock", "shop.frpc.other", "shop.proto"]);
    assert_eq!(files_in(&shop.0.out()), ["shop.other", "shop.rs"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;

    let shop = Shop::locked();
    let files = [shop.path(), shop.0.out().join("shop.rs")];
    for path in &files {
        fs::set_permissions(path, fs::Permissions::from_mode(0o660)).unwrap();
    }
    shop.edit(&[("int32 limit = 2;", "int32 limit = 2;\n  string more = 3;")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    for path in &files {
        assert!(fs::read_to_string(path).unwrap().contains("more"));
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o660);
    }

    // A user without write permission may not replace the file either. Root may.
    fs::set_permissions(shop.path(), fs::Permissions::from_mode(0o440)).unwrap();
    let may = fs::OpenOptions::new().write(true).open(shop.path()).is_ok();
    shop.edit(&[("string more = 3;", "string more = 3;\n  string most = 4;")]);
    assert_eq!(shop.build(|builder| builder.lock_update(LockUpdate::Safe)).is_ok(), may);
}

#[test]
fn without_the_lock_nothing_is_compared() {
    let shop = Shop::locked();
    shop.edit(&[("int32 limit", "int64 limit")]);
    shop.build(|builder| builder.schema_lock(false)).unwrap();
    assert_eq!(shop.lock(), Shop::locked().lock());
}

#[test]
fn history_and_hand_made_comments_are_read_over() {
    let shop = Shop::locked();
    let lock = shop.lock().replace("file shop.proto\n", "\n# A remark.\nfile   shop.proto  \n");
    fs::write(shop.path(), &lock).unwrap();
    shop.build(|builder| builder).unwrap();
    assert_eq!(shop.lock(), lock);
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    let shop = Shop::locked();
    let marked = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, format!("\u{feff}{text}")).unwrap();
    };
    marked(&shop.path());
    marked(&shop.0.protos.path().join("shop.proto"));
    shop.build(|builder| builder).unwrap();
    shop.edit(&[("int32 limit", "int64 limit")]);
    let error = shop.build(|builder| builder).unwrap_err();
    assert!(error.starts_with("shop.proto:15:3: the schema differs from shop.frpc.lock"), "{error}");
    shop.edit(&[("rpc Get(GetRequest)", "rpc Get(Missing)")]);
    let error = shop.build(|builder| builder).unwrap_err();
    assert!(error.starts_with("shop.proto:5:"), "{error}");
}

#[test]
fn files_with_a_byte_order_mark_can_be_imported() {
    let imported = "\u{feff}syntax = \"proto3\";\npackage test;\nmessage A {}\n";
    let source = "syntax = \"proto3\";\npackage test;\nimport \"a.proto\";\nmessage B { A a = 1; }\n";
    let text = Build::of_files(&[("a.proto", imported), ("test.proto", source)]).text();
    assert!(text.contains("pub struct A"), "{text}");
}

#[test]
fn file_shadowed_in_includes_is_an_error_even_with_bom() {
    let source = |package: &str| format!("syntax = \"proto3\";\npackage {package};\nmessage A {{}}\n");
    for mark in ["", "\u{feff}"] {
        let first = format!("{mark}{}", source("first"));
        let build = Build::of_files(&[("one/a.proto", &first), ("two/a.proto", &source("second"))]);
        let folder = |name: &str| build.protos.path().join(name);
        let compile = |proto: &str| {
            let builder = frpc_build::configure().out_dir(build.out()).schema_lock(false).emit_rerun_if_changed(false);
            builder.compile_protos(&[folder(proto)], &[folder("one"), folder("two")])
        };
        let error = compile("two/a.proto").unwrap_err().to_string();
        let error = error.replace(&format!("{}/", build.protos.path().display()), "");
        assert_eq!(error, "one/a.proto: path 'two/a.proto' is shadowed by 'one/a.proto' in the include paths");
        compile("one/a.proto").unwrap();
    }
}

#[test]
fn a_lock_that_cannot_be_read_is_an_error_with_its_line() {
    let expect = |from: &str, to: &str, expected: &str| {
        let shop = Shop::locked();
        let lock = shop.lock();
        assert!(lock.contains(from), "{from}");
        fs::write(shop.path(), lock.replacen(from, to, 1)).unwrap();
        let error = shop.0.run(|builder| builder, &["shop.proto"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lock);
        assert_eq!(shop.build(|builder| builder).unwrap_err(), expected);
        assert!(shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).is_err(), "it is not overwritten");
    };
    expect(
        "frpc-lock 1\n",
        "",
        "shop.frpc.lock:4:1: this version of frpc-build reads `frpc-lock 1` only, not `file shop.proto`",
    );
    expect(
        "frpc-lock 1",
        "frpc-lock 2",
        "shop.frpc.lock:3:1: this version of frpc-build reads `frpc-lock 1` only, not `frpc-lock 2`",
    );
    expect(
        "  string id = 1\n",
        "<<<<<<< HEAD\n",
        "shop.frpc.lock:20:1: unresolved merge conflict; keep the lines of both sides that still hold",
    );
    expect("string id = 1", "text id = 1", "shop.frpc.lock:20:1: unexpected `text id = 1`");
    expect("string id = 1", "map bytes id = 1", "shop.frpc.lock:20:1: unexpected `map bytes id = 1`");
    expect("i32 limit", "i32 id", "shop.frpc.lock:21:1: the field `id` is recorded twice");
    expect("11 Put", "10 Put", "shop.frpc.lock:9:1: operation 10 belongs to `shop.Orders.Get` already");
    expect("10 Get", "9 Get", "shop.frpc.lock:8:1: operation 9 is reserved for the protocol");
    expect("10 Get", "13 Get", "shop.frpc.lock:9:1: the operations of a service must be in ascending order");
    expect("1 GREEN", "2 GREEN", "shop.frpc.lock:35:1: unexpected index 2; the next one is 1");
    expect(
        "message shop.Part\n",
        "message shop.Item\n",
        "shop.frpc.lock:29:1: the message `shop.Item` is recorded twice",
    );
    expect(
        "message shop.Part part",
        "message shop.None part",
        "shop.frpc.lock:27:1: `shop.None` is used, but not recorded in this file",
    );
    expect(
        "10 Get shop.GetRequest",
        "10 Get shop.None",
        "shop.frpc.lock:8:1: `shop.None` is used, but not recorded in this file",
    );
    expect("file shop.proto\n", "", "shop.frpc.lock:6:1: unexpected `service shop.Orders`");
    expect(
        "service shop.Stock",
        "service shop.Orders",
        "shop.frpc.lock:11:1: the service `shop.Orders` is recorded twice",
    );
    expect("10 Get", "compatible 12", "shop.frpc.lock:8:1: unexpected `compatible 12 shop.GetRequest -> shop.Item`");
    expect(
        " -> stream shop.Item\n",
        " -> stream shop.Item\n  compatible 12\n",
        "shop.frpc.lock:13:1: a fingerprint is 16 hexadecimal digits, in lower case",
    );
}

#[test]
fn an_empty_lock_is_no_lock() {
    let shop = Shop::locked();
    fs::write(shop.path(), "# Nothing.\n").unwrap();
    assert_eq!(shop.build(|builder| builder).unwrap_err(), "shop.frpc.lock:1:1: the line `frpc-lock 1` is missing");
}

const A: &str =
    "syntax = \"proto3\";\npackage both;\nmessage A { int32 a = 1; }\nservice First { rpc One(A) returns (A); }\n";
const B: &str =
    "syntax = \"proto3\";\npackage both;\nmessage B { int32 b = 1; }\nservice Second { rpc One(B) returns (B); }\n";

#[test]
fn files_of_package_share_lock_across_builds() {
    let build = Build::of_files(&[("a.proto", A), ("b.proto", B)]);
    let record = |protos: &[&str]| build.run(|builder| builder.lock_update(LockUpdate::Safe), protos);
    record(&["a.proto"]).unwrap();
    record(&["b.proto"]).unwrap();
    let lock = fs::read_to_string(build.protos.path().join("both.frpc.lock")).unwrap();
    for line in
        ["file a.proto", "file b.proto", "  10 One both.A -> both.A", "  100 One both.B -> both.B", "  i32 a = 1"]
    {
        assert!(lock.lines().any(|it| it == line), "{line} in {lock}");
    }
    for protos in [&["a.proto"][..], &["b.proto"], &["a.proto", "b.proto"]] {
        build.run(|builder| builder, protos).unwrap();
        record(protos).unwrap();
        assert_eq!(fs::read_to_string(build.protos.path().join("both.frpc.lock")).unwrap(), lock);
    }

    fs::remove_file(build.protos.path().join("b.proto")).unwrap();
    let error = build.run(|builder| builder, &["a.proto"]).unwrap_err().to_string();
    assert!(error.contains("both.frpc.lock:12:1: breaks older peers: service `both.Second` was removed"), "{error}");
    assert!(error.contains("safe: message `both.B` was removed"), "{error}");
}

#[test]
fn another_codec_is_one_for_files_that_are_built_apart_too() {
    let build = Build::of_files(&[("a.proto", A), ("b.proto", B)]);
    let record = |codec, update, protos: &[&str]| build.run(|it| it.codec(codec).lock_update(update), protos);
    record(Codec::Polyglot, LockUpdate::Safe, &["a.proto", "b.proto"]).unwrap();
    record(Codec::Protobuf, LockUpdate::Breaking, &["a.proto"]).unwrap();
    record(Codec::Protobuf, LockUpdate::Never, &["b.proto"]).unwrap();
    record(Codec::Protobuf, LockUpdate::Never, &["a.proto", "b.proto"]).unwrap();
}

/// With protobuf the lock knows no fields, so those of a file that is not built would look as if they were appended.
#[test]
fn back_from_protobuf_all_files_of_a_package_are_built_together() {
    let build = Build::of_files(&[("a.proto", A), ("b.proto", B)]);
    let record = |codec, update, protos: &[&str]| build.run(|it| it.codec(codec).lock_update(update), protos);
    record(Codec::Protobuf, LockUpdate::Safe, &["a.proto", "b.proto"]).unwrap();
    let error = record(Codec::Polyglot, LockUpdate::Breaking, &["a.proto"]).unwrap_err();
    let expected = "both.frpc.lock knows no fields of b.proto, which is not part of this build, since it was recorded \
                    with protobuf: build all files of the package together to record another codec";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Lock, expected));
    record(Codec::Polyglot, LockUpdate::Breaking, &["a.proto", "b.proto"]).unwrap();
    record(Codec::Polyglot, LockUpdate::Never, &["b.proto"]).unwrap();
    let lock = fs::read_to_string(build.protos.path().join("both.frpc.lock")).unwrap();
    assert!(lock.contains("  i32 b = 1") && !lock.contains("added"), "{lock}");
}

#[test]
fn service_moved_to_another_file_is_recorded_again() {
    let build = Build::of_files(&[("a.proto", A), ("b.proto", B)]);
    build.run(|builder| builder.lock_update(LockUpdate::Safe), &["a.proto", "b.proto"]).unwrap();
    let path = build.protos.path();
    fs::rename(path.join("b.proto"), path.join("c.proto")).unwrap();
    let error = build.run(|builder| builder, &["a.proto", "c.proto"]).unwrap_err().to_string();
    assert!(error.contains("both.frpc.lock describes the layout of the schema in other words"), "{error}");
    build.run(|builder| builder.lock_update(LockUpdate::Safe), &["a.proto", "c.proto"]).unwrap();
    build.run(|builder| builder, &["a.proto", "c.proto"]).unwrap();
}

#[test]
fn imported_messages_are_recorded_as_far_as_they_are_used() {
    let imported = "syntax = \"proto3\";\npackage money;\nmessage Sum { int64 units = 1; }\nmessage Unused {}\n";
    let named = "syntax = \"proto3\";\npackage shop;\nimport \"money/money.proto\";\nmessage Bill { repeated money.Sum \
                 sums = 1; }\nservice Bills { rpc Get(Bill) returns (Bill); }\n";
    let build = Build::of_files(&[("money/money.proto", imported), ("shop/shop.proto", named)]);
    let record = |update| build.run(|builder| builder.lock_update(update), &["shop/shop.proto"]);
    record(LockUpdate::Safe).unwrap();
    assert_eq!(files_in(&build.protos.path().join("money")), ["money.proto"]);
    let lock = fs::read_to_string(build.protos.path().join("shop/shop.frpc.lock")).unwrap();
    assert!(lock.contains("\nmessage money.Sum\n  i64 units = 1\n") && !lock.contains("Unused"), "{lock}");

    let path = build.protos.path().join("money/money.proto");
    fs::write(&path, imported.replace("int64 units = 1;", "int64 units = 1; int32 nanos = 2;")).unwrap();
    let error = record(LockUpdate::Never).unwrap_err().to_string();
    let expected = "money.proto:3:32: breaks older peers: message `money.Sum`: field `nanos` was appended, but another \
        message contains this one (`shop.Bill.sums`)";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn named_file_without_services_gets_a_lock() {
    let build = Build::of("syntax = \"proto3\";\nmessage Event { int32 at = 1; }\n");
    build.run(|builder| builder.lock_update(LockUpdate::Safe), &["test.proto"]).unwrap();
    assert!(
        fs::read_to_string(build.protos.path().join("_.frpc.lock")).unwrap().contains("message Event\n  i32 at = 1\n")
    );
}

/// A lock is first written next to its place, under a name that must not be longer.
#[test]
fn a_package_with_a_name_of_240_letters_has_a_lock() {
    let package = "p".repeat(240);
    let build = Build::of(&format!("syntax = \"proto3\";\npackage {package};\nmessage A {{}}\n"));
    build.run(|builder| builder.lock_update(LockUpdate::Safe), &["test.proto"]).unwrap();
    assert_eq!(files_in(build.protos.path()), [format!("{package}.frpc.lock"), "test.proto".to_owned()]);
}

#[test]
fn locks_can_be_kept_elsewhere() {
    let shop = Shop::unlocked();
    let locks = tempfile::tempdir().unwrap();
    let build = |update| shop.build(|builder| builder.lock_dir(locks.path()).lock_update(update));
    build(LockUpdate::Safe).unwrap();
    assert!(!shop.path().exists());
    assert_eq!(files_in(locks.path()), ["shop.frpc.lock"]);
    shop.edit(&[("int32 limit", "int64 limit")]);
    assert!(build(LockUpdate::Never).unwrap_err().contains("shop.proto:15:3: the schema differs from shop.frpc.lock"));
}

#[test]
fn descriptor_set_is_locked_only_at_given_path() {
    let shop = Shop::unlocked();
    let set = shop.0.around.path().join("set.bin");
    shop.build(|builder| builder.file_descriptor_set_path(&set)).unwrap();
    let set = <FileDescriptorSet as prost::Message>::decode(&fs::read(set).unwrap()[..]).unwrap();
    let locks = tempfile::tempdir().unwrap();
    let builder = || frpc_build::configure().out_dir(shop.0.out()).lock_update(LockUpdate::Safe);
    builder().compile_fds(set.clone()).unwrap();
    let error = builder().numbering(Numbering::Lock).compile_fds(set.clone()).unwrap_err();
    assert!(error.to_string().starts_with("`Numbering::Lock` needs a lock, and \"shop.proto\" has none"), "{error}");
    assert!(files_in(locks.path()).is_empty() && !shop.path().exists());
    builder().lock_dir(locks.path()).compile_fds(set).unwrap();
    assert_eq!(fs::read_to_string(locks.path().join("shop.frpc.lock")).unwrap(), Shop::locked().lock());
}
