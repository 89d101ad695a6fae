//! A fuzz target for layouts. It parses two descriptions, and translates a body from one to the other.

use polyglot::layout::{Description, Limits, Plan, TypeLayout};
use polyglot::{Form, Nesting};

/// Maximum length of a body in bytes. It is larger than any input of a fuzzer.
const BODY_MAX: usize = 1 << 16;

/// Checks that a layout description is rejected or canonical, and that translation takes limited memory. The input
/// consists of the writer's description, preceded by its length in two bytes, the reader's description in the same
/// form, and a body.
pub fn layout(data: &[u8]) {
    let Some((writer, rest)) = described(data) else { return };
    let Some((reader, body)) = described(rest) else { return };
    let (Some(writer), Some(reader)) = (writer, reader) else { return };
    let is_message = |of: &Description| matches!(of.types.first(), Some(TypeLayout::Message(_)));
    if !is_message(&writer) || !is_message(&reader) {
        return;
    }
    for form in [Form::Extended, Form::Flat] {
        let Ok(plan) = Plan::new(&writer, &reader, &[(0, 0)], form) else { continue };
        let root = match plan.root(0, 0) {
            Ok(Some(root)) => root,
            Ok(None) => continue,
            Err(refusal) => {
                let text = refusal.describe(&reader, "", false, writer.fingerprint());
                assert!(text.contains(" here, ") && !refusal.to_string().is_empty(), "{text}");
                continue;
            }
        };
        let mut out = Vec::new();
        match plan.translate(root, body, &mut out, Limits { body: BODY_MAX, nesting: Nesting::default() }) {
            Ok(translated) => {
                assert!(out.len() <= BODY_MAX);
                let bytes = (body.len() + out.len()) as u64;
                assert!(translated.steps <= 16 * bytes, "{} steps for {bytes} bytes", translated.steps);
                assert!(translated.skipped <= body.len() as u64);
            }
            Err(error) => assert!(out.is_empty() && !error.to_string().is_empty()),
        }
    }
}

/// Parses a description that is preceded by its length. Also returns the bytes after it.
fn described(data: &[u8]) -> Option<(Option<Description>, &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    let (bytes, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    let description = Description::parse(bytes).ok();
    if let Some(description) = &description {
        assert_eq!(description.encode(), bytes, "descriptions should be canonical");
    }
    Some((description, rest))
}
