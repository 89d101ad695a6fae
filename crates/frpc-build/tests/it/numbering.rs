//! Which method gets which operation.

#[allow(dead_code)]
use std::fs;

use crate::support::shop::Shop;
use crate::support::{Build, has};
use frpc_build::{LockUpdate, Numbering};

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
    by_lock(&shop, LockUpdate::Never).expect("order of methods should not matter");
    assert_operations(&shop, &[("Orders", "Put", 11), ("Orders", "List", 13), ("Orders", "Get", 10)]);
}

#[test]
fn lock_never_reassigns_operations_of_removed_methods() {
    let shop = Shop::locked();
    let watch = "  rpc Watch(Filter) returns (stream Item);\n";
    shop.edit(&[(watch, "")]);
    let error = by_lock(&shop, LockUpdate::Safe).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Stock.Watch` with operation 12 was removed"), "{error}");
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
fn lock_remembers_removed_methods_of_renamed_file() {
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
fn lock_reserves_operations_of_service_moved_away() {
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
fn lock_remembers_removed_methods_of_moved_service() {
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
    assert!(error.contains("breaks older peers: method `shop.Orders.Get` with operation 10 was removed"), "{error}");
    assert!(error.contains("safe: method `shop.Orders.Fetch` is new, with operation 13"), "{error}");
    // Who wants to keep the operation says so in the lock.
    fs::write(shop.path(), shop.lock().replace("10 Get", "10 Fetch")).unwrap();
    by_lock(&shop, LockUpdate::Never).unwrap();
    assert_operations(&shop, &[("Orders", "Fetch", 10)]);
}

#[test]
fn by_the_lock_files_without_a_lock_are_numbered_in_sequence() {
    let shop = Shop::unlocked();
    by_lock(&shop, LockUpdate::Never).unwrap();
    assert_operations(&shop, &[("Orders", "Get", 10), ("Orders", "Put", 11), ("Stock", "Watch", 12)]);
}

#[test]
fn locked_operation_is_not_given_to_another_method() {
    let shop = Shop::locked();
    shop.edit(&[("  rpc Watch(Filter) returns (stream Item);\n", "")]);
    by_lock(&shop, LockUpdate::Breaking).unwrap();
    shop.edit(&[("service Stock {\n", "service Stock {\n  rpc Count(Filter) returns (Item);\n")]);
    let error = shop.build(|builder| builder).unwrap_err();
    let expected = "breaks older peers: method `shop.Stock.Count` has operation 12, which belonged to \
        `shop.Stock.Watch`, which was removed";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn exhausted_operations_are_reported() {
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
fn a_file_without_a_base_makes_way_for_those_with_one() {
    let build = two_files();
    build.run(|builder| builder.operation_base("two/b.proto", 11), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"X\", 100)"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 11)"), "{}", build.read("two.rs"));
}

#[test]
fn files_that_overlap_though_they_have_bases_are_both_named() {
    let build = two_files();
    let error = build
        .run(
            |builder| builder.operation_base("a.proto", 10).operation_base("b.proto", 11),
            &["one/a.proto", "two/b.proto"],
        )
        .unwrap_err();
    let text = error.to_string();
    let expected = "two/b.proto:4:1: the services `one.A` of one/a.proto and `two.B` of two/b.proto both have \
                    operation 11, so that no server can serve both: set the `operation_base` of one of the files, or \
                    set `numbering(Numbering::Go)` if they are for different servers";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn bases_that_cannot_be_are_refused() {
    let build = two_files();
    let error = |file: &str, base| {
        build.run(|builder| builder.operation_base(file, base), &["one/a.proto"]).unwrap_err().to_string()
    };
    assert_eq!(error("c.proto", 20), "operation_base(\"c.proto\", 20): this build has no such file");
    assert_eq!(error("e/a.proto", 20), "operation_base(\"e/a.proto\", 20): this build has no such file");
    assert_eq!(
        error("a.proto", 9),
        "operation_base(\"a.proto\", 9): operations below 10 are reserved for the protocol"
    );
    assert_eq!(error("a.proto", 65535), "no operation up to 65535 is left for `one.A.Y`");
}

/// Builds files of a package with one service each, and returns the operations by method, from the lock.
fn operations(build: &Build, files: &[(&str, &str)], numbering: Numbering, update: LockUpdate) -> Vec<(String, u16)> {
    for (name, methods) in files {
        let methods: String = methods.split(' ').map(|it| format!("rpc {it}(M) returns (M);")).collect();
        let service = name.trim_end_matches(".proto").to_uppercase();
        let source =
            format!("syntax = \"proto3\";\npackage p;\nimport \"m.proto\";\nservice {service} {{ {methods} }}\n");
        fs::write(build.protos.path().join(name), source).unwrap();
    }
    let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
    build.run(|builder| builder.numbering(numbering).lock_update(update), &names).unwrap();
    let lock = fs::read_to_string(build.protos.path().join("p.frpc.lock")).unwrap();
    let methods = lock.lines().filter(|line| line.contains(" -> ")).map(|line| {
        let mut words = line.split_whitespace();
        let operation = words.next().unwrap().parse().unwrap();
        (words.next().unwrap().to_owned(), operation)
    });
    methods.collect()
}

/// As [`operations`], recording safe changes.
#[track_caller]
fn assert_recorded(build: &Build, files: &[(&str, &str)], numbering: Numbering, expected: &[(&str, u16)]) {
    let found = operations(build, files, numbering, LockUpdate::Safe);
    let found: Vec<_> = found.iter().map(|(name, operation)| (name.as_str(), *operation)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_services_of_several_files_have_operations_of_their_own() {
    for protos in [["one/a.proto", "two/b.proto"], ["two/b.proto", "one/a.proto"]] {
        let build = two_files();
        build.run(|builder| builder, &protos).unwrap();
        assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"Y\", 11"), "{}", build.read("one.rs"));
        assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 100"), "{}", build.read("two.rs"));
    }
}

#[test]
fn a_file_that_is_named_comes_before_those_that_it_imports() {
    let imported = "syntax = \"proto3\";\npackage a;\nmessage M {}\nservice A { rpc X(M) returns (M); }\n";
    let named = "syntax = \"proto3\";\npackage b;\nimport \"a.proto\";\nservice B { rpc X(a.M) returns (a.M); }\n";
    let build = Build::of_files(&[("a.proto", imported), ("b.proto", named)]);
    build.run(|builder| builder, &["b.proto"]).unwrap();
    assert!(has(&build.read("b.rs"), "&B_LAYOUT, \"X\", 10)"), "{}", build.read("b.rs"));
    assert!(has(&build.read("a.rs"), "&A_LAYOUT, \"X\", 100)"), "{}", build.read("a.rs"));
}

#[test]
fn files_keep_their_operations_when_others_come_and_go() {
    for numbering in [Numbering::Sequential, Numbering::Lock] {
        let build = one_message();
        assert_recorded(
            &build,
            &[("b.proto", "X Y"), ("c.proto", "Z")],
            numbering,
            &[("X", 10), ("Y", 11), ("Z", 100)],
        );
        let three = [("a.proto", "V W"), ("b.proto", "X Y"), ("c.proto", "Z")];
        let expected = [("V", 200), ("W", 201), ("X", 10), ("Y", 11), ("Z", 100)];
        assert_recorded(&build, &three, numbering, &expected);
        fs::remove_file(build.protos.path().join("b.proto")).unwrap();
        let found = operations(&build, &[("a.proto", "V W"), ("c.proto", "Z")], numbering, LockUpdate::Breaking);
        assert_eq!(found, [("V".to_owned(), 200), ("W".to_owned(), 201), ("Z".to_owned(), 100)]);
        // Free operations are assigned again: peers learn of a missing service by its name.
        assert_recorded(
            &build,
            &[("a.proto", "V W"), ("c.proto", "Z"), ("d.proto", "U")],
            numbering,
            &[("V", 200), ("W", 201), ("Z", 100), ("U", 10)],
        );
    }
}

#[test]
fn a_file_grows_within_its_hundred_and_a_long_one_takes_several() {
    let build = one_message();
    let many = |count: usize| (0..count).map(|at| format!("M{at}")).collect::<Vec<_>>().join(" ");
    let found =
        operations(&build, &[("a.proto", &many(91)), ("b.proto", "X")], Numbering::Sequential, LockUpdate::Safe);
    assert_eq!((found.first(), found.last()), (Some(&("M0".to_owned(), 10)), Some(&("X".to_owned(), 200))));
    let found =
        operations(&build, &[("a.proto", &many(190)), ("b.proto", "X")], Numbering::Sequential, LockUpdate::Safe);
    assert_eq!(found[189], ("M189".to_owned(), 199));
}

#[test]
fn file_growing_into_another_fails_unless_locked() {
    let build = one_message();
    let many = |count: usize| (0..count).map(|at| format!("M{at}")).collect::<Vec<_>>().join(" ");
    let files = |count| format!("{} ", many(count)).trim().to_owned();
    operations(&build, &[("a.proto", &files(90)), ("b.proto", "X")], Numbering::Sequential, LockUpdate::Safe);
    let grown = operations(&build, &[("a.proto", &files(91)), ("b.proto", "X")], Numbering::Lock, LockUpdate::Safe);
    assert_eq!(grown[90], ("M90".to_owned(), 101));
    let error = build.run(|builder| builder, &["a.proto", "b.proto"]).unwrap_err().to_string();
    let expected = "b.proto:4:1: the services `p.A` of a.proto and `p.B` of b.proto both have operation 100, ";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_service_that_moves_to_another_file_keeps_its_operations() {
    let build = one_message();
    let file = |name: &str, body: &str| {
        let source = format!("syntax = \"proto3\";\npackage p;\nimport \"m.proto\";\n{body}");
        fs::write(build.protos.path().join(name), source).unwrap();
    };
    let (s, t) = ("service S { rpc X(M) returns (M); }", "service T { rpc Y(M) returns (M); }");
    file("a.proto", &format!("{s}\n{t}"));
    build.run(|builder| builder.lock_update(LockUpdate::Safe), &["a.proto"]).unwrap();
    for (moved, stayed) in [(t, s), (s, t)] {
        file("a.proto", stayed);
        file("b.proto", moved);
        build.run(|builder| builder.lock_update(LockUpdate::Safe), &["a.proto", "b.proto"]).unwrap();
        let lock = fs::read_to_string(build.protos.path().join("p.frpc.lock")).unwrap();
        assert!(lock.contains("  10 X ") && lock.contains("  11 Y "), "{lock}");
    }
}

#[test]
fn service_after_removed_first_starts_at_its_base_as_in_go() {
    let shop = Shop::locked();
    let orders = "service Orders {\n  rpc Get(GetRequest) returns (Item);\n  rpc Put(Item) returns (GetRequest);\n}\n";
    shop.edit(&[(orders, "")]);
    let error = shop.build(|builder| builder).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Stock.Watch` moves from operation 12 to 10"), "{error}");
}

