//! `frpc pub` and `frpc sub`: publish messages to a broker and print received messages, as bytes or with a type of
//! the schema.

use crate::arguments::{PubArguments, SubArguments, SubStart};
use crate::failure::Failure;
use crate::input::Input;
use crate::schema::Schema;
use crate::show::note;
use crate::source::Context;
use crate::target::read;
use frpc::Status;
use frpc::bytes::Bytes;
use frpc::polyglot::{Decoder, Root};
use frpc::pubsub::Start;
use frpc_dynamic::layout::unmarked;
use frpc_dynamic::{DynamicMessage, MessageDescriptor, to_json};
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Message type of a topic, with the schema of the type.
struct TypedMessages {
    schema: Schema,
    descriptor: MessageDescriptor,
}

impl TypedMessages {
    async fn new(context: &Context, name: Option<&str>) -> Result<Option<Self>, Failure> {
        let Some(name) = name else { return Ok(None) };
        let schema = context.schema().await?;
        let descriptor = schema.pool.get_message_by_name(name);
        let descriptor = descriptor.ok_or_else(|| Failure::new(format!("the schema has no message {name}")))?;
        Ok(Some(Self { schema, descriptor }))
    }

    /// Encodes a message in the native encoding of frpc, like typed topics do.
    fn encode(&self, message: &DynamicMessage) -> Result<Bytes, Failure> {
        Ok(self.schema.body(message)?.as_bytes().clone())
    }

    fn json(&self, payload: &Bytes) -> Result<String, Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::new(format!("the message does not fit the type: {error}"));
        let body = unmarked(&self.descriptor, payload).map_err(|error| wrong(&error))?;
        match self.schema.codec.decode(&self.descriptor, &mut Decoder::shared(&payload.slice_ref(body))) {
            Ok(Root::Message(message)) => to_json(&message).map_err(|error| wrong(&error)),
            Ok(Root::Error(text)) => Err(wrong(&text)),
            Err(error) => Err(wrong(&error)),
        }
    }
}

pub(crate) async fn publish(arguments: PubArguments, context: &Context) -> Result<(), Failure> {
    let typed = TypedMessages::new(context, arguments.of.as_deref()).await?;
    let mut messages = match &typed {
        Some(typed) => Messages::Typed(typed, Input::new(&arguments.message, &typed.descriptor, true)?),
        None => Messages::plain(&arguments.message)?,
    };
    let client = context.target()?.broker().await?;
    let mut count = 0_u64;
    let publishing = async {
        while let Some(message) = messages.next().await? {
            client.publish(&arguments.topic, message).await.map_err(Status::from)?;
            count += 1;
        }
        Ok(())
    };
    let published: Result<(), Failure> = publishing.await;
    // Wait until the broker has received all messages, including those before an invalid line.
    client.sync().await.map_err(Status::from)?;
    context.screen.remark(1, || format!("{count} messages were published"));
    published
}

/// Messages to publish: those of the command line, and then the lines of standard input, if requested.
enum Messages<'a> {
    Typed(&'a TypedMessages, Input),
    /// Messages of arbitrary bytes. Each line of standard input is a message.
    Plain(VecDeque<Bytes>, Option<tokio::io::Split<BufReader<tokio::io::Stdin>>>),
}

impl Messages<'_> {
    fn plain(texts: &[String]) -> Result<Self, Failure> {
        let messages = texts.iter().filter(|text| *text != "-").map(|text| plain(text)).collect::<Result<_, _>>()?;
        let reads_lines = texts.iter().any(|text| text == "-");
        Ok(Self::Plain(messages, reads_lines.then(|| BufReader::new(tokio::io::stdin()).split(b'\n'))))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match self {
            Self::Typed(typed, input) => input.next().await?.map(|message| typed.encode(&message)).transpose(),
            Self::Plain(messages, lines) => match (messages.pop_front(), lines) {
                (None, Some(lines)) => {
                    let line = lines.next_segment().await.map_err(Failure::stdin)?.map(Bytes::from);
                    Ok(line.map(|line| if line.ends_with(b"\r") { line.slice(..line.len() - 1) } else { line }))
                }
                (message, _) => Ok(message),
            },
        }
    }
}

/// Returns the bytes of a message without a type: the text of the parameter, or the content of the file that the
/// parameter names.
fn plain(text: &str) -> Result<Bytes, Failure> {
    match text.strip_prefix('@') {
        Some(literal) if literal.starts_with('@') => Ok(literal.to_owned().into()),
        Some(file) => read(Path::new(file)).map(Bytes::from),
        None => Ok(text.to_owned().into()),
    }
}

pub(crate) async fn subscribe(arguments: SubArguments, context: &Context) -> Result<(), Failure> {
    let screen = &context.screen;
    let typed = TypedMessages::new(context, arguments.of.as_deref()).await?;
    let client = context.target()?.broker().await?;
    let pattern = arguments.pattern.as_str();
    let mut subscription = match (&arguments.group, arguments.from) {
        (Some(group), _) => client.queue_subscribe(pattern, group).await,
        (None, None) => client.subscribe(pattern).await,
        (None, Some(SubStart::Now)) => client.subscribe_from(pattern, Start::Now).await,
        (None, Some(SubStart::Last)) => client.subscribe_from(pattern, Start::Last).await,
        (None, Some(SubStart::Oldest)) => client.subscribe_from(pattern, Start::Oldest).await,
    }
    .map_err(Status::from)?;
    screen.remark(1, || format!("subscribed to {}", arguments.pattern));
    let mut count = 0;
    while arguments.count.is_none_or(|most| count < most) {
        let message = match subscription.recv().await {
            Ok(message) => message,
            Err(frpc::pubsub::RecvError::Lagged(missed)) => {
                note(format_args!(
                    "warning: {missed} messages are missing: they arrived faster than they were read, or were no longer stored"
                ));
                continue;
            }
            Err(error @ frpc::pubsub::RecvError::Reconnected) => {
                note(format_args!("warning: {error}"));
                continue;
            }
            Err(error) => return Err(Status::unavailable(error.to_string()).into()),
        };
        count += 1;
        let payload = message.payload();
        let json = match typed.as_ref().map(|typed| typed.json(payload)).transpose() {
            Ok(json) => json,
            Err(failure) => {
                // Continue after an invalid message, because anyone may have published it.
                screen.failure(&failure);
                continue;
            }
        };
        let text = || String::from_utf8_lossy(payload).into_owned();
        match (json, screen.json) {
            (Some(json), false) => screen.json_line(&format!("{} {json}", message.topic()))?,
            (Some(json), true) => {
                // Insert the text, because parsing it would fail if it is nested too deep.
                let topic = serde_json::Value::from(message.topic());
                screen.json_line(&format!("{{\"message\":{json},\"topic\":{topic}}}"))?;
            }
            (None, true) => screen.json_line(&json!({ "topic": message.topic(), "payload": text() }).to_string())?,
            (None, false) => screen.line(&format!("{} {}", message.topic(), text()))?,
        }
    }
    Ok(())
}
