//! Tests of the conversions between Ion and JSON. Also runs the suite `ion-tests` if `ION_TESTS` names a copy of it.

use super::*;
use frpc::json::{Options, Reader};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const LIMITS: IonLimits = IonLimits { bytes: 5 << 20, depth: 202 };

/// Converts a file and returns its values, one JSON value per line.
fn values(input: &[u8]) -> std::result::Result<Vec<u8>, IonError> {
    read(input, LIMITS, |output| Ok(output.into_values()))
}

fn is_json(value: &[u8]) -> bool {
    let reader = Reader::new(value, &Options::new().nesting_max(u32::MAX));
    reader.and_then(|mut reader| reader.skip().and_then(|()| reader.end())).is_ok()
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder of Ion test files should be readable") {
        let path = entry.expect("entry in the folder of test files should be readable").path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|is| is == "ion" || is == "10n") {
            into.push(path);
        }
    }
}

/// Parts of the errors of valid files that are rejected, because a value has no JSON representation, or because the
/// text is UTF-16 or UTF-32.
const REFUSED: [&str; 5] =
    ["of at most 16 bytes", "exceeds the limit of 16", "$0 has no text", "a shared symbol table", "is not UTF-8"];

#[test]
fn ion_test_suite_files_match_expectations() {
    let Some(root) = env::var_os("ION_TESTS") else {
        return eprintln!("skipped: ION_TESTS does not name a copy of ion-tests");
    };
    for folder in ["good", "bad"] {
        let mut paths = Vec::new();
        files(&Path::new(&root).join("iontestdata").join(folder), &mut paths);
        let (mut read, mut refused) = (0, 0);
        for path in &paths {
            let name = path.display();
            match values(&fs::read(path).expect("Ion test file should be readable")) {
                Ok(json) => {
                    read += 1;
                    assert_eq!(folder, "good", "file {name} should be rejected: {}", String::from_utf8_lossy(&json));
                    let mut lines = json.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                    assert!(lines.all(is_json), "{name}: {}", String::from_utf8_lossy(&json));
                }
                Err(error) => {
                    refused += 1;
                    let error = error.to_string();
                    let is_expected = folder == "bad" || REFUSED.iter().any(|reason| error.contains(reason));
                    assert!(is_expected, "{name}: {error}");
                }
            }
        }
        eprintln!("{folder}: {read} of {} files read, {refused} refused", paths.len());
        assert!(!paths.is_empty(), "ION_TESTS should name a folder with iontestdata/{folder}");
    }
}

fn json(input: impl AsRef<[u8]>) -> String {
    let input = input.as_ref();
    match to_json(input, LIMITS) {
        Ok(json) => String::from_utf8(json).expect("converted JSON should be UTF-8"),
        Err(error) => error.to_string(),
    }
}

/// Returns a binary Ion value with the version marker in front.
fn binary(value: &[u8]) -> Vec<u8> {
    [VERSION_MARKER, value].concat()
}

