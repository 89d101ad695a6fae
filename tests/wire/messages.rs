//! Tests that values are encoded, and bodies decoded, as in Go.

use crate::wire::exceptions::{EXCEPTIONS, Exception, Here, Part, exception};
use crate::wire::measured::{Decoding, Encoding, Go, corpus, hex};
use crate::wire::values::{Body, Type};
use frisbee_tests::vecopt::VOptional;
use frpc::polyglot::{DecodeError, DecodeReason, Encoder, Root, encode_root};

#[test]
fn values_are_encoded_as_go_does() {
    let (mut exact, mut unordered, mut excepted) = (0, 0, 0);
    for Encoding { name, message, value, bytes, exact: is_exact } in &corpus().encodings {
        let difference = exception(Part::Encodings, name);
        if let Some(Exception { here: Here::Refused(_), .. }) = difference {
            excepted += 1; // There is no such value to encode.
            continue;
        }
        let encode = || (Type::named(message).from_json)(value).encode();
        if *is_exact {
            assert_eq!(encode(), Exception::sent(difference, bytes), "{name}: {value}");
        } else {
            // The order of map entries is random. After some attempts, it equals the captured order.
            assert!((0..256).any(|_| encode() == *bytes), "{name}: {value}");
        }
        match difference {
            Some(_) => excepted += 1,
            None if *is_exact => exact += 1,
            None => unordered += 1,
        }
    }
    assert_eq!((exact, unordered, excepted), (191, 1, 5));
    assert_eq!(corpus().encodings.len(), 197);
}

#[test]
fn recorded_encodings_round_trip() {
    for Encoding { name, message, value, bytes, exact } in &corpus().encodings {
        let difference = exception(Part::Encodings, name);
        if let Some(Exception { here: Here::Refused(reason), .. }) = difference {
            assert_eq!(refused(message, bytes).reason(), reason, "{name}");
            continue;
        }
        let decoded = decode(message, bytes);
        assert!(decoded.is(value), "{name}: {decoded:?} instead of {value}");
        let again = decoded.encode();
        if *exact {
            assert_eq!(again, Exception::sent(difference, bytes), "{name}: {value}");
        } else {
            assert_eq!(again.len(), bytes.len(), "{name}: the same pairs in some order");
            assert!(decode(message, &again).is(value), "{name}: {value}");
        }
    }
}

#[test]
fn bodies_are_judged_as_go_does() {
    let (mut read, mut refuses, mut dies, mut excepted) = (0, 0, 0, 0);
    for Decoding { name, message, bytes, go } in &corpus().decodings {
        if exception(Part::Decodings, name).is_some() {
            excepted += 1; // Has a test of its own.
            continue;
        }
        match go {
            Go::Reads { value, again } => {
                let decoded = decode(message, bytes);
                assert!(decoded.is(value), "{name}: {decoded:?} instead of {value}");
                assert_eq!(decoded.encode(), *again, "{name}");
                read += 1;
            }
            Go::Refuses => {
                let error = refused(message, bytes);
                assert!(error.offset() <= bytes.len(), "{name}: {error}");
                assert_eq!(error.message(), Some(&**message), "{name}: {error}");
                refuses += 1;
            }
            Go::Dies => {
                let error = refused(message, bytes);
                assert!(matches!(error.reason(), DecodeReason::Truncated { .. }), "{name}: {error}");
                dies += 1;
            }
        }
    }
    assert_eq!((read, refuses, dies, excepted), (15, 28, 7, 10));
    assert_eq!(corpus().decodings.len(), 60);
}

