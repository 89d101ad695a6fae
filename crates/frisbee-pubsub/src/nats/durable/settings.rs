//! Settings of durable topics: storage, limits and retention.

use super::error::JetStreamFailure;
use super::{DurableTopic, OpenError, Shared};
use crate::check_pattern;
use crate::nats::subjects::{Subjects, stored};
use async_nats::Client;
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, RetentionPolicy, StorageType};
use async_nats::jetstream::{ContextBuilder, ErrorCode};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of a stream name in bytes, because NATS uses the name as the name of a directory.
const NAME_MAX: usize = 255;

/// Number of bytes reserved for message headers: the message id and fields that NATS adds.
const HEADERS_MAX: usize = 1024;

/// Default maximum size of a payload in bytes. With its headers, a message stays below the default limit of NATS, which
/// is 1 MiB.
const PAYLOAD_MAX: usize = 1_000_000;

/// Default maximum size of a stream in bytes: 1 GiB, which is large for messages but small for a disk.
const BYTES_MAX: u64 = 1 << 30;

/// Default time that NATS remembers message ids, equal to the default of NATS. It is long enough to restart a
/// publisher.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Default time that publishing a message is retried. A topic uses at most half of its duplicate window, so that NATS
/// still remembers the id when the message is sent again.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Medium where NATS stores messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Storage {
    /// Files. When NATS confirms a message, it has written the message to its file, but the operating system flushes it
    /// to disk later. Stored messages survive a crash of NATS. They survive a crash of the machine only on other
    /// [replicas](DurableTopicBuilder::replicas).
    #[default]
    File,
    /// Memory. Messages and subscriptions are lost when NATS exits.
    Memory,
}

/// Policy for a durable topic that has reached a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum FullTopicPolicy {
    /// Removes the oldest messages, whether or not they have been read. Subscriptions are notified of the number of
    /// messages that they have missed.
    #[default]
    DropOldest,
    /// Rejects the new message with [`PublishError::NotStored`](super::PublishError::NotStored).
    Refuse,
}

/// Builder of a [`DurableTopic`].
///
/// The first client that opens the topic creates it. Later clients must use the same settings.
#[derive(Clone, Debug)]
#[must_use]
pub struct DurableTopicBuilder {
    bus: String,
    pattern: String,
    storage: Storage,
    replicas: usize,
    age_max: Option<Duration>,
    messages_max: Option<u64>,
    bytes_max: u64,
    payload_max: usize,
    duplicate_window: Option<Duration>,
    when_full: FullTopicPolicy,
}

impl DurableTopicBuilder {
    pub(super) fn new(bus: &str, pattern: &str) -> Self {
        Self {
            bus: bus.to_owned(),
            pattern: pattern.to_owned(),
            storage: Storage::default(),
            replicas: 1,
            age_max: None,
            messages_max: None,
            bytes_max: BYTES_MAX,
            payload_max: PAYLOAD_MAX,
            duplicate_window: None,
            when_full: FullTopicPolicy::default(),
        }
    }

    /// Sets the storage medium of messages. Defaults to files.
    pub fn storage(self, storage: Storage) -> Self {
        Self { storage, ..self }
    }

    /// Sets the number of cluster servers that store each message, from 1 to 5. Defaults to 1. With 3, one server may
    /// fail.
    pub fn replicas(self, replicas: usize) -> Self {
        Self { replicas, ..self }
    }

    /// Sets the maximum age of messages. Older ones are removed, whether or not they were read. Unlimited by default.
    pub fn age_max(self, age: Duration) -> Self {
        Self { age_max: Some(age), ..self }
    }

    /// Sets the maximum number of stored messages. Unlimited by default.
    pub fn messages_max(self, messages: u64) -> Self {
        Self { messages_max: Some(messages), ..self }
    }

    /// Sets the maximum total size of the stream in bytes, including the per-message overhead of NATS. Defaults to 1
    /// GiB.
    pub fn bytes_max(self, bytes: u64) -> Self {
        Self { bytes_max: bytes, ..self }
    }

    /// Sets the maximum size of a payload in bytes. Defaults to 1 000 000. It must be at least 1024 bytes less than the
    /// limit of NATS, which is 1 MiB unless configured otherwise. The difference is needed for headers.
    pub fn payload_max(self, bytes: usize) -> Self {
        Self { payload_max: bytes, ..self }
    }

    /// Sets how long NATS remembers message ids. Defaults to two minutes, or to [`age_max`](Self::age_max) if that is
    /// less.
    pub fn duplicate_window(self, window: Duration) -> Self {
        Self { duplicate_window: Some(window), ..self }
    }

    /// Sets the policy for a topic that has reached a limit. By default the oldest messages are removed.
    pub fn when_full(self, when_full: FullTopicPolicy) -> Self {
        Self { when_full, ..self }
    }