#[test]
fn text_values_become_json() {
    for (ion, expected) in [
        ("null", "null"),
        ("null.timestamp", "null"),
        ("true", "true"),
        ("[1, -0, 12_345, 0xFf, -0x0_1, 0b1_01]", "[1,0,12345,255,-1,5]"),
        ("0xffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455"),
        ("[1.5, 1., -0.0, -0., 1.5d2, 1d-3, 1_0.0_1D+2]", "[1.5,1,-0.0,-0,1.5e2,1e-3,10.01e2]"),
        ("[1e5, 1.5E-2, -0e0, 1.e1, 1234d-5]", "[1e5,1.5e-2,-0e0,1e1,1234e-5]"),
        ("[nan, +inf, -inf]", r#"["NaN","Infinity","-Infinity"]"#),
        ("[2007T, 2007-02T, 2007-02-23, 2007-02-23T]", r#"["2007","2007-02","2007-02-23","2007-02-23"]"#),
        ("2000-02-29T12:30:59.125-08:00", r#""2000-02-29T12:30:59.125-08:00""#),
        ("[2000-01-01T00:00Z, 2000-01-01T00:00-00:00]", r#"["2000-01-01T00:00Z","2000-01-01T00:00-00:00"]"#),
        ("[a, _b$1, 'c d', '', $7]", r#"["a","_b$1","c d","","symbols"]"#),
        (r#""a\0\a\b\t\n\f\r\v\"\'\?\\\/""#, r#""a\u0000\u0007\u0008\t\n\u000c\r\u000b\"'?\\/""#),
        (r#""\x41\u00e9\U0001F600\ud83d\ude00ü""#, r#""Aé😀😀ü""#),
        ("\"a\\\nb\\\r\nc\"", r#""abc""#),
        ("'''a\r\nb''' /* c */ '''d\\'''' // e\n '''\"'''", r#""a\nbd'\"""#),
        ("'''a''b'''", r#""a''b""#),
        ("{{ aGVs\n bG8= }}", r#""aGVsbG8=""#),
        (r#"[{{}}, {{"a\xff"}}, {{'''a''' '''b'''}}]"#, r#"["","Yf8=","YWI="]"#),
        ("(a + -1 (b.c) -- +inf)", r#"["a","+",-1,["b",".","c"],"--","Infinity"]"#),
        ("{a: 1, \"b\": 2, 'c': 3, '''d''': 4, $4: 5, a: 6,}", r#"{"a":1,"b":2,"c":3,"d":4,"name":5,"a":6}"#),
        ("a::'b c'::$4 :: [d::1, {e: f::g::2}]", r#"[1,{"e":2}]"#),
        ("$ion_1_0 // a\n /* b */ [ /*c*/ ]", "[]"),
        ("[$ion_1_0, $ion_2_0]", r#"["$ion_1_0","$ion_2_0"]"#),
        (
            r#"{"jsonrpc":"2.0","id":1.0e5,"method":"a\u002fb","params":[true,null]}"#,
            r#"{"jsonrpc":"2.0","id":1.0e5,"method":"a/b","params":[true,null]}"#,
        ),
    ] {
        assert_eq!(json(ion), expected, "{ion}");
        assert!(is_json(expected.as_bytes()), "{expected}");
    }
}

#[test]
fn malformed_text_is_refused_with_its_offset() {
    for (ion, offset) in [
        ("", 0),
        ("1 2", 3),
        ("[1", 2),
        ("[1 2]", 3),
        ("[,]", 1),
        ("[1)", 2),
        ("{a}", 2),
        ("{a:}", 3),
        ("{null:1}", 5),
        ("{a:1 b:2}", 5),
        ("01", 2),
        ("-_1", 0),
        ("1_", 2),
        ("1__0", 4),
        ("0x", 2),
        ("0x1ffffffffffffffffffffffffffffffff", 35),
        ("1e", 2),
        ("1.5e1_0", 7),
        ("+1", 0),
        ("1a", 2),
        ("null.integer", 12),
        ("2007-", 5),
        ("2001-02-29", 10),
        ("2001-01-01T24:00Z", 17),
        ("2001-01-01T00:00", 16),
        ("2001-01-01T00:00:00.Z", 21),
        ("2001-01-01T00:00+24:00", 22),
        ("0001-01-01T00:00+00:01", 22),
        (r#""a"#, 2),
        ("\"a\nb\"", 2),
        (r#""\q""#, 1),
        (r#""\ud800""#, 1),
        (r#""\xg0""#, 1),
        ("'''a", 4),
        ("{{a}}", 3),
        ("{{\"\u{e9}\"}}", 3),
        ("{{\"\\u0041\"}}", 3),
        ("{{\"a\"}", 5),
        ("/* a", 0),
        ("$10", 3),
        ("$0", 2),
        ("$99999999999999999999999", 24),
        ("$10::1", 3),
        ("null::1", 4),
        ("a::", 3),
        ("a::]", 3),
        ("[a.b]", 2),
        ("a: :1", 1),
        ("$ion_1_1 1", 8),
        ("$ion_symbol_table::{symbols:[\"a\"],symbols:[]} $10", 45),
        ("$ion_symbol_table::{imports:[{name:\"a\",max_id:9}]} 1", 50),
    ] {
        let error = to_json(ion.as_bytes(), LIMITS).expect_err(ion);
        assert!(matches!(error.problem, Problem::Malformed(_)));
        assert_eq!(error.offset, offset, "{ion}: {error}");
    }
    assert_eq!(to_json(b"[\xff]", LIMITS).expect_err("invalid UTF-8 should be rejected").offset, 1);
}

#[test]
fn binary_values_become_json() {
    for (value, expected) in [
        (&[0x0f][..], "null"),
        (&[0x11], "true"),
        (&[0xb5, 0x20, 0x21, 0x07, 0x31, 0x07], "[0,7,-7]"),
        (&[0xb4, 0x22, 0x00, 0x01, 0x3f], "[1,null]"),
        (
            &[0x2e, 0x90, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
            "340282366920938463463374607431768211455",
        ),
        (&[0x40], "0.0"),
        (&[0x44, 0x3f, 0xc0, 0, 0], "1.5"),
        (&[0x48, 0xff, 0xf0, 0, 0, 0, 0, 0, 0], r#""-Infinity""#),
        (&[0x48, 0x7f, 0xef, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "1.7976931348623157e308"),
        (&[0x50], "0"),
        (&[0x52, 0xc2, 0x07], "0.07"),
        (&[0x52, 0xc1, 0x80], "-0.0"),
        (&[0x53, 0x82, 0x81, 0x00], "-256e2"),
        (&[0x53, 0xc3, 0x00, 0xff], "0.255"),
        (&[0x63, 0xc0, 0x0f, 0xd7], r#""2007""#),
        (&[0x65, 0x80, 0x0f, 0xd0, 0x82, 0x9d], r#""2000-02-29""#),
        (&[0x67, 0xc0, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80], r#""2000-01-01T00:00-00:00""#),
        // One hour west of UTC, this time belongs to the previous year.
        (&[0x68, 0xfc, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80, 0x81], r#""1999-12-31T23:00:01-01:00""#),
        (&[0x6a, 0x80, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80, 0x81, 0xc3, 0x07], r#""2000-01-01T00:00:01.007Z""#),
        (&[0x71, 0x04], r#""name""#),
        (&[0x84, b'a', b'"', 0xc3, 0xa9], r#""a\"é""#),
        (&[0x91, 0xff], r#""/w==""#),
        (&[0xa2, 0, 1], r#""AAE=""#),
        (&[0xc2, 0x71, 0x04], r#"["name"]"#),
        (&[0xd0], "{}"),
        (&[0xd4, 0x84, 0x11, 0x85, 0x10], r#"{"name":true,"version":false}"#),
        (&[0xd1, 0x82, 0x84, 0x11], r#"{"name":true}"#),
        // Padding before and inside a struct. Symbol ids that name padding are not resolved.
        (&[0x00, 0x02, 0xff, 0xff, 0xd5, 0x80, 0x00, 0xff, 0x01, 0xff], "{}"),
        (&[0xe4, 0x82, 0x84, 0x85, 0x11], "true"),
        (&[0xe0, 0x01, 0x00, 0xea, 0x11], "true"),
    ] {
        assert_eq!(json(binary(value)), expected, "{value:x?}");
        assert!(is_json(expected.as_bytes()), "{expected}");
    }
}

#[test]
fn malformed_binary_is_refused() {
    for value in [
        &[][..],
        &[0x11, 0x11],
        &[0x12],
        &[0x30],
        &[0x31, 0x00],
        &[0x21],
        &[0x2e],
        &[0x2e, 0x91, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x42, 0, 0],
        &[0x51, 0x01],
        &[0x60],
        &[0x61, 0xc0],
        &[0x65, 0x80, 0x0f, 0xd1, 0x82, 0x9d],
        &[0x66, 0x80, 0x0f, 0xd0, 0x81, 0x81, 0x80],
        &[0x67, 0x80, 0x0f, 0xd0, 0x81, 0x81, 0x98, 0x80],
        &[0x6a, 0x80, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80, 0x81, 0xc1, 0x0a],
        &[0x70],
        &[0x71, 0x0a],
        &[0x81, 0xff],
        &[0xb1, 0x21],
        &[0xb2, 0x22, 0x01],
        &[0xbe, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0xd1, 0x80],
        &[0xd2, 0x80, 0x11],
        &[0xd2, 0x8a, 0x11],
        &[0xd1, 0x84],
        &[0xe0, 0x01, 0x01, 0xea, 0x11],
        &[0xb4, 0xe0, 0x01, 0x00, 0xea],
        &[0xe1, 0x81],
        &[0xe3, 0x80, 0x11, 0x11],
        &[0xe3, 0x81, 0x8a, 0x11],
        &[0xe3, 0x81, 0x84, 0x00],
        &[0xe4, 0x81, 0x84, 0x11, 0x11],
        &[0xe6, 0x81, 0x84, 0xe3, 0x81, 0x84, 0x11],
        &[0xf0],
        &[0xff],
    ] {
        let read = to_json(&binary(value), LIMITS);
        assert!(matches!(&read, Err(IonError { problem: Problem::Malformed(_), .. })), "{value:x?}: {read:?}");
    }
}

#[test]
fn local_symbol_tables_define_replace_and_append() {
    let unknown =
        |at| format!("invalid Ion at byte {at}: the symbol $10 has no text: define it in a local symbol table");
    for (ion, expected) in [
        (r#"$ion_symbol_table::{symbols:["a\n", b]} [$10, 1]"#, r#"["a\n",1]"#),
        (
            r#"$ion_symbol_table::{symbols:["a"]} $3::{imports:$ion_symbol_table, symbols:["b"]} [$10, $11]"#,
            r#"["a","b"]"#,
        ),
        (
            r#"$ion_symbol_table::{symbols:["a"]} $3::{symbols:["b"], imports:[{name:"$ion"}]} {$10:$10}"#,
            r#"{"b":"b"}"#,
        ),
        (r#"$ion_symbol_table::{symbols:[b, null, "c"]} $12"#, r#""c""#),
        (r#"$ion_symbol_table::{imports:[{name:"a",max_id:0}],symbols:["b"]} $10"#, r#""b""#),
        (
            r#"[$ion_symbol_table::{symbols:["a"]}, b::$ion_symbol_table::{symbols:["a"]}]"#,
            r#"[{"symbols":["a"]},{"symbols":["a"]}]"#,
        ),
        (r#"$ion_symbol_table::{symbols:["a"]} $ion_1_0 $10"#, &unknown(47)),
        ("$ion_symbol_table::{symbols:[b]} $10", &unknown(36)),
    ] {
        assert_eq!(json(ion), expected, "{ion}");
    }
    let table = [0xe7, 0x81, 0x83, 0xd4, 0x87, 0xb2, 0x81, b'a'];
    let appended = [0xea, 0x81, 0x83, 0xd7, 0x86, 0x71, 0x03, 0x87, 0xb2, 0x81, b'b'];
    assert_eq!(json(binary(&[&table[..], &appended, &[0xd3, 0x8a, 0x71, 0x0b]].concat())), r#"{"a":"b"}"#);
}

#[test]
fn conversion_stops_at_limits() {
    let limits = IonLimits { bytes: 1000, depth: 4 };
    let problem =
        |input: &[u8]| to_json(input, limits).expect_err("message beyond the limits should be rejected").problem;
    assert_eq!(problem(b"[[[[[1"), Problem::TooDeep);
    assert_eq!(problem(b"({a:[{a:[1"), Problem::TooDeep);
    assert_eq!(problem(&binary(&[0xb5, 0xb4, 0xb3, 0xb2, 0xb1, 0x11])), Problem::TooDeep);
    assert!(to_json(b"[[[[1]]]]", limits).is_ok());
    let table = format!("$ion_symbol_table::{{symbols:[\"{}\"]}}", "x".repeat(100));
    assert_eq!(problem(format!("{table} [{}]", "$10,".repeat(10)).as_bytes()), Problem::TooLong);
    assert!(to_json(format!("{table} [{}]", "$10,".repeat(9)).as_bytes(), limits).is_ok());
    // The tables share a limit. Otherwise, each one could stand for a text of the maximum length.
    let more = format!("$ion_symbol_table::{{imports:$ion_symbol_table,{}}}", "$10:1,".repeat(5));
    assert_eq!(problem(format!("{table} {more} {more} 1").as_bytes()), Problem::TooLong);
    assert!(to_json(format!("{table} {more} [{}]", "$10,".repeat(9)).as_bytes(), limits).is_ok());
    for (begin, part, end) in
        [("\"", "abcd", "\""), ("[", "1,", "]"), ("{{", "abcd", "}}"), ("'", "abcd", "'"), ("'''", "abcd", "'''")]
    {
        assert_eq!(problem(format!("{begin}{}{end}", part.repeat(600)).as_bytes()), Problem::TooLong, "{begin}");
    }
    // In JSON, each control character takes six bytes.
    assert_eq!(problem(&binary(&[&[0x8e, 0x01, 0xc8][..], &[1; 200]].concat())), Problem::TooLong);
    // The fraction of this time has 16 000 digits.
    let time = [0x6b, 0x80, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80, 0x81, 0x40, 0x7d, 0x80];
    assert_eq!(problem(&binary(&time)), Problem::TooLong);
}

#[test]
fn binary_ion_reply_equals_json_reply() {
    let long = "y".repeat(200);
    for reply in [
        "null",
        "[]",
        "{}",
        "[true,false,null,0,1,-1,255,-256,340282366920938463463374607431768211455]",
        "[0.5,-0.0,-1.27,1.28,0.001,-32.768]",
        r#"["","a\n\"é",{"a":{"b":[{"a":1}]},"b":"name"}]"#,
        &format!(r#"{{"jsonrpc":"2.0","id":"{long}","result":{{"{long}":["{long}",[{{"{long}":{{}}}}]]}}}}"#),
        &format!("[{}1]", r#"{"a":[[],{},"12345678901234567890"]},"#.repeat(1000)),
        &format!("{}1{}", "[".repeat(180), "]".repeat(180)),
        &format!("[0.{}1]", "0".repeat(36)),
    ] {
        let binary = to_binary(reply.as_bytes()).expect("JSON reply should be convertible to Ion");
        assert!(is_binary(&binary));
        assert_eq!(json(&binary), *reply, "{binary:x?}");
    }
    let floats = to_binary(b"[1e5,-1.5e-7,340282366920938463463374607431768211456]")
        .expect("JSON numbers should be convertible to Ion");
    assert_eq!(json(floats), "[100000.0,-1.5e-7,3.402823669209385e38]");
}

/// Converts randomly mutated messages, which must yield JSON or an error and never exceed the limits.
#[test]
fn changed_messages_become_json_or_error() {
    let text = br#"$ion_1_0 $ion_symbol_table::{symbols:["ab","c"]} {jsonrpc:"2.0",$10:[1,-2.5d3,0x1F,2000-01-01T00:00:01.5+01:00,
        '''x''' '''y\n''', {{aGVsbG8=}}, {{"a\x00"}}, (a + b::c), nan, -inf, null.int], 'd e':"\ud83d\ude00\0" /* f */, g:1.5e-3,}"#;
    let reply =
        br#"{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5,1e300,"xyzxyzxyzxyzxyz",null,true],"b":{"a":{"b":[]}}}}"#;
    let values = [
        0xbe, 0x96, 0x67, 0xc0, 0x0f, 0xd0, 0x81, 0x81, 0x80, 0x80, 0x93, 1, 2, 3, 0xe4, 0x82, 0x84, 0x85, 0x11, 0x00,
        0x53, 0xc3, 0x00, 0xff,
    ];
    let seeds = [text.to_vec(), to_binary(reply).expect("JSON reply should be convertible to Ion"), binary(&values)];
    let mut random = fastrand::Rng::with_seed(7);
    let (mut read, mut refused) = (0, 0);
    for round in 0..60_000 {
        let mut input = seeds[round % seeds.len()].clone();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(4..input.len());
            match random.u8(..4) {
                0 => input[at] = random.u8(..),
                1 => input[at] ^= 1 << random.u8(..8),
                2 if input.len() > 8 => drop(input.remove(at)),
                _ => {
                    let from = random.usize(..input.len());
                    let part = input[from..(from + random.usize(1..8)).min(input.len())].to_vec();
                    input.splice(at..at, part);
                }
            }
        }
        match to_json(&input, IonLimits { bytes: 4000, depth: 16 }) {
            Ok(json) => {
                read += 1;
                assert!(json.len() <= 4000 && is_json(&json), "{input:x?} became {}", String::from_utf8_lossy(&json));
                let binary = to_binary(&json).expect("converted JSON should be convertible back to Ion");
                assert!(to_json(&binary, LIMITS).is_ok(), "{}", String::from_utf8_lossy(&json));
            }
            Err(error) => {
                refused += 1;
                assert!(error.offset <= input.len());
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}

/// Inputs that take a naive parser more than linear time.
#[test]
fn large_ion_inputs_take_linear_time() {
    let limits = IonLimits { bytes: 64 << 20, depth: 202 };
    let table = format!("$ion_symbol_table::{{symbols:[{}]}} $10", "\"ab\",".repeat(1_000_000));
    let mut nested = Vec::new();
    for _ in 0..10_000 {
        // Encode the headers in reverse order, from the innermost one.
        let mut length = nested.len();
        nested.push(0x80 | (length & 0x7f) as u8);
        while length > 0x7f {
            length >>= 7;
            nested.push((length & 0x7f) as u8);
        }
        nested.push(0xbe);
    }
    nested.reverse();
    for (name, input, is_read) in [
        ("text of 10 000 lists in lists", "[".repeat(10_000).into_bytes(), false),
        ("binary of 10 000 lists in lists", binary(&nested), false),
        ("an integer of 1 000 000 digits", "7".repeat(1_000_000).into_bytes(), true),
        ("an integer of 1 000 000 hexadecimal digits", format!("0x{}", "7".repeat(1_000_000)).into_bytes(), false),
        (
            "a binary integer of 1 000 000 bytes",
            binary(&[&[0x2e, 0x3d, 0x04, 0xc0][..], &[7; 1_000_000]].concat()),
            false,
        ),
        ("a symbol table of 1 000 000 symbols", table.into_bytes(), true),
        ("1 000 000 annotations", ["a::".repeat(1_000_000).as_bytes(), b"1"].concat(), true),
        ("1 000 000 comments", ["/**/".repeat(1_000_000).as_bytes(), b"1"].concat(), true),
        ("1 000 000 signs between symbols", ["(", &"-a".repeat(1_000_000), ")"].concat().into_bytes(), true),
        ("1 000 000 operators with comments", ["(", &"+/**/".repeat(1_000_000), ")"].concat().into_bytes(), true),
        ("1 000 000 parts of a string", "''''''".repeat(1_000_000).into_bytes(), true),
    ] {
        let started = std::time::Instant::now();
        let read = to_json(&input, limits);
        let time = started.elapsed();
        println!("{name}, {} bytes: {time:?}", input.len());
        // An algorithm with quadratic time would take hours.
        assert!(time.as_secs() < 60, "{name}");
        assert_eq!(read.is_ok(), is_read, "{name}: {:?}", read.err());
    }
}
