//! Amazon Ion 1.0 as an encoding of JSON-RPC messages. An Ion message is converted to JSON before it is parsed, and a
//! reply is converted to Ion as the last step.
//!
//! * `ion/text.rs`, `ion/binary.rs`: parsers of the two encodings, which need one pass and neither a tree nor recursion
//! * `ion/output.rs`: JSON output of the parsers, which enforces the limits
//! * `ion/symbols.rs`: symbol tables
//! * `ion/time.rs`: timestamps
//! * `ion/body.rs`: handling of requests
//! * `ion/encode.rs`: encoding of binary replies. A text reply is the JSON itself, which is valid Ion.

mod binary;
mod body;
mod encode;
mod output;
mod symbols;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub(crate) use body::answer;

use encode::to_binary;
use output::JsonOutput;
use std::borrow::Cow;
use std::fmt;

/// Binary version marker of Ion 1.0. It starts a binary message and resets the symbol table.
const VERSION_MARKER: &[u8] = &[0xe0, 0x01, 0x00, 0xea];

/// Maximum length in bytes of integers, coefficients and numbers in base 2 or 16. It bounds the conversion to decimal
/// digits, which takes quadratic time.
const INTEGER_MAX: usize = 16;

/// Limits of the JSON text that an Ion message is converted to.
#[derive(Clone, Copy, Debug)]
struct IonLimits {
    bytes: usize,
    /// Maximum nesting depth of lists, structs and S-expressions.
    depth: u32,
}

/// Error of a message that cannot be converted to JSON, and its offset in the message.
#[derive(Debug, PartialEq, Eq)]
struct IonError {
    offset: usize,
    /// Length in bytes of the JSON text that was written before the error.
    written: usize,
    problem: Problem,
}

#[derive(Debug, PartialEq, Eq)]
enum Problem {
    Malformed(Cow<'static, str>),
    TooDeep,
    TooLong,
}

impl fmt::Display for IonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match &self.problem {
            Problem::Malformed(problem) => problem,
            Problem::TooDeep => "too many levels",
            Problem::TooLong => "too long as JSON",
        };
        write!(f, "invalid Ion at byte {}: {problem}", self.offset)
    }
}

type Result<T> = std::result::Result<T, Problem>;

#[cold]
fn malformed<T>(problem: impl Into<Cow<'static, str>>) -> Result<T> {
    Err(Problem::Malformed(problem.into()))
}

/// Returns whether an Ion message is in the binary encoding.
fn is_binary(input: &[u8]) -> bool {
    input.starts_with(VERSION_MARKER)
}

/// Converts an Ion message to JSON. The message must be a single value, preceded by any number of version markers and
/// local symbol tables.
fn to_json(input: &[u8], limits: IonLimits) -> std::result::Result<Vec<u8>, IonError> {
    read(input, limits, JsonOutput::into_message)
}

/// Parses all values of the input and passes the output to `finish`.
fn read(
    input: &[u8],
    limits: IonLimits,
    finish: impl FnOnce(JsonOutput) -> Result<Vec<u8>>,
) -> std::result::Result<Vec<u8>, IonError> {
    let mut output = JsonOutput::new(limits);
    let (offset, read) = if is_binary(input) {
        binary::read(input, &mut output)
    } else {
        match std::str::from_utf8(input) {
            Ok(text) => text::read(text, &mut output),
            Err(error) => (error.valid_up_to(), malformed("the text is not UTF-8")),
        }
    };
    let written = output.written();
    read.and_then(|()| finish(output)).map_err(|problem| IonError { offset, written, problem })
}
