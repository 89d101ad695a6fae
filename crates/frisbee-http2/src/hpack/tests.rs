//! Tests: examples of RFC 7541, appendix C, round trips, and public test vectors of other implementations.

use super::{DecodeError, Decoder, Encoder};
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;
use std::{env, fs};

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let byte =
        |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("text should consist of hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<(String, String)>, DecodeError> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    decoder.decode(block, |field| fields.push((text(field.name), text(field.value))))?;
    Ok(fields)
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns the entries of the decoder's dynamic table, newest first.
fn table(decoder: &Decoder) -> Vec<(String, String)> {
    let entries = (62..).map_while(|index| decoder.table().get(index));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    entries.map(|(name, value)| (text(name), text(value))).collect()
}

#[test]
fn representations_of_appendix_c_2_decode() {
    for (block, field, is_inserted) in [
        ("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", ("custom-key", "custom-header"), true),
        ("040c 2f73 616d 706c 652f 7061 7468", (":path", "/sample/path"), false),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", ("password", "secret"), false),
        ("82", (":method", "GET"), false),
    ] {
        let mut decoder = Decoder::new();
        assert_eq!(decoded(&mut decoder, &unhex(block)), Ok(pairs(&[field])));
        assert_eq!(table(&decoder), if is_inserted { pairs(&[field]) } else { Vec::new() });
    }
}

#[test]
fn rfc_appendix_request_examples_decode() {
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::new();
        let host = (":authority", "www.example.com");
        let first = pairs(&[(":method", "GET"), (":scheme", "http"), (":path", "/"), host]);
        assert_eq!(decoded(&mut decoder, &unhex(blocks[0])), Ok(first.clone()));
        let second = [first, pairs(&[("cache-control", "no-cache")])].concat();
        assert_eq!(decoded(&mut decoder, &unhex(blocks[1])), Ok(second));
        let custom = ("custom-key", "custom-value");
        let third = [(":method", "GET"), (":scheme", "https"), (":path", "/index.html"), host, custom];
        assert_eq!(decoded(&mut decoder, &unhex(blocks[2])), Ok(pairs(&third)));
        assert_eq!(table(&decoder), pairs(&[custom, ("cache-control", "no-cache"), host]));
    }
}

#[test]
fn responses_of_appendix_c_6_evict_entries() {
    let blocks = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
         8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
         dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    let mut decoder = Decoder::with_size(256);
    let date = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
    let (private, location) = (("cache-control", "private"), ("location", "https://www.example.com"));
    for (block, status) in blocks.iter().zip(["302", "307"]) {
        let fields = pairs(&[(":status", status), private, date, location]);
        assert_eq!(decoded(&mut decoder, &unhex(block)), Ok(fields));
    }
    let later = ("date", "Mon, 21 Oct 2013 20:13:22 GMT");
    let cookie = ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
    let gzip = ("content-encoding", "gzip");
    let fields = pairs(&[(":status", "200"), private, later, location, gzip, cookie]);
    assert_eq!(decoded(&mut decoder, &unhex(blocks[2])), Ok(fields));
    assert_eq!(table(&decoder), pairs(&[cookie, gzip, later]));
}

#[test]
fn invalid_blocks_are_rejected() {
    for (block, error) in [
        (&[0x80][..], DecodeError::Index(0)),
        (&[0xbe], DecodeError::Index(62)),
        (&[0x7e, 0x01, b'a'], DecodeError::Index(62)),
        (&[0xff, 0x80, 0x80, 0x80, 0x80, 0x01], DecodeError::Integer),
        (&[0xff], DecodeError::Truncated),
        (&[0x40], DecodeError::Truncated),
        (&[0x40, 0x02, b'a'], DecodeError::Truncated),
        (&[0x00, 0x01, b'a', 0x81, 0xff], DecodeError::Huffman),
        (&[0x3f, 0xe2, 0x1f], DecodeError::SizeUpdate),
        (&[0x82, 0x20], DecodeError::SizeUpdate),
        (&[0x20, 0x20, 0x20], DecodeError::SizeUpdate),
    ] {
        assert_eq!(decoded(&mut Decoder::new(), block), Err(error), "{block:x?}");
    }
    let mut decoder = Decoder::new();
    assert_eq!(
        decoded(&mut decoder, &[0x20, 0x3f, 0xe1, 0x1f]),
        Ok(Vec::new()),
        "table sizes 0 and 4096 should be accepted"
    );
}

