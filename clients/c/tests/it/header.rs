//! Checks that `include/frisbee.h` matches the sources. `UPDATE_GOLDEN=1` regenerates it.

use std::path::Path;
use std::{env, fs};

const FILES: [&str; 12] = [
    "src/raw.rs",
    "src/payload.rs",
    "src/reply.rs",
    "src/client.rs",
    "src/stream.rs",
    "src/queue.rs",
    "src/server.rs",
    "src/call.rs",
    "src/parameters.rs",
    "src/packets.rs",
    "src/hand_off.rs",
    "src/topics.rs",
];

const HEAD: &str = "\
/* frisbee: an frpc client and server for C. The guide is docs/c.md.
 *
 * Handles such as `frisbee_client *` are numbers in the form of pointers. Passing a handle that is NULL, freed or of
 * another type does not crash: the function returns `FRISBEE_INVALID_ARGUMENT`. It does the same for any other argument
 * that is NULL but must not be. In both cases it stores no results, unless documented otherwise. All other pointers
 * must be valid, as in any C library. Text is UTF-8 and ends with a NUL. `error` stays with the caller, and is written
 * only on failure.
 *
 * After fork(), only the parent may use the library. In the child, functions that need threads of the library return
 * `FRISBEE_FAILED_PRECONDITION`.
 *
 * Generated from the sources by `UPDATE_GOLDEN=1 cargo test -p frpc-c header`. */
";

/// Returns the version macros.
fn version() -> String {
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    format!(
        "\n/// Version of the header. The header is compatible with libraries that have the same major and minor version.\n\
         #define FRISBEE_VERSION_MAJOR {major}\n#define FRISBEE_VERSION_MINOR {minor}\n\
         #define FRISBEE_VERSION_PATCH {patch}\n#define FRISBEE_VERSION \"{}\"",
        env!("CARGO_PKG_VERSION"),
    )
}

/// Generates the header from the sources.
fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        include_guard: Some("FRISBEE_H".to_owned()),
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::Cxx,
        export: cbindgen::ExportConfig {
            // Parameters are integers, because C may pass any number.
            include: vec!["frisbee_format".to_owned(), "frisbee_codec".to_owned()],
            ..cbindgen::ExportConfig::default()
        },
        header: Some(HEAD.trim_end().to_owned()),
        after_includes: Some(version()),
        ..cbindgen::Config::default()
    };
    let builder = FILES.iter().fold(cbindgen::Builder::new(), |builder, file| builder.with_src(root.join(file)));
    let mut text = Vec::new();
    builder.with_config(config).generate().expect("header should be generated from the sources").write(&mut text);
    without_safety(&String::from_utf8(text).expect("bytes should be UTF-8"))
}

/// Removes the "Safety" sections, which are for Rust callers.
fn without_safety(header: &str) -> String {
    let mut out = String::new();
    let mut is_left_out = false;
    for line in header.lines() {
        if line.trim() == "/// # Safety" {
            // Removes the empty line before it too.
            out.truncate(out.trim_end_matches("///\n").len());
            is_left_out = true;
        }
        is_left_out &= line.starts_with("///");
        if !is_left_out {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[test]
fn header_declares_exported_functions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/frisbee.h");
    let generated = generated();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == generated, "include/frisbee.h differs from the sources: run this test with UPDATE_GOLDEN=1");
    let exported =
        FILES.iter().map(|file| fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let exported: usize = exported.map(|source| source.matches("#[unsafe(no_mangle)]").count()).sum();
    let declared = generated.lines().filter(|line| line.contains(" frisbee_") || line.contains("*frisbee_"));
    let declared = declared.filter(|line| line.contains('(') && !line.starts_with(' ') && !line.starts_with("typedef"));
    assert_eq!(declared.count(), exported);
}

#[test]
fn header_states_owners_null_and_threads() {
    const OWNERS: [&str; 7] = ["own", "belong", "copied", "free", "stay", "only read", "as `"];
    let header = generated();
    let (mut comment, mut unstated) = (String::new(), Vec::new());
    for line in header.lines() {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(&text.to_lowercase());
            continue;
        }
        if line.starts_with(char::is_alphabetic) && !line.starts_with("typedef") && line.contains('(') {
            let has_owner = OWNERS.iter().any(|word| comment.contains(word));
            let is_stated = has_owner && comment.contains("null") && comment.contains("thread");
            unstated.extend((!is_stated).then_some(line));
        }
        comment.clear();
    }
    assert!(unstated.is_empty(), "the comments do not state the owners, NULL or the threads of {unstated:#?}");
}

#[test]
fn misuse_program_names_each_function() {
    let program = fs::read_to_string(format!("{}/tests/programs/misuse.c", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let header = generated();
    let words = header.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let functions = words.filter(|word| word.starts_with("frisbee_") && header.contains(&format!("{word}(")));
    let missing: Vec<_> = functions.filter(|name| !program.contains(&format!("{name}("))).collect();
    assert!(missing.is_empty(), "tests/programs/misuse.c calls none of {missing:?}");
}
