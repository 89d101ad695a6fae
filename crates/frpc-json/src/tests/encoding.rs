//! Tests of encoding.

use crate::tests::schema::{Order, Payment, order};
use frpc_json::{EncodeReason, from_json, to_json};

fn json<M: frpc_json::Json>(message: &M) -> String {
    let mut out = Vec::new();
    to_json(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn fields_are_written_in_declaration_order() {
    assert_eq!(
        json(&order()),
        concat!(
            r#"{"id":"a \"b\" \\ \u0001\nß🦀","customerId":"-9223372036854775808","priority":0,"color":"DARK","#,
            r#""colors":["RED","DARK",7],"signature":"+/8=","parent":{"id":"parent"},"#,
            r#""parts":[{},{"priority":4294967295}],"notes":{"-1":"below","1":""},"cardNumber":"","total":-0.0,"#,
            r#""palette":{"sky\n":7},"@weight":"Infinity"}"#
        )
        .replace("-0.0", "-0")
    );
    assert_eq!(from_json::<Order>(json(&order()).as_bytes()).unwrap(), order());
}

#[test]
fn defaults_are_written_only_with_presence() {
    assert_eq!(json(&Order::default()), "{}");
    assert_eq!(json(&Order { priority: Some(0), ..Order::default() }), r#"{"priority":0}"#);
    let payment = Some(Payment::Cash(false));
    assert_eq!(json(&Order { payment, ..Order::default() }), r#"{"cash":false}"#);
}

#[test]
fn floats_have_their_shortest_digits() {
    for (value, expected) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (1e21, "1e21"),
        (1e-7, "1e-7"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
        (f64::NAN, "\"NaN\""),
        (f64::INFINITY, "\"Infinity\""),
        (f64::NEG_INFINITY, "\"-Infinity\""),
    ] {
        let text = json(&value);
        assert_eq!(text.replace("e+", "e"), expected);
        let back: f64 = from_json(text.as_bytes()).unwrap();
        assert!(back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan(), "{text}");
    }
    assert_eq!(json(&0.1_f32), "0.1");
    assert_eq!(json(&16_777_216_f32), "16777216");
}

#[test]
fn only_control_and_special_characters_are_escaped() {
    assert_eq!(json(&"\u{8}\u{c}\n\r\t\u{0}\u{1f}".to_owned()), r#""\b\f\n\r\t\u0000\u001f""#);
    assert_eq!(json(&"</script>\u{7f}\u{2028}'/".to_owned()), "\"</script>\u{7f}\u{2028}'/\"");
    // Place an escape at every position within a machine word.
    for index in 0..20 {
        let text = format!("{}\"{}", "a".repeat(index), "b".repeat(20 - index));
        assert_eq!(json(&text), format!("\"{}\\\"{}\"", "a".repeat(index), "b".repeat(20 - index)));
    }
}

#[test]
fn failed_write_preserves_output_and_names_field() {
    let mut order = Order::default();
    for _ in 0..200 {
        order = Order { parts: vec![order], ..Order::default() };
    }
    let mut out = b"before".to_vec();
    let error = to_json(&order, &mut out).unwrap_err();
    assert_eq!(error.reason(), &EncodeReason::NestingTooDeep);
    assert!(error.field().starts_with("parts[0].parts[0]"), "{error}");
    assert_eq!(error.message(), Some("shop.Order"));
    assert_eq!(out, b"before");
    let order = order.parts.pop().unwrap();
    to_json(&order, &mut out).unwrap();
}