#[test]
fn bomb_of_repeated_entries_is_too_large() {
    let mut encoder = [0x40, 0x01, b'a', 0x7f, 0xa1, 0x1e].to_vec();
    encoder.extend([b'x'; 4000]);
    let mut decoder = Decoder::new();
    assert_eq!(decoded(&mut decoder, &encoder).map(|fields| fields.len()), Ok(1));
    assert_eq!(decoded(&mut decoder, &[0xbe; 16]).map(|fields| fields.len()), Ok(16));
    assert_eq!(decoded(&mut decoder, &[0xbe; 17]), Err(DecodeError::TooLarge));
}

#[test]
fn truncated_block_never_yields_other_fields() {
    let mut encoder = Encoder::new();
    let mut block = Vec::new();
    for (name, value) in [(":path", "/a/b"), ("te", "trailers"), ("x-other", "long value"), ("user-agent", "grpc-go")] {
        encoder.put(name.as_bytes(), value.as_bytes(), false, &mut block);
    }
    let whole = decoded(&mut Decoder::new(), &block).expect("field block should be valid");
    for cut in 0..block.len() {
        let mut fields = Vec::new();
        let result = Decoder::new().decode(&block[..cut], |field| fields.push(field.name.to_vec()));
        assert!(fields.iter().zip(&whole).all(|(name, (other, _))| name == other.as_bytes()));
        assert!(
            result.is_ok() || result == Err(DecodeError::Truncated),
            "truncation at {cut} should be detected: {result:?}"
        );
    }
}

#[test]
fn reply_blocks_become_constant() {
    let mut encoder = Encoder::new();
    let mut reply = || {
        let mut block = Vec::new();
        encoder.begin(&mut block);
        encoder.put(b":status", b"200", false, &mut block);
        encoder.put(b"content-type", b"application/grpc", false, &mut block);
        let head = block.len();
        encoder.put(b"grpc-status", b"0", false, &mut block);
        (head, block.len() - head)
    };
    assert_eq!([reply(), reply(), reply()], [(14, 12), (2, 1), (2, 1)]);
}

#[test]
fn full_table_is_frozen() {
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new();
    for number in 0..200 {
        let path = format!("/service/method-{number}");
        for value in [&path, "/first"] {
            let mut block = Vec::new();
            encoder.put(b":path", value.as_bytes(), false, &mut block);
            assert_eq!(decoded(&mut decoder, &block), Ok(pairs(&[(":path", value)])));
        }
    }
    assert!(encoder.memory() < 16 * 1024 && decoder.memory() < 32 * 1024);
    let mut block = Vec::new();
    encoder.put(b":path", b"/first", false, &mut block);
    assert!(block.len() <= 2, "entry should still be in the table: {block:x?}");
}

#[test]
fn withdrawn_block_leaves_no_entry() {
    let mut encoder = Encoder::new();
    encoder.set_size_max(2000);
    let mark = encoder.mark();
    let mut block = Vec::new();
    let put = |encoder: &mut Encoder, block: &mut Vec<u8>| {
        encoder.begin(block);
        encoder.put(b"te", b"trailers", false, block);
    };
    put(&mut encoder, &mut block);
    encoder.withdraw(mark);
    let mut again = Vec::new();
    put(&mut encoder, &mut again);
    assert_eq!(block, again);
    assert_eq!(decoded(&mut Decoder::new(), &again), Ok(pairs(&[("te", "trailers")])));
}

type Fields = Vec<(Vec<u8>, Vec<u8>, bool)>;

