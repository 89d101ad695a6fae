//! Tests of views: they have the values of owned messages, and reject the same bodies.

use std::collections::HashMap;

use polyglot::{DecodeError, Decoder, Form, List, Map, MessageView, NESTING_MAX, Nested, Number, Root, view_root};

use crate::tests::schema::{Deep, DeepView, Inner, InnerView, One, Sparse, encode, hex};

/// A view with a single field.
#[derive(Debug, Default)]
struct OneView<V> {
    v: V,
}

impl<'a, V: polyglot::View<'a>> MessageView<'a> for OneView<V> {
    const NAME: &'static str = "vec.One";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { v: from.view("v")? })
    }
}

fn view<'a, V: MessageView<'a>>(input: &'a [u8]) -> Result<V, DecodeError> {
    match view_root(&mut Decoder::new(input))? {
        Root::Message(view) => Ok(view),
        Root::Error(text) => panic!("body should contain a message instead of the error {text:?}"),
    }
}

#[test]
fn strings_and_bytes_point_into_input() {
    let body = encode(&One { v: "text".to_owned() }, Form::Flat);
    let read: OneView<&str> = view(&body).unwrap();
    assert_eq!(read.v, "text");
    assert_eq!(read.v.as_ptr(), body[5..].as_ptr());
    let body = encode(&One { v: b"bytes".to_vec() }, Form::Flat);
    assert_eq!(view::<OneView<&[u8]>>(&body).unwrap().v.as_ptr(), body[5..].as_ptr());
}

#[test]
fn list_view_iterates_elements_repeatedly() {
    let body = encode(&One { v: vec!["a".to_owned(), String::new(), "é".to_owned()] }, Form::Flat);
    let list = view::<OneView<List<'_, &str>>>(&body).unwrap().v;
    assert!(!list.is_empty());
    for _ in 0..2 {
        assert_eq!(list.iter().len(), 3);
        assert_eq!(list.iter().collect::<Vec<_>>(), ["a", "", "é"]);
    }
    assert_eq!(format!("{list:?}"), r#"["a", "", "é"]"#);
}

#[test]
fn nil_messages_in_lists_are_defaults() {
    let body = hex("080001030a020008000c04");
    let list = view::<OneView<List<'_, InnerView>>>(&body).unwrap().v;
    assert_eq!(list.iter().map(|inner| inner.n).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn map_view_yields_pairs_and_last_duplicate() {
    let body = hex("080002050c0a03050a01610c02050a01620c06050a01610c04");
    let map = view::<OneView<Map<'_, &str, i32>>>(&body).unwrap().v;
    assert_eq!(map.iter().collect::<Vec<_>>(), [("a", 1), ("b", 3), ("a", 2)]);
    assert!(!map.is_empty());
    assert_eq!(map.get(&"a"), Some(2));
    assert_eq!(map.get(&"c"), None);
    assert_eq!(map.iter().collect::<HashMap<_, _>>(), HashMap::from([("a", 2), ("b", 3)]));
    assert!(view::<OneView<Map<'_, &str, i32>>>(&hex("080000")).unwrap().v.is_empty());
}

#[test]
fn cloned_views_yield_same_elements() {
    let body = encode(&One { v: vec!["a".to_owned(), "b".to_owned()] }, Form::Flat);
    let list = view::<OneView<List<'_, &str>>>(&body).unwrap().v;
    assert_eq!(list.clone().iter().collect::<Vec<_>>(), ["a", "b"]);
    let body = hex("080002050c0a01050a01610c02");
    let map = view::<OneView<Map<'_, &str, i32>>>(&body).unwrap().v;
    assert_eq!(map.clone().iter().collect::<Vec<_>>(), [("a", 1)]);
    let body = encode(&One { v: Inner { n: 3 } }, Form::Flat);
    let nested = view::<OneView<Nested<'_, InnerView>>>(&body).unwrap().v;
    assert_eq!(nested.clone().get().n, nested.get().n);
}

#[test]
fn enums_in_views_compare_by_value() {
    // These are the indexes of the numbers 0, 1000 and 0.
    let body = hex("0800010a0a030a000a010a00");
    let list = view::<OneView<List<'_, Number<Sparse>>>>(&body).unwrap().v;
    let [zero, far, again] = list.iter().collect::<Vec<_>>()[..] else { panic!("list should have three elements") };
    assert_eq!([zero, far, again].map(Number::get), [0, 1000, 0]);
    assert!(zero == again && zero != far);
    assert_eq!([zero, far].map(|number| polyglot::View::is_default(&number)), [true, false]);
    assert_eq!(Clone::clone(&far).get(), 1000);
}

#[test]
fn view_of_malformed_container_is_rejected_eagerly() {
    for bytes in ["080001050a02050a0161050a02c328", "080001050a02050a01610c02", "080001050a03050a0161050a00"] {
        assert!(view::<OneView<List<'_, &str>>>(&hex(bytes)).is_err(), "{bytes}");
    }
    let error = view::<OneView<List<'_, &str>>>(&hex("080001050a02050a0161050a02c328")).unwrap_err();
    assert_eq!(error.to_string(), "in field `v[1]` of `vec.One` at byte 10: string is not UTF-8");
}

#[test]
fn nested_messages_are_bodies_of_their_own() {
    let body = encode(&One { v: Some(Inner { n: 7 }) }, Form::Flat);
    let nested = view::<OneView<Option<Nested<'_, InnerView>>>>(&body).unwrap().v.unwrap();
    assert_eq!(nested.as_bytes(), encode(&Inner { n: 7 }, Form::Flat));
    assert_eq!(nested.get().n, 7);
    assert_eq!(Nested::<'_, InnerView>::default().get().n, 0);
}

#[test]
fn recursive_views_are_walkable_to_limit() {
    let body = encode(&Deep::levels(NESTING_MAX), Form::Flat);
    let mut levels = 1;
    let mut current = view::<DeepView<'_>>(&body).unwrap();
    while let Some(next) = current.next {
        current = next.get();
        levels += 1;
    }
    assert_eq!(levels, NESTING_MAX);
    assert!(view::<DeepView<'_>>(&[0x08, 0x00].repeat(200)).is_err());
}

#[test]
fn view_root_reads_error_and_nil() {
    assert_eq!(view_root::<InnerView>(&mut Decoder::new(&hex("06050a0161"))).unwrap(), Root::Error("a".to_owned()));
    assert_eq!(view::<InnerView>(&[0x00]).unwrap().n, 0);
}
