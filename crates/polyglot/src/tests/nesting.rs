//! Tests of the nesting limit: it is configurable, and its maximum fits the default stack size.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use polyglot::{
    DecodeError, DecodeReason, Decoder, EncodeError, Encoder, Fields, Form, Message, MessageView, NESTING_CEILING,
    NESTING_MAX, Nested, Nesting, Root, Undecoded, Viewed, decode_root, view_root,
};

use crate::tests::schema::{Deep, DeepView, Inner, encode, hex};

/// Returns a body of `count` [`Deep`] messages, each nested in the previous one.
fn levels(count: u32) -> Vec<u8> {
    [&[0x08, 0x00].repeat(count as usize)[..], &[0x00]].concat()
}

fn decode<M: Message>(mut decoder: Decoder<'_>) -> Result<M, DecodeError> {
    match decode_root(&mut decoder)? {
        Root::Message(message) => Ok(message),
        Root::Error(text) => panic!("body should contain a message instead of the error {text:?}"),
    }
}

fn too_deep(error: &DecodeError) -> Option<u32> {
    match error.reason() {
        DecodeReason::NestingTooDeep { max } => Some(*max),
        _ => None,
    }
}

#[test]
fn nesting_limit_of_decoder_is_exact() {
    for max in [1, 2, NESTING_MAX - 1, NESTING_MAX + 1, NESTING_CEILING] {
        let (good, bad) = (levels(max), levels(max + 1));
        assert_eq!(decode::<Deep>(Decoder::new(&good).with_nesting(Nesting::new(max))).unwrap(), Deep::levels(max));
        let error = decode::<Deep>(Decoder::new(&bad).with_nesting(Nesting::new(max))).unwrap_err();
        assert_eq!((too_deep(&error), error.offset()), (Some(max), max as usize * 2));
        assert!(error.to_string().ends_with(&format!(": messages nest deeper than {max}")), "{error}");
    }
}

#[test]
fn deep_field_path_is_abbreviated_in_text() {
    let error = decode::<Deep>(Decoder::new(&levels(101))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(".. 88 more ..") && text.len() < 200, "{text}");
    assert!(error.field().split('.').count() == 100, "field path should be complete: {}", error.field());
}

#[test]
fn nesting_setting_is_capped_at_ceiling() {
    let (good, bad) = (levels(NESTING_CEILING), levels(NESTING_CEILING + 1));
    assert!(decode::<Deep>(Decoder::new(&good).with_nesting(Nesting::new(u32::MAX))).is_ok());
    let error = decode::<Deep>(Decoder::new(&bad).with_nesting(Nesting::new(u32::MAX))).unwrap_err();
    assert_eq!(too_deep(&error), Some(NESTING_CEILING));
}

#[test]
fn zero_nesting_setting_counts_as_one() {
    assert!(decode::<Deep>(Decoder::new(&levels(1)).with_nesting(Nesting::new(0))).is_ok());
    let error = decode::<Deep>(Decoder::new(&levels(2)).with_nesting(Nesting::new(0))).unwrap_err();
    assert_eq!(too_deep(&error), Some(1));
}

#[test]
fn second_body_has_same_nesting_limit() {
    let body = levels(3).repeat(2);
    let mut decoder = Decoder::new(&body).with_nesting(Nesting::new(3));
    for _ in 0..2 {
        assert_eq!(decode_root(&mut decoder).unwrap(), Root::Message(Deep::levels(3)));
    }
    assert_eq!(decoder.remaining(), 0);
}

#[test]
fn views_within_deep_view_are_whole() {
    let body = levels(NESTING_CEILING);
    let mut decoder = Decoder::new(&body).with_nesting(Nesting::new(NESTING_CEILING));
    let Root::Message(mut view) = view_root::<DeepView<'_>>(&mut decoder).unwrap() else { panic!() };
    let mut count = 1;
    while let Some(next) = view.next {
        view = next.get();
        count += 1;
    }
    assert_eq!(count, NESTING_CEILING);
    let error = view_root::<DeepView<'_>>(&mut Decoder::new(&body).with_nesting(Nesting::new(3))).unwrap_err();
    assert_eq!(too_deep(&error), Some(3));
}

impl Viewed for Deep {
    type View<'a> = DeepView<'a>;
}

#[test]
fn raw_message_keeps_received_nesting_limit() {
    let body = levels(NESTING_MAX + 1);
    let received = |max| decode::<Undecoded<Deep>>(Decoder::new(&body).with_nesting(Nesting::new(max))).unwrap();
    for deep in [received(NESTING_MAX + 1), received(NESTING_MAX + 1).clone()] {
        assert_eq!(deep.decode().unwrap(), Deep::levels(NESTING_MAX + 1));
        assert!(deep.view().is_ok());
    }
    let shallow = received(NESTING_MAX);
    assert_eq!(too_deep(&shallow.decode().unwrap_err()), Some(NESTING_MAX));
    assert_eq!(too_deep(&shallow.view().unwrap_err()), Some(NESTING_MAX));
    // A message that this program creates may be nested as deeply as can be encoded.
    let own = Undecoded::new(&Deep::levels(NESTING_CEILING)).unwrap();
    assert_eq!(own.decode().unwrap(), Deep::levels(NESTING_CEILING));
}

