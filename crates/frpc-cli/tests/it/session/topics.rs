//! `frpc pub` and `frpc sub`.

use super::{after_first_remark, command, greeter, run, stdout};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn topic_messages_are_shown_raw_or_typed() {
    let address = greeter();
    let schema = ["-p", "proto/greet.proto", "--type", "greet.Name"];
    for (typed, message, shown) in [
        (&[][..], "plain\u{1b}", "{\"payload\":\"plain\\u001b\",\"topic\":\"a.b\"}\n"),
        (&schema[..], "name=Ada", "{\"message\":{\"name\":\"Ada\"},\"topic\":\"a.b\"}\n"),
    ] {
        let arguments = [&["sub", "a.*", "-n", "1", "--json", "-v"], typed].concat();
        let mut subscriber = command(&address, &arguments);
        let child = subscriber.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("program should be built");
        let _remarks = after_first_remark(&mut child, "* subscribed to a.*\n");
        stdout(&run(&address, &[&["pub", "a.b", message], typed].concat()));
        let output = child.wait_with_output().expect("process should exit");
        assert_eq!(String::from_utf8_lossy(&output.stdout), shown);
    }
}

/// Regression test: a message that is nested deeper than the parser of JSON permits was shown as `null`.
#[test]
fn deep_message_is_shown_as_json() {
    let address = greeter();
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("deep.proto");
    let proto = "syntax = \"proto3\"; message Deep { repeated Deep below = 1; }";
    fs::write(&path, proto).expect("schema file should be written");
    let schema = ["-p", path.to_str().expect("path should be UTF-8"), "--type", "Deep"];
    let deep = format!("{}{{}}{}", "{\"below\":[".repeat(70), "]}".repeat(70));
    let mut subscriber = command(&address, &[&["sub", "a.*", "-n", "1", "--json", "-v"], &schema[..]].concat());
    let mut child = subscriber.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("process should start");
    let _remarks = after_first_remark(&mut child, "* subscribed to a.*\n");
    stdout(&run(&address, &[&["pub", "a.b", &deep], &schema[..]].concat()));
    let shown = stdout(&child.wait_with_output().expect("process should exit"));
    assert_eq!(shown, format!("{{\"message\":{deep},\"topic\":\"a.b\"}}\n"));
}

#[test]
fn message_of_another_type_ends_no_subscription() {
    let address = greeter();
    let schema = ["-p", "proto/greet.proto", "--type", "greet.Name"];
    let mut subscriber = command(&address, &[&["sub", "a.*", "-n", "2", "-v"], &schema[..]].concat());
    let mut child = subscriber.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("process should start");
    let _remarks = after_first_remark(&mut child, "* subscribed to a.*\n");
    stdout(&run(&address, &["pub", "a.b", "plain"]));
    stdout(&run(&address, &[&["pub", "a.b", "name=Ada"], &schema[..]].concat()));
    assert_eq!(stdout(&child.wait_with_output().expect("process should exit")), "a.b {\"name\":\"Ada\"}\n");
}

/// Regression test: a line that was not UTF-8 was rejected, although messages are bytes.
#[test]
fn lines_of_any_bytes_are_published() {
    let address = greeter();
    let mut publisher = command(&address, &["pub", "kept.a", "-"]);
    let mut publisher = publisher.stdin(Stdio::piped()).spawn().expect("process should start");
    let mut input = publisher.stdin.take().expect("stdin should be piped");
    input.write_all(b"\xff\r\n\nb").expect("publisher should read the lines");
    drop(input);
    assert!(publisher.wait().expect("process should exit").success());
    let shown = stdout(&run(&address, &["sub", "kept.a", "--from", "oldest", "-n", "2"]));
    assert_eq!(shown, "kept.a \nkept.a b\n", "history should contain the last two lines");
}

#[test]
fn subscriber_starts_at_requested_history_position() {
    let address = greeter();
    for message in ["1", "2", "3"] {
        stdout(&run(&address, &["pub", "kept.a", message]));
    }
    let shown = |from, count| stdout(&run(&address, &["sub", "kept.*", "--from", from, "-n", count]));
    assert_eq!(shown("oldest", "2"), "kept.a 2\nkept.a 3\n");
    assert_eq!(shown("last", "1"), "kept.a 3\n");
    let mut subscriber = command(&address, &["sub", "kept.*", "--from", "now", "-n", "1", "-v"]);
    let child = subscriber.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("program should be built");
    let _remarks = after_first_remark(&mut child, "* subscribed to kept.*\n");
    stdout(&run(&address, &["pub", "kept.a", "4"]));
    assert_eq!(stdout(&child.wait_with_output().expect("process should exit")), "kept.a 4\n");
    let refused = run(&address, &["sub", "kept.*", "--from", "yesterday"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn topic_subscribers_are_shown_as_json() {
    let address = greeter();
    let started = |arguments: &[&str], remark| {
        let child = command(&address, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("program should be built");
        let remarks = after_first_remark(&mut child, remark);
        (child, remarks)
    };
    let arguments = ["sub", "$presence.rooms.lobby", "-n", "3", "-v"];
    let (watcher, _watched) = started(&arguments, "* subscribed to $presence.rooms.lobby\n");
    let (guest, _remarks) = started(&["sub", "rooms.lobby", "-n", "1", "-v"], "* subscribed to rooms.lobby\n");
    stdout(&run(&address, &["pub", "rooms.lobby", "welcome"]));
    let greeting = stdout(&guest.wait_with_output().expect("process should exit"));
    assert_eq!(greeting, "rooms.lobby welcome\n");
    let shown = stdout(&watcher.wait_with_output().expect("process should exit"));
    let events = shown
        .lines()
        .map(|line| line.strip_prefix("$presence.rooms.lobby ").expect("line should start with the topic"));
    let events: Vec<Value> =
        events.map(|event| serde_json::from_str(event).expect("presence events should be valid JSON")).collect();
    let joined = json!({ "joined": "guest", "connections": 1 });
    let left = json!({ "left": "guest", "connections": 0 });
    assert_eq!(events, [json!({ "present": {}, "omitted": 0 }), joined, left]);
}

/// Regression test: lines were parsed as parameters. A line could thus name a file to publish, and messages before an
/// invalid line were lost.
#[test]
fn typed_lines_publish_until_invalid_line() {
    let address = greeter();
    let schema = ["-p", "proto/greet.proto", "--type", "greet.Name"];
    let mut subscriber = command(&address, &[&["sub", "a.*", "-n", "2", "-v"], &schema[..]].concat());
    let mut child = subscriber.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("process should start");
    let _remarks = after_first_remark(&mut child, "* subscribed to a.*\n");
    let mut publisher = command(&address, &[&["pub", "a.b", "-"], &schema[..]].concat());
    let publisher = publisher.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut publisher = publisher.expect("program should be built");
    let lines = "{\"name\": \"Ada\"}\n\n{\"name\": \"Eve\"}\nname=@proto/greet.proto\n{\"name\": \"Bob\"}\n";
    publisher
        .stdin
        .take()
        .expect("stdin should be piped")
        .write_all(lines.as_bytes())
        .expect("publisher should read the lines");
    let output = publisher.wait_with_output().expect("process should exit");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("line 4 of standard input is not a valid `greet.Name`"), "{text}");
    let shown = stdout(&child.wait_with_output().expect("process should exit"));
    assert_eq!(shown, "a.b {\"name\":\"Ada\"}\na.b {\"name\":\"Eve\"}\n");
}
