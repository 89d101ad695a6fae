//! `frpc conformance`: sends input from a table to a server or client, and compares the reactions with docs/wire.md.
//!
//! The table contains malformed input, and input that is just within the rules. The reference implementation of the
//! tests uses the same table. The server must serve tests/proto/interop.proto of the repository, because the cases call
//! its methods. A client is a command that calls `Add` of this schema with 1 and 2, once for each case. Like `frpc
//! call`, it exits with 0 if the call succeeds, and with 64 plus the status code if it fails.

use crate::arguments::ConformanceArguments;
use crate::decode::frames::{Prefix, code, number, prefix};
use crate::failure::{Failure, STATUS_BASE};
use crate::source::Context;
use crate::target::Target;
use frisbee::Hello;
use frisbee::tlv::put_varint;
use frpc::Code;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

const CASES: &str = include_str!("conformance/malformed.txt");

/// Timeout for the server's reaction to a test case. The server may wait this long for the rest of an incomplete body.
const TIMEOUT: Duration = Duration::from_secs(20);

const STREAM: u16 = 2;
const EXTENSION: u16 = 3;
/// Type of the extension packet that ends a stream with a status.
const TRAILERS: u16 = 6;
const END: u16 = 7;
const HAND_OFF: u16 = 8;
/// Operation number of the method `Add` in the conformance schema.
const ADD: u16 = 18;

/// Request id of the packets of a test case.
const CASE_ID: u16 = 7;
/// Request id of the probe, a valid request that follows the packets of a test case.
const PROBE_ID: u16 = 9;

/// HELLO packet that grants the server 256 KiB of credit. Without credit, the server could not report the failure of a
/// stream.
const HELLO: &[u8] = b"fris\x01\x04\x03\x80\x80\x10";
/// Request of `Add` with the numbers 1 and 2.
const ADD_REQUEST: &[u8] = &[8, 0, 0x0d, 2, 0x0d, 4];
/// Reply of `Add` to [`ADD_REQUEST`], with the total 3.
const ADD_REPLY: &[u8] = &[8, 0, 0x0d, 6, 0x0d, 4];

/// A test case: a row of the conformance table, with the packets to send and the required reaction.
struct Case {
    rule: &'static str,
    receiver: &'static str,
    sender: &'static str,
    reaction: &'static str,
    packets: &'static str,
}

/// A group of test cases with their results. An implementation passes the group if it reacts to all cases as required.
struct Suite {
    name: &'static str,
    /// Cases of the group, each with the observed reaction if it differs from the required one.
    outcomes: Vec<(Case, Option<String>)>,
}

pub(crate) async fn conformance(arguments: &ConformanceArguments, context: &Context) -> Result<(), Failure> {
    let screen = &context.screen;
    let command = arguments.client.as_deref().unwrap_or_default();
    let target = arguments.client.is_none().then(|| context.target()).transpose()?;
    let (peer, receiver) = target.as_ref().map_or((command, "client"), |target| (target.address.as_str(), "server"));
    let is_for = |case: &Case| case.receiver == receiver || case.receiver == "both";
    let known: BTreeSet<_> = cases().filter(is_for).map(|case| case.rule).collect();
    if let Some(unknown) = arguments.rule.iter().find(|rule| !known.contains(rule.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(Failure::new(format!("no rule `{unknown}` for a {receiver}; --rule accepts {known}")));
    }
    let is_chosen = |case: &Case| {
        is_for(case) && (arguments.rule.is_empty() || arguments.rule.iter().any(|rule| rule == case.rule))
    };
    let (mut suites, mut unreachable) = (Vec::new(), None);
    for (name, is_base) in [("base", true), ("extensions", false)] {
        let mut outcomes = Vec::new();
        for case in cases().filter(|case| matches!(case.sender, "base" | "first") == is_base && is_chosen(case)) {
            let found = match &target {
                Some(target) => reaction(target, &case).await,
                None => client_reaction(command, &case).await,
            };
            let found = found.unwrap_or_else(|error| unreachable.insert(format!("no connection ({error})")).clone());
            let wrong = (found != case.reaction).then_some(found);
            if let Some(wrong) = &wrong {
                screen.line(&format!("{}: {wrong} instead of {}: {}", case.rule, case.reaction, case.packets))?;
            }
            outcomes.push((case, wrong));
            if unreachable.is_some() {
                break;
            }
        }
        let suite = Suite { name, outcomes };
        screen.line(&format!("{name}: {} cases, {} failed", suite.outcomes.len(), suite.failures()))?;
        suites.push(suite);
        // The peer may have crashed in an earlier case, so further cases would fail too. The report shows the cases so
        // far.
        if unreachable.is_some() {
            break;
        }
    }
    if let Some(path) = &arguments.junit {
        fs::write(path, junit(&suites)).map_err(|error| Failure::file(path, &error))?;
    }
    match (unreachable, suites.iter().map(Suite::failures).sum()) {
        (Some(error), _) => Err(Failure::new(format!("{peer}: {error}; further cases were not tested"))),
        (None, 0) => Ok(()),
        (None, failures) => Err(Failure::new(format!("{failures} cases failed"))),
    }
}

impl Suite {
    fn failures(&self) -> usize {
        self.outcomes.iter().filter(|(_, wrong)| wrong.is_some()).count()
    }
}

/// Returns the cases of the conformance table.
fn cases() -> impl Iterator<Item = Case> {
    CASES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.splitn(5, " | ");
        let mut cell = || cells.next();
        Some(Case { rule: cell()?, receiver: cell()?, sender: cell()?, reaction: cell()?, packets: cell()? })
    })
}

