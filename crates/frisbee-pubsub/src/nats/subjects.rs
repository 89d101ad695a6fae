//! NATS subjects of a bus, and names of its queue groups.
//!
//! The NATS subject of a topic consists of the bus name, `.t.` and the topic, because the tokens of a topic are valid
//! NATS tokens. Names of queue groups may contain any characters and are therefore escaped.

use std::fmt::Write;
use std::io;

/// Maximum length of a bus name in bytes.
const NAME_MAX: usize = 64;

/// Maps the topics and control frames of a bus to NATS subjects.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    /// Prefix of the NATS subjects of topics.
    topics: String,
    /// Prefix of the NATS subjects of durable topics.
    #[cfg(feature = "durable")]
    durables: String,
    /// NATS subject of control frames between brokers.
    pub(crate) control: String,
    /// A NATS subject without subscribers.
    pub(crate) unused: String,
}

impl Subjects {
    /// Creates the subject mapping for the bus `name`. The name must be a single token, because otherwise a bus could
    /// be nested in another one.
    pub(crate) fn of(name: &str) -> io::Result<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(fits) {
            let text = format!(
                "the name of a bus must have 1 to {NAME_MAX} letters, digits, hyphens and underscores, not {name:?}"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(Self {
            topics: format!("{name}.t."),
            #[cfg(feature = "durable")]
            durables: format!("{name}.d."),
            control: format!("{name}.c"),
            unused: format!("{name}.n"),
        })
    }

    /// Returns the NATS subject of a topic or pattern.
    pub(crate) fn of_topic(&self, topic: &str) -> String {
        [&self.topics, topic].concat()
    }

    /// Returns the topic that belongs to a NATS subject, or an empty string if the subject belongs to another bus.
    pub(crate) fn topic_of<'a>(&self, subject: &'a str) -> &'a str {
        subject.strip_prefix(&self.topics).unwrap_or_default()
    }

    /// Returns the NATS subject of a durable topic or pattern.
    #[cfg(feature = "durable")]
    pub(crate) fn of_durable(&self, topic: &str) -> String {
        [&self.durables, topic].concat()
    }
}

/// Escapes the name of a queue group. Each byte other than a letter, digit, `-` or `_` becomes `%` and two hexadecimal
/// digits.
pub(crate) fn group(name: &str) -> String {
    escape(name, '%')
}

/// Escapes the name of a stream or consumer, using `=` instead of `%`. NATS 2.9 uses the name in a format string for
/// acknowledgement subjects, where `%` has a meaning.
#[cfg(feature = "durable")]
pub(crate) fn stored(name: &str) -> String {
    escape(name, '=')
}

fn escape(name: &str, mark: char) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "{mark}{byte:02x}").expect("formatting into a string should succeed");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_map_to_prefixed_bus_subjects() {
        let subjects = Subjects::of("shop").unwrap();
        for topic in ["orders.north", "$SYS.x", "a-b.\u{E4}.%20", "orders.*.>"] {
            let subject = subjects.of_topic(topic);
            assert!(async_nats::Subject::validated(&*subject).is_ok(), "{subject}");
            assert_eq!(subjects.topic_of(&subject), topic);
        }
        assert_eq!(subjects.topic_of("other.t.orders"), "");
        assert_eq!(subjects.topic_of("shop.t"), "");
    }

    #[test]
    fn invalid_bus_name_is_rejected() {
        for name in ["", "a.b", "a b", "*", ">", "$SYS", "\u{E4}", &"a".repeat(65)] {
            assert!(Subjects::of(name).is_err(), "{name:?}");
        }
        assert!(Subjects::of("A-1_b").is_ok());
    }

    #[test]
    fn group_names_are_escaped_injectively() {
        assert_eq!(group("Workers-1_a"), "Workers-1_a");
        assert_eq!(group("two words.*>"), "two%20words%2e%2a%3e");
        assert_eq!(group("%20"), "%2520");
        assert_eq!(group("\u{E4}\n"), "%c3%a4%0a");
    }
}
