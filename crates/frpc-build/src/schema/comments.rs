//! Converts schema comments into safe rustdoc.
//!
//! Comments must not run as doctests, must not end the enclosing comment, and should not cause rustdoc warnings. Code
//! blocks are therefore marked as text, and indentation that would start a code block is reduced. HTML and link
//! brackets outside of code are escaped, and control characters are removed. prost-build writes the cleaned comments to
//! its structs, and `generate/services.rs` writes them to services.

use std::collections::BTreeSet;

use prost_types::FileDescriptorProto;
use prost_types::source_code_info::Location;

use crate::schema::walk::walk;

/// Cleans all comments of `file`. Also adds missing source locations of items that can have comments. prost-build
/// expects a location for each of these items, but the descriptor sets of other programs may lack them.
pub(crate) fn clean_file(file: &mut FileDescriptorProto) {
    let mut paths = Vec::new();
    walk(file, &mut |_, _, path| paths.push(path.to_vec()));
    let Some(info) = &mut file.source_code_info else { return };
    for location in &mut info.location {
        location.leading_detached_comments.clear();
        for comment in [&mut location.leading_comments, &mut location.trailing_comments] {
            *comment = comment.take().map(|comment| clean(&comment)).filter(|comment| !comment.is_empty());
        }
    }
    let present: BTreeSet<Vec<i32>> = info.location.iter().map(|location| location.path.clone()).collect();
    let missing = paths.into_iter().filter(|path| !present.contains(path));
    info.location.extend(missing.map(|path| Location { path, ..Location::default() }));
}

/// Opening fence of a code block, which determines the fence that closes it.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

/// Cleans a comment so that no code block in it runs as a doctest.
pub(crate) fn clean(comment: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut open: Option<Fence> = None;
    for (number, line) in comment.lines().enumerate() {
        let line = printable(line);
        let line = match line.strip_prefix('*') {
            // `/** text` leaves an asterisk at the start of the first line.
            Some(rest) if number == 0 && (rest.is_empty() || rest.starts_with(' ')) => rest,
            _ => &line,
        };
        let line = line.strip_prefix('/').map_or(line, |rest| rest.trim_start_matches('/')); // Left by `///`.
        match open {
            Some(fence) if closes(fence, line) => {
                lines.push(fence_line(fence, ""));
                open = None;
            }
            Some(_) => lines.push(line.trim_end().to_owned()),
            None => {
                let (markers, rest) = split_markers(line);
                match opens(rest) {
                    Some(fence) => {
                        // Code blocks are moved out of lists and quotes, where different rules end a block.
                        if !markers.trim().is_empty() {
                            lines.push(format!(" {}", markers.trim()));
                        }
                        lines.push(fence_line(fence, "text"));
                        open = Some(fence);
                    }
                    None => lines.push(format!("{markers}{}", escaped(rest)).trim_end().to_owned()),
                }
            }
        }
    }
    if let Some(fence) = open {
        lines.push(fence_line(fence, ""));
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    let mut text = lines.split_off(empty).join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Removes control characters and bidirectional formatting characters, and replaces tabs with spaces. rustc rejects
/// bare carriage returns and bidirectional characters in comments.
fn printable(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '\t' => text.push_str("    "),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => {}
            character if character.is_control() => {}
            character => text.push(character),
        }
    }
    text
}

fn fence_line(fence: Fence, language: &str) -> String {
    let marks: String = std::iter::repeat_n(fence.mark, fence.length).collect();
    format!("{marks}{language}")
}

fn opens(text: &str) -> Option<Fence> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.chars().take_while(|character| *character == mark).count();
    let is_inline_code = mark == '`' && text[length..].contains('`');
    (length >= 3 && !is_inline_code).then_some(Fence { mark, length })
}

fn closes(fence: Fence, line: &str) -> bool {
    let line = line.trim();
    line.len() >= fence.length && line.chars().all(|character| character == fence.mark)
}

/// Maximum indentation of a comment line. Four spaces start a code block in markdown, and prost-build adds one to
/// indented lines.
const INDENT_MAX: usize = 2;

