//! Pretty-printing of JSON.

/// Writes each member of an object and each element of an array on a separate line, indented by two more spaces than
/// its parent. `json` must not contain spaces outside of strings.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len().saturating_mul(2));
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(letter) = rest.chars().next() {
        let (token, remaining) = rest.split_at(token_len(rest, letter));
        rest = remaining;
        match letter {
            '{' | '[' if rest.starts_with(['}', ']']) => out.push(letter),
            '{' | '[' => {
                depth = depth.saturating_add(1);
                out.push(letter);
                break_line(&mut out, depth);
            }
            '}' | ']' if out.ends_with(['{', '[']) => out.push(letter),
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push_str(token),
        }
    }
    out
}

/// Returns the length in bytes of the token that starts with `letter`. A string is one token, and so is any other
/// character.
fn token_len(json: &str, letter: char) -> usize {
    if letter != '"' {
        return letter.len_utf8();
    }
    let mut is_escaped = false;
    let is_end = |byte: u8| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    };
    let end = json.bytes().skip(1).position(is_end);
    // Add both quotation marks to the length of the text between them.
    end.map_or(json.len(), |inner| inner.saturating_add(2))
}

/// Starts a new line with the indentation for the nesting depth `depth`.
fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn pretty_json_indents_entries_and_preserves_strings() {
        let json = r#"{"a":[1,{"b":"{,:\"[\\"}],"empty":{},"none":[],"ä":"ö"}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"{,:\\\"[\\\\\"\n    }\n  ],\n  \"empty\": {},\n  \"none\": [],\n  \"ä\": \"ö\"\n}";
        assert_eq!(indented(json), expected);
        assert_eq!(indented("\"\""), "\"\"");
    }
}
