//! The schema lock: safe edits of a schema for older peers, and the errors of the build for others.

use crate::support::shop::Shop;
#[allow(dead_code)]
use frpc_build::{Codec, Layout, LockUpdate};

/// The output of the build after some edits: each line of the error that names a difference, without the advice.
#[track_caller]
fn differences(edits: &[(&str, &str)]) -> Vec<String> {
    let shop = Shop::locked();
    shop.edit(edits);
    let Err(error) = shop.build(|builder| builder) else { return Vec::new() };
    let lines: Vec<_> = error.lines().collect();
    assert!(lines[0].ends_with(": the schema differs from shop.frpc.lock"), "{error}");
    let is_safe = lines.iter().all(|line| !line.contains(": breaks older peers: "));
    let last = lines.last().unwrap();
    assert_eq!(*last == "`FRPC_UPDATE_LOCK=1 cargo build` records this", is_safe, "{error}");
    assert_eq!(
        last.starts_with("to break them all the same: `FRPC_UPDATE_LOCK=breaking cargo build` records all of it"),
        !is_safe
    );
    let is_for_go = |line: &&&str| line.starts_with("Go peers that send a message with an appended field have to be");
    let appends = lines.iter().any(|line| line.contains(": safe between frpc peers: "));
    assert_eq!(lines.iter().any(|line| is_for_go(&line)), appends, "{error}");
    let differences = &lines[1..lines.len() - 1];
    let differences = differences.iter().filter(|line| !line.starts_with("    instead: ") && !is_for_go(line));
    differences.map(|line| line.trim().to_owned()).collect()
}

/// An edit that older peers do not notice, so that there is nothing to record.
#[track_caller]
fn nothing(edits: &[(&str, &str)]) {
    assert_eq!(differences(edits), [""; 0]);
}

/// An edit that is safe: refused as it is, and recorded with `FRPC_UPDATE_LOCK=1`.
#[track_caller]
fn safe(edits: &[(&str, &str)], expected: &[&str]) {
    safe_for("safe", edits, expected);
}

/// The same for an edit that is safe between frpc peers only.
#[track_caller]
fn safe_for_native(edits: &[(&str, &str)], expected: &[&str]) {
    safe_for("safe between frpc peers", edits, expected);
}

#[track_caller]
fn safe_for(verdict: &str, edits: &[(&str, &str)], expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|line| line.replacen(": ", &format!(": {verdict}: "), 1)).collect();
    assert_eq!(differences(edits), expected);
    let shop = Shop::locked();
    let before = shop.layouts();
    shop.edit(edits);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    shop.build(|builder| builder).expect("recorded changes should be accepted");
    let now = shop.layouts();
    assert!(before.iter().all(|before| is_understood(before, &now)), "{before:?} is still understood by {now:?}");
}

/// An edit that breaks older peers: refused also with `FRPC_UPDATE_LOCK=1`, which leaves the lock alone; recorded with
/// `FRPC_UPDATE_LOCK=breaking`, after which peers of one service at least do not fit.
#[track_caller]
fn breaking(edits: &[(&str, &str)], expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|line| match line.strip_prefix("safe ") {
            Some(line) => line.replacen(": ", ": safe: ", 1),
            None => line.replacen(": ", ": breaks older peers: ", 1),
        })
        .collect();
    assert_eq!(differences(edits), expected);
    let shop = Shop::locked();
    let (lock, before) = (shop.lock(), shop.layouts());
    shop.edit(edits);
    let error = shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap_err();
    assert!(
        error.contains("nothing was recorded, because not all of this is safe; a build with `lock_update("),
        "{error}"
    );
    assert_eq!(shop.lock(), lock);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    shop.build(|builder| builder).expect("recorded changes should be accepted");
    let after = shop.layouts();
    assert!(!before.iter().all(|before| is_understood(before, &after)), "{before:?} does not fit {after:?}");
}

/// Whether the service of that name in `now` fits peers with an earlier layout.
fn is_understood(before: &Layout, now: &[Layout]) -> bool {
    now.iter()
        .filter(|now| now.service() == before.service())
        .any(|now| before.fingerprint() == now.fingerprint() || now.compatible().contains(&before.fingerprint()))
}

