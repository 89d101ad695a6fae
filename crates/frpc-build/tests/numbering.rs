//! Which method gets which operation.

#[allow(dead_code)]
mod support;

use std::fs;

use frpc_build::{LockUpdate, Numbering};
use support::shop::Shop;
use support::{Build, has};

/// Whether the generated code calls a method by this operation.
#[track_caller]
fn assert_operations(shop: &Shop, expected: &[(&str, &str, u16)]) {
    let text = shop.0.read("shop.rs");
    for (service, method, operation) in expected {
        let layout = service.to_uppercase();
        let call = format!("Method::new(&{layout}_LAYOUT, \"{method}\", {operation},)");
        assert!(has(&text, &call), "{call} in {text}");
    }
}

fn by_lock(shop: &Shop, update: LockUpdate) -> Result<(), String> {
    shop.build(|builder| builder.numbering(Numbering::Lock).lock_update(update))
}

#[test]
fn by_the_lock_methods_may_stand_anywhere() {
    let shop = Shop::locked();
    shop.edit(&[("  rpc Get", "  rpc List(Filter) returns (Item);\n  rpc Get")]);
    let error = by_lock(&shop, LockUpdate::Never).unwrap_err();
    assert!(error.contains("shop.proto:5:3: safe: method `shop.Orders.List` is new, with operation 13"), "{error}");
    by_lock(&shop, LockUpdate::Safe).unwrap();
    by_lock(&shop, LockUpdate::Never).unwrap();
    assert_operations(
        &shop,
        &[("Orders", "List", 13), ("Orders", "Get", 10), ("Orders", "Put", 11), ("Stock", "Watch", 12)],
    );

    let put = "  rpc Put(Item) returns (GetRequest);\n";
    shop.edit(&[(put, ""), ("  rpc List", &format!("{put}  rpc List"))]);
    by_lock(&shop, LockUpdate::Never).expect("the order of methods means nothing");
    assert_operations(&shop, &[("Orders", "Put", 11), ("Orders", "List", 13), ("Orders", "Get", 10)]);
}

