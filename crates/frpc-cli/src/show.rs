//! Standard output and standard error: escaping and failures.
//!
//! Text from a server may contain sequences that change the state of a terminal or disguise text. Such sequences are
//! escaped, unless the output is not a terminal and the user requests raw text.

use crate::failure::{Failure, by_options};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use frpc::details;
use frpc::{Metadata, Status};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal as _, Write as _};

/// Prints the output of a command in the format that was requested.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Screen {
    /// Print one JSON value per line, for other programs. Failures are printed to standard error, also as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not escape control characters if standard output is not a terminal.
    #[arg(long, global = true)]
    pub(crate) raw: bool,
    /// Print more to standard error: the connection and metadata with -v, bodies with -vv, frames with -vvv.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Screen {
    /// Returns whether text on standard output is written without escaping control characters.
    fn is_raw(&self) -> bool {
        self.raw && !io::stdout().is_terminal()
    }

    /// Writes a line of text to standard output.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        let text = if self.is_raw() { Cow::Borrowed(text) } else { escaped(text) };
        write(format!("{text}\n").as_bytes())
    }

    /// Writes a line of JSON to standard output. Control characters in strings are escaped, which does not change the
    /// strings themselves.
    pub(crate) fn json_line(&self, json: &str) -> Result<(), Failure> {
        let json = if self.is_raw() { Cow::Borrowed(json) } else { escaped_json(json) };
        write(format!("{json}\n").as_bytes())
    }

    /// Writes JSON to standard output if it was requested, otherwise text, without space at its end.
    pub(crate) fn show(&self, json: impl FnOnce() -> String, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.json_line(&json()) } else { self.line(text().trim_end()) }
    }

    /// Writes the raw value of a field to standard output. If standard output is a terminal, text is escaped and binary
    /// data is rejected.
    pub(crate) fn value(&self, value: &[u8]) -> Result<(), Failure> {
        if !io::stdout().is_terminal() {
            return write(value);
        }
        match std::str::from_utf8(value) {
            Ok(text) => self.line(text),
            Err(_) => Err(Failure::new("the field is not text: redirect standard output to a file")),
        }
    }

    /// Writes a remark to standard error if the verbosity is at least `level`.
    pub(crate) fn remark(&self, level: u8, text: impl FnOnce() -> String) {
        if self.verbose >= level {
            for line in text().lines() {
                note(format_args!("* {}", escaped(line)));
            }
        }
    }

    /// Writes metadata to standard error. Each entry is on a separate line, which begins with `mark`.
    pub(crate) fn metadata(&self, mark: &str, metadata: &Metadata) {
        self.remark(1, || {
            let mut lines = String::new();
            for (key, value) in metadata.iter() {
                // Writing to a string cannot fail, so ignore the result.
                let _ = writeln!(lines, "{mark} {key}: {}", metadata_text(key, value));
            }
            lines
        });
    }

    /// Writes the message of a failure to standard error.
    pub(crate) fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Closed => {}
            Failure::Own(text) if self.json => note(escaped_json(&json!({ "message": text }).to_string())),
            Failure::Own(text) => text.lines().for_each(|line| note(escaped(line))),
            Failure::Status(status) => {
                self.metadata("<", status.metadata());
                self.status(status, failure);
            }
        }
    }

    fn status(&self, status: &Status, failure: &Failure) {
        let details = BASE64_STANDARD.encode(status.details());
        if self.json {
            let value = json!({
                "code": status.code().name(),
                "number": status.code() as i32,
                "message": by_options(status.message()),
                "details": details,
                "mayHaveRun": status.may_have_run(),
            });
            return note(escaped_json(&value.to_string()));
        }
        note(escaped(&failure.to_string()));
        for line in detail_lines(status) {
            note(escaped(&line));
        }
        if !details.is_empty() {
            note(format_args!("details, in base64: {details}"));
        }
        self.remark(1, || {
            let may = if status.may_have_run() { "may have run" } else { "has not run" };
            format!("the call {may} on the server")
        });
    }
}

/// Writes a line to standard error. Ignores errors, because the reader may have closed the pipe, for example in `2>&1 |
/// head`.
pub(crate) fn note(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns the value of a metadata entry as text. Binary values are encoded in base64.
fn metadata_text(key: &str, value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) if !key.ends_with("-bin") => text.to_owned(),
        _ => BASE64_STANDARD.encode(value),
    }
}

