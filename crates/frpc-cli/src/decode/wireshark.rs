//! `frpc decode --wireshark`: a Wireshark dissector with the method names of a schema.

use crate::schema::Schema;
use std::fmt::Write as _;

/// Wireshark dissector in Lua. It contains a placeholder for the methods of the schema.
const DISSECTOR: &str = include_str!("frpc.lua");

/// Line of the dissector that is replaced by the methods of the schema.
const MARK: &str = "--@METHODS@\n";

/// Returns the Lua dissector with the methods of a schema.
pub(super) fn dissector(schema: Option<&Schema>) -> String {
    let mut methods = String::new();
    for callable in schema.into_iter().flat_map(Schema::methods) {
        // Writing to a string cannot fail, so ignore the result.
        let _ = writeln!(methods, "  [{}] = \"{}\",", callable.operation, quoted(&callable.name()));
    }
    DISSECTOR.replace(MARK, &methods)
}

/// Escapes text for a string literal in Lua. The names of methods may come from an untrusted server.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "\\{byte:03}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_their_lua_string() {
        assert_eq!(quoted("greet.Greeter/Greet"), "greet.Greeter/Greet");
        assert_eq!(quoted("a\"] = os.execute\n\\ß"), "a\\034\\093\\032\\061\\032os.execute\\010\\092\\195\\159");
        assert!(DISSECTOR.contains(MARK) && !dissector(None).contains(MARK));
    }
}