#[test]
fn by_the_lock_operations_of_removed_methods_are_never_given_out_again() {
    let shop = Shop::locked();
    let watch = "  rpc Watch(Filter) returns (stream Item);\n";
    shop.edit(&[(watch, "")]);
    let error = by_lock(&shop, LockUpdate::Safe).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Stock.Watch` with operation 12 is gone"), "{error}");
    by_lock(&shop, LockUpdate::Breaking).unwrap();
    assert!(shop.lock().contains("\nfile shop.proto\nremoved 12 shop.Stock.Watch\n"), "{}", shop.lock());

    shop.edit(&[("service Stock {\n", "service Stock {\n  rpc Count(Filter) returns (Item);\n")]);
    by_lock(&shop, LockUpdate::Safe).unwrap();
    assert_operations(&shop, &[("Stock", "Count", 13)]);
    shop.edit(&[("  rpc Count", &format!("{watch}  rpc Count"))]);
    by_lock(&shop, LockUpdate::Safe).unwrap();
    assert_operations(&shop, &[("Stock", "Watch", 14), ("Stock", "Count", 13)]);
    assert!(shop.lock().contains("\nremoved 12 shop.Stock.Watch\n"), "{}", shop.lock());
}

/// Writes files of one package, builds them, and returns the lock.
fn record(build: &Build, files: &[(&str, &str)], update: LockUpdate) -> String {
    for (name, source) in files {
        let source = format!("syntax = \"proto3\";\npackage p;\nimport \"m.proto\";\n{source}");
        fs::write(build.protos.path().join(name), source).unwrap();
    }
    let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
    build.run(|builder| builder.numbering(Numbering::Lock).lock_update(update), &names).unwrap();
    fs::read_to_string(build.protos.path().join("p.frpc.lock")).unwrap()
}

fn one_message() -> Build {
    Build::of_files(&[("m.proto", "syntax = \"proto3\";\npackage p;\nmessage M {}\n")])
}

#[test]
fn by_the_lock_a_file_with_another_name_remembers_removed_methods() {
    let build = one_message();
    record(&build, &[("a.proto", "service S { rpc X(M) returns (M); rpc Y(M) returns (M); }")], LockUpdate::Safe);
    record(&build, &[("a.proto", "service S { rpc X(M) returns (M); }")], LockUpdate::Breaking);
    fs::remove_file(build.protos.path().join("a.proto")).unwrap();
    let more = ("b.proto", "service S { rpc X(M) returns (M); rpc Z(M) returns (M); }");
    let lock = record(&build, &[more], LockUpdate::Safe);
    assert!(lock.contains("\nfile b.proto\nremoved 11 p.S.Y\n"), "{lock}");
    assert!(lock.contains("\n  12 Z "), "{lock}");
    assert!(!lock.contains("a.proto"), "{lock}");
}

#[test]
fn by_the_lock_operations_of_a_service_that_moves_to_another_file_are_not_given_out_in_the_first() {
    let build = one_message();
    let s = "service S { rpc X(M) returns (M); }";
    let t = "service T { rpc Y(M) returns (M); }";
    let grown = "service S { rpc X(M) returns (M); rpc Z(M) returns (M); }";
    record(&build, &[("a.proto", &format!("{s}\n{t}"))], LockUpdate::Safe);
    let lock = record(&build, &[("a.proto", s), ("b.proto", t)], LockUpdate::Safe);
    assert!(lock.contains("\nfile a.proto\nremoved 11 p.T.Y\n"), "{lock}");
    assert!(lock.contains("\nfile b.proto\n\nservice p.T\n  11 Y "), "{lock}");
    let lock = record(&build, &[("a.proto", grown), ("b.proto", t)], LockUpdate::Safe);
    assert!(lock.contains("\n  12 Z "), "{lock}");
    // Back, it has them again.
    fs::remove_file(build.protos.path().join("b.proto")).unwrap();
    let lock = record(&build, &[("a.proto", &format!("{grown}\n{t}"))], LockUpdate::Safe);
    assert!(lock.contains("\n  11 Y ") && !lock.contains("removed"), "{lock}");
}

#[test]
fn by_the_lock_a_service_that_moves_to_another_file_remembers_removed_methods() {
    let build = one_message();
    let s = "service S { rpc X(M) returns (M); }";
    let both = format!("{s}\nservice T {{ rpc Y(M) returns (M); rpc Z(M) returns (M); }}");
    record(&build, &[("a.proto", &both)], LockUpdate::Safe);
    record(&build, &[("a.proto", &both.replace("rpc Z(M) returns (M);", ""))], LockUpdate::Breaking);
    let t = "service T { rpc Y(M) returns (M); rpc New(M) returns (M); }";
    let lock = record(&build, &[("a.proto", s), ("b.proto", t)], LockUpdate::Safe);
    assert!(lock.contains("\nfile b.proto\nremoved 12 p.T.Z\n") && lock.contains("\n  13 New "), "{lock}");
}

#[test]
fn by_the_lock_another_name_is_another_method() {
    let shop = Shop::locked();
    shop.edit(&[("rpc Get(", "rpc Fetch(")]);
    let error = by_lock(&shop, LockUpdate::Never).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Orders.Get` with operation 10 is gone"), "{error}");
    assert!(error.contains("safe: method `shop.Orders.Fetch` is new, with operation 13"), "{error}");
    // Who wants to keep the operation says so in the lock.
    fs::write(shop.path(), shop.lock().replace("10 Get", "10 Fetch")).unwrap();
    by_lock(&shop, LockUpdate::Never).unwrap();
    assert_operations(&shop, &[("Orders", "Fetch", 10)]);
}

