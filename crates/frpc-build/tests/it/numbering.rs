//! Tests of the assignment of operation numbers to methods.

use crate::support::{Build, has};
use frpc_build::Numbering;

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
fn operation_base_keeps_files_apart() {
    let build = two_files();
    build.run(|builder| builder.operation_base("two/b.proto", 12), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"Y\", 11"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 12"), "{}", build.read("two.rs"));
    build.run(|builder| builder.operation_base("b.proto", 100), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 100"), "{}", build.read("two.rs"));
}

#[test]
fn file_without_base_yields_to_based_ones() {
    let build = two_files();
    build.run(|builder| builder.operation_base("two/b.proto", 11), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"X\", 100)"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 11)"), "{}", build.read("two.rs"));
}

#[test]
fn overlapping_bases_error_names_both_files() {
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

/// Builds files of a package with one service each, and returns the operations by method.
fn operations(files: &[(&'static str, usize)]) -> Vec<(String, u16)> {
    let methods = |count: usize| (0..count).map(|at| format!("rpc M{at}(M) returns (M);")).collect::<String>();
    let text = |&(name, count): &(&'static str, usize)| {
        let service = name.trim_end_matches(".proto").to_uppercase();
        let head = "syntax = \"proto3\";\npackage p;\nimport \"m.proto\";\n";
        (name, format!("{head}service {service} {{ {} }}\n", methods(count)))
    };
    let texts: Vec<_> = files.iter().map(text).collect();
    let mut all = vec![("m.proto", "syntax = \"proto3\";\npackage p;\nmessage M {}\n")];
    all.extend(texts.iter().map(|(name, text)| (*name, text.as_str())));
    let build = Build::of_files(&all);
    let folder = build.protos.path();
    let paths: Vec<_> = files.iter().map(|(name, _)| folder.join(name)).collect();
    let loaded = frpc_build::configure().load_protos(&paths, &[folder]).expect("schema should be valid");
    let methods = loaded.layouts.iter().flat_map(|layout| {
        layout.methods().map(|(method, operation, _)| (format!("{}.{method}", layout.service()), operation))
    });
    methods.collect()
}

#[test]
fn long_file_takes_several_hundreds() {
    let found = operations(&[("a.proto", 91), ("b.proto", 1)]);
    assert_eq!((found.first(), found.last()), (Some(&("p.A.M0".to_owned(), 10)), Some(&("p.B.M0".to_owned(), 200))));
    let found = operations(&[("a.proto", 190), ("b.proto", 1)]);
    assert_eq!((&found[189], &found[190]), (&("p.A.M189".to_owned(), 199), &("p.B.M0".to_owned(), 200)));
}

#[test]
fn services_of_files_have_distinct_operations() {
    for protos in [["one/a.proto", "two/b.proto"], ["two/b.proto", "one/a.proto"]] {
        let build = two_files();
        build.run(|builder| builder, &protos).unwrap();
        assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"Y\", 11"), "{}", build.read("one.rs"));
        assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 100"), "{}", build.read("two.rs"));
    }
}

#[test]
fn named_file_is_numbered_before_imports() {
    let imported = "syntax = \"proto3\";\npackage a;\nmessage M {}\nservice A { rpc X(M) returns (M); }\n";
    let named = "syntax = \"proto3\";\npackage b;\nimport \"a.proto\";\nservice B { rpc X(a.M) returns (a.M); }\n";
    let build = Build::of_files(&[("a.proto", imported), ("b.proto", named)]);
    build.run(|builder| builder, &["b.proto"]).unwrap();
    assert!(has(&build.read("b.rs"), "&B_LAYOUT, \"X\", 10)"), "{}", build.read("b.rs"));
    assert!(has(&build.read("a.rs"), "&A_LAYOUT, \"X\", 100)"), "{}", build.read("a.rs"));
}

#[test]
fn go_numbering_starts_each_file_at_10() {
    let build = two_files();
    build.run(|builder| builder.numbering(Numbering::Go), &["one/a.proto", "two/b.proto"]).unwrap();
    assert!(has(&build.read("one.rs"), "&A_LAYOUT, \"X\", 10)"), "{}", build.read("one.rs"));
    assert!(has(&build.read("two.rs"), "&B_LAYOUT, \"X\", 10)"), "{}", build.read("two.rs"));
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