impl Case {
    /// Encodes the packets of the case. `call` is the id of the client's call. Fails if the case has a syntax error.
    fn bytes(&self, call: u16) -> std::io::Result<Vec<u8>> {
        let encode = |text: &str| {
            let (place, body) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            let body = content(body)?;
            let Some((operation, id)) = place.split_once('/') else { return (place == "raw").then_some(body) };
            let id = if id == "call" { call } else { id.parse().ok()? };
            Some(packet(operation.parse().ok()?, id, &body))
        };
        let packets: Option<Vec<_>> = self.packets.split(';').map(encode).collect();
        let invalid = || std::io::Error::other(format!("invalid case: {}", self.packets));
        Ok(packets.ok_or_else(invalid)?.concat())
    }
}

/// Parses the conformance table's notation of bytes.
fn content(mut text: &str) -> Option<Vec<u8>> {
    let mut levels = vec![Vec::new()];
    while !text.trim_start().is_empty() {
        text = text.trim_start();
        let bytes = if let Some(quoted) = text.strip_prefix('"') {
            let (inner, rest) = quoted.split_once('"')?;
            text = rest;
            inner.as_bytes().to_vec()
        } else {
            let (token, rest) = text.split_once(' ').unwrap_or((text, ""));
            text = rest;
            match token {
                "(" => {
                    levels.push(Vec::new());
                    continue;
                }
                ")" => {
                    let inner = levels.pop()?;
                    let mut bytes = Vec::new();
                    put_varint(&mut bytes, inner.len() as u64);
                    bytes.extend(inner);
                    bytes
                }
                _ => {
                    let (count, digits) = token.split_once('*').unwrap_or(("1", token));
                    let digit = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
                    let once: Vec<u8> = (0..digits.len()).step_by(2).map(digit).collect::<Option<_>>()?;
                    once.repeat(count.parse().ok()?)
                }
            }
        };
        levels.last_mut()?.extend(bytes);
    }
    levels.pop().filter(|_| levels.is_empty())
}

fn packet(operation: u16, id: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut bytes = vec![0, 0x0f];
    bytes.extend(id.to_be_bytes().into_iter().chain(operation.to_be_bytes()).chain(length.to_be_bytes()));
    bytes.extend(body);
    bytes
}

