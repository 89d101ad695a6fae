//! Parser of the text Ion encoding. `text/strings.rs` parses strings, and `text/numbers.rs` parses numbers.

mod numbers;
mod strings;

use super::output::{Container, JsonOutput};
use super::symbols::SYMBOL_TABLE;
use super::{Result, malformed, time};
use strings::Form;

/// Parses all values of an Ion text. Returns the result, and the offset at which parsing ended or failed.
pub(super) fn read(text: &str, output: &mut JsonOutput) -> (usize, Result<()>) {
    let mut reader = TextReader { text, at: 0, content: String::new(), output };
    let read = reader.read();
    (reader.at, read)
}

struct TextReader<'a> {
    text: &'a str,
    at: usize,
    /// JSON text of the string, number or symbol that is being read.
    content: String,
    output: &'a mut JsonOutput,
}

/// A symbol token: field name, annotation or symbol value.
#[derive(Clone, Copy)]
enum Symbol<'a> {
    /// A quoted symbol. Its text is in `content`.
    Quoted,
    Plain,
    /// A keyword: `null`, `true`, `false` or `nan`.
    Keyword(&'a str),
    /// A symbol id such as `$10`. `None` if it exceeds 64 bits.
    Id(Option<u64>),
}

/// Type names that can follow `null.`.
const TYPES: [&str; 13] = [
    "null",
    "bool",
    "int",
    "float",
    "decimal",
    "timestamp",
    "string",
    "symbol",
    "blob",
    "clob",
    "struct",
    "list",
    "sexp",
];

impl<'a> TextReader<'a> {
    fn read(&mut self) -> Result<()> {
        loop {
            self.skip_space()?;
            let container = self.output.container();
            match container {
                None if self.peek().is_none() => return Ok(()),
                Some(container) if self.take_byte(container.end()) => {
                    self.output.end()?;
                    self.end_value()?;
                    continue;
                }
                Some(Container::Struct) => self.field_name()?,
                _ => {}
            }
            if self.value()? {
                self.end_value()?;
            }
        }
    }

    /// Reads the comma after a value, unless the container ends there.
    fn end_value(&mut self) -> Result<()> {
        let Some(container @ (Container::List | Container::Struct)) = self.output.container() else { return Ok(()) };
        self.skip_space()?;
        if self.take_byte(b',') || self.peek() == Some(container.end()) {
            return Ok(());
        }
        malformed(format!("a comma or `{}` is missing", char::from(container.end())))
    }

    fn field_name(&mut self) -> Result<()> {
        let symbol = match self.peek() {
            _ if self.string(Form::Text)? => Symbol::Quoted,
            Some(byte) if byte == b'\'' || is_symbol_start(byte) => self.symbol()?,
            _ => return malformed("a name or `}` is missing"),
        };
        match symbol {
            Symbol::Quoted | Symbol::Plain => self.output.name(&self.content)?,
            Symbol::Id(id) => self.output.name_id(id.unwrap_or(u64::MAX))?,
            Symbol::Keyword(_) => return malformed("a keyword is no name: quote it"),
        }
        self.skip_space()?;
        if !self.take_byte(b':') {
            return malformed("a colon is missing after the name");
        }
        self.skip_space()
    }

    /// Reads a value or the start of a container. Returns whether the value is complete.
    fn value(&mut self) -> Result<bool> {
        let (mut is_annotated, mut is_table) = (false, false);
        loop {
            let Some(byte) = self.peek() else { return malformed("a value is missing") };
            match byte {
                b'{' if self.rest().starts_with("{{") => self.lob()?,
                b'{' => return self.begin(Container::Struct, is_table),
                b'[' => return self.begin(Container::List, is_table),
                b'(' => return self.begin(Container::Sexp, is_table),
                b'"' | b'\'' if self.string(Form::Text)? => self.output.string(&self.content)?,
                _ if byte == b'\'' || is_symbol_start(byte) => {
                    let symbol = self.symbol()?;
                    if self.is_annotation(symbol)? {
                        let is_marked = match symbol {
                            Symbol::Id(id) => id.and_then(|id| self.output.symbols.get(id)) == Some(SYMBOL_TABLE),
                            _ => self.content == SYMBOL_TABLE,
                        };
                        // Ion treats a value as a symbol table only if its first annotation is `$ion_symbol_table`.
                        is_table |= is_marked && !is_annotated;
                        is_annotated = true;
                        self.skip_space()?;
                        continue;
                    }
                    self.symbol_value(symbol, is_annotated)?;
                }
                b'0'..=b'9' | b'-' | b'+' if self.number()? => {}
                _ if is_operator(byte) && self.output.container() == Some(Container::Sexp) => self.operator()?,
                _ => {
                    let letter = self.rest().chars().next().unwrap_or_default();
                    return malformed(format!("no value begins with {letter:?}"));
                }
            }
            return Ok(true);
        }
    }

    fn begin(&mut self, container: Container, is_table: bool) -> Result<bool> {
        self.at += 1;
        self.output.begin(container, is_table)?;
        Ok(false)
    }

