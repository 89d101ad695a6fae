//! Checks that the examples in `docs/wire.md` are bytes that were measured.

use crate::wire::measured::{corpus, hex};
use std::collections::HashSet;

const MANUAL: &str = include_str!("../../docs/wire.md");

#[test]
fn manual_examples_match_measured_bytes() {
    let chapter = MANUAL.split("\n## ").find_map(|chapter| chapter.strip_prefix("Worked examples\n"));
    let blocks: Vec<&str> = chapter.expect("page should contain the chapter").split("```").skip(1).step_by(2).collect();
    let measured: HashSet<&[u8]> = corpus()
        .encodings
        .iter()
        .map(|encoding| &encoding.bytes)
        .chain(corpus().decodings.iter().map(|decoding| &decoding.bytes))
        .chain(corpus().frames.iter().map(|frame| &frame.bytes))
        .map(Vec::as_slice)
        .collect();
    for block in &blocks {
        let lines = block.strip_prefix("text\n").expect("block should be text").lines();
        let digits: String = lines.map(|line| line.split(';').next().unwrap_or_default().replace(' ', "")).collect();
        assert!(measured.contains(&*hex(&digits)), "no such bytes were measured: {block}");
    }
    assert_eq!(blocks.len(), 15);
}