/// Returns the server's reaction to a case. Sends the packets of the case and then, unless the case is a hand-off
/// request, a probe request. A reply to the probe shows that the server has processed the packets of the case.
async fn reaction(target: &Target, case: &Case) -> std::io::Result<String> {
    let mut socket = target.dial().await?;
    let mut sent = match case.sender {
        "native" => packet(EXTENSION, 0, HELLO),
        "base" => packet(0, 0, &[]),
        _ => Vec::new(),
    };
    sent.extend(case.bytes(CASE_ID)?);
    let mut has_probed = case.reaction.starts_with("decision");
    if !has_probed {
        sent.extend(packet(ADD, PROBE_ID, ADD_REQUEST));
    }
    // Ignore the error: the server may close before it has read all packets, but its reaction can still be read.
    let _ = socket.write_all(&sent).await;
    let _ = socket.flush().await;
    // Accept any code, because compat peers receive no codes.
    let is_code = !case.reaction.starts_with("decision") && !matches!(case.reaction, "close" | "ignored" | "accepted");
    let is_any_code = case.sender == "base" && is_code;
    let mut found = "ignored".to_owned();
    let is_done = |found: &str| found == case.reaction || is_any_code && found == "Unknown";
    // A single deadline, because the server may send PING packets again and again.
    let deadline = Instant::now() + TIMEOUT;
    while !(has_probed && is_done(&found)) {
        let Ok(received) = timeout_at(deadline, receive(&mut socket)).await else { break };
        let Ok((operation, id, body)) = received else {
            found = "close".to_owned();
            break;
        };
        match operation {
            EXTENSION if id == 0 && !applies(case, &body) => return Ok(case.reaction.to_owned()),
            HAND_OFF => found = format!("decision {}", body.first().copied().unwrap_or(u8::MAX)),
            ADD if id == PROBE_ID => has_probed = true,
            10.. if id == CASE_ID || operation != ADD => found = outcome(&body),
            STREAM if found == "ignored" => found = outcome(&body),
            EXTENSION if id == TRAILERS && found == "ignored" => {
                found = shown(number(&body).and_then(|(_, items)| Prefix::read(items).status));
            }
            END if found == "ignored" && !body.is_empty() => {
                found = format!("{:?}", number(&body).map_or(Code::Unknown, |(number, _)| code(number)));
            }
            _ => {}
        }
    }
    Ok(if is_any_code && found == "Unknown" { case.reaction.to_owned() } else { found })
}

/// Returns whether a case applies to the sender of this HELLO. Cases about fragments, which include item 8 of HELLO, do
/// not apply to a sender without support for fragments.
fn applies(case: &Case, hello: &[u8]) -> bool {
    let has_fragments = case.rule.starts_with("fragment") || case.packets.starts_with("3/0 \"fris\" 01 08");
    !has_fragments || Hello::decode(&hello.to_vec().into()).is_ok_and(|hello| hello.fragment_channels > 0)
}

/// Runs the client `command` against a server that sends the packets of a case. Returns the client's reaction.
async fn client_reaction(command: &str, case: &Case) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut words = command.split_whitespace();
    let mut client = Command::new(words.next().unwrap_or_default())
        .args(words)
        .arg(listener.local_addr()?.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let ended = async {
        let (mut socket, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            ended = client.wait() => return ended.map(Some),
        };
        // Ignore other errors, because the client may close before it has sent its call or read all packets.
        if answer(&mut socket, case).await.is_err_and(|error| error.kind() == ErrorKind::Unsupported) {
            return Ok(None);
        }
        // Keep receiving: a client that receives nothing would close the connection for another reason.
        while let Ok((operation, ..)) = receive(&mut socket).await {
            if operation == 0 {
                let _ = socket.write_all(&packet(1, 0, &[])).await;
            }
        }
        client.wait().await.map(Some)
    };
    Ok(match timeout(TIMEOUT, ended).await {
        Err(_) => "ignored".to_owned(),
        Ok(ended) => ended?.map_or(case.reaction.to_owned(), |ended| client_outcome(ended, case)),
    })
}

/// Acts as the server of a client that calls `Add`. Sends the packets of a case, followed by the reply to the call.
/// Omits this reply if the case itself contains a reply, or requires the client to close the connection. Fails with
/// [`ErrorKind::Unsupported`] if the case does not apply to the client.
async fn answer(socket: &mut TcpStream, case: &Case) -> std::io::Result<()> {
    let greeting = match case.sender {
        "native" => packet(EXTENSION, 0, HELLO),
        "base" => packet(1, 0, &[]),
        _ => case.bytes(CASE_ID)?,
    };
    let mut received = receive(socket).await?;
    if received.0 == EXTENSION && !applies(case, &received.2) {
        return Err(ErrorKind::Unsupported.into());
    }
    socket.write_all(&greeting).await?;
    while received.0 != ADD {
        received = receive(socket).await?;
    }
    let (_, call, _) = received;
    let mut sent = if case.sender == "hello" { Vec::new() } else { case.bytes(call)? };
    if !matches!(case.reaction, "accepted" | "close") {
        sent.extend(packet(ADD, call, ADD_REPLY));
    }
    socket.write_all(&sent).await
}