#[test]
fn appended_method_of_last_service_is_compatible() {
    safe(
        &[("(stream Item);\n", "(stream Item);\n  rpc Stop(Filter) returns (Item);\n")],
        &["shop.proto:11:3: method `shop.Stock.Stop` is new, with operation 13"],
    );
}

#[test]
fn inserted_method_shifts_following_methods() {
    breaking(
        &[("  rpc Put", "  rpc List(Filter) returns (Item);\n  rpc Put")],
        &[
            "shop.proto:6:3: method `shop.Orders.List` was inserted: it has operation 11, which belonged to \
             `shop.Orders.Put`",
            "shop.proto:7:3: method `shop.Orders.Put` moves from operation 11 to 12",
            "shop.proto:11:3: method `shop.Stock.Watch` moves from operation 12 to 13",
        ],
    );
}

#[test]
fn method_appended_to_service_moves_next_service() {
    breaking(
        &[("(GetRequest);\n", "(GetRequest);\n  rpc List(Filter) returns (Item);\n")],
        &[
            "shop.proto:7:3: method `shop.Orders.List` was inserted: it has operation 12, which belonged to \
             `shop.Stock.Watch`",
            "shop.proto:11:3: method `shop.Stock.Watch` moves from operation 12 to 13",
        ],
    );
}

#[test]
fn removed_method_is_reported_and_shifts_following() {
    breaking(
        &[("  rpc Get(GetRequest) returns (Item);\n", "")],
        &[
            "shop.proto:5:3: method `shop.Orders.Put` moves from operation 11 to 10",
            "shop.frpc.lock:8:1: method `shop.Orders.Get` with operation 10 was removed",
            "shop.proto:9:3: method `shop.Stock.Watch` moves from operation 12 to 11",
        ],
    );
    breaking(
        &[("  rpc Watch(Filter) returns (stream Item);\n", "")],
        &["shop.frpc.lock:12:1: method `shop.Stock.Watch` with operation 12 was removed"],
    );
}