#[test]
fn bodies_in_exception_table_are_judged_accordingly() {
    for Decoding { name, message, bytes, go } in &corpus().decodings {
        let Some(Exception { here, why, .. }) = exception(Part::Decodings, name) else { continue };
        let Go::Reads { value, again } = go else {
            let Here::Sent(sent) = here else {
                panic!("{name}: exception should differ from Go, which rejects the body too")
            };
            assert_eq!(decode(message, bytes).encode(), hex(sent), "{name}: {why}");
            continue;
        };
        match here {
            Here::Refused(reason) => assert_eq!(refused(message, bytes).reason(), reason, "{name}: {why}"),
            Here::Failed(text) => {
                let root = (Type::named(message).decode)(bytes).expect("error should be a valid body");
                assert!(matches!(&root, Root::Error(found) if found == text), "{name}: {root:?}, but {why}");
                let mut sent = Vec::new();
                Encoder::new(&mut sent).error(text).expect("error text should fit");
                assert_eq!(sent, *again, "{name}");
            }
            Here::Sent(_) => {
                let decoded = decode(message, bytes);
                assert!(decoded.is(value), "{name}: {decoded:?} instead of {value}");
                let sent = Exception::sent(exception(Part::Decodings, name), again);
                assert_ne!(sent, *again, "{name}: exception should change the bytes");
                assert_eq!(decoded.encode(), sent, "{name}: {why}");
            }
        }
    }
}

#[test]
fn every_exception_is_measured_entry() {
    for Exception { part, name, here, why } in EXCEPTIONS {
        let measured: Vec<_> = match part {
            Part::Encodings => named(&corpus().encodings, |entry| (&entry.name, &entry.bytes), name),
            Part::Decodings => named(&corpus().decodings, |entry| (&entry.name, &entry.bytes), name),
        };
        let [bytes] = measured[..] else { panic!("{name}: in {part:?} {} times", measured.len()) };
        if let Here::Sent(sent) = here {
            assert_ne!(hex(sent), *bytes, "{name} goes out as in Go");
        }
        assert!(!why.is_empty(), "{name}: without a reason");
    }
    let count = |part| EXCEPTIONS.iter().filter(|exception| exception.part == part).count();
    assert_eq!((count(Part::Encodings), count(Part::Decodings)), (5, 10));
}

#[test]
fn truncated_encoding_is_rejected() {
    for Encoding { name, message, bytes, .. } in &corpus().encodings {
        for end in 0..bytes.len() {
            let cut = (Type::named(message).decode)(&bytes[..end]);
            assert!(cut.is_err(), "{name}, {end} of {} bytes: {cut:?}", bytes.len());
        }
    }
}

#[test]
fn bytes_after_message_are_ignored() {
    for Encoding { name, message, value, bytes, .. } in &corpus().encodings {
        if let Some(Exception { here: Here::Refused(_), .. }) = exception(Part::Encodings, name) {
            continue;
        }
        for behind in [&[0x00][..], &[0x06, 0x05], &[0x0c, 0x02], &[0xff; 16]] {
            let decoded = decode(message, &[bytes, behind].concat());
            assert!(decoded.is(value), "{name}: {decoded:?} instead of {value}");
        }
    }
}

#[test]
fn absent_optional_field_is_sent_as_default() {
    let encode = |optional: &VOptional| {
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body);
        encode_root(optional, &mut encoder).expect("message should be encodable");
        let lost = encoder.lost_presence();
        (body, lost)
    };
    let there = VOptional { a: Some(0), b: Some(String::new()), c: false };
    let measured = corpus()
        .encodings
        .iter()
        .find(|entry| entry.name == "proto3 optional unset")
        .expect("corpus should contain the measurement");
    assert_eq!(encode(&VOptional::default()), (measured.bytes.clone(), true));
    assert_eq!(encode(&there), (measured.bytes.clone(), false));
}

/// Decodes the message in a body.
fn decode(message: &str, body: &[u8]) -> Box<dyn Body> {
    match (Type::named(message).decode)(body) {
        Ok(Root::Message(message)) => message,
        other => panic!("{message} in {body:02x?}: {other:?}"),
    }
}

/// Returns the reason why a body is rejected.
fn refused(message: &str, body: &[u8]) -> DecodeError {
    match (Type::named(message).decode)(body) {
        Err(error) => error,
        Ok(read) => panic!("{message} in {body:02x?} is not refused: {read:?}"),
    }
}

/// Returns the bytes of all entries with this name.
fn named<'a, T>(entries: &'a [T], of: impl Fn(&'a T) -> (&'a String, &'a Vec<u8>), name: &str) -> Vec<&'a Vec<u8>> {
    entries.iter().map(of).filter(|(found, _)| *found == name).map(|(_, bytes)| bytes).collect()
}
