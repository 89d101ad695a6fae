//! Tests of the limits on depth and memory.

use crate::tests::schema::{Order, Payment};
use frpc_json::{CONTAINER_MEMORY_MAX, DecodeReason, NESTING_CEILING, NESTING_MAX, Options};

fn nested(open: &str, levels: usize, close: &str) -> String {
    format!("{}{}", open.repeat(levels), close.repeat(levels))
}

/// Returns an order of the given number of levels, each inside the field that `open` starts.
fn levels(open: &str, levels: u32, close: &str) -> String {
    let inner = usize::try_from(levels - 1).unwrap();
    format!("{}{{}}{}", open.repeat(inner), close.repeat(inner))
}

#[test]
fn nesting_limit_covers_fields_lists_and_oneofs() {
    for (open, close) in [("{\"parent\":", "}"), ("{\"parts\":[", "]}"), ("{\"swap\":", "}")] {
        for (options, max) in [
            (Options::new(), NESTING_MAX),
            (Options::new().nesting_max(3), 3),
            (Options::new().nesting_max(u32::MAX), NESTING_CEILING),
            (Options::new().nesting_max(0), 1),
        ] {
            assert!(options.decode::<Order>(levels(open, max, close).as_bytes()).is_ok());
            let error = options.decode::<Order>(levels(open, max + 1, close).as_bytes()).unwrap_err();
            assert_eq!(error.reason(), &DecodeReason::NestingTooDeep { max });
        }
    }
}

#[test]
fn sibling_messages_do_not_add_nesting() {
    let options = Options::new().nesting_max(2);
    assert!(options.decode::<Order>(br#"{"parent":{},"parts":[{},{},{}],"swap":{}}"#).is_ok());
}

#[test]
fn nested_unknown_values_are_limited() {
    let options = Options::new().ignore_unknown(true);
    let skip = |value: String| options.decode::<Order>(format!("{{\"new\":{value}}}").as_bytes());
    // The message that contains the value takes one level.
    let most = usize::try_from(2 * (NESTING_MAX - 1)).unwrap();
    assert!(skip(nested("[", most, "]")).is_ok());
    assert!(skip(nested("{\"a\":[", most / 2, "]}")).is_ok());
    for value in
        [nested("[", most + 2, "]"), nested("[", 1_000_000, "]"), "[".repeat(1_000_000), "{\"a\":".repeat(1000)]
    {
        let error = skip(value).unwrap_err();
        assert_eq!(error.reason(), &DecodeReason::NestingTooDeep { max: NESTING_MAX });
    }
    let most = usize::try_from(2 * (NESTING_CEILING - 1)).unwrap();
    let options = options.nesting_max(NESTING_CEILING);
    assert!(options.decode::<Order>(format!("{{\"new\":{}}}", nested("[", most, "]")).as_bytes()).is_ok());
}

#[test]
fn memory_limit_covers_lists_maps_and_boxes() {
    let each = size_of::<Order>();
    let options = Options::new().container_memory(8 * each);
    let list = |count: usize| format!("{{\"parts\":[{}]}}", vec!["{}"; count].join(","));
    assert!(options.decode::<Order>(list(8).as_bytes()).is_ok());
    let error = options.decode::<Order>(list(9).as_bytes()).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::ContainerMemory { needed: 8 * each, left: 0 });
    assert_eq!(error.field(), "parts");

    let boxes = |count: u32| levels("{\"parent\":", count + 1, "}");
    assert!(options.decode::<Order>(boxes(8).as_bytes()).is_ok());
    let error = options.decode::<Order>(boxes(9).as_bytes()).unwrap_err();
    assert_eq!(error.reason(), &DecodeReason::ContainerMemory { needed: each, left: 0 });

    let map = |count: usize| {
        let entries: Vec<_> = (0..count).map(|at| format!("\"{at}\":7")).collect();
        format!("{{\"palette\":{{{}}}}}", entries.join(","))
    };
    let options = Options::new().container_memory(100 * 80);
    assert!(options.decode::<Order>(map(10).as_bytes()).is_ok());
    assert!(options.decode::<Order>(map(1000).as_bytes()).is_err());
}

#[test]
fn empty_messages_are_bounded_by_container_memory() {
    let json = format!("{{\"parts\":[{}{{}}]}}", "{},".repeat(1_500_000));
    let error = frpc_json::from_json::<Order>(json.as_bytes()).unwrap_err();
    assert!(matches!(error.reason(), DecodeReason::ContainerMemory { needed, .. } if *needed < CONTAINER_MEMORY_MAX));
}

#[test]
fn boxed_oneof_member_counts_towards_memory() {
    let order: Order = Options::new().container_memory(size_of::<Order>()).decode(br#"{"swap":{}}"#).unwrap();
    assert!(matches!(order.payment, Some(Payment::Swap(_))));
    assert!(Options::new().container_memory(size_of::<Order>() - 1).decode::<Order>(br#"{"swap":{}}"#).is_err());
}