#[test]
fn swapped_methods_are_noticed_despite_equal_wire_form() {
    let shop = Shop::locked();
    shop.edit(&[("rpc Put(Item) returns (GetRequest)", "rpc Put(GetRequest) returns (Item)")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    let before = shop.layouts();
    shop.edit(&[("rpc Get(", "rpc X("), ("rpc Put(", "rpc Get("), ("rpc X(", "rpc Put(")]);
    let error = shop.build(|builder| builder).unwrap_err();
    assert!(
        error.contains("shop.proto:5:3: breaks older peers: method `shop.Orders.Put` moves from operation 11 to 10")
    );
    assert!(
        error.contains("shop.proto:6:3: breaks older peers: method `shop.Orders.Get` moves from operation 10 to 11")
    );
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    assert_ne!(shop.layouts()[0].fingerprint(), before[0].fingerprint());
    assert!(shop.lock().contains("\n  generation 2\n"), "{}", shop.lock());
    assert_eq!(shop.layouts()[1], before[1], "the other service has nothing to do with it");
}

#[test]
fn a_method_that_changes_its_name_only_is_safe() {
    safe(
        &[("rpc Get(", "rpc Fetch(")],
        &["shop.proto:5:3: method `shop.Orders.Fetch` was renamed from `Get`; its operation is still 10"],
    );
}

#[test]
fn replaced_method_with_other_messages_is_not_a_rename() {
    breaking(
        &[("rpc Get(GetRequest)", "rpc Fetch(Filter)")],
        &[
            "shop.proto:5:3: method `shop.Orders.Fetch` has operation 10, which belonged to `shop.Orders.Get`, which \
             was removed",
            "shop.frpc.lock:8:1: method `shop.Orders.Get` with operation 10 was removed",
        ],
    );
}

#[test]
fn a_method_that_streams_or_no_longer_streams_breaks() {
    breaking(
        &[("returns (stream Item)", "returns (Item)")],
        &["shop.proto:10:3: the reply of method `shop.Stock.Watch` changed from `stream shop.Item` to `shop.Item`"],
    );
    breaking(
        &[("Put(Item)", "Put(stream Item)")],
        &["shop.proto:6:3: the request of method `shop.Orders.Put` changed from `shop.Item` to `stream shop.Item`"],
    );
}

#[test]
fn a_method_with_another_request_breaks() {
    breaking(
        &[("rpc Get(GetRequest)", "rpc Get(Filter)")],
        &["shop.proto:5:3: the request of method `shop.Orders.Get` changed from `shop.GetRequest` to `shop.Filter`"],
    );
}

#[test]
fn a_request_of_its_own_with_the_same_layout_is_safe() {
    let own = "message FetchRequest {\n  string id = 1;\n  int32 limit = 2;\n}\nmessage GetRequest";
    safe(
        &[("rpc Get(GetRequest)", "rpc Get(FetchRequest)"), ("message GetRequest", own)],
        &["shop.proto:5:3: the request of method `shop.Orders.Get` changed from `shop.GetRequest` to \
             `shop.FetchRequest`, which has the same layout"],
    );
}

#[test]
fn new_service_is_safe_at_end_or_if_empty() {
    let more = "service More {\n  rpc A(Item) returns (Item);\n}\n";
    safe(
        &[("message GetRequest", &format!("{more}message GetRequest"))],
        &["shop.proto:13:1: service `shop.More` is new"],
    );
    safe(&[("service Stock", "service Empty {}\nservice Stock")], &["shop.proto:9:1: service `shop.Empty` is new"]);
    breaking(
        &[("service Stock", &format!("{more}service Stock"))],
        &[
            "shop.proto:9:1: service `shop.More` was inserted: its method `A` has operation 12, which belonged to \
             `shop.Stock.Watch`",
            "shop.proto:13:3: method `shop.Stock.Watch` moves from operation 12 to 13",
        ],
    );
}

#[test]
fn a_service_with_another_name_is_another_service() {
    breaking(
        &[("service Stock", "service Store")],
        &[
            "shop.proto:9:1: service `shop.Store` was inserted: its method `Watch` has operation 12, which belonged to \
             `shop.Stock.Watch`",
            "shop.frpc.lock:11:1: service `shop.Stock` was removed",
        ],
    );
}

#[test]
fn appended_field_of_root_message_is_compatible() {
    safe_for_native(
        &[("int32 limit = 2;", "int32 limit = 2;\n  string more = 3;")],
        &["shop.proto:16:3: message `shop.GetRequest`: field `more` was appended"],
    );
    safe_for_native(
        &[("Part part = 4;", "Part part = 4;\n  map<string, Part> more = 5;")],
        &["shop.proto:23:3: message `shop.Item`: field `more` was appended"],
    );
}

#[test]
fn list_declared_first_is_appended_on_the_wire() {
    safe_for_native(
        &[("string id = 1;", "repeated string more = 3;\n  string id = 1;")],
        &["shop.proto:14:3: message `shop.GetRequest`: field `more` was appended"],
    );
}

#[test]
fn a_field_declared_last_may_be_in_the_middle_on_the_wire() {
    breaking(
        &[("Part part = 4;", "Part part = 4;\n  string note = 5;")],
        &["shop.proto:23:3: message `shop.Item`: field `note` was inserted at position 3, before `tags`: single \
           fields come before lists, and messages and maps last"],
    );
    breaking(
        &[("Part part = 4;", "Part part = 4;\n  repeated int32 more = 5;")],
        &["shop.proto:23:3: message `shop.Item`: field `more` was inserted at position 4, before `part`: single \
           fields come before lists, and messages and maps last"],
    );
}

#[test]
fn an_inserted_field_breaks() {
    breaking(
        &[("int32 limit = 2;", "int32 skip = 3;\n  int32 limit = 2;")],
        &["shop.proto:15:3: message `shop.GetRequest`: field `skip` was inserted at position 2, before `limit`"],
    );
}

#[test]
fn appended_field_of_nested_message_breaks() {
    breaking(
        &[("double size = 2;", "double size = 2;\n  double depth = 3;")],
        &["shop.proto:28:3: message `shop.Part`: field `depth` was appended, but another message contains this one \
           (`shop.Item.part`)"],
    );
}

#[test]
fn removed_field_breaks_at_any_position() {
    breaking(
        &[("  int32 limit = 2;\n", "")],
        &["shop.proto:13:1: message `shop.GetRequest`: field `i32 limit = 2` at position 2 was removed"],
    );
    breaking(
        &[("  string id = 1;\n", "")],
        &["shop.proto:13:1: message `shop.GetRequest`: field `string id = 1` at position 1 was removed"],
    );
}

#[test]
fn reordered_fields_of_one_type_break() {
    breaking(
        &[("string id = 1;\n  int32 limit = 2;", "int32 limit = 2;\n  string id = 1;")],
        &["shop.proto:14:3: message `shop.GetRequest`: field `limit` moved from position 2 to 1"],
    );
    let shop = Shop::locked();
    shop.edit(&[("double size", "int64 size")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    let before = shop.layouts();
    shop.edit(&[("int64 weight = 1;\n  int64 size = 2;", "int64 size = 2;\n  int64 weight = 1;")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Breaking)).unwrap();
    for (before, now) in before.iter().zip(shop.layouts()) {
        assert_ne!(before.fingerprint(), now.fingerprint(), "the same kinds, but another layout");
        assert!(!now.compatible().contains(&before.fingerprint()));
    }
}

#[test]
fn the_order_of_declaration_does_not_matter_between_groups() {
    nothing(&[
        ("  repeated string tags = 3;\n", ""),
        ("Part part = 4;", "Part part = 4;\n  repeated string tags = 3;"),
    ]);
}

#[test]
fn a_field_of_another_kind_breaks() {
    breaking(
        &[("int32 limit", "int64 limit")],
        &["shop.proto:15:3: message `shop.GetRequest`: field `limit` changed from `i32` to `i64`"],
    );
    breaking(
        &[("string id", "bytes id")],
        &["shop.proto:14:3: message `shop.GetRequest`: field `id` changed from `string` to `bytes`"],
    );
    breaking(
        &[("  Color color = 2;\n  repeated", "  uint32 color = 2;\n  repeated")],
        &["shop.proto:20:3: message `shop.Item`: field `color` changed from `enum shop.Color` to `u32`"],
    );
}

#[test]
fn types_that_are_one_kind_on_the_wire_are_no_change() {
    nothing(&[("int32 limit", "sint32 limit")]);
    nothing(&[("int32 limit", "sfixed32 limit")]);
    nothing(&[("repeated string tags = 3", "repeated string tags = 3 [deprecated = true]")]);
    nothing(&[("Part part", "optional Part part")]);
}

#[test]
fn presence_is_a_kind() {
    breaking(
        &[("optional int32 least", "int32 least")],
        &["shop.proto:35:3: message `shop.Filter`: field `least` changed from `optional i32` to `i32`"],
    );
    breaking(
        &[("int32 limit", "optional int32 limit")],
        &["shop.proto:15:3: message `shop.GetRequest`: field `limit` changed from `i32` to `optional i32`"],
    );
}

#[test]
fn field_may_change_name_or_number_but_not_both() {
    safe(
        &[("int32 limit = 2;", "int32 max = 2;")],
        &["shop.proto:15:3: message `shop.GetRequest`: field `limit` was renamed to `max`"],
    );
    safe(
        &[("int32 limit = 2;", "int32 limit = 3;")],
        &["shop.proto:15:3: message `shop.GetRequest`: the number of field `limit` changed from 2 to 3, which \
             matters in protobuf's encoding only"],
    );
    breaking(
        &[("int32 limit = 2;", "int32 max = 3;")],
        &["shop.proto:15:3: message `shop.GetRequest`: field `i32 limit = 2` was replaced by `i32 max = 3` at \
             position 2"],
    );
}

#[test]
fn another_codec_breaks_all_services() {
    let shop = Shop::locked();
    let mut before = shop.layouts();
    for (codec, expected) in [
        (Codec::Protobuf, "shop.frpc.lock:1:1: breaks older peers: the codec changed from Polyglot to Protobuf\n"),
        (Codec::Polyglot, "shop.frpc.lock:1:1: breaks older peers: the codec changed from Protobuf to Polyglot\n"),
    ] {
        let build = |update| shop.build(|builder| builder.codec(codec).lock_update(update));
        let error = build(LockUpdate::Safe).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert_eq!(error.matches("breaks older peers").count(), 1, "{error}");
        build(LockUpdate::Breaking).unwrap();
        build(LockUpdate::Never).expect("recorded changes should be accepted");
        assert_eq!(shop.lock().contains("\nfrpc-lock 1\ncodec protobuf\n\n"), codec == Codec::Protobuf);
        assert!(!shop.lock().contains("added"), "{}", shop.lock());
        let folder = shop.0.protos.path();
        let builder = frpc_build::configure().codec(codec);
        let now = builder.load_protos(&[folder.join("shop.proto")], &[folder]).unwrap().layouts;
        assert!(before.iter().all(|before| !is_understood(before, &now)), "{before:?} does not fit {now:?}");
        before.extend(now);
    }
}

#[test]
fn with_protobuf_requests_and_replies_with_another_name_break() {
    let built = |shop: &Shop, update| shop.build(|builder| builder.codec(Codec::Protobuf).lock_update(update));
    let differences = |edits: &[(&str, &str)]| {
        let shop = Shop::unlocked();
        built(&shop, LockUpdate::Safe).unwrap();
        shop.edit(edits);
        let error = built(&shop, LockUpdate::Safe).unwrap_err();
        built(&shop, LockUpdate::Breaking).unwrap();
        let breaking = error.lines().filter_map(|line| line.split_once(": breaks older peers: "));
        breaking.map(|(_, text)| text.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        differences(&[("rpc Get(GetRequest)", "rpc Get(Filter)")]),
        ["the request of method `shop.Orders.Get` changed from `shop.GetRequest` to `shop.Filter`"]
    );
    assert_eq!(
        differences(&[("rpc Get(GetRequest)", "rpc Drop(Filter)")]),
        [
            "method `shop.Orders.Drop` has operation 10, which belonged to `shop.Orders.Get`, which was removed",
            "method `shop.Orders.Get` with operation 10 was removed"
        ]
    );
    let renamed = [("message Filter", "message Find"), ("(Filter)", "(Find)")];
    assert_eq!(
        differences(&renamed),
        ["the request of method `shop.Stock.Watch` changed from `shop.Filter` to `shop.Find`"]
    );
    let shop = Shop::unlocked();
    built(&shop, LockUpdate::Safe).unwrap();
    shop.edit(&[
        ("rpc Get(", "rpc Fetch("),
        ("int32 limit = 2;", "bytes raw = 7;"),
        ("Part part = 4;", "Filter f = 4;"),
    ]);
    built(&shop, LockUpdate::Safe).expect("renamed methods and renumbered fields should be safe");
}

#[test]
fn a_message_that_changes_its_name_only_is_safe() {
    safe(
        &[("message Part", "message Piece"), ("Part part", "Piece part")],
        &["shop.proto:22:3: `shop.Part` was renamed to `shop.Piece`; its layout is the same"],
    );
    breaking(
        &[("message Part", "message Piece"), ("Part part", "Piece part"), ("int64 weight", "int32 weight")],
        &[
            "shop.proto:22:3: message `shop.Item`: field `part` changed from `message shop.Part` to `message \
             shop.Piece`",
            "safe shop.proto:25:1: message `shop.Piece` is new",
            "safe shop.frpc.lock:29:1: message `shop.Part` was removed",
        ],
    );
}

#[test]
fn renamed_message_and_moved_oneof_member_break() {
    let shop = Shop::unlocked();
    let by = |text: &str| format!("message Filter {{\n  {text}\n");
    shop.edit(&[("message Filter {\n", &by("oneof x { string a = 5; Part m = 6; } oneof y { string b = 7; }"))]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    shop.edit(&[
        (
            "oneof x { string a = 5; Part m = 6; } oneof y { string b = 7; }",
            "oneof x { string a = 5; } oneof y { string b = 7; Part m = 6; }",
        ),
        ("message Filter", "message Find"),
        ("Watch(Filter)", "Watch(Find)"),
    ]);
    let error = shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap_err();
    assert!(error.contains("breaks older peers: the request of method `shop.Stock.Watch` changed"), "{error}");
}

#[test]
fn a_new_or_removed_message_that_nothing_uses_is_safe() {
    safe(&[("message Part", "message New {}\nmessage Part")], &["shop.proto:25:1: message `shop.New` is new"]);
    let shop = Shop::locked();
    shop.edit(&[("message Part", "message New {}\nmessage Part")]);
    shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
    shop.edit(&[("message New {}\n", "")]);
    let error = shop.build(|builder| builder).unwrap_err();
    assert!(error.contains("shop.frpc.lock:29:1: safe: message `shop.New` was removed"), "{error}");
}

#[test]
fn a_new_message_brings_the_messages_of_its_fields() {
    safe(
        &[
            ("(stream Item);\n", "(stream Item);\n  rpc Audit(AuditRequest) returns (Item);\n"),
            ("enum Color", "message AuditRequest {\n  Level level = 1;\n}\nenum Level {\n  LOW = 0;\n}\nenum Color"),
        ],
        &[
            "shop.proto:11:3: method `shop.Stock.Audit` is new, with operation 13",
            "shop.proto:39:1: message `shop.AuditRequest` is new",
            "shop.proto:42:1: enum `shop.Level` is new",
        ],
    );
}

#[test]
fn members_of_oneofs_neither_come_nor_go_nor_move() {
    breaking(
        &[("Color color = 2;\n  }", "Color color = 2;\n    bytes raw = 4;\n  }")],
        &["shop.proto:34:5: message `shop.Filter`: field `raw` was inserted at position 3, before `least`"],
    );
    breaking(
        &[("Color color = 2;\n  }", "Color color = 2;\n    Part part = 4;\n  }")],
        &["shop.proto:34:5: message `shop.Filter`: field `part` was added to the oneof `by`, and older peers cannot \
             read a member that they do not know"],
    );
    breaking(
        &[("    Color color = 2;\n  }", "  }\n  Color color = 2;")],
        &["shop.proto:34:3: message `shop.Filter`: field `color` changed from `oneof by 2 enum shop.Color` to `enum \
           shop.Color`"],
    );
    breaking(
        &[("    Color color = 2;\n  }", "  }\n  oneof more {\n    Color color = 2;\n  }")],
        &["shop.proto:35:5: message `shop.Filter`: field `color` changed from `oneof by 2 enum shop.Color` to `oneof \
           more 1 enum shop.Color`"],
    );
    safe(
        &[("oneof by", "oneof kind")],
        &[
            "shop.proto:32:5: message `shop.Filter`: the oneof `by` of `name` was renamed to `kind`",
            "shop.proto:33:5: message `shop.Filter`: the oneof `by` of `color` was renamed to `kind`",
        ],
    );
    safe_for_native(
        &[(
            "optional int32 least = 3;",
            "optional int32 least = 3;\n  oneof more {\n    string a = 4;\n    Part b = 5;\n  }",
        )],
        &[
            "shop.proto:37:5: message `shop.Filter`: field `a` was appended",
            "shop.proto:38:5: message `shop.Filter`: field `b` was appended",
        ],
    );
}

#[test]
fn an_enum_value_appended_with_any_number_is_safe() {
    safe(
        &[("BLUE = 2;", "BLUE = 2;\n  BLACK = 1;")],
        &["shop.proto:42:3: enum `shop.Color`: value `BLACK` was appended, with index 3"],
    );
}

#[test]
fn other_changes_of_enums_move_indexes() {
    breaking(
        &[("GREEN = 5;", "BLACK = 1;\n  GREEN = 5;")],
        &["shop.proto:40:3: enum `shop.Color`: value `BLACK` was inserted at index 1, before `GREEN`"],
    );
    breaking(
        &[("  GREEN = 5;\n", "")],
        &["shop.proto:38:1: enum `shop.Color`: value `GREEN` with index 1 was removed"],
    );
    breaking(&[("  BLUE = 2;\n", "")], &["shop.proto:38:1: enum `shop.Color`: value `BLUE` with index 2 was removed"]);
    breaking(
        &[("GREEN = 5;\n  BLUE = 2;", "BLUE = 2;\n  GREEN = 5;")],
        &["shop.proto:40:3: enum `shop.Color`: value `BLUE` moved from index 2 to 1"],
    );
    breaking(
        &[("BLUE = 2;", "BLACK = 3;")],
        &["shop.proto:41:3: enum `shop.Color`: value `BLUE` was replaced by `BLACK` at index 2"],
    );
}

#[test]
fn an_enum_value_that_changes_its_name_or_its_number_is_safe() {
    safe(&[("BLUE = 2;", "NAVY = 2;")], &["shop.proto:41:3: enum `shop.Color`: value `BLUE` was renamed to `NAVY`"]);
    safe(
        &[("BLUE = 2;", "BLUE = 7;")],
        &["shop.proto:41:3: enum `shop.Color`: the number of value `BLUE` changed from 2 to 7, which matters in \
             protobuf's encoding only"],
    );
    breaking(
        &[("RED = 0;", "option allow_alias = true;\n  RED = 0;"), ("BLUE = 2;", "BLUE = 5;")],
        &["shop.proto:42:3: enum `shop.Color`: value `BLUE` is an alias of another value now"],
    );
}