/// A message with fields of every costly type, which contains itself in two ways.
#[derive(Clone, Debug, Default, PartialEq)]
struct Wide {
    text: String,
    name: String,
    title: String,
    path: String,
    id: u64,
    size: i64,
    flag: bool,
    ratio: f64,
    blob: Bytes,
    maybe_text: Option<String>,
    maybe_number: Option<u64>,
    numbers: Vec<u64>,
    words: Vec<String>,
    parts: Vec<Inner>,
    part: Option<Inner>,
    by_text: HashMap<String, String>,
    by_number: HashMap<u64, Inner>,
    sorted: BTreeMap<i32, String>,
    named: HashMap<String, Wide>,
    next: Option<Box<Wide>>,
}

impl Fields for Wide {
    const NAME: &'static str = "test.Wide";

    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.field("text", &self.text)?;
        to.field("name", &self.name)?;
        to.field("title", &self.title)?;
        to.field("path", &self.path)?;
        to.field("id", &self.id)?;
        to.field("size", &self.size)?;
        to.field("flag", &self.flag)?;
        to.field("ratio", &self.ratio)?;
        to.field("blob", &self.blob)?;
        to.field("maybe_text", &self.maybe_text)?;
        to.field("maybe_number", &self.maybe_number)?;
        to.field("numbers", &self.numbers)?;
        to.field("words", &self.words)?;
        to.field("parts", &self.parts)?;
        to.field("part", &self.part)?;
        to.field("by_text", &self.by_text)?;
        to.field("by_number", &self.by_number)?;
        to.field("sorted", &self.sorted)?;
        to.field("named", &self.named)?;
        to.field("next", &self.next)
    }

    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            text: from.field("text")?,
            name: from.field("name")?,
            title: from.field("title")?,
            path: from.field("path")?,
            id: from.field("id")?,
            size: from.field("size")?,
            flag: from.field("flag")?,
            ratio: from.field("ratio")?,
            blob: from.field("blob")?,
            maybe_text: from.field("maybe_text")?,
            maybe_number: from.field("maybe_number")?,
            numbers: from.field("numbers")?,
            words: from.field("words")?,
            parts: from.field("parts")?,
            part: from.field("part")?,
            by_text: from.field("by_text")?,
            by_number: from.field("by_number")?,
            sorted: from.field("sorted")?,
            named: from.field("named")?,
            next: from.field("next")?,
        })
    }
}

/// A view that contains itself and borrowed fields.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "they are read by `Debug`")]
struct NamedView<'a> {
    name: &'a str,
    next: Option<Nested<'a, NamedView<'a>>>,
}

impl<'a> MessageView<'a> for NamedView<'a> {
    const NAME: &'static str = "test.NamedView";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { name: from.view("name")?, next: from.view("next")? })
    }
}

/// Runs a test on a thread with the default stack size of threads.
fn on_a_usual_stack(test: fn()) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn deepest_messages_fit_thread_stack() {
    on_a_usual_stack(|| {
        for grow in [
            |inner| Wide { named: [("inner".to_owned(), inner)].into(), ..Wide::default() },
            |inner| Wide { next: Some(Box::new(inner)), ..Wide::default() },
        ] {
            let message = (1..NESTING_CEILING).fold(Wide::default(), |inner, _| grow(inner));
            let body = encode(&message, Form::Extended);
            let read: Wide = decode(Decoder::new(&body).with_nesting(Nesting::new(NESTING_CEILING))).unwrap();
            assert!(read.clone() == message);
            assert!(format!("{read:?}").len() > body.len());
            // The error at the deepest level is propagated through all levels.
            let error =
                decode::<Wide>(Decoder::new(&body).with_nesting(Nesting::new(NESTING_CEILING - 1))).unwrap_err();
            assert_eq!(too_deep(&error), Some(NESTING_CEILING - 1));
        }
    });
}

#[test]
fn deepest_views_fit_default_thread_stack() {
    on_a_usual_stack(|| {
        let body = [&hex("0800050a0161").repeat(NESTING_CEILING as usize)[..], &[0x00]].concat();
        let mut decoder = Decoder::new(&body).with_nesting(Nesting::new(NESTING_CEILING));
        let Root::Message(view) = view_root::<NamedView<'_>>(&mut decoder).unwrap() else { panic!() };
        assert_eq!(format!("{view:?}").matches("\"a\"").count(), NESTING_CEILING as usize);
    });
}
