//! Random values round-trip, and damaged ones are decoded or rejected without a panic.

use crate::tests::schema::{Order, Payment};
use frpc_json::{Options, from_json, to_json};
use proptest::prelude::*;

fn order() -> impl Strategy<Value = Order> {
    let leaf = (
        (any::<String>(), any::<i64>(), any::<Option<u32>>(), -2..3_i32, prop::collection::vec(-2..3_i32, 0..4)),
        prop::collection::vec(any::<u8>(), 0..9),
        prop::collection::btree_map(any::<i32>(), any::<String>(), 0..3),
        prop::option::of(prop_oneof![
            any::<bool>().prop_map(Payment::Cash),
            any::<String>().prop_map(Payment::CardNumber)
        ]),
        (any::<f64>(), any::<f32>()),
        prop::collection::hash_map(any::<String>(), -2..3_i32, 0..3),
    );
    let leaf = leaf.prop_map(|(first, signature, notes, payment, (total, weight), palette)| {
        let (id, customer_id, priority, color, colors) = first;
        Order {
            id,
            customer_id,
            priority,
            color,
            colors,
            signature,
            notes,
            payment,
            total,
            palette,
            weight,
            ..Order::default()
        }
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (inner.clone(), prop::option::of(inner.clone()), prop::collection::vec(inner, 0..3))
            .prop_map(|(order, parent, parts)| Order { parent: parent.map(Box::new), parts, ..order })
    })
}

proptest! {
    #[test]
    fn order_survives_json(order in order()) {
        let mut json = Vec::new();
        to_json(&order, &mut json).unwrap();
        prop_assert_eq!(from_json::<Order>(&json).unwrap(), order);
    }

    #[test]
    fn damaged_order_is_read_or_refused(order in order(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = Vec::new();
        to_json(&order, &mut json).unwrap();
        let at = at.index(json.len());
        json[at] = byte;
        let _ = Options::new().ignore_unknown(true).decode::<Order>(&json);
    }

    #[test]
    fn floats_match_standard_library(whole in 0_u64.., fraction in 0_u32.., exponent in -330..330_i32) {
        let text = format!("{whole}.{fraction}e{exponent}");
        let expected: f64 = text.parse().unwrap();
        prop_assert_eq!(from_json::<f64>(text.as_bytes()).ok(), expected.is_finite().then_some(expected));
    }

    #[test]
    fn integers_are_exact(value in any::<i64>()) {
        for text in [format!("{value}"), format!("\"{value}\""), format!("{value}0e-1"), format!("{value}.0")] {
            prop_assert_eq!(from_json::<i64>(text.as_bytes()).unwrap(), value);
            prop_assert_eq!(from_json::<i32>(text.as_bytes()).ok(), i32::try_from(value).ok());
            prop_assert_eq!(from_json::<u32>(text.as_bytes()).ok(), u32::try_from(value).ok());
            prop_assert_eq!(from_json::<u64>(text.as_bytes()).ok(), u64::try_from(value).ok());
        }
    }
}
