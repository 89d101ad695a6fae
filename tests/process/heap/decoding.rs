//! Tests that the memory of a protobuf message is charged before it is decoded, for fields of every kind.

use super::allocator::{allocated, live};
use super::random::{Random, pool, protobuf};
use bytes::Bytes;
use frisbee_tests::process::ran_alone;
use frpc::polyglot::{self, CONTAINER_MEMORY_MAX, Decoder, Encoder, Message};
use frpc::prost::{self, Message as _};
use frpc::prost_types::{FieldMask, Value};
use schema_tests::protobuf::nested::A;
use schema_tests::protobuf::nested::a::b::c::d::e::G;
use schema_tests::protobuf::recursive::Tree;
use schema_tests::protobuf::wellknown::Singular;
use std::collections::BTreeMap;

/// Number of random values of each message type.
const VALUES: u64 = 30;

/// Maximum number of repetitions, so that lists are reallocated several times.
const REPEATS: usize = 40;

/// Returns the charged size of a message, and the number of bytes allocated by decoding it. If decoding fails, these
/// are the bytes allocated until then.
fn measured<M: Message>(message: &[u8]) -> (usize, usize) {
    let mut body = Vec::new();
    Encoder::new(&mut body).bytes(message).unwrap();
    let body = Bytes::from(body);
    let (live_before, allocated_before) = (live(), allocated());
    let mut decoder = Decoder::shared(&body);
    let decoded = polyglot::decode_root::<M>(&mut decoder);
    let (live_after, allocated_after) = (live(), allocated());
    let measured = match decoded {
        Ok(_) => live_after - live_before,
        // All allocations are counted, so a list that has been reallocated contributes several times.
        Err(_) => (allocated_after - allocated_before) as usize / 2,
    };
    (CONTAINER_MEMORY_MAX - decoder.container_memory(), measured)
}

#[track_caller]
fn is_counted<M: Message>(message: &[u8]) {
    let (counted, measured) = measured::<M>(message);
    // Not charged are spare capacity, and the minimum allocation of eight bytes for a short text.
    let bound = 5 * counted / 2 + 4 * message.len() + 600; // And an error with the names of fields.
    assert!(measured <= bound, "{} takes {measured} bytes and is charged {counted}: {message:?}", M::NAME);
}

/// Checks random values that are complete, repeated or malformed. Also checks empty elements of every field.
fn check<M: Message + prost::Message>(pool: &protox::prost_reflect::DescriptorPool) {
    let descriptor = pool.get_message_by_name(M::NAME).unwrap();
    for seed in 0..VALUES {
        let mut random = Random::new(seed);
        let once = protobuf(&descriptor, &mut random);
        is_counted::<M>(&once);
        is_counted::<M>(&once.repeat(REPEATS));
        let mut broken = once.repeat(2);
        if !broken.is_empty() {
            let at = random.below(broken.len() as u64) as usize;
            broken[at] = random.next() as u8;
            is_counted::<M>(&broken);
            is_counted::<M>(&broken[..at]);
        }
    }
    for field in descriptor.fields() {
        let mut element = Vec::new();
        prost::encoding::encode_key(field.number(), prost::encoding::WireType::LengthDelimited, &mut element);
        element.push(0);
        is_counted::<M>(&element.repeat(1000));
    }
}

macro_rules! check {
    ($pool:expr, $($module:ident)::+, $($message:ident)*) => {{
        use schema_tests::protobuf::$($module)::+ as module;
        $( check::<module::$message>(&$pool); )*
    }};
}

/// Returns a tree with `levels` levels. The innermost one is `within`.
fn branch(levels: u32, within: Tree) -> Tree {
    (0..levels).fold(within, |tree, _| Tree { children: vec![tree], ..Tree::default() })
}

/// Returns an encoded field with `content`.
fn holding(number: u32, content: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut field);
    prost::encode_length_delimiter(content.len(), &mut field).unwrap();
    [&field, content].concat()
}

