//! Tests of options that change the types of generated code, in calls from end to end.

use crate::random::{Random, pool, protobuf};
use bytes::Bytes;
use frpc::polyglot::{self, BULK_MIN, Decoder, Encoder, Form, Root, Viewed};
use frpc::prost::{Message as _, Name as _};
use frpc::{Request, Response, Status, Utf8Bytes};
use schema_tests::enclosed;
use schema_tests::options::{
    Chunk, Chunks, ChunksClient, ChunksServer, Copied, Holder, Page, Part, chunk, holder, page,
};
use schema_tests::views::base;
use std::collections::BTreeMap;

fn chunk_of(content: &Bytes) -> Chunk {
    Chunk {
        single: content.clone(),
        maybe: Some(content.clone()),
        many: vec![content.clone(), Bytes::new()],
        named: [("a".to_owned(), content.clone())].into(),
        choice: Some(chunk::Choice::Left(content.clone())),
        copied: Some(Copied { copied: content.to_vec() }),
    }
}

fn page_of(content: &Utf8Bytes) -> Page {
    Page {
        single: content.clone(),
        maybe: Some(content.clone()),
        many: vec![content.clone(), "short".into()],
        named: [("a".to_owned(), content.clone())].into(),
        choice: Some(page::Choice::Left(content.clone())),
        copied: content.to_string(),
        levels: [("b".to_owned(), base::Level::High.into())].into(),
    }
}

/// Returns whether `part` lies within the memory of `whole`.
fn is_within(part: &[u8], whole: &[u8]) -> bool {
    whole.as_ptr_range().start <= part.as_ptr_range().start && part.as_ptr_range().end <= whole.as_ptr_range().end
}

/// Short bytes fields are copied, because a slice would keep the whole read buffer alive.
#[test]
fn long_bytes_fields_share_body_memory_everywhere() {
    let sent = chunk_of(&Bytes::from(vec![7; BULK_MIN]));
    for form in [Form::Flat, Form::Extended] {
        let mut body = Vec::new();
        polyglot::encode_root(&sent, &mut Encoder::new(&mut body).with_form(form)).unwrap();
        let body = Bytes::from(body);
        let Root::Message(read) = polyglot::decode_root::<Chunk>(&mut Decoder::shared(&body)).unwrap() else {
            panic!()
        };
        assert!(read == sent);
        let Some(chunk::Choice::Left(left)) = &read.choice else { panic!("oneof should have its member") };
        for shared in [&read.single, read.maybe.as_ref().unwrap(), &read.many[0], &read.named["a"], left] {
            assert!(is_within(shared, &body));
        }
        assert!(!is_within(&read.copied.unwrap().copied, &body), "`Vec` should be a copy");
    }
}

/// Short strings are copied, because a slice would keep the whole read buffer alive.
#[test]
fn long_string_fields_share_body_memory_everywhere() {
    let sent = page_of(&"ß".repeat(BULK_MIN / 2).into());
    for form in [Form::Flat, Form::Extended] {
        let mut body = Vec::new();
        polyglot::encode_root(&sent, &mut Encoder::new(&mut body).with_form(form)).unwrap();
        let body = Bytes::from(body);
        let Root::Message(read) = polyglot::decode_root::<Page>(&mut Decoder::shared(&body)).unwrap() else { panic!() };
        assert!(read == sent);
        let Some(page::Choice::Left(left)) = &read.choice else { panic!("oneof should have its member") };
        for shared in [&read.single, read.maybe.as_ref().unwrap(), &read.many[0], &read.named["a"], left] {
            assert!(is_within(shared.as_bytes(), &body));
        }
        assert!(!is_within(read.many[1].as_bytes(), &body), "short string should be a copy");
        assert!(!is_within(read.copied.as_bytes(), &body), "`String` should be a copy");
    }
}

#[test]
fn large_string_fields_are_not_copied() {
    let content = Utf8Bytes::from("ß".repeat(BULK_MIN / 2));
    let (mut out, mut bulk) = (Vec::new(), Vec::new());
    polyglot::encode_root(&page_of(&content), &mut Encoder::gathering(&mut out, &mut bulk)).unwrap();
    assert_eq!(bulk.len(), 5, "all long values except the copied one should be slices");
    assert!(bulk.iter().all(|part| part.bytes.as_ptr() == content.as_ptr()));
    assert!(out.len() < 2 * BULK_MIN);
}

