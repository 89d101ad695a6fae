//! A fuzz target that compares the dynamic codec with generated code.

use crate::json::All;
use bytes::Bytes;
use frpc::json::{Options, Types};
use frpc_dynamic::{Codec, DescriptorPool, DynamicMessage, MessageDescriptor, from_json, to_json};
use polyglot::{Decoder, Encoder, Form, Root, decode_root, encode_root};
use std::cell::OnceCell;

const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/json.bin"));

struct Fixture {
    descriptor: MessageDescriptor,
    codec: Codec,
    types: Types,
}

/// Checks that the dynamic codec decodes and encodes like generated code. The first byte of the input selects a body or
/// JSON.
pub fn dynamic(data: &[u8]) {
    thread_local! {
        static KNOWN: OnceCell<Fixture> = const { OnceCell::new() };
    }
    let Some((&choice, input)) = data.split_first() else { return };
    KNOWN.with(|fixture| {
        let fixture = fixture.get_or_init(|| {
            let pool = DescriptorPool::decode(DESCRIPTORS).expect("descriptors should be valid");
            let descriptor = pool.get_message_by_name("json.All").expect("schema should contain the message");
            Fixture { descriptor, codec: Codec::new(), types: Types::well_known().with::<All>() }
        });
        match choice % 2 {
            0 => fixture.json(input),
            _ => fixture.body(input),
        }
    });
}

impl Fixture {
    fn json(&self, text: &[u8]) {
        let options = Options::new().types(&self.types);
        let ours = from_json(&self.descriptor, text);
        match (options.decode::<All>(text), ours) {
            (Ok(generated), Ok(ours)) => {
                let mut json = Vec::new();
                options.encode(&generated, &mut json).expect("message from JSON should be encodable");
                let ours = to_json(&ours).expect("message should have a JSON form");
                assert_eq!(ours, String::from_utf8_lossy(&json));
            }
            (Err(error), Err(ours)) => assert!(!error.to_string().is_empty() && !ours.to_string().is_empty()),
            // An `Any` may contain further messages of the schema.
            (Err(error), Ok(_)) => assert!(error.to_string().contains("of an Any is not known"), "{error}"),
            (Ok(_), Err(error)) => panic!("dynamic codec should accept the same input: {error}"),
        }
    }

    fn body(&self, body: &[u8]) {
        let generated = decode_root::<All>(&mut Decoder::shared(&Bytes::copy_from_slice(body)));
        let ours = self.codec.decode(&self.descriptor, &mut Decoder::new(body));
        match (generated, ours) {
            (Ok(Root::Message(generated)), Ok(Root::Message(ours))) => {
                for form in [Form::Flat, Form::Extended] {
                    let mut bytes = Vec::new();
                    encode_root(&generated, &mut Encoder::new(&mut bytes).with_form(form))
                        .expect("message should be encodable");
                    assert_eq!(self.written(&ours, form), bytes);
                }
            }
            (Ok(Root::Error(generated)), Ok(Root::Error(ours))) => assert_eq!(generated.to_string(), ours),
            (Err(error), Err(ours)) => assert!(!error.to_string().is_empty() && !ours.to_string().is_empty()),
            (generated, ours) => {
                panic!("both codecs should accept or reject the body: {generated:?}, {:?}", ours.map(drop))
            }
        }
    }

    fn written(&self, message: &DynamicMessage, form: Form) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.codec
            .encode(message, &mut Encoder::new(&mut bytes).with_form(form))
            .expect("decoded message should be encodable");
        bytes
    }
}
