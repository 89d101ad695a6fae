//! Extracts the code blocks of the pages. Block *n* of `docs/page.md` is written to `page-n.rs` unchanged, for blocks
//! of items, and to `page-n.body.rs` in braces, for blocks of statements. Also compiles the README's schema.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut blocks = String::new();
    println!("cargo::rerun-if-changed={}", root.join("docs").display());
    for (name, page) in pages(&root)? {
        println!("cargo::rerun-if-changed={}", page.display());
        let text = fs::read_to_string(&page)?;
        for (at, (kind, code)) in code(&text).filter(|(kind, _)| kind.starts_with("rust")).enumerate() {
            let block = format!("{name}-{}", at + 1);
            if kind != "rust" {
                return Err(format!("{}: block {block} is `{kind}`, so nothing compiles it", page.display()).into());
            }
            // Replaces the address in the pages by that of the test's server.
            let code = code.replace("\"127.0.0.1:8080\"", "crate::address()");
            // A method must be in an `impl` block.
            let items = if code.contains("(&self") && !code.contains("impl") {
                format!("impl Service {{\n{code}}}\n")
            } else {
                code.clone()
            };
            fs::write(out.join(format!("{block}.rs")), items)?;
            fs::write(out.join(format!("{block}.body.rs")), format!("{{\n{code}}}\n"))?;
            let _ = writeln!(blocks, "    \"{block}\",");
        }
        if name == "readme" {
            let (_, schema) = code(&text).find(|(kind, _)| *kind == "proto").ok_or("the README has no schema")?;
            fs::write(out.join("greet.proto"), schema)?;
        }
    }
    fs::write(out.join("blocks.rs"), format!("&[\n{blocks}]\n"))?;
    // The schema needs no lock file, because it is a part of the README.
    let builder = frpc_build::configure().dyn_traits(true).json(true).protobuf(true);
    // Each run of this script writes the schema again. If cargo watched it, this script would run at every build.
    builder.emit_rerun_if_changed(false).compile_protos(&[out.join("greet.proto")], &[&out])?;
    Ok(())
}

/// Returns the pages, with the prefix of the names of their code blocks.
fn pages(root: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut pages = vec![("readme".to_owned(), root.join("README.md"))];
    for (folder, is_page) in [("docs", true), ("crates", false)] {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let page = if is_page { path } else { path.join("README.md") };
            // These pages are compiled as doctests of frpc-build.
            let is_compiled_elsewhere = name == "operations";
            if page.is_file() && page.extension().is_some_and(|is| is == "md") && !is_compiled_elsewhere {
                pages.push((name, page));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Returns the code blocks of a page, each with the language named after its three backticks.
fn code(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let kind = lines.find_map(|line| line.strip_prefix("```"))?;
        let code = lines.by_ref().take_while(|line| !line.starts_with("```"));
        Some((kind, code.fold(String::new(), |code, line| code + line + "\n")))
    })
}