    /// Opens the durable topic. Creates it if it does not exist. Requires `nats-server` 2.9 or newer with JetStream.
    ///
    /// # Errors
    /// Returns [`OpenError::Invalid`] if a setting is invalid, and [`OpenError::Differs`] if the topic exists with
    /// different settings.
    ///
    /// # Cancel safety
    /// If the future is dropped, the topic may have been created.
    pub async fn open(self, client: &Client) -> Result<DurableTopic, OpenError> {
        let wanted = self.config()?;
        let room = client.max_payload().saturating_sub(HEADERS_MAX);
        if self.payload_max > room {
            let text = format!("payload_max of {} bytes exceeds the {room} bytes that NATS accepts", self.payload_max);
            return Err(OpenError::Invalid(text));
        }
        let subjects = Subjects::of(&self.bus).map_err(|error| OpenError::Invalid(error.to_string()))?;
        let shared = Shared {
            client: client.clone(),
            context: ContextBuilder::new().build(client.clone()),
            stream: wanted.name.clone(),
            prefix: subjects.of_durable(""),
            payload_max: self.payload_max,
            timeout: TIMEOUT.min(wanted.duplicate_window / 2),
            pattern: self.pattern,
        };
        let found = find(&shared, &wanted).await?;
        let differences = differences(&wanted, &found);
        if !differences.is_empty() {
            return Err(OpenError::Differs(differences));
        }
        Ok(DurableTopic { shared: Arc::new(shared) })
    }

    /// Converts the settings to a JetStream stream configuration.
    fn config(&self) -> Result<Config, OpenError> {
        let invalid = |text: String| Err(OpenError::Invalid(text));
        let subjects = Subjects::of(&self.bus).map_err(|error| OpenError::Invalid(error.to_string()))?;
        check_pattern(self.pattern.as_bytes()).map_err(|error| OpenError::Invalid(error.to_string()))?;
        let name = stored(&format!("{}.{}", self.bus, self.pattern));
        if name.len() > NAME_MAX {
            let pattern = &self.pattern;
            return invalid(format!(
                "the pattern {pattern} is too long: the name of its stream has {} bytes",
                name.len()
            ));
        }
        if !(1..=5).contains(&self.replicas) {
            return invalid(format!("replicas must be 1 to 5, not {}", self.replicas));
        }
        let duplicate_window =
            self.duplicate_window.unwrap_or_else(|| self.age_max.unwrap_or(DUPLICATE_WINDOW).min(DUPLICATE_WINDOW));
        let shortest = Duration::from_millis(100);
        for (setting, value) in [("age_max", self.age_max), ("duplicate_window", Some(duplicate_window))] {
            if value.is_some_and(|value| value < shortest || i64::try_from(value.as_nanos()).is_err()) {
                return invalid(format!("{setting} must be 100 ms to 292 years, not {value:?}"));
            }
        }
        if self.payload_max == 0 {
            return invalid("payload_max must be greater than zero, not 0".to_owned());
        }
        if self.age_max.is_some_and(|age| age < duplicate_window) {
            return invalid(format!("duplicate_window of {duplicate_window:?} exceeds age_max"));
        }
        let signed = |setting: &str, value: u64| match i64::try_from(value) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(OpenError::Invalid(format!("{setting} must be 1 to {}, not {value}", i64::MAX))),
        };
        let Ok(max_message_size) = i32::try_from(self.payload_max.saturating_add(HEADERS_MAX)) else {
            return invalid(format!("payload_max of {} bytes exceeds the limit of NATS", self.payload_max));
        };
        Ok(Config {
            name,
            subjects: vec![subjects.of_durable(&self.pattern)],
            storage: match self.storage {
                Storage::File => StorageType::File,
                Storage::Memory => StorageType::Memory,
            },
            num_replicas: self.replicas,
            max_age: self.age_max.unwrap_or_default(),
            max_messages: self.messages_max.map_or(Ok(-1), |messages| signed("messages_max", messages))?,
            max_bytes: signed("bytes_max", self.bytes_max)?,
            max_message_size,
            max_consumers: -1,
            max_messages_per_subject: -1,
            duplicate_window,
            discard: match self.when_full {
                FullTopicPolicy::DropOldest => DiscardPolicy::Old,
                FullTopicPolicy::Refuse => DiscardPolicy::New,
            },
            retention: RetentionPolicy::Limits,
            ..Config::default()
        })
    }
}