/// Returns a client's reaction to a test case, such as `accepted` or `close`, as determined from the exit code of the
/// client.
fn client_outcome(ended: ExitStatus, case: &Case) -> String {
    let status = ended.code().and_then(|code| u8::try_from(code).ok()?.checked_sub(STATUS_BASE));
    match status.map(|status| Code::from_i32(status.into())) {
        _ if ended.success() && case.reaction == "accepted" => "accepted".to_owned(),
        _ if ended.success() => "ignored".to_owned(),
        Some(Code::Unavailable) => "close".to_owned(),
        Some(code) => format!("{code:?}"),
        None => format!("{ended}"),
    }
}

async fn receive(socket: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(u16, u16, Vec<u8>)> {
    let mut header = [0; 10];
    socket.read_exact(&mut header).await?;
    let [_, _, id @ .., o0, o1, l0, l1, l2, l3] = header;
    let mut body = Vec::new();
    // Memory is allocated as bytes arrive, so a false length in the header cannot exhaust it.
    (&mut *socket).take(u32::from_be_bytes([l0, l1, l2, l3]).into()).read_to_end(&mut body).await?;
    Ok((u16::from_be_bytes([o0, o1]), u16::from_be_bytes(id), body))
}

/// Returns the status code that a reply contains, or `accepted` if the reply contains a message.
fn outcome(body: &[u8]) -> String {
    let (prefix, message) = prefix(body);
    shown(prefix.status_with(message))
}

fn shown(status: Option<Code>) -> String {
    status.map_or_else(|| "accepted".to_owned(), |code| format!("{code:?}"))
}

/// Returns the results of all groups as a report in the XML format of JUnit.
fn junit(suites: &[Suite]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let mut report = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for suite in suites {
        let (name, count, failures) = (suite.name, suite.outcomes.len(), suite.failures());
        let _ = writeln!(report, "<testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">");
        for (case, wrong) in &suite.outcomes {
            let _ = write!(report, "<testcase classname=\"{name}.{}\" name=\"{}\"", case.rule, escaped(case.packets));
            let _ = match wrong {
                None => writeln!(report, "/>"),
                Some(found) => writeln!(
                    report,
                    "><failure message=\"{} instead of {}\"/></testcase>",
                    escaped(found),
                    escaped(case.reaction)
                ),
            };
        }
        report += "</testsuite>\n";
    }
    report + "</testsuites>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_sent() {
        assert!(cases().count() >= 200);
        for case in cases() {
            assert!(case.bytes(CASE_ID).is_ok(), "{}", case.packets);
        }
    }

    #[test]
    fn table_notation_decodes_to_bytes() {
        let bytes = content("10 ( 02 ( ( \"k\" ) 2*ff ) )").expect("notation in the conformance table should be valid");
        assert_eq!(bytes, [0x10, 6, 2, 4, 1, b'k', 0xff, 0xff]);
        for invalid in ["(", ")", "1", "zz", "\"a"] {
            assert_eq!(content(invalid), None, "{invalid}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn unconnected_client_fails_case() {
        let case = cases().next().expect("conformance table should contain cases");
        let found = client_reaction("false", &case).await.expect("command should start");
        assert_eq!(found, "exit status: 1");
    }

    #[test]
    fn report_names_failures() {
        let case = |rule| Case { rule, receiver: "both", sender: "native", reaction: "close", packets: "9/9 \"<\"" };
        let outcomes = vec![(case("batch"), None), (case("credit"), Some("ignored".to_owned()))];
        let report = junit(&[Suite { name: "extensions", outcomes }]);
        assert!(report.contains("tests=\"2\" failures=\"1\""), "{report}");
        assert!(report.contains("name=\"9/9 &quot;&lt;&quot;\"/>"), "{report}");
        assert!(report.contains("ignored instead of close"), "{report}");
    }
}