/// Splits a line into its indentation with list and quote markers, and its text. Removes spaces that would start a code
/// block.
fn split_markers(line: &str) -> (String, &str) {
    let text = line.trim_start_matches(' ');
    let mut markers = " ".repeat((line.len() - text.len()).min(INDENT_MAX));
    let mut text = text;
    while let Some(length) = marker_length(text) {
        let (marker, rest) = text.split_at(length);
        markers.push_str(marker);
        text = rest.trim_start_matches(' ');
        if text.len() < rest.len() {
            markers.push(' ');
        }
    }
    (markers, text)
}

/// Returns the length of the list or quote marker at the start of `text`, if there is one.
fn marker_length(text: &str) -> Option<usize> {
    if text.starts_with('>') {
        return Some(1);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = match (digits, text.as_bytes().get(digits)) {
        (0, Some(b'-' | b'*' | b'+')) => 1,
        (1..=9, Some(b'.' | b')')) => digits + 1,
        _ => return None,
    };
    text[length..].starts_with(' ').then_some(length)
}

/// Escapes HTML and brackets outside of inline code, except in web links.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut is_escaped = false;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        if ticks > 0 {
            let length = code_length(rest, ticks);
            result.push_str(&rest[..length]);
            rest = &rest[length..];
            is_escaped = false;
            continue;
        }
        // Excludes `[a][b](http`, where `[a][b]` would be an intra-doc link.
        let is_web = |(text, to): (&str, &str)| to.starts_with("http") && !text.contains("][");
        let is_link = character == '[' && rest.split_once("](").is_some_and(is_web);
        if matches!(character, '<' | '[') && !is_link && !is_escaped {
            result.push('\\');
        }
        result.push(character);
        is_escaped = character == '\\' && !is_escaped;
        rest = &rest[character.len_utf8()..];
    }
    result
}

/// Returns the length of the inline code at the start of `text`, which starts with `ticks` backticks. If the line does
/// not close them, returns the length of the backticks.
fn code_length(text: &str, ticks: usize) -> usize {
    let mut at = ticks;
    while let Some(next) = text[at..].find('`') {
        let run = text[at + next..].bytes().take_while(|byte| *byte == b'`').count();
        at += next + run;
        if run == ticks {
            return at;
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn fences_are_marked_as_text_and_closed() {
        assert_eq!(clean("```\na\n```\n"), "```text\na\n```\n");
        assert_eq!(clean("```rust,should_panic\na"), "```text\na\n```\n");
        assert_eq!(clean("~~~~\n~~~\n~~~~"), "~~~~text\n~~~\n~~~~\n");
        assert_eq!(clean("```not a fence``` here"), "```not a fence``` here\n");
    }

    #[test]
    fn nested_comment_fences_are_moved_out() {
        assert_eq!(clean(" - ```\n   let a;\n   ```\n"), " -\n```text\n   let a;\n```\n");
        assert_eq!(clean("> ```\n> let a;\n"), " >\n```text\n> let a;\n```\n");
    }

    #[test]
    fn no_line_is_indented_code_block() {
        for line in ["    a", "\ta", "  -      a", ">     a", "1.     a", "> - >      a", "* *     a"] {
            let cleaned = clean(line);
            assert!(!cleaned.contains("   "), "{line:?} became {cleaned:?}");
        }
        assert_eq!(clean(" - a\n   - b"), " - a\n  - b\n");
    }

    #[test]
    fn html_and_brackets_are_escaped_outside_code() {
        assert_eq!(clean("<a> `<b>` ``<`c>`` <d>"), "\\<a> `<b>` ``<`c>`` \\<d>\n");
        assert_eq!(clean("[a] [b](c) [d](https://e) `[f]`"), "\\[a] \\[b](c) [d](https://e) `[f]`\n");
        assert_eq!(clean("[a][b](https://e)"), "\\[a][b](https://e)\n");
        assert_eq!(clean("a ` <b>"), "a ` \\<b>\n");
        assert_eq!(clean(r"\<a> \\<b> \\\<c>"), "\\<a> \\\\\\<b> \\\\\\<c>\n");
    }

    #[test]
    fn control_and_bidi_characters_are_dropped() {
        assert_eq!(clean("a\rb\0c\u{202e}d\u{85}e"), "abcde\n");
    }

    #[test]
    fn marks_of_other_comment_styles_are_dropped() {
        assert_eq!(clean("/ three slashes\n/ again"), " three slashes\n again\n");
        assert_eq!(clean("* two stars\n more"), " two stars\n more\n");
        assert_eq!(clean("\n\n text \n\n"), " text\n");
        assert_eq!(clean("/////////"), "");
    }
}
