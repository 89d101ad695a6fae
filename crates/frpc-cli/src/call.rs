//! `frpc call`: one call of any kind.

use crate::arguments::CallArguments;
use crate::failure::Failure;
use crate::input::Input;
use crate::schema::{Callable, Schema};
use crate::show::{Screen, note};
use crate::source::Context;
use crate::target::{Target, read};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use frpc::{Channel, Metadata, Request, RequestSender, RequestStream, Response, Streaming};
use frpc_dynamic::{Body, DynamicMessage, to_json, to_json_pretty};
use prost_reflect::{FieldDescriptor, Kind, ReflectMessage as _, Value};
use serde_json::json;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Number of requests of a stream that are read before earlier ones have been sent.
const REQUESTS_AHEAD: usize = 16;

pub(crate) async fn call(arguments: CallArguments, context: &Context) -> Result<(), Failure> {
    let (schema, screen) = (&Arc::new(context.schema().await?), &context.screen);
    let callable = schema.method(&arguments.method)?;
    let method = &callable.descriptor;
    let mut input = Input::new(&arguments.parameters, &callable.descriptor.input(), method.is_client_streaming())?;
    let metadata = metadata(&arguments.metadata)?;
    let shower = ReplyPrinter { schema, callable, screen, out_field: arguments.out_field.as_deref() };
    check_field(callable, arguments.out_field.as_deref())?;

    let target = context.target()?;
    let started = Instant::now();
    let watcher = (screen.verbose >= 3).then(|| (schema.clone(), *screen));
    let channel = target.connect(target.builder(), watcher).await?;
    let limit = arguments.deadline.unwrap_or(target.connect_timeout());
    let reporting = Instant::now();
    report_connection(&channel, &target, &metadata, started, limit, screen).await;
    let deadline = arguments.deadline.map(|deadline| deadline.saturating_sub(reporting.elapsed()));
    screen.metadata(">", &metadata);
    screen.remark(1, || format!("calling {} (operation {})", callable.name(), callable.operation));

    let started = Instant::now();
    let request = request((), deadline, metadata);
    let outcome = if method.is_client_streaming() {
        let (sender, requests) = RequestStream::channel(REQUESTS_AHEAD);
        let sending = send(&mut input, sender, schema, screen);
        let request = request.map(|()| requests);
        let receiving = async {
            if method.is_server_streaming() {
                let replies = channel.streaming::<_, Body>(callable.method, request).await?;
                return shower.stream(replies).await;
            }
            let reply = channel.client_streaming::<_, Body>(callable.method, request).await?;
            shower.reply(&reply)
        };
        together(sending, receiving).await
    } else {
        let message = input.messages.front().ok_or_else(|| Failure::new("missing request"))?;
        let body = schema.body(message)?;
        screen.remark(2, || format!("> {}", hex(&body)));
        let request = request.map(|()| body);
        if method.is_server_streaming() {
            let replies = channel.server_streaming::<Body, Body>(callable.method, request).await?;
            shower.stream(replies).await
        } else {
            let reply = channel.unary::<Body, Body>(callable.method, request).await?;
            shower.reply(&reply)
        }
    };
    screen.remark(1, || format!("the call took {:.3} ms", started.elapsed().as_secs_f64() * 1e3));
    outcome
}

/// Creates a request with the deadline and the metadata of the command line.
pub(crate) fn request<T>(message: T, deadline: Option<Duration>, metadata: Metadata) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(deadline) = deadline {
        request.set_timeout(deadline);
    }
    *request.metadata_mut() = metadata;
    request
}

/// Prints details of the connection in verbose mode. Prints a warning if metadata cannot be sent, because the server
/// does not support it.
async fn report_connection(
    channel: &Channel,
    target: &Target,
    metadata: &Metadata,
    started: Instant,
    limit: Duration,
    screen: &Screen,
) {
    if screen.verbose == 0 && metadata.is_empty() {
        return;
    }
    let Some(connection) = channel.connection() else { return };
    // A server that accepts the connection and is silent must not delay the end of the call.
    let Ok(Ok(peer)) = timeout(limit, connection.peer_known()).await else { return };
    let took = started.elapsed();
    screen.remark(1, || {
        let kind = if peer.hello().is_some() { "a native peer" } else { "a compat peer" };
        format!("connected to {}, {kind}, in {:.3} ms", target.address, took.as_secs_f64() * 1e3)
    });
    if peer.hello().is_none() && !metadata.is_empty() {
        note("warning: the server is a compat peer, so metadata is not sent");
    }
}

/// Sends the requests of a stream. Each line of standard input is sent as soon as it has been typed.
async fn send(input: &mut Input, sender: RequestSender<Body>, schema: &Schema, screen: &Screen) -> Result<(), Failure> {
    while let Some(message) = input.next().await? {
        let body = schema.body(&message)?;
        screen.remark(2, || format!("> {}", hex(&body)));
        if sender.send(body).await.is_err() {
            // Stop sending, because the call has ended. Its outcome contains the reason.
            break;
        }
    }
    Ok(())
}