/// Returns the configuration of the stream at NATS, and creates the stream if it does not exist.
async fn find(shared: &Shared, wanted: &Config) -> Result<Config, OpenError> {
    let info = || shared.ask::<Info>(format!("STREAM.INFO.{}", wanted.name));
    match info().await {
        Ok(found) => return Ok(found.config),
        Err(JetStreamFailure::Refused(error)) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {}
        Err(error) => return Err(error.into()),
    }
    match shared.context.create_stream(wanted).await {
        Ok(created) => Ok(created.cached_info().config.clone()),
        Err(refused) => match info().await {
            // Another client created the stream in the meantime.
            Ok(found) => Ok(found.config),
            Err(_) => Err(OpenError::Nats(format!("NATS rejected the stream: {}", super::error::chain(&refused)))),
        },
    }
}

/// Returns a description of each difference between an existing stream and the requested settings.
fn differences(wanted: &Config, found: &Config) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |setting: &str, wanted: &dyn fmt::Debug, found: &dyn fmt::Debug| {
        let (wanted, found) = (format!("{wanted:?}"), format!("{found:?}"));
        if wanted != found {
            differences.push(format!("{setting} is {found} and not {wanted}"));
        }
    };
    compare("the subject", &wanted.subjects, &found.subjects);
    compare("storage", &wanted.storage, &found.storage);
    compare("replicas", &wanted.num_replicas, &found.num_replicas);
    compare("age_max", &wanted.max_age, &found.max_age);
    compare("messages_max", &wanted.max_messages, &found.max_messages);
    compare("bytes_max", &wanted.max_bytes, &found.max_bytes);
    compare("payload_max with headers", &wanted.max_message_size, &found.max_message_size);
    compare("duplicate_window", &wanted.duplicate_window, &found.duplicate_window);
    compare("when_full", &wanted.discard, &found.discard);
    compare("retention", &wanted.retention, &found.retention);
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> DurableTopicBuilder {
        DurableTopic::builder("shop", "orders.>")
    }

    #[test]
    fn unsupported_nats_settings_are_rejected() {
        let long = "a.".repeat(100) + "a";
        for (builder, text) in [
            (DurableTopic::builder("a.b", "orders"), "the name of a bus"),
            (DurableTopic::builder("shop", "orders.."), "must not be empty"),
            (DurableTopic::builder("shop", "orders.>.x"), "the last one"),
            (DurableTopic::builder("shop", &"a".repeat(251)), "too long"),
            (DurableTopic::builder("shop", &long), "at most 16 tokens"),
            (builder().replicas(0), "replicas must be 1 to 5, not 0"),
            (builder().replicas(6), "replicas must be 1 to 5, not 6"),
            (builder().bytes_max(0), "bytes_max must be 1 to"),
            (builder().bytes_max(u64::MAX), "bytes_max must be 1 to"),
            (builder().messages_max(0), "messages_max must be 1 to"),
            (builder().payload_max(0), "payload_max must be greater than zero"),
            (builder().payload_max(usize::MAX), "exceeds the limit of NATS"),
            (builder().age_max(Duration::ZERO), "age_max must be 100 ms"),
            (builder().age_max(Duration::MAX), "age_max must be 100 ms"),
            (builder().duplicate_window(Duration::ZERO), "duplicate_window must be 100 ms"),
            (builder().age_max(Duration::from_secs(60)).duplicate_window(Duration::from_secs(61)), "exceeds age_max"),
        ] {
            let error = builder.config().expect_err(text);
            assert!(
                matches!(&error, OpenError::Invalid(reason) if reason.contains(text)),
                "error {error} should contain {text}"
            );
        }
    }

    #[test]
    fn ids_are_known_no_longer_than_messages() {
        let window =
            |builder: DurableTopicBuilder| builder.config().expect("topic settings should be valid").duplicate_window;
        assert_eq!(window(builder()), DUPLICATE_WINDOW);
        assert_eq!(window(builder().age_max(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(window(builder().age_max(Duration::from_secs(700))), DUPLICATE_WINDOW);
    }

    #[test]
    fn distinct_patterns_get_distinct_stream_names() {
        let name =
            |bus, pattern| DurableTopic::builder(bus, pattern).config().expect("topic settings should be valid").name;
        assert_eq!(name("shop", "orders.>"), "shop=2eorders=2e=3e");
        assert_ne!(name("a", "b.c"), name("a", "b-c"));
        assert_ne!(name("a-b", "c"), name("a", "b-c"));
    }

    #[test]
    fn each_setting_that_differs_is_named() {
        let config = |builder: DurableTopicBuilder| builder.config().expect("topic settings should be valid");
        assert!(differences(&config(builder()), &config(builder())).is_empty());
        let minute = Duration::from_secs(60);
        let other = builder().age_max(minute).messages_max(5).bytes_max(6).payload_max(7).replicas(3);
        let other = config(other.storage(Storage::Memory).when_full(FullTopicPolicy::Refuse));
        let said = differences(&config(builder()), &other);
        assert_eq!(said.len(), 8, "{said:?}");
        assert!(said.contains(&"age_max is 60s and not 0ns".to_owned()), "{said:?}");
    }
}