#[test]
fn shared_string_messages_match_prost_protobuf_encoding() {
    let pool = pool(&["options"], "proto");
    for seed in 0..200 {
        let bytes = protobuf(&pool.get_message_by_name("options.Page").unwrap(), &mut Random::new(seed));
        let page = Page::decode(&*bytes).unwrap();
        let again = page.encode_to_vec();
        assert_eq!(again.len(), page.encoded_len());
        // The entries of a map have no defined order, so the bytes may differ.
        assert!(Page::decode(&*again).unwrap() == page && again.len() == bytes.len());
        assert_eq!(enclosed::Page::decode(&*bytes).unwrap().maybe(), page.maybe());
    }
    let long = page_of(&"ß".repeat(BULK_MIN / 2).into());
    let body = Bytes::from(long.encode_to_vec());
    let read = Page::decode(body.clone()).unwrap();
    assert!(read == long);
    assert!(is_within(read.single.as_bytes(), &body) && !is_within(read.many[1].as_bytes(), &body));
    let mut cleared = read;
    cleared.clear();
    assert_eq!(cleared, Page::default());
}

/// prost omits values that are equal to zero, including negative zero. `Debug` distinguishes the two zeros, whereas
/// `==` does not.
#[test]
fn negative_zeros_survive_protobuf_encoding() {
    macro_rules! check {
        ($module:ident, $text:expr) => {
            use schema_tests::$module::{Zeros, zeros};
            let zeros = |zero: f32| Zeros {
                single: zero,
                wide: zero.into(),
                maybe: Some(zero),
                maybe_wide: Some(zero.into()),
                named: [(String::new(), zero)].into(),
                nested: [(0, Zeros { single: zero, ..Zeros::default() })].into(),
                choice: Some(zeros::Choice::Chosen(zero)),
                text: $text,
                many: vec![zero.into()],
                wrapper: Some(zero.into()),
                wrappers: vec![zero],
                named_wrappers: [(String::new(), zero.into())].into(),
                boxed_wrapper: Some(f64::from(zero).into()),
            };
            for (zero, length) in [(0.0, 47), (-0.0, 107)] {
                let sent = zeros(zero);
                let bytes = sent.encode_to_vec();
                assert_eq!((bytes.len(), sent.encoded_len()), (length, length));
                let mut read = Zeros::decode(&*bytes).unwrap();
                assert_eq!(format!("{read:?}"), format!("{sent:?}"));
                assert_eq!(read.maybe().to_bits(), zero.to_bits());
                read.clear();
                assert_eq!(read.encode_to_vec(), b"");
            }
            for (zero, length) in [(0.0_f32, 2), (-0.0, 7)] {
                let sent = Zeros { choice: Some(zeros::Choice::ChosenWrapper(zero)), ..Zeros::default() };
                let bytes = sent.encode_to_vec();
                assert_eq!((bytes.len(), sent.encoded_len()), (length, length));
                assert_eq!(format!("{:?}", Zeros::decode(&*bytes).unwrap()), format!("{sent:?}"));
            }
        };
    }
    check!(options, "text".into());
    {
        check!(enclosed, "text".into());
    }
}

#[test]
fn non_utf8_shared_strings_are_rejected() {
    let mut long = vec![b'a'; BULK_MIN];
    long[BULK_MIN - 1] = 0xff;
    for text in [&b"\xff"[..], b"\xc3", &long] {
        let mut body = vec![0x08, 0x00, 0x05];
        Encoder::new(&mut body).bytes(text).unwrap();
        body.remove(3); // The kind byte of bytes, because that of strings precedes it.
        let error = polyglot::decode_root::<Page>(&mut Decoder::shared(&body.into())).unwrap_err();
        assert!(error.to_string().contains("UTF-8"), "{error}");
        // The tags of fields 1, 3 and 5. The value of an entry of field 4 is tested below.
        for tag in [0x0a, 0x1a, 0x2a] {
            let mut message = vec![tag];
            frpc::prost::encode_length_delimiter(text.len(), &mut message).unwrap();
            message.extend_from_slice(text);
            let error = Page::decode(Bytes::from(message)).unwrap_err();
            assert!(error.to_string().contains("UTF-8"), "{error}");
        }
    }
    assert!(Page::decode(&[0x22, 3, 0x12, 1, 0xff][..]).is_err());
}

