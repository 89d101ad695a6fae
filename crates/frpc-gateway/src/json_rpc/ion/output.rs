//! Writer for the JSON of a message, which enforces the message's limits.

use super::symbols::{SYMBOL_TABLE, Symbols};
use super::{IonLimits, Problem, Result, malformed};
use base64::prelude::*;
use frpc::json::plain_length;

/// Kind of an open container, which determines its separators and closing bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Container {
    List,
    /// An S-expression, which becomes a JSON array.
    Sexp,
    Struct,
}

impl Container {
    /// Returns the closing bracket of the container in Ion text.
    pub(super) fn end(self) -> u8 {
        match self {
            Self::List => b']',
            Self::Sexp => b')',
            Self::Struct => b'}',
        }
    }
}

/// JSON writer with a size limit and a depth limit. It receives the message and the local symbol tables before it, and
/// applies each table once it is complete.
pub(super) struct JsonOutput {
    json: Vec<u8>,
    containers: Vec<Container>,
    limits: IonLimits,
    /// Complete top-level values, one per line.
    message: Vec<u8>,
    values: usize,
    /// Total length of the JSON of all complete symbol tables.
    tables: usize,
    /// Whether the current value is a local symbol table. In a table, only Ion strings are written as strings; see
    /// [`Symbols::apply`].
    is_table: bool,
    pub(super) symbols: Symbols,
}

impl JsonOutput {
    pub(super) fn new(limits: IonLimits) -> Self {
        let symbols = Symbols::default();
        let (json, message) = (Vec::new(), Vec::new());
        Self { json, containers: Vec::new(), limits, message, values: 0, tables: 0, is_table: false, symbols }
    }

    pub(super) fn into_message(self) -> Result<Vec<u8>> {
        match self.values {
            0 => malformed("there is no value"),
            1 => Ok(self.message),
            _ => malformed("a message is one value: send several requests as a list"),
        }
    }

    /// Returns the length of the JSON text written so far, including symbol tables.
    pub(super) fn written(&self) -> usize {
        self.json.len() + self.message.len() + self.tables
    }

    /// Returns all complete top-level values, one per line.
    #[cfg(test)]
    pub(super) fn into_values(self) -> Vec<u8> {
        self.message
    }

    /// Returns the innermost open container.
    pub(super) fn container(&self) -> Option<Container> {
        self.containers.last().copied()
    }

    /// Checks that `bytes` more can be written within the size limit. The limit applies to the values of the message,
    /// and separately to all symbol tables together, because field names in a table can be symbols that stand for long
    /// texts.
    pub(super) fn check_room(&self, bytes: usize) -> Result<()> {
        let used = self.json.len() + if self.is_table { self.tables } else { self.message.len() };
        if bytes > self.limits.bytes.saturating_sub(used) { Err(Problem::TooLong) } else { Ok(()) }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_room(bytes.len())?;
        self.json.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a comma before a value or field name, except before the first.
    fn separate(&mut self) -> Result<()> {
        match self.json.last() {
            None | Some(b'[' | b'{' | b':') => Ok(()),
            Some(_) => self.push(b","),
        }
    }

    /// Opens a container. An annotated top-level struct can be a local symbol table.
    pub(super) fn begin(&mut self, container: Container, is_annotated_table: bool) -> Result<()> {
        if self.containers.is_empty() {
            self.is_table = is_annotated_table && container == Container::Struct;
        }
        if self.containers.len() >= self.limits.depth as usize {
            return Err(Problem::TooDeep);
        }
        self.containers.push(container);
        self.separate()?;
        self.push(if container == Container::Struct { b"{" } else { b"[" })
    }

    pub(super) fn end(&mut self) -> Result<()> {
        let container = self.containers.pop();
        self.push(if container == Some(Container::Struct) { b"}" } else { b"]" })?;
        self.finish_value()
    }

    /// Writes a field name that already has JSON escapes.
    pub(super) fn name(&mut self, escaped: &str) -> Result<()> {
        self.separate()?;
        self.push(b"\"")?;
        self.push(escaped.as_bytes())?;
        self.push(b"\":")
    }

    /// Writes a number or `null`.
    pub(super) fn literal(&mut self, json: &[u8]) -> Result<()> {
        self.separate()?;
        self.push(json)?;
        self.finish_value()
    }

    pub(super) fn boolean(&mut self, value: bool) -> Result<()> {
        match (self.is_table, value) {
            (true, _) => self.literal(b"null"),
            (false, true) => self.literal(b"true"),
            (false, false) => self.literal(b"false"),
        }
    }

    /// Writes a string that already has JSON escapes.
    pub(super) fn string(&mut self, escaped: &str) -> Result<()> {
        self.separate()?;
        self.push(b"\"")?;
        self.push(escaped.as_bytes())?;
        self.push(b"\"")?;
        self.finish_value()
    }

    /// Writes a value that has no JSON type, such as a timestamp, as a string.
    pub(super) fn other_string(&mut self, escaped: &str) -> Result<()> {
        if self.is_table { self.literal(b"null") } else { self.string(escaped) }
    }

    pub(super) fn symbol(&mut self, escaped: &str) -> Result<()> {
        if self.is_table && escaped == SYMBOL_TABLE { self.literal(b"true") } else { self.other_string(escaped) }
    }

    pub(super) fn symbol_id(&mut self, id: u64) -> Result<()> {
        let text = self.resolve(id)?;
        self.symbol(&text)
    }

    pub(super) fn name_id(&mut self, id: u64) -> Result<()> {
        let text = self.resolve(id)?;
        self.name(&text)
    }

    fn resolve(&self, id: u64) -> Result<String> {
        let Some(text) = self.symbols.get(id) else {
            return malformed(format!("the symbol ${id} has no text: define it in a local symbol table"));
        };
        self.check_room(text.len())?;
        Ok(text.to_owned())
    }

    /// Writes the bytes of a blob or clob as a base64 string.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_room(bytes.len())?;
        self.other_string(&BASE64_STANDARD.encode(bytes))
    }

    /// Appends text with JSON escapes to `to`, within the size limit.
    pub(super) fn escape(&self, text: &str, to: &mut String) -> Result<()> {
        let mut rest = text;
        loop {
            let (plain, special) = rest.split_at(plain_length(rest.as_bytes()));
            self.check_room(to.len() + plain.len())?;
            to.push_str(plain);
            let mut letters = special.chars();
            let Some(letter) = letters.next() else { return Ok(()) };
            match letter {
                '"' => to.push_str("\\\""),
                '\\' => to.push_str("\\\\"),
                '\n' => to.push_str("\\n"),
                '\r' => to.push_str("\\r"),
                '\t' => to.push_str("\\t"),
                control => to.push_str(&format!("\\u{:04x}", control as u32)),
            }
            rest = letters.as_str();
        }
    }

    /// Completes a value. A top-level value is either stored as the message or applied as a symbol table.
    fn finish_value(&mut self) -> Result<()> {
        if !self.containers.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.is_table) {
            let applied = self.symbols.apply(&self.json);
            self.tables += self.json.len();
            self.json.clear();
            return applied.or_else(|error| malformed(error.reason().to_string()));
        }
        self.values += 1;
        if self.message.is_empty() {
            self.message = std::mem::take(&mut self.json);
        } else {
            self.check_room(1)?;
            self.message.push(b'\n');
            self.message.append(&mut self.json);
        }
        Ok(())
    }
}
