//! A fuzz target for the JSON mapping.

use crate::json::All;
use frpc::json::{Json as _, Options, Reader, Types};
use std::cell::OnceCell;

/// Memory limit in bytes. It is low, because at each level the content of an `Any` may be JSON of the same length.
const MEMORY_MAX: usize = 1 << 20;

/// Checks that a decoded message survives a round trip and is then encoded to the same text. The first byte of the
/// input selects the options.
pub fn json(data: &[u8]) {
    thread_local! {
        static TYPES: OnceCell<Types> = const { OnceCell::new() };
    }
    let Some((&choice, text)) = data.split_first() else { return };
    TYPES.with(|types| {
        let types = types.get_or_init(|| Types::well_known().with::<All>());
        let nesting_max = if choice & 2 == 0 { 100 } else { 8 };
        let options = Options::new().ignore_unknown(choice & 1 == 1).nesting_max(nesting_max);
        round(text, &options.types(types).container_memory(MEMORY_MAX));
    });
}

fn round(text: &[u8], options: &Options<'_>) {
    let Ok(mut reader) = Reader::new(text, options) else {
        assert!(std::str::from_utf8(text).is_err());
        return;
    };
    // Also decodes parts of the message by position.
    let _ = All::default().decode_positional(&mut reader);
    assert!(reader.position() <= text.len());

    let message = match options.decode::<All>(text) {
        Ok(message) => message,
        Err(error) => {
            assert!(error.offset() <= text.len() && !error.to_string().is_empty());
            return;
        }
    };
    let mut first = Vec::new();
    // Every decoded message must be encodable.
    options.encode(&message, &mut first).expect("message from JSON should be encodable");
    let again: All = options.decode(&first).expect("encoded message should be decodable");
    let mut second = Vec::new();
    options.encode(&again, &mut second).expect("decoded message should be encodable");
    assert_eq!(String::from_utf8_lossy(&first), String::from_utf8_lossy(&second));
}