/// Returns metadata as the members of a JSON object.
///
/// # Errors
/// If a key has several values, because servers reject an object with repeated keys.
pub(crate) fn metadata_members(metadata: &Metadata) -> Result<BTreeMap<&str, String>, Failure> {
    let mut members = BTreeMap::new();
    for (key, value) in metadata.iter() {
        if members.insert(key, metadata_text(key, value)).is_some() {
            let text = format!("metadata {key} is given more than once, which JSON-RPC does not support: give it once");
            return Err(Failure::new(text));
        }
    }
    Ok(members)
}

/// Returns a line of text for each standard error detail (`google.rpc`) that a status contains.
fn detail_lines(status: &Status) -> Vec<String> {
    let mut lines = Vec::new();
    macro_rules! add {
        ($($name:ident)*) => {
            $(lines.extend(status.all_details::<details::$name>().map(|detail| format!("detail: {detail:?}")));)*
        };
    }
    add!(ErrorInfo RetryInfo DebugInfo QuotaFailure PreconditionFailure);
    add!(BadRequest RequestInfo ResourceInfo Help LocalizedMessage);
    lines
}

fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::new(format!("standard output: {error}")),
    })
}

/// Returns whether a character can control a terminal, or change the order or the position of other characters.
fn is_active(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' // Control characters except tabs and line feeds.
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' // Bidirectional formatting and joiners.
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}') // Byte order marks and tags.
}

/// Escapes characters that could control a terminal or hide parts of the text.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    with_escapes(text, |letter| letter.escape_unicode().to_string())
}

/// Replaces control characters in JSON by escape sequences. In valid JSON, these characters occur only in strings.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    with_escapes(json, |letter| letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect())
}

fn with_escapes(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_active(letter) {
            out.push_str(&escape(letter));
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{202e}b\u{9b}\u{7f}\u{e0041}\r\u{feff}\t\nß🦀";

    #[test]
    fn terminal_control_and_bidi_characters_are_escaped() {
        let shown = escaped(HOSTILE);
        assert!(!shown.contains(is_active), "{shown:?}");
        assert_eq!(shown, "a\\u{1b}[2J\\u{202e}b\\u{9b}\\u{7f}\\u{e0041}\\u{d}\\u{feff}\t\nß🦀");
        assert!(matches!(escaped("plain ß\n"), Cow::Borrowed("plain ß\n")));
    }

    #[test]
    fn google_rpc_details_are_shown_as_fields() {
        let faults = details::BadRequest::new([("email", "is empty")]);
        let status = Status::invalid_argument("bad").with_detail(&faults);
        let status = status.with_detail(&details::ErrorInfo::new("EMPTY", "shop.example"));
        let lines = detail_lines(&status);
        assert!(lines[0].starts_with("detail: ErrorInfo { reason: \"EMPTY\", domain: \"shop.example\""), "{lines:?}");
        assert!(lines[1].contains("FieldViolation { field: \"email\", description: \"is empty\" }"), "{lines:?}");
        assert!(detail_lines(&Status::not_found("no").with_details(&b"other"[..])).is_empty());
    }

    /// Regression test: only the last value of a key was sent.
    #[test]
    fn repeated_metadata_key_is_no_json_member() {
        let mut metadata = Metadata::new();
        for (key, value) in [("role", "reader"), ("a", "1"), ("role", "writer")] {
            metadata.append(key, value).expect("metadata entry should be valid");
        }
        let error = metadata_members(&metadata).expect_err("repeated key should be rejected").to_string();
        assert!(error.starts_with("metadata role is given more than once"), "{error}");
        metadata.remove("role");
        let members = metadata_members(&metadata).expect("single key should be accepted");
        assert_eq!(members, BTreeMap::from([("a", "1".to_owned())]));
    }

    #[test]
    fn escaped_json_has_same_strings() {
        let json = serde_json::to_string(HOSTILE).unwrap();
        let shown = escaped_json(&json);
        assert!(!shown.contains(is_active), "{shown:?}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), HOSTILE);
    }
}