/// Checks messages that take much memory compared to their length.
fn check_hostile() {
    let words = |count: u64| (0..count).map(|word| word.to_string());

    // The innermost message is at the depth limit. Its list of numbers needs no further level.
    const DEEPEST: u32 = 100;
    let numbers = Tree { name: "innermost".to_owned(), numbers: vec![1; 10_000], ..Tree::default() };
    let deep = branch(DEEPEST, numbers).encode_to_vec();
    assert!(Tree::decode(&*deep).is_ok());
    is_counted::<Tree>(&deep);

    is_counted::<Tree>(&branch(50, Tree::default()).encode_to_vec().repeat(100));
    let named = words(1000).map(|word| (word, Tree::default())).collect();
    is_counted::<Tree>(&Tree { named, ..Tree::default() }.encode_to_vec());
    let children = Tree { children: vec![Tree::default(); 1000], ..Tree::default() };
    let named = [("one".to_owned(), children)].into();
    is_counted::<Tree>(&Tree { named, ..Tree::default() }.encode_to_vec());

    // prost decodes map entries and the bytes after them, even if their wire type is wrong.
    let children = [2 << 3 | 2, 0].repeat(10_000);
    for key in (0..6).flat_map(|wire_type| [3 << 3 | wire_type, 5 << 3 | wire_type]) {
        for content in [&[0][..], &[2, 8, 0], &[0xff, 0xff, 0xff, 0xff, 0x0f]] {
            is_counted::<Tree>(&[&[key], content, &children].concat());
        }
    }
    // A decoder that skips the entry as four bytes would find a field after it that covers the rest of the message.
    let entry = [5 << 3 | 5, 0, 15 << 3 | 2, 7, 0, 15 << 3 | 2, 0xa0, 0x9c, 0x81, 0x80, 0];
    is_counted::<Tree>(&[&entry[..], &children].concat());

    let inner = |a| A { g: Some(Box::new(G { a: Some(Box::new(a)), ..G::default() })), ..A::default() };
    is_counted::<A>(&(0..45).fold(A::default(), |a, _| inner(a)).encode_to_vec());

    let list = Value::from(vec![Value::default(); 1000]);
    let fields = Value::from(words(5).map(|word| (word, list.clone())).collect::<BTreeMap<_, _>>());
    for value in [list, fields] {
        is_counted::<Singular>(&Singular { f_value: Some(value), ..Singular::default() }.encode_to_vec());
    }

    // The first element of a list must be charged even if it follows an unknown field whose number is larger by 64, or
    // an empty list.
    let disguised = |number| [holding(number + 64, &[]), holding(number, &[])].concat();
    let numbers = [holding(4, &[]), holding(4, &[1])].concat();
    let child = [disguised(2), disguised(3), disguised(5), numbers].concat();
    is_counted::<Tree>(&holding(2, &child).repeat(1000));
    let value = holding(5, &disguised(1));
    is_counted::<Singular>(&holding(10, &holding(6, &holding(1, &value).repeat(1000))));

    let paths = vec![String::new(); 1000];
    let f_field_mask = Some(FieldMask { paths });
    is_counted::<Singular>(&Singular { f_field_mask, ..Singular::default() }.encode_to_vec());
}

#[test]
fn protobuf_memory_is_counted_before_decoding() {
    if ran_alone(|| ()) {
        return;
    }
    let pool = pool(
        &["scalars", "maps", "enums", "nested", "recursive", "imports", "services", "wellknown", "names"],
        "schemas/proto",
    );
    check!(pool, scalars, Singular Optional Repeated Unpacked Chosen);
    check!(pool, maps, OfInt32 OfBool OfString);
    check!(pool, enums, Outer);
    check!(pool, nested, A);
    check!(pool, recursive, List Tree Ping Pong Term Sum);
    check!(pool, imports::deep::v1, Uses);
    check!(pool, services, Bulk Empty);
    check!(pool, wellknown, Singular Optional Repeated Mapped Chosen);
    check!(pool, names, Keywords Locals LocalChoice Inner);
    check_hostile();
}
