//! `FieldMask`: paths in lowerCamelCase, separated by commas in one string.

use crate::error::quoted;
use crate::{DecodeError, EncodeError, Reader, Writer};

/// Writes the paths of a `FieldMask` as a comma-separated string.
///
/// # Errors
///
/// If a path would not be read back unchanged, such as `foo__bar` or `fooBar`.
pub fn encode_field_mask(paths: &[impl AsRef<str>], to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let mut text = String::new();
    for (index, path) in paths.iter().map(AsRef::as_ref).enumerate() {
        if index > 0 {
            text.push(',');
        }
        if !push_camel(path, &mut text) {
            return Err(Writer::refuse(format!("path {:?} of a field mask has no JSON form", quoted(path))));
        }
    }
    to.plain_string(&text);
    Ok(())
}

/// Reads the paths of a `FieldMask` from a comma-separated string.
///
/// # Errors
///
/// If the next value is not a string of valid paths.
pub fn decode_field_mask(from: &mut Reader<'_>) -> Result<Vec<String>, DecodeError> {
    const EXPECTED: &str = "field mask";
    let offset = from.value_offset();
    let text = from.string(EXPECTED)?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let count = text.bytes().filter(|byte| *byte == b',').count().saturating_add(1);
    from.charge::<String>(count)?;
    let paths: Option<Vec<String>> = text.split(',').map(snake).collect();
    paths.ok_or_else(|| Reader::invalid(EXPECTED, &text, offset))
}

/// Appends a path in lowerCamelCase to `text`. Returns `false` if the conversion could not be reversed.
fn push_camel(path: &str, text: &mut String) -> bool {
    let start = text.len();
    let mut is_behind_underscore = false;
    for letter in path.chars() {
        match letter {
            '_' if !is_behind_underscore => is_behind_underscore = true,
            'a'..='z' if is_behind_underscore => {
                text.push(letter.to_ascii_uppercase());
                is_behind_underscore = false;
            }
            'a'..='z' | '0'..='9' | '.' if !is_behind_underscore => text.push(letter),
            _ => return false,
        }
    }
    !is_behind_underscore && has_names(text.get(start..).unwrap_or_default())
}

/// Converts a path from lowerCamelCase to snake_case. Returns `None` if the path is not in lowerCamelCase.
fn snake(path: &str) -> Option<String> {
    if !has_names(path) {
        return None;
    }
    let mut text = String::with_capacity(path.len());
    for letter in path.chars() {
        match letter {
            'A'..='Z' => {
                text.push('_');
                text.push(letter.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' | '.' => text.push(letter),
            _ => return None,
        }
    }
    Some(text)
}

/// Returns whether a path consists of names that begin with a letter, separated by dots.
fn has_names(path: &str) -> bool {
    path.split('.').all(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::{push_camel, snake};

    #[test]
    fn field_mask_path_round_trips() {
        for (path, json) in [("foo", "foo"), ("foo_bar.baz_q", "fooBar.bazQ"), ("_x", "X"), ("a1_b2", "a1B2")] {
            let mut text = String::new();
            assert!(push_camel(path, &mut text), "{path}");
            assert_eq!(text, json);
            assert_eq!(snake(json).as_deref(), Some(path));
        }
    }

    #[test]
    fn irreversible_field_mask_path_is_rejected() {
        for path in [
            "fooBar",
            "foo__bar",
            "foo_3_bar",
            "foo_",
            "foo_.bar",
            "foo,bar",
            "foo bar",
            "é",
            "",
            "1a",
            "a.",
            ".a",
            "a..b",
        ] {
            assert!(!push_camel(path, &mut String::new()), "{path}");
        }
        for json in ["foo_bar", "foo bar", "é", "", "1a", "a.", ".a", "a..b"] {
            assert_eq!(snake(json), None, "{json}");
        }
    }
}
