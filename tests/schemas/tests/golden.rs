//! Creates values of every message of the golden schemas, with the bodies that generated Rust code encodes. The clients
//! in other languages must decode and encode the same values.
//!
//! `UPDATE_GOLDEN=1 cargo test -p schema-tests golden` writes the vectors.

use crate::random::{Random, pool, protobuf};
use frpc::polyglot::{self, Decoder, Encoder, Form, Root};
use protox::prost_reflect::{
    Cardinality, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, OneofDescriptor,
    ReflectMessage as _, Value,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{env, fs};

/// The files that `build.rs` compiles, and the protobuf files that they import.
const FILES: [&str; 12] = [
    "collisions",
    "comments",
    "hostile",
    "interop",
    "keywords",
    "presence",
    "rootless",
    "shapes",
    "shop/orders",
    "vec",
    "vecopt",
    "wellknown",
];
const FOLDER: &str = "../../crates/frpc-build/tests/proto";
const VECTORS: &str = "../../crates/frpc-build/tests/golden/vectors.jsonl";

/// Number of random values of each message type, in addition to its default.
const VALUES: u64 = 6;

/// Returns the line for a value: `{"type": name, "value": fields, "body": hexadecimal}`.
///
/// The fields are in wire order. Integers of 64 bits are strings, bytes are hexadecimal, and maps are lists of pairs.
/// An absent value is `null`. At the position of the first member of a oneof are the number of the member that is set
/// and its value, or `null`. The other members are omitted.
fn line<M>(of: &MessageDescriptor, bytes: &[u8]) -> String
where
    M: polyglot::Message + frpc::prost::Message + PartialEq + std::fmt::Debug + Default,
{
    let message = M::decode(bytes).unwrap();
    let mut body = Vec::new();
    polyglot::encode_root(&message, &mut Encoder::new(&mut body).with_form(Form::Extended)).unwrap();
    let Root::Message(back) = polyglot::decode_root::<M>(&mut Decoder::new(&body)).unwrap() else {
        panic!("{} is decoded as an error", of.full_name())
    };
    assert_eq!(back, message);
    // The generated type may drop parts of the value. Decoding again yields the value that the body contains.
    let kept = DynamicMessage::decode(of.clone(), &*message.encode_to_vec()).unwrap();
    format!("{{\"type\":\"{}\",\"value\":{},\"body\":\"{}\"}}\n", of.full_name(), fields(&kept), hex(&body))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the fields in wire order: singular scalars, then lists, then messages and maps. Each group is in the order
/// of declaration.
fn in_wire_order(of: &MessageDescriptor) -> Vec<FieldDescriptor> {
    let declared = of.descriptor_proto().field.iter();
    let mut fields: Vec<FieldDescriptor> =
        declared.map(|field| of.get_field(field.number().unsigned_abs()).unwrap()).collect();
    fields.sort_by_key(|field| match (field.is_map(), field.cardinality(), field.kind()) {
        (true, ..) => 2,
        (_, Cardinality::Repeated, _) => 1,
        (.., Kind::Message(_)) => 2,
        _ => 0,
    });
    fields
}

fn real_oneof(field: &FieldDescriptor) -> Option<OneofDescriptor> {
    field.containing_oneof().filter(|_| !field.field_descriptor_proto().proto3_optional())
}

fn fields(message: &DynamicMessage) -> String {
    let mut seen = BTreeSet::new();
    let mut values = Vec::new();
    for field in in_wire_order(&message.descriptor()) {
        let Some(oneof) = real_oneof(&field) else {
            let is_absent = field.supports_presence() && !message.has_field(&field);
            values.push(if is_absent { "null".to_owned() } else { value(&field.kind(), &message.get_field(&field)) });
            continue;
        };
        if seen.insert(oneof.full_name().to_owned()) {
            let of = message.descriptor();
            let declared = of.descriptor_proto().field.iter();
            let members = declared.filter_map(|field| of.get_field(field.number().unsigned_abs()));
            let mut members = members.filter(|field| real_oneof(field).as_ref() == Some(&oneof)).zip(1..);
            let set = members.find(|(member, _)| message.has_field(member));
            values.push(set.map_or("null".to_owned(), |(member, number)| {
                format!("[{number},{}]", value(&member.kind(), &message.get_field(&member)))
            }));
        }
    }
    format!("[{}]", values.join(","))
}

fn value(kind: &Kind, of: &Value) -> String {
    match of {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) | Value::EnumNumber(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::I64(value) => format!("\"{value}\""),
        Value::U64(value) => format!("\"{value}\""),
        Value::F32(value) => format!("{:?}", f64::from(*value)),
        Value::F64(value) => format!("{value:?}"),
        Value::String(text) => quoted(text),
        Value::Bytes(bytes) => format!("\"{}\"", hex(bytes)),
        Value::Message(message) => fields(message),
        Value::List(values) => format!("[{}]", values.iter().map(|one| value(kind, one)).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let Kind::Message(entry) = kind else { panic!("a map without entries") };
            let of = entry.map_entry_value_field().kind();
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<_> =
                entries.iter().map(|(name, one)| format!("[{},{}]", key(name), value(&of, one))).collect();
            format!("[{}]", entries.join(","))
        }
    }
}

fn key(of: &MapKey) -> String {
    match of {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::I64(key) => format!("\"{key}\""),
        MapKey::U64(key) => format!("\"{key}\""),
        MapKey::String(key) => quoted(key),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\0', "\\u0000"))
}

#[test]
fn golden_messages_match_their_vectors() {
    let pool = pool(&FILES, FOLDER);
    let mut names = BTreeSet::new();
    let mut text = String::new();
    macro_rules! lines {
        ($package:literal, $($module:ident)::+: $($name:literal = $($part:ident)::+),* $(,)?) => {{
            use schema_tests::$($module)::+ as module;
            $(
                let name = concat!($package, $name);
                let of = pool.get_message_by_name(name).unwrap();
                names.insert(name);
                text += &line::<module::$($part)::+>(&of, &[]);
                for seed in 0..VALUES {
                    text += &line::<module::$($part)::+>(&of, &protobuf(&of, &mut Random::new(seed)));
                }
            )*
        }};
    }
    lines!("", golden:
        "Rootless" = Rootless,
        "Rootless.Part" = rootless::Part);
    lines!("builtins.", golden::builtins:
        "Holder" = Holder);
    lines!("collisions.", golden::collisions:
        "Echo" = Echo,
        "EchoClient" = EchoClient,
        "Fields" = Fields);
    lines!("comments.", golden::comments:
        "Comments" = Comments);
    lines!("dataclasses.", golden::dataclasses:
        "Holder" = Holder);
    lines!("hostile.", golden::hostile:
        "Inherited" = Inherited,
        "Choices" = Choices,
        "Underscores" = Underscores,
        "Shadows" = Shadows,
        "_Private" = Private,
        "list" = List);
    lines!("interop.", golden::interop:
        "Empty" = Empty,
        "Scalars" = Scalars,
        "Inner" = Inner,
        "Middle" = Middle,
        "Nested" = Nested,
        "Lists" = Lists,
        "Maps" = Maps,
        "Mixed" = Mixed,
        "Text" = Text,
        "Payload" = Payload,
        "AddRequest" = AddRequest,
        "Sum" = Sum,
        "SleepRequest" = SleepRequest,
        "Range" = Range,
        "Count" = Count);
    lines!("money.", golden::money:
        "Amount" = Amount,
        "Currency" = Currency);
    lines!("presence.", golden::presence:
        "Optionals" = Optionals,
        "Choices" = Choices,
        "Single" = Single,
        "Single.Item" = single::Item);
    lines!("enum.", golden::r#enum:
        "Holder" = Holder);
    lines!("type.keywords.", golden::r#type::keywords:
        "Fields" = Fields,
        "Members" = Members,
        "Scope" = Scope,
        "self" = Self_,
        "self.fn" = self_::Fn,
        "crate" = Crate,
        "crate.fn" = crate_::Fn,
        "type" = Type,
        "type.fn" = r#type::Fn,
        "Option" = Option,
        "Some" = Some,
        "None" = None,
        "Ok" = Ok,
        "Err" = Err,
        "Result" = Result,
        "Vec" = Vec,
        "Box" = Box,
        "String" = String,
        "Send" = Send,
        "Sync" = Sync,
        "Clone" = Clone,
        "Copy" = Copy,
        "Debug" = Debug,
        "Default" = Default,
        "Into" = Into,
        "From" = From,
        "Iterator" = Iterator,
        "Arc" = Arc,
        "Future" = Future,
        "Message" = Message,
        "Enumeration" = Enumeration,
        "Oneof" = Oneof,
        "Encoder" = Encoder,
        "Decoder" = Decoder,
        "Request" = Request,
        "Response" = Response,
        "Status" = Status,
        "Streaming" = Streaming,
        "Channel" = Channel,
        "Error" = Error,
        "S" = S,
        "T" = T);
    lines!("shapes.", golden::shapes:
        "Order" = Order,
        "Leaf" = Leaf,
        "Tree" = Tree,
        "Outer" = Outer,
        "Outer.Middle" = outer::Middle,
        "Outer.Middle.Inner" = outer::middle::Inner);
    lines!("shop.orders.v1.", golden::shop::orders::v1:
        "Item" = Item,
        "Order" = Order);
    lines!("shop.", golden::shop:
        "Address" = Address);
    lines!("vec.", golden::vec:
        "Nothing" = Nothing,
        "VBool" = VBool,
        "VInt32" = VInt32,
        "VSint32" = VSint32,
        "VSfixed32" = VSfixed32,
        "VUint32" = VUint32,
        "VFixed32" = VFixed32,
        "VInt64" = VInt64,
        "VSint64" = VSint64,
        "VSfixed64" = VSfixed64,
        "VUint64" = VUint64,
        "VFixed64" = VFixed64,
        "VFloat" = VFloat,
        "VDouble" = VDouble,
        "VString" = VString,
        "VBytes" = VBytes,
        "VPlain" = VPlain,
        "VSparse" = VSparse,
        "VAlias" = VAlias,
        "VInner" = VInner,
        "VMessage" = VMessage,
        "VDeep" = VDeep,
        "RBool" = RBool,
        "RInt32" = RInt32,
        "RInt32Unpacked" = RInt32Unpacked,
        "RSint32" = RSint32,
        "RSfixed32" = RSfixed32,
        "RUint32" = RUint32,
        "RFixed32" = RFixed32,
        "RInt64" = RInt64,
        "RSint64" = RSint64,
        "RSfixed64" = RSfixed64,
        "RUint64" = RUint64,
        "RFixed64" = RFixed64,
        "RFloat" = RFloat,
        "RDouble" = RDouble,
        "RString" = RString,
        "RMessage" = RMessage,
        "MStringString" = MStringString,
        "MStringInt32" = MStringInt32,
        "MStringInt64" = MStringInt64,
        "MStringUint32" = MStringUint32,
        "MStringUint64" = MStringUint64,
        "MStringSint32" = MStringSint32,
        "MStringFixed64" = MStringFixed64,
        "MStringFloat" = MStringFloat,
        "MStringDouble" = MStringDouble,
        "MStringBool" = MStringBool,
        "MStringEnum" = MStringEnum,
        "MStringMessage" = MStringMessage,
        "MBool" = MBool,
        "MInt32" = MInt32,
        "MSint32" = MSint32,
        "MSfixed32" = MSfixed32,
        "MUint32" = MUint32,
        "MFixed32" = MFixed32,
        "MInt64" = MInt64,
        "MSint64" = MSint64,
        "MSfixed64" = MSfixed64,
        "MUint64" = MUint64,
        "MFixed64" = MFixed64,
        "OneOf" = OneOf,
        "Order" = Order,
        "Numbers" = Numbers);
    lines!("vecopt.", golden::vecopt:
        "VOptional" = VOptional);
    lines!("wellknown.", golden::wellknown:
        "Event" = Event);
    let declared: BTreeSet<String> = pool
        .all_messages()
        .filter(|of| !of.is_map_entry() && !of.full_name().starts_with("google.protobuf."))
        .map(|of| of.full_name().to_owned())
        .collect();
    assert!(
        names.iter().copied().eq(declared.iter().map(String::as_str)),
        "golden file should contain all of {declared:?}"
    );

    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(VECTORS, text).unwrap();
        return;
    }
    let before = fs::read_to_string(VECTORS).unwrap_or_default().replace("\r\n", "\n");
    let line = before.lines().zip(text.lines()).take_while(|(before, now)| before == now).count();
    assert!(before == text, "{VECTORS}:{}: the body has changed; UPDATE_GOLDEN=1 accepts it", line + 1);
}
