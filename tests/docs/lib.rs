//! Compiles the code of README.md and of the pages in docs/ and crates/, and runs the blocks that need only loopback.
//!
//! Pages omit imports and values. `pages.rs` adds them to each block. A block is named after its page and its number on
//! the page. `build.rs` extracts the blocks from the pages.

#![cfg(test)]
// Lints are disabled, because the code of pages consists of fragments that are written for people.
#![allow(unused, unused_qualifications, non_snake_case, unreachable_code, clippy::all, clippy::pedantic)]

mod fixtures;
mod pages;

use std::error::Error;
use std::sync::OnceLock;

/// Address of the README's server, used instead of the address in the pages.
static ADDRESS: OnceLock<String> = OnceLock::new();

fn address() -> &'static str {
    ADDRESS.get().map_or("127.0.0.1:0", String::as_str)
}

/// Includes a code block that consists of items.
macro_rules! items {
    ($block:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $block, ".rs"));
    };
}

/// Runs a code block that consists of statements, in a scope of its own.
macro_rules! statements {
    ($block:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $block, ".body.rs"))
    };
}

use {items, statements};

/// Return type of the functions that wrap code blocks.
type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn every_block_of_every_page_is_compiled() {
    let blocks: &[&str] = include!(concat!(env!("OUT_DIR"), "/blocks.rs"));
    let pages = include_str!("pages.rs");
    let missing: Vec<_> = blocks.iter().filter(|block| !pages.contains(&format!("!(\"{block}\")"))).collect();
    assert!(missing.is_empty(), "tests/docs/pages.rs should contain code for these blocks: {missing:?}");
}

#[tokio::test]
async fn readme_client_calls_readme_server() -> Outcome {
    ADDRESS.set(pages::readme::server::start().await?).map_err(|_| "another test has set the address")?;
    pages::readme::client().await
}

#[test]
fn limits_page_settings_are_parsed() -> Outcome {
    let (_, file) = include_str!("../../docs/limits.md").split_once("```toml\n").ok_or("the page has no file")?;
    let (file, _) = file.split_once("```").ok_or("the file has no end")?;
    pages::limits::file(file.to_owned())?;
    pages::limits::file(file.replace("idle_timeout", "idle_timout")).expect_err("unknown setting should be rejected");
    Ok(())
}

#[test]
fn blocks_without_sockets_run() -> Outcome {
    pages::core()?;
    pages::json::messages()?;
    pages::json::scalars()?;
    pages::polyglot()?;
    pages::routers::handlers();
    Ok(())
}