#[test]
fn by_the_lock_without_a_lock_is_as_in_go() {
    let shop = Shop::unlocked();
    by_lock(&shop, LockUpdate::Never).unwrap();
    assert_operations(&shop, &[("Orders", "Get", 10), ("Orders", "Put", 11), ("Stock", "Watch", 12)]);
}

#[test]
fn as_in_go_an_operation_that_the_lock_had_is_not_given_to_another_method() {
    let shop = Shop::locked();
    shop.edit(&[("  rpc Watch(Filter) returns (stream Item);\n", "")]);
    by_lock(&shop, LockUpdate::Breaking).unwrap();
    shop.edit(&[("service Stock {\n", "service Stock {\n  rpc Count(Filter) returns (Item);\n")]);
    let error = shop.build(|builder| builder).unwrap_err();
    let expected = "breaks older peers: method `shop.Stock.Count` has operation 12, which was that of `shop.Stock.Watch`, \
                    which is gone";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn no_operation_is_left_behind_the_last() {
    let shop = Shop::locked();
    fs::write(shop.path(), shop.lock().replace("12 Watch", "65535 Watch")).unwrap();
    shop.edit(&[("  rpc Get", "  rpc List(Filter) returns (Item);\n  rpc Get")]);
    let error = by_lock(&shop, LockUpdate::Safe).unwrap_err();
    assert_eq!(error, "no operation up to 65535 is left for `shop.Orders.List`");
}

fn two_files() -> Build {
    let file = |package: &str, service: &str, methods: &str| {
        format!("syntax = \"proto3\";\npackage {package};\nmessage M {{}}\nservice {service} {{ {methods} }}\n")
    };
    Build::of_files(&[
        ("one/a.proto", &file("one", "A", "rpc X(M) returns (M); rpc Y(M) returns (M);")),
        ("two/b.proto", &file("two", "B", "rpc X(M) returns (M);")),
    ])
}

#[test]
fn a_base_keeps_files_apart() {
    let build = two_files();
    build.run(|builder| builder.operation_base("two/b.proto", 12), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"Y\", 11"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 12"), "{}", build.read("two.rs"));
    build.run(|builder| builder.operation_base("b.proto", 100), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 100"), "{}", build.read("two.rs"));
}

#[test]
fn files_that_overlap_though_they_have_bases_are_both_named() {
    let build = two_files();
    let error =
        build.run(|builder| builder.operation_base("b.proto", 11), &["one/a.proto", "two/b.proto"]).unwrap_err();
    let text = error.to_string();
    let expected = "two/b.proto:4:1: the services `one.A` of one/a.proto and `two.B` of two/b.proto both have operation 11; \
                    `operation_base` can keep them apart";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn files_without_bases_may_overlap_because_in_go_they_do() {
    two_files().run(|builder| builder, &["one/a.proto", "two/b.proto"]).unwrap();
}

#[test]
fn bases_that_cannot_be_are_refused() {
    let build = two_files();
    let error = |file: &str, base| {
        build.run(|builder| builder.operation_base(file, base), &["one/a.proto"]).unwrap_err().to_string()
    };
    assert_eq!(error("c.proto", 20), "operation_base(\"c.proto\", 20): no file of this build is called that");
    assert_eq!(error("e/a.proto", 20), "operation_base(\"e/a.proto\", 20): no file of this build is called that");
    assert_eq!(error("a.proto", 9), "operation_base(\"a.proto\", 9): the first 10 belong to the protocol");
    assert_eq!(error("a.proto", 65535), "no operation up to 65535 is left for `one.A.Y`");
}

#[test]
fn another_base_moves_all_methods_of_a_file() {
    let shop = Shop::locked();
    let error = shop.build(|builder| builder.operation_base("shop.proto", 20)).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Orders.Get` moves from operation 10 to 20"), "{error}");
    shop.build(|builder| builder.operation_base("shop.proto", 20).numbering(Numbering::Lock))
        .expect("the lock knows better");
}