/// Sends requests and receives replies concurrently, until there are no more replies or a request is invalid.
async fn together(
    sending: impl Future<Output = Result<(), Failure>>,
    receiving: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let (mut sending, mut receiving) = (pin!(sending), pin!(receiving));
    tokio::select! {
        biased;
        outcome = &mut receiving => return outcome,
        sent = &mut sending => sent?,
    }
    receiving.await
}

/// Prints the replies of a call, or a single field of each.
struct ReplyPrinter<'a> {
    schema: &'a Schema,
    callable: &'a Callable,
    screen: &'a Screen,
    out_field: Option<&'a str>,
}

impl ReplyPrinter<'_> {
    fn reply(&self, reply: &Response<Body>) -> Result<(), Failure> {
        self.screen.metadata("<", reply.metadata());
        self.show(reply.get_ref())
    }

    async fn stream(&self, replies: Response<Streaming<Body>>) -> Result<(), Failure> {
        let mut replies = replies.into_inner();
        let mut is_first = true;
        loop {
            let next = replies.message().await;
            if std::mem::take(&mut is_first) {
                self.screen.metadata("<", replies.metadata());
            }
            match next? {
                Some(reply) => self.show(&reply)?,
                None => return Ok(()),
            }
        }
    }

    fn show(&self, body: &Body) -> Result<(), Failure> {
        self.screen.remark(2, || format!("< {}", hex(body)));
        let message = self.schema.decode(&self.callable.descriptor.output(), body)?;
        print_message(self.screen, &message, self.out_field)
    }
}

/// Returns an error if the replies of the call lack the field to print. Called before the call is made.
pub(crate) fn check_field(callable: &Callable, field: Option<&str>) -> Result<(), Failure> {
    let Some(name) = field else { return Ok(()) };
    let reply = callable.descriptor.output();
    if reply.get_field_by_name(name).or_else(|| reply.get_field_by_json_name(name)).is_some() {
        return Ok(());
    }
    let names: Vec<_> = reply.fields().map(|field| field.name().to_owned()).collect();
    let text = format!("`{}` has no field {name}; it has: {}", reply.full_name(), names.join(", "));
    Err(Failure::new(text))
}

/// Prints a reply or one of its fields.
pub(crate) fn print_message(screen: &Screen, message: &DynamicMessage, field: Option<&str>) -> Result<(), Failure> {
    if let Some(name) = field {
        return print_field(screen, message, name);
    }
    let json = if screen.json { to_json(message) } else { to_json_pretty(message) };
    let json = json.map_err(|error| Failure::new(format!("the reply cannot be converted to JSON: {error}")))?;
    screen.json_line(&json)
}

/// Prints the value of a field. Text is printed without quotes, and other values are printed as JSON.
fn print_field(screen: &Screen, message: &DynamicMessage, name: &str) -> Result<(), Failure> {
    let descriptor = message.descriptor();
    let field = descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name));
    let Some(field) = field else { return Ok(()) };
    match &*message.get_field(&field) {
        Value::Bytes(bytes) => screen.value(bytes),
        Value::String(text) => screen.value(text.as_bytes()),
        // Enums and times are strings in JSON. Print them without quotes.
        _ => match field_value(message, &field)? {
            serde_json::Value::String(text) if !field.is_list() && !field.is_map() => screen.line(&text),
            value => screen.json_line(&value.to_string()),
        },
    }
}

/// Returns the JSON value of a field that is neither text nor bytes.
fn field_value(message: &DynamicMessage, field: &FieldDescriptor) -> Result<serde_json::Value, Failure> {
    /// Messages with the JSON value of their only field, or of the member that is set.
    const VALUES: [&str; 5] = ["DoubleValue", "FloatValue", "ListValue", "Struct", "Value"];
    if field.supports_presence() && !message.has_field(field) {
        return Ok(serde_json::Value::Null);
    }
    // The JSON of a well-known type has no members for its fields.
    Ok(match &*message.get_field(field) {
        Value::Bool(value) => json!(value),
        Value::I32(number) => json!(number),
        Value::I64(number) => json!(number),
        Value::U32(number) => json!(number),
        Value::U64(number) => json!(number),
        Value::List(texts) if field.kind() == Kind::String => {
            texts.iter().filter_map(Value::as_str).map(serde_json::Value::from).collect()
        }
        _ => {
            let json = to_json(message).map_err(Failure::new)?;
            let whole: serde_json::Value = serde_json::from_str(&json).map_err(Failure::new)?;
            let descriptor = message.descriptor();
            match descriptor.full_name().strip_prefix("google.protobuf.") {
                Some(name) if VALUES.contains(&name) => whole,
                _ => whole.get(field.json_name()).cloned().unwrap_or_else(|| absent(field)),
            }
        }
    })
}

/// Returns the JSON value of a field that has its default value.
fn absent(field: &FieldDescriptor) -> serde_json::Value {
    match field.kind() {
        _ if field.is_map() => json!({}),
        _ if field.is_list() => json!([]),
        Kind::Enum(of) => of.get_value(0).map_or(json!(0), |value| json!(value.name())),
        _ => json!(0),
    }
}