    /// Returns whether a symbol is an annotation, that is, followed by `::`, which is consumed.
    fn is_annotation(&mut self, symbol: Symbol<'a>) -> Result<bool> {
        let before = self.at;
        self.skip_space()?;
        if !self.rest().starts_with("::") {
            self.at = before;
            return Ok(false);
        }
        match symbol {
            Symbol::Quoted | Symbol::Plain => {}
            Symbol::Id(Some(id)) if self.output.symbols.contains(id) => {}
            Symbol::Id(_) => return malformed("an annotation is not defined"),
            Symbol::Keyword(_) => return malformed("a keyword is no annotation: quote it"),
        }
        self.at += 2;
        Ok(true)
    }

    fn symbol_value(&mut self, symbol: Symbol<'a>, is_annotated: bool) -> Result<()> {
        let is_at_top = self.output.container().is_none() && !is_annotated;
        match symbol {
            Symbol::Keyword("null") => self.output.literal(b"null"),
            Symbol::Keyword("nan") => self.output.other_string("NaN"),
            Symbol::Keyword(word) => self.output.boolean(word == "true"),
            Symbol::Id(id) => self.output.symbol_id(id.unwrap_or(u64::MAX)),
            Symbol::Plain if is_at_top && is_version_marker(&self.content) => {
                if self.content != "$ion_1_0" {
                    return malformed(format!("the version {} is not supported: use $ion_1_0", self.content));
                }
                self.output.symbols.reset();
                Ok(())
            }
            Symbol::Plain | Symbol::Quoted => self.output.symbol(&self.content),
        }
    }

    fn symbol(&mut self) -> Result<Symbol<'a>> {
        if self.take_byte(b'\'') {
            self.content.clear();
            self.string_until("'", Form::Text)?;
            return Ok(Symbol::Quoted);
        }
        let word = self.take_while(is_symbol_byte);
        let id = word.strip_prefix('$').filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(id) = id {
            return Ok(Symbol::Id(id.parse().ok()));
        }
        if word == "null" && self.take_byte(b'.') && !TYPES.contains(&self.take_while(is_symbol_byte)) {
            return malformed("a null of an unknown type");
        }
        if let "null" | "true" | "false" | "nan" = word {
            return Ok(Symbol::Keyword(word));
        }
        self.output.check_room(word.len())?;
        self.content.clear();
        self.content.push_str(word);
        Ok(Symbol::Plain)
    }

    /// Reads a number or timestamp. Returns false if the sign is an operator instead.
    fn number(&mut self) -> Result<bool> {
        let rest = self.rest().as_bytes();
        if let Some(sign @ (b"+inf" | b"-inf")) = rest.get(..4)
            && rest.get(4).is_none_or(|byte| is_number_end(*byte))
        {
            self.at += sign.len();
            self.output.other_string(if sign == b"+inf" { "Infinity" } else { "-Infinity" })?;
            return Ok(true);
        }
        if !rest.strip_prefix(b"-").unwrap_or(rest).first().is_some_and(u8::is_ascii_digit) {
            return Ok(false);
        }
        let token = self.take_while(|byte| !is_number_end(byte));
        self.output.check_room(token.len())?;
        if is_timestamp(token) {
            let Some(text) = time::iso(token) else { return malformed("invalid timestamp") };
            self.output.other_string(text)?;
        } else {
            self.content.clear();
            numbers::to_json(token, &mut self.content)?;
            self.output.literal(self.content.as_bytes())?;
        }
        Ok(true)
    }

    /// Reads an operator symbol in an S-expression.
    fn operator(&mut self) -> Result<()> {
        let rest = self.rest();
        let is_end = |(at, byte)| !is_operator(byte) || matches!(rest.as_bytes().get(at..at + 2), Some(b"//" | b"/*"));
        let length = rest.bytes().enumerate().position(is_end).unwrap_or(rest.len());
        self.at += length;
        self.output.symbol(rest.get(..length).unwrap_or_default())
    }

    /// Skips whitespace and comments.
    fn skip_space(&mut self) -> Result<()> {
        loop {
            self.skip_white_space();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else { return malformed("a comment has no end") };
                self.at += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_white_space(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c));
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take_byte(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads ASCII characters while `accepts` returns true.
    fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii() && accepts(*byte)).count();
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}

/// Returns whether a token begins like a timestamp: four digits and a `-` or `T`.
fn is_timestamp(token: &str) -> bool {
    token.bytes().take_while(u8::is_ascii_digit).count() == 4 && matches!(token.as_bytes().get(4), Some(b'-' | b'T'))
}

fn is_symbol_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')
}

fn is_symbol_byte(byte: u8) -> bool {
    is_symbol_start(byte) || byte.is_ascii_digit()
}

fn is_operator(byte: u8) -> bool {
    b"!#%&*+-./;<=>?@^`|~".contains(&byte)
}

/// Returns whether a byte can follow a number, so that it terminates the token.
fn is_number_end(byte: u8) -> bool {
    b"{}[](),\"' \t\n\r\x0b\x0c".contains(&byte)
}

/// Returns whether a symbol is a version marker, such as `$ion_1_0`.
fn is_version_marker(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let version = word.strip_prefix("$ion_").and_then(|version| version.split_once('_'));
    version.is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}