#[test]
fn as_in_go_every_file_counts_from_10() {
    let build = two_files();
    build.run(|builder| builder.numbering(Numbering::Go), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"X\", 10)"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 10)"), "{}", build.read("two.rs"));
}

#[test]
fn files_locked_with_same_operations_are_an_error() {
    let build = one_message();
    let files = [("a.proto", "X"), ("b.proto", "Y")];
    assert_recorded(&build, &files, Numbering::Go, &[("X", 10), ("Y", 10)]);
    for numbering in [Numbering::Sequential, Numbering::Lock] {
        let error = build.run(|builder| builder.numbering(numbering), &["a.proto", "b.proto"]).unwrap_err().to_string();
        assert!(error.contains("both have operation 10, so that no server can serve both"), "{error}");
    }
}

#[test]
fn another_base_moves_all_methods_of_a_file() {
    let shop = Shop::locked();
    let error = shop.build(|builder| builder.operation_base("shop.proto", 20)).unwrap_err();
    assert!(error.contains("breaks older peers: method `shop.Orders.Get` moves from operation 10 to 20"), "{error}");
    shop.build(|builder| builder.operation_base("shop.proto", 20).numbering(Numbering::Lock))
        .expect("lock should take precedence over the base");
}

#[test]
fn reserved_operations_are_refused_and_never_assigned() {
    let service = "syntax = \"proto3\";\npackage PACKAGE;\nservice A { rpc X(M) returns (M); rpc Y(M) returns (M); }\n\
                   message M {}\n";
    let build = |package: &str, first: u16| {
        let build = Build::of(&service.replace("PACKAGE", package));
        build
            .run(|builder| builder.operation_base("test.proto", first), &["test.proto"])
            .map_err(|error| error.to_string())
    };
    for first in [64_999, 65_000, 65_099] {
        let error = build("shop", first).unwrap_err();
        assert!(error.contains("65000 to 65099 are kept") && error.contains("test.proto:3:1"), "{error}");
    }
    for (package, first) in
        [("shop", 64_998), ("shop", 65_100), ("frpc.reflection.v1", 65_000), ("grpc.health.v1", 65_020)]
    {
        build(package, first).unwrap_or_else(|error| panic!("{package} from {first}: {error}"));
    }
}