fn fields() -> impl Strategy<Value = Fields> {
    let name = prop_oneof![
        Just(b":path".to_vec()),
        Just(b"content-type".to_vec()),
        Just(b"grpc-status".to_vec()),
        Just(b"cookie".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40)
    ];
    let value = prop_oneof![Just(b"0".to_vec()), Just(b"".to_vec()), prop::collection::vec(any::<u8>(), 0..300)];
    prop::collection::vec((name, value, any::<bool>()), 0..12)
}

proptest! {
    #[test]
    fn encoded_fields_decode(blocks in prop::collection::vec((fields(), prop::option::of(0_u32..6000)), 1..12)) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        for (fields, size) in blocks {
            size.into_iter().for_each(|size| encoder.set_size_max(size));
            let mut block = Vec::new();
            encoder.begin(&mut block);
            for (name, value, is_sensitive) in &fields {
                encoder.put(name, value, *is_sensitive, &mut block);
            }
            let mut read = Vec::new();
            let result = decoder.decode(&block, |field| {
                read.push((field.name.to_vec(), field.value.to_vec(), field.is_sensitive));
            });
            prop_assert!(result.is_ok(), "{result:?}");
            prop_assert_eq!(read, fields);
        }
    }
}

/// Folders of test vectors to skip. Most come from encoders for early drafts with another static table, and one
/// contains no encoded blocks.
const SKIPPED: [&str; 4] = ["hyper-hpack", "node-http2-protocol", "raw-data", "twitter-hpack"];

/// Decodes test vectors of other encoders: the files `NAME/story_NN.json` in the folder named by the environment
/// variable `HPACK_TESTS`. The npm package `hpack` contains them in `test/hpack-test-case`.
#[test]
fn vectors_of_other_encoders_decode() {
    let Some(root) = env::var_os("HPACK_TESTS") else {
        println!("skipped: HPACK_TESTS names no folder with vectors");
        return;
    };
    let (mut encoders, mut stories, mut blocks) = (0, 0, 0);
    let is_skipped = |folder: &Path| SKIPPED.iter().any(|name| folder.ends_with(name));
    for folder in folders(Path::new(&root)).into_iter().filter(|folder| !is_skipped(folder)) {
        let files: Vec<_> =
            folders(&folder).into_iter().filter(|path| path.extension().is_some_and(|is| is == "json")).collect();
        encoders += u32::from(!files.is_empty());
        for file in files {
            let text = fs::read(&file).expect("test vector file should be readable");
            let story: Value = serde_json::from_slice(&text).expect("test vector file should be JSON");
            stories += 1;
            blocks += story_decodes(&story, &file);
        }
    }
    println!("{encoders} encoders, {stories} stories, {blocks} blocks");
    assert!(stories >= 300, "only {stories} stories");
}

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> =
        entries.map(|entry| entry.expect("entry in the folder of test vectors should be readable").path()).collect();
    paths.sort();
    paths
}

fn story_decodes(story: &Value, file: &Path) -> u32 {
    let mut decoder = Decoder::new();
    let mut encoder = Encoder::new();
    let mut second = Decoder::new();
    let mut blocks = 0;
    for case in story["cases"].as_array().expect("test vector file should have a list of cases") {
        let Some(wire) = case["wire"].as_str() else { continue };
        if let Some(size) = case["header_table_size"].as_u64() {
            decoder.set_size_max(size as usize);
        }
        let expected: Vec<_> = case["headers"]
            .as_array()
            .expect("test case should have a list of headers")
            .iter()
            .flat_map(|header| header.as_object().expect("header of the test case should be a JSON object"))
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect();
        assert_eq!(decoded(&mut decoder, &unhex(wire)), Ok(expected.clone()), "{} {blocks}", file.display());
        let mut block = Vec::new();
        for (name, value) in &expected {
            encoder.put(name.as_bytes(), value.as_bytes(), false, &mut block);
        }
        assert_eq!(decoded(&mut second, &block), Ok(expected));
        blocks += 1;
    }
    blocks
}
