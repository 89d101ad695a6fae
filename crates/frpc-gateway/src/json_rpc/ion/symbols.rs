//! Symbol tables: the system table and local ones.

use frpc::json::{DecodeError, Options, Reader};

/// Texts of the system symbols 1 to 9.
const SYSTEM: [&str; 9] =
    ["$ion", "$ion_1_0", SYMBOL_TABLE, "name", "version", "imports", "symbols", "max_id", "$ion_shared_symbol_table"];

/// Annotation of a local symbol table. If a table imports this name, the current symbols are kept.
pub(super) const SYMBOL_TABLE: &str = "$ion_symbol_table";

/// Placeholder for a symbol without text. It differs from every text, because quotation marks in texts are escaped.
const UNKNOWN: &str = "\"";

/// Symbols of the current symbol table. Their texts are stored with JSON escapes.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    texts: String,
    /// End offset in `texts` of each local symbol's text.
    ends: Vec<usize>,
}

impl Symbols {
    /// Returns the text of a symbol with this id, or `None` if the symbol is undefined or has no text.
    pub(super) fn get(&self, id: u64) -> Option<&str> {
        let index = usize::try_from(id).ok()?.checked_sub(1)?;
        if let Some(text) = SYSTEM.get(index) {
            return Some(text);
        }
        let index = index - SYSTEM.len();
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.texts.get(start..*self.ends.get(index)?).filter(|text| *text != UNKNOWN)
    }

    /// Returns whether a symbol id is defined, with or without text.
    pub(super) fn contains(&self, id: u64) -> bool {
        id <= (SYSTEM.len() + self.ends.len()) as u64
    }

    /// Removes all local symbols.
    pub(super) fn reset(&mut self) {
        self.texts.clear();
        self.ends.clear();
    }

    /// Applies a local symbol table that was converted to JSON. The writer produces strings only for Ion strings, and
    /// `true` only for the symbol that keeps the current table.
    pub(super) fn apply(&mut self, table: &[u8]) -> Result<(), DecodeError> {
        let options = Options::new().nesting_max(u32::MAX);
        let (mut imports, mut symbols) = (None, None);
        Reader::new(table, &options)?.object(|name, reader| {
            let raw = reader.raw()?;
            let member = match name {
                "imports" => &mut imports,
                "symbols" => &mut symbols,
                _ => return Ok(()),
            };
            match member.replace(raw) {
                Some(_) => refuse(&format!("the field {name} of the symbol table occurs twice")),
                None => Ok(()),
            }
        })?;
        if let Some(imports) = imports.filter(|imports| imports.starts_with('[')) {
            Reader::new(imports.as_bytes(), &options)?.array(|reader| check_import(reader.raw()?, &options))?;
        }
        if imports != Some("true") {
            self.reset();
        }
        if let Some(symbols) = symbols.filter(|symbols| symbols.starts_with('[')) {
            Reader::new(symbols.as_bytes(), &options)?.array(|reader| {
                let raw = reader.raw()?;
                let text = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
                self.texts.push_str(text.unwrap_or(UNKNOWN));
                self.ends.push(self.texts.len());
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Rejects imported symbol tables, because the server has no catalog of shared tables.
fn check_import(import: &str, options: &Options<'_>) -> Result<(), DecodeError> {
    if !import.starts_with('{') {
        return Ok(());
    }
    let (mut name, mut max_id) = ("null", "null");
    Reader::new(import.as_bytes(), options)?.object(|member, reader| {
        match member {
            "name" => name = reader.raw()?,
            "max_id" => max_id = reader.raw()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let has_name = name.starts_with('"') && name != "\"\"" && name != "\"$ion\"";
    if has_name && max_id != "0" {
        return refuse("a shared symbol table cannot be imported: send its symbols in a local table");
    }
    Ok(())
}

fn refuse(reason: &str) -> Result<(), DecodeError> {
    Err(Reader::refuse(0, reason))
}
