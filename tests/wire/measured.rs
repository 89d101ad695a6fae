//! Parses the file with measured bytes. The tests define the meaning of its entries.

use serde_json::{Map, Value as Json};
use std::sync::LazyLock;

/// Contents of `vectors.json`.
pub(crate) struct Corpus {
    pub(crate) encodings: Vec<Encoding>,
    pub(crate) decodings: Vec<Decoding>,
    pub(crate) frames: Vec<CapturedFrame>,
    pub(crate) stream_opens: Vec<(u16, Vec<u8>)>,
}

/// A value with its encoding by Go.
pub(crate) struct Encoding {
    pub(crate) name: String,
    /// Full name of the message type.
    pub(crate) message: String,
    pub(crate) value: Json,
    pub(crate) bytes: Vec<u8>,
    /// Whether Go always writes the same bytes. If not, the order of map entries differs from run to run.
    pub(crate) exact: bool,
}

/// Bytes, with the result of Go's decoder.
pub(crate) struct Decoding {
    pub(crate) name: String,
    /// Full name of the message type.
    pub(crate) message: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) go: Go,
}

/// The result of Go's decoder.
pub(crate) enum Go {
    /// Go decodes the bytes to `value`. If requested, it encodes the value to `again`.
    Reads { value: Json, again: Vec<u8> },
    /// Go's decoder returns an error.
    Refuses,
    /// Go panics in a goroutine, and this ends the process.
    Dies,
}

/// A frame that a Go client or a Go server has sent to the other.
pub(crate) struct CapturedFrame {
    pub(crate) scenario: String,
    pub(crate) from: Sender,
    pub(crate) id: u16,
    pub(crate) operation: u16,
    pub(crate) bytes: Vec<u8>,
}

/// The sender of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// Returns the contents of the file. It is parsed only once.
pub(crate) fn corpus() -> &'static Corpus {
    static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
        let file: Json = serde_json::from_str(include_str!("vectors.json")).expect("text should be valid JSON");
        Corpus {
            encodings: list(&file["encode"]).iter().map(Encoding::read).collect(),
            decodings: list(&file["decode"]).iter().map(Decoding::read).collect(),
            frames: list(&file["frames"]).iter().map(CapturedFrame::read).collect(),
            stream_opens: object(&file["stream_open"])
                .iter()
                .map(|(operation, bytes)| (operation.parse().expect("text should be a number"), hex(text(bytes))))
                .collect(),
        }
    });
    &CORPUS
}

/// Parses pairs of hexadecimal digits.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "{digits}: digits are in pairs");
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("text should be hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// A JSON string.
pub(crate) fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_else(|| panic!("{json} is no string"))
}

/// A JSON array.
pub(crate) fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap_or_else(|| panic!("{json} is no array"))
}

/// A JSON object.
pub(crate) fn object(json: &Json) -> &Map<String, Json> {
    json.as_object().unwrap_or_else(|| panic!("{json} is no object"))
}

impl Encoding {
    fn read(entry: &Json) -> Self {
        Self {
            name: text(&entry["name"]).to_owned(),
            message: text(&entry["message"]).to_owned(),
            value: entry["value"].clone(),
            bytes: hex(text(&entry["hex"])),
            exact: entry["encode_exact"].as_bool().expect("member should be a bool"),
        }
    }
}

impl Decoding {
    fn read(entry: &Json) -> Self {
        let go = match text(&entry["go"]) {
            "ok" => Go::Reads { value: entry["value"].clone(), again: hex(text(&entry["go_encodes_again_as"])) },
            "error" => Go::Refuses,
            "panic" => Go::Dies,
            other => panic!("unknown verdict {other}"),
        };
        Self {
            name: text(&entry["name"]).to_owned(),
            message: text(&entry["message"]).to_owned(),
            bytes: hex(text(&entry["hex"])),
            go,
        }
    }
}

impl CapturedFrame {
    fn read(entry: &Json) -> Self {
        let number = |json: &Json| json.as_u64().and_then(|number| u16::try_from(number).ok()).expect("valid number");
        Self {
            scenario: text(&entry["scenario"]).to_owned(),
            from: match text(&entry["from"]) {
                "client" => Sender::Client,
                "server" => Sender::Server,
                other => panic!("unknown sender {other}"),
            },
            id: number(&entry["id"]),
            operation: number(&entry["operation"]),
            bytes: hex(text(&entry["hex"])),
        }
    }
}