/// Parses the metadata entries of the command line.
pub(crate) fn metadata(entries: &[String]) -> Result<Metadata, Failure> {
    let mut metadata = Metadata::new();
    for entry in entries {
        let (key, value) = entry.split_once('=').ok_or_else(|| {
            Failure::new(format!("invalid metadata {entry:?}: write KEY=VALUE, or KEY=@FILE for a secret"))
        })?;
        let key = key.to_ascii_lowercase();
        // As in parameters, `@@` escapes a leading `@`.
        let file = value.strip_prefix('@').filter(|rest| !rest.starts_with('@')).map(Path::new);
        let value = value.strip_prefix('@').filter(|_| file.is_none()).unwrap_or(value);
        let content = file.map(read).transpose()?;
        let put = if key.ends_with("-bin") {
            let wrong = |_| Failure::new(format!("the value of {key} is not base64; or name a file: {key}=@FILE"));
            let bytes = content.map_or_else(|| BASE64_STANDARD.decode(value).map_err(wrong), Ok)?;
            metadata.append_bin(&key, bytes)
        } else {
            let text = content.map_or_else(|| Ok(value.to_owned()), String::from_utf8);
            let text = text.map_err(|_| Failure::new(format!("the value of {key} is not text")))?;
            let text = text.strip_suffix('\n').unwrap_or(&text);
            metadata.append(&key, text.strip_suffix('\r').unwrap_or(text))
        };
        put.map_err(|error| Failure::new(format!("metadata {key}: {error}")))?;
        if file.is_some() {
            metadata.mark_sensitive(&key);
        }
    }
    Ok(metadata)
}

/// Formats the length of a body, and its first bytes in hexadecimal digits.
fn hex(body: &Body) -> String {
    const SHOWN: usize = 64;
    let bytes = body.as_bytes();
    let shown: Vec<_> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > SHOWN { " …" } else { "" };
    format!("{} bytes: {}{more}", bytes.len(), shown.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::ServerArguments;
    use frpc_dynamic::DescriptorPool;
    use tokio::io::duplex;
    use tokio::time;

    /// Regression test: with -v or -H, a call waited for a silent server beyond its deadline.
    #[tokio::test(start_paused = true)]
    async fn report_does_not_await_silent_server() {
        let (io, _silent) = duplex(1024);
        let channel = Channel::connect_io(io).await.expect("in-memory connection should be accepted");
        let target = Target::new(&ServerArguments::of("localhost:1")).expect("address should be valid");
        let screen = Screen { json: false, raw: false, verbose: 1 };
        let (started, limit) = (time::Instant::now(), Duration::from_millis(100));
        report_connection(&channel, &target, &Metadata::new(), Instant::now(), limit, &screen).await;
        assert!(started.elapsed() < 2 * limit);
    }

    /// Regression test: the fields of well-known types were shown as 0, because their JSON has no members.
    #[test]
    fn fields_of_well_known_types_have_values() {
        let pool = DescriptorPool::global();
        for (name, json, field, expected) in [
            ("Int64Value", json!("-5"), "value", json!(-5)),
            ("DoubleValue", json!(1.5), "value", json!(1.5)),
            ("BoolValue", json!(true), "value", json!(true)),
            ("Duration", json!("3.5s"), "seconds", json!(3)),
            ("Duration", json!("3s"), "nanos", json!(0)),
            ("FieldMask", json!("a,b"), "paths", json!(["a", "b"])),
            ("Struct", json!({"a": 1}), "fields", json!({"a": 1})),
            ("ListValue", json!([1]), "values", json!([1])),
            ("Value", json!(2), "number_value", json!(2)),
            ("Value", json!(2), "bool_value", json!(null)),
            ("Option", json!({}), "value", json!(null)),
            ("Type", json!({"syntax": "SYNTAX_PROTO3"}), "syntax", json!("SYNTAX_PROTO3")),
        ] {
            let of = pool.get_message_by_name(&format!("google.protobuf.{name}")).expect("type should be known");
            let message = frpc_dynamic::from_json(&of, json.to_string().as_bytes()).expect("JSON should be valid");
            let field = of.get_field_by_name(field).expect("type should have the field");
            assert_eq!(field_value(&message, &field).expect("field should have JSON"), expected, "{name}");
        }
    }

    /// Regression test: only the last value of a key was sent.
    #[test]
    fn metadata_may_repeat_key() {
        let entries = ["role=reader", "Role=writer", "a-bin=AQ==", "a-bin=Ag=="].map(str::to_owned);
        let metadata = metadata(&entries).expect("metadata arguments should be valid");
        assert_eq!(metadata.get_all("role").collect::<Vec<_>>(), ["reader", "writer"]);
        assert_eq!(metadata.get_all_bin("a-bin").collect::<Vec<_>>(), [[1], [2]]);
    }

    #[test]
    fn metadata_of_two_marks_begins_with_one() {
        let read = |entry: &str| metadata(&[entry.to_owned()]);
        assert_eq!(read("user=@@ada").expect("metadata argument should be valid").get("user"), Some("@ada"));
        assert!(read("user=@ada").is_err_and(|failure| failure.to_string().starts_with("ada: ")));
    }
}
