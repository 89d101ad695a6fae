//! Tests the encodings of random values of all messages in many schemas.
//!
//! Each value must survive both forms of Polyglot and JSON. Its Polyglot encoding must equal that of a generic encoder
//! in Go, which uses only descriptors and the Go module polyglot, and no code of this project. Go's protojson must read
//! our JSON as the same message, and we must read Go's JSON.
//!
//! `CONFORMANCE_VALUES` sets the number of values (2000), and `CONFORMANCE_SEED` selects them. Without Go, the
//! comparison is skipped with a message, unless `FRISBEE_REQUIRE_GO` is set.

#[path = "dynamic.rs"]
mod dynamic;
#[path = "evolution.rs"]
mod evolution;
#[path = "go.rs"]
mod go;
#[path = "random.rs"]
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;

use conformance::{DESCRIPTORS, MESSAGES};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, MessageDescriptor, Syntax};
use random::Random;

fn pool() -> DescriptorPool {
    DescriptorPool::decode(DESCRIPTORS).expect("descriptors should be valid")
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{variable} is {value:?}")))
}

#[test]
fn conformance_table_lists_every_schema_message() {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/proto");
    assert!(fs::read_dir(proto).expect("folder should be readable").count() >= 60);
    let pool = pool();
    // Schemas of other projects may import descriptor.proto, which uses proto2.
    let is_ours = |it: &MessageDescriptor| !it.is_map_entry() && it.parent_file().syntax() == Syntax::Proto3;
    let declared: BTreeSet<String> = pool.all_messages().filter(is_ours).map(|it| it.full_name().to_owned()).collect();
    let in_table: BTreeSet<String> = MESSAGES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(declared, in_table);
    assert_eq!(in_table.len(), MESSAGES.len());
}

#[test]
fn values_round_trip_and_match_go_encodings() {
    let count = number("CONFORMANCE_VALUES", 2000);
    let seed = number("CONFORMANCE_SEED", 1);
    let mut go = go::Encoder::start(DESCRIPTORS);
    let pool = pool();
    let mut random = Random::new(seed);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut with_json = 0;
    for at in 0..count {
        // Uses the message types in turn, so that even a short run covers all of them.
        let (name, ways) = &MESSAGES[usize::try_from(at).expect("value should fit usize") % MESSAGES.len()];
        let failed = |error: String| -> ! { panic!("value {at} of seed {seed}, a `{name}`: {error}") };
        let value = random.message(&pool.get_message_by_name(name).expect("schema should contain the message"));
        let protobuf = value.encode_to_vec();
        let flat = (ways.carry)(&protobuf).unwrap_or_else(|error| failed(error));
        let json = (ways.to_json)(&protobuf).unwrap_or_else(|error| failed(error));
        with_json += u64::from(json.is_some());
        if let Some(go) = &mut go {
            let (expected, gos_json) = go.encode(name, &protobuf, json.as_deref());
            match gos_json.unwrap_or_else(|error| failed(error)) {
                Some(json) => (ways.from_json)(&protobuf, &json).unwrap_or_else(|error| failed(error)),
                None => assert!(json.is_none(), "value {at} of seed {seed}, a `{name}`, has no JSON in Go"),
            }
            let same = flat.iter().zip(&expected).take_while(|(ours, theirs)| ours == theirs).count();
            let around = |bytes: &[u8]| bytes[same.saturating_sub(16)..bytes.len().min(same + 16)].to_vec();
            assert!(
                flat == expected,
                "value {at} of seed {seed}, a `{name}`: {} bytes here, {} in Go, the same up to {same}:\n\
                 ours: … {:02x?} …\n  go: … {:02x?} …",
                flat.len(),
                expected.len(),
                around(&flat),
                around(&expected),
            );
        }
        *counts.entry(name).or_default() += 1;
    }
    assert!(with_json * 10 >= count * 9, "only {with_json} of {count} values have JSON");
    assert!(count < 2000 || counts.len() == MESSAGES.len());
}