#[test]
fn large_bytes_fields_are_not_copied() {
    let content = Bytes::from(vec![7; BULK_MIN]);
    let (mut out, mut bulk) = (Vec::new(), Vec::new());
    polyglot::encode_root(&chunk_of(&content), &mut Encoder::gathering(&mut out, &mut bulk)).unwrap();
    assert_eq!(bulk.len(), 5, "all long values except the copied one should be slices");
    assert!(bulk.iter().all(|part| part.bytes.as_ptr() == content.as_ptr()));
    assert!(out.len() < 2 * BULK_MIN);
}

struct Turner;

impl Chunks for Turner {
    async fn turn(&self, request: Request<Chunk>) -> Result<Response<Chunk>, Status> {
        let Chunk { single, maybe, many, .. } = request.into_inner();
        // If both are slices of the same body, their distance is at most its length.
        let (one, other) = (single.as_ptr() as usize, many[0].as_ptr() as usize);
        if one.abs_diff(other) > 8 * single.len() {
            return Err(Status::internal("the fields do not share their memory"));
        }
        Ok(Response::new(Chunk { single: many[0].clone(), maybe, many: vec![single], ..Chunk::default() }))
    }
}

#[tokio::test]
async fn large_bytes_fields_go_through_calls() -> Result<(), Box<dyn std::error::Error>> {
    let server = frpc::Server::builder().add_service(ChunksServer::new(Turner)).bind("127.0.0.1:0").await?;
    let client = ChunksClient::connect(server.local_addr().to_string()).await?;
    tokio::spawn(server.serve());
    let content = Bytes::from((0..300_000_u32).map(|at| at as u8).collect::<Vec<_>>());
    let reply = client.turn(chunk_of(&content)).await?.into_inner();
    assert!(reply.single == content && reply.many == [content.clone()] && reply.maybe == Some(content));
    Ok(())
}

#[test]
fn build_options_apply_to_generated_types() {
    let holder = Holder {
        part: Some(Box::new(Part { n: 1 })),
        wrapped: Some(Box::new("word".to_owned())),
        at: Some(Box::default()),
        parts: BTreeMap::from([(2, Part { n: 2 }), (1, Part { n: 1 })]),
        id: Some(base::Id { id: 9 }),
        levels: vec![base::Level::High.into()],
        choice: Some(holder::Choice::BoxedNumber(Box::new(-1))),
    };
    let mut body = Vec::new();
    polyglot::encode_root(&holder, &mut Encoder::new(&mut body).with_form(Form::Extended)).unwrap();
    assert_eq!(polyglot::decode_root(&mut Decoder::new(&body)).unwrap(), Root::Message(holder.clone()));
    assert!(Part { n: 1 } < Part { n: 2 }, "attribute should derive `PartialOrd`");
    assert_eq!(Holder::full_name(), "options.Holder");

    let Root::Message(view) = polyglot::view_root::<<Holder as Viewed>::View<'_>>(&mut Decoder::new(&body)).unwrap()
    else {
        panic!()
    };
    assert_eq!(view.wrapped, Some("word"));
    assert_eq!(view.part.unwrap().get().n, 1);
    assert_eq!(view.id.unwrap().id, 9);
    assert_eq!(view.parts.iter().map(|(key, part)| (key, part.n)).collect::<Vec<_>>(), [(1, 1), (2, 2)]);
}

#[test]
fn random_values_survive_with_all_options() {
    let pool = pool(&["options"], "proto");
    for seed in 0..200 {
        let bytes = protobuf(&pool.get_message_by_name("options.Holder").unwrap(), &mut Random::new(seed));
        let holder = Holder::decode(&*bytes).unwrap();
        let mut body = Vec::new();
        polyglot::encode_root(&holder, &mut Encoder::new(&mut body).with_form(Form::Extended)).unwrap();
        assert_eq!(polyglot::decode_root(&mut Decoder::new(&body)).unwrap(), Root::Message(holder));
    }
}
