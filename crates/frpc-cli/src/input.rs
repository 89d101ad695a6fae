//! The requests of a call: from parameters, JSON, files and standard input.

use crate::failure::Failure;
use crate::parameters;
use crate::target::read;
use crate::tensors::message_from_json;
use frpc_dynamic::{DynamicMessage, MessageDescriptor};
use std::collections::VecDeque;
use std::io::Read as _;
use std::path::Path;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Requests of a call: from the command line and, if requested, from the lines of standard input.
pub(crate) struct Input {
    /// Requests from parameters and files, which are sent before the requests from standard input.
    pub(crate) messages: VecDeque<DynamicMessage>,
    /// The lines of standard input, if they are sent as further requests.
    lines: Option<Lines>,
}

impl Input {
    /// Parses the request parameters of a call. More than one request is only permitted if `is_stream` is set.
    pub(crate) fn new(parameters: &[String], descriptor: &MessageDescriptor, is_stream: bool) -> Result<Self, Failure> {
        let mut messages = Vec::new();
        let mut lines = None;
        let mut fields = Vec::new();
        for parameter in parameters {
            let before = messages.len();
            if parameter == "-" && is_stream {
                lines = Some(Lines::new(descriptor.clone()));
            } else if parameter == "-" {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).map_err(Failure::stdin)?;
                all(descriptor, text(&bytes, "standard input")?, "standard input", &mut messages)?;
            } else if let Some(file) = parameter.strip_prefix('@') {
                all(descriptor, text(&read(Path::new(file))?, file)?, file, &mut messages)?;
            } else if parameter.trim_start().starts_with(['{', '[', '"']) || parameters.len() == 1 && is_json(parameter)
            {
                all(descriptor, parameter, "the request", &mut messages)?;
            } else {
                fields.push(parameter);
                continue;
            }
            // An empty input usually means that the command that writes it has failed.
            let source = if parameter == "-" { "standard input" } else { parameter.as_str() };
            if messages.len() == before && !is_stream {
                return Err(Failure::new(format!("{source} contains no JSON value for the request")));
            }
        }
        if !fields.is_empty() || (messages.is_empty() && !is_stream) {
            if messages.is_empty() {
                messages.push(DynamicMessage::new(descriptor.clone()));
            }
            let [message] = &mut messages[..] else {
                return Err(Failure::new("NAME=VALUE parameters require a single request, but several were given"));
            };
            fields.into_iter().try_for_each(|field| parameters::set(message, field))?;
        }
        if messages.len() > 1 && !is_stream {
            let count = messages.len();
            return Err(Failure::new(format!("the method takes one request, but {count} were given: use `frpc load`")));
        }
        Ok(Self { messages: messages.into(), lines })
    }

    /// Returns the next request of a stream, or `None` after the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<DynamicMessage>, Failure> {
        match (self.messages.pop_front(), &mut self.lines) {
            (None, Some(lines)) => lines.next().await,
            (message, _) => Ok(message),
        }
    }
}

/// Returns whether a parameter is a JSON value rather than an assignment such as `name=value`.
fn is_json(text: &str) -> bool {
    !text.contains('=') && serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// Returns the text of a file without its byte order mark.
fn text<'a>(bytes: &'a [u8], source: &str) -> Result<&'a str, Failure> {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Err(Failure::new(format!("{source} is UTF-16; save it as UTF-8"))),
        [0xEF, 0xBB, 0xBF, rest @ ..] | rest => str::from_utf8(rest)
            .map_err(|error| Failure::new(format!("{source} is not UTF-8, from byte {} on", error.valid_up_to()))),
    }
}

/// Parses a sequence of messages in JSON.
fn all(
    descriptor: &MessageDescriptor,
    text: &str,
    source: &str,
    messages: &mut Vec<DynamicMessage>,
) -> Result<(), Failure> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let mut start = 0;
    while let Some(value) = values.next() {
        value.map_err(|error| Failure::new(format!("{source} is not JSON: {error}")))?;
        let end = values.byte_offset();
        let json = text.get(start..end).unwrap_or_default();
        start = end;
        messages.push(one(descriptor, json, source)?);
    }
    Ok(())
}

fn one(descriptor: &MessageDescriptor, json: &str, source: &str) -> Result<DynamicMessage, Failure> {
    message_from_json(descriptor, json)
        .map_err(|error| Failure::new(format!("{source} is not a valid `{}`: {error}", descriptor.full_name())))
}

/// Lines of standard input. Each is parsed as a message.
struct Lines {
    descriptor: MessageDescriptor,
    lines: tokio::io::Lines<BufReader<tokio::io::Stdin>>,
    count: u64,
}

impl Lines {
    fn new(descriptor: MessageDescriptor) -> Self {
        Self { descriptor, lines: BufReader::new(tokio::io::stdin()).lines(), count: 0 }
    }

    /// Returns the next message, or `None` at the end of the input. Blank lines are skipped.
    async fn next(&mut self) -> Result<Option<DynamicMessage>, Failure> {
        loop {
            self.count += 1;
            let Some(line) = self.lines.next_line().await.map_err(Failure::stdin)? else { return Ok(None) };
            if !line.trim().is_empty() {
                return one(&self.descriptor, &line, &format!("line {} of standard input", self.count)).map(Some);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bom_is_skipped_and_utf16_is_rejected() {
        assert_eq!(
            text(b"\xEF\xBB\xBF{}", "a.json").expect("UTF-8 text should be accepted with a byte order mark"),
            "{}"
        );
        assert_eq!(text(b"{}", "a.json").expect("UTF-8 text should be accepted without a byte order mark"), "{}");
        let error = |bytes: &[u8]| text(bytes, "a.json").expect_err("UTF-16 should be rejected").to_string();
        assert_eq!(error(b"\xFF\xFE{\0}\0"), "a.json is UTF-16; save it as UTF-8");
        assert_eq!(error(b"{}\xFF"), "a.json is not UTF-8, from byte 2 on");
    }
}
