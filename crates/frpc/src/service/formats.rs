//! The encodings of a method's messages for callers that speak another protocol.

use crate::Status;
use crate::api::middleware::MethodInfo;
use bytes::Bytes;
use frisbee::{Connection, MemoryCharge};
use polyglot::{CONTAINER_MEMORY_MAX, Nesting};
use std::any::Any;
#[cfg(feature = "json")]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the messages of one method are written in an encoding that is not the native one. For generated code.
pub struct Format<A, B> {
    pub(crate) name: &'static str,
    pub(crate) decode: Decode<A>,
    pub(crate) encode: Encode<B>,
    /// As `encode`, appended to existing bytes; nothing is written in case of an error.
    pub(crate) append: Option<Append<B>>,
    /// The format with the fields of requests in the order of declaration, without their names.
    positional: Option<(&'static str, Decode<A>)>,
    /// The names of a request's fields.
    pub(crate) fields: &'static [&'static str],
    /// What documents say about the method: its comment, and the schemas of messages by name.
    described: (&'static str, Schemas),
}

/// The schemas of messages as texts, by the full names of these.
pub(crate) type Schemas = &'static [(&'static str, &'static str)];

pub(crate) type Decode<A> = fn(&Bytes, &FormatTerms) -> Result<A, Status>;

pub(crate) type Encode<B> = fn(&B, &FormatTerms) -> Result<Bytes, Status>;

pub(crate) type Append<B> = fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>;

/// Any request may take so much memory beyond its bytes, which is checked again when it is known.
const MEMORY_LEAST: usize = 1024 * 1024;

/// The lists of a body of so many bytes may take more memory than a client that holds little may have.
pub(crate) const LARGE_BODY: usize = 16 * 1024;

/// A server's declarations for messages in all formats.
#[derive(Debug, Default)]
pub struct FormatTerms {
    pub(crate) nesting: Nesting,
    /// The memory of the last request that was decoded.
    pub(crate) memory: AtomicUsize,
    /// How much less than the limit of all messages the next one may take.
    pub(crate) withheld: AtomicUsize,
    /// The types that an `Any` may hold in JSON. None if no service has an `Any`.
    #[cfg(feature = "json")]
    pub(crate) types: Option<Arc<frpc_json::Types>>,
}

impl FormatTerms {
    /// How deep requests may nest.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// States the memory that the decoded request takes beyond its bytes, such as that of its lists. It is charged to the
    /// caller.
    pub fn set_memory(&self, bytes: usize) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// How much memory the next request may take beyond its bytes.
    #[must_use]
    pub fn memory_max(&self) -> usize {
        CONTAINER_MEMORY_MAX.saturating_sub(self.withheld.load(Ordering::Relaxed))
    }

    /// Limits the memory of the next request to about as much as this caller may hold, and holds twice as much while it
    /// is decoded: requests are decoded on several threads, and a list that grows has its elements twice for a while.
    pub(crate) fn reserve(&self, caller: Option<&Connection>) -> Option<MemoryCharge> {
        let mut most = CONTAINER_MEMORY_MAX;
        if let Some(caller) = caller {
            while most > MEMORY_LEAST && !caller.has_room(2 * most) {
                most /= 2;
            }
        }
        self.withheld.store(CONTAINER_MEMORY_MAX - most, Ordering::Relaxed);
        caller.map(|caller| caller.charge_request(2 * most))
    }

    /// Decodes a request within the memory that this caller may hold. The caller is charged for its lists until the
    /// charge is dropped.
    pub(crate) fn decode<A>(
        &self,
        decode: Decode<A>,
        bytes: &Bytes,
        caller: Option<&Connection>,
    ) -> Result<(A, Option<MemoryCharge>), Status> {
        let reserved = self.reserve(caller.filter(|_| bytes.len() >= LARGE_BODY));
        let message = decode(bytes, self)?;
        let memory = self.take_memory();
        let charge = caller.filter(|_| memory >= LARGE_BODY).map(|caller| caller.charge_request(memory));
        drop(reserved);
        Ok((message, charge))
    }

    /// The memory of the last request, as its decoder has stated it.
    pub(crate) fn take_memory(&self) -> usize {
        self.memory.swap(0, Ordering::Relaxed)
    }
}

impl Clone for FormatTerms {
    fn clone(&self) -> Self {
        Self {
            nesting: self.nesting,
            memory: AtomicUsize::new(0),
            withheld: AtomicUsize::new(0),
            #[cfg(feature = "json")]
            types: self.types.clone(),
        }
    }
}

impl<A, B> Format<A, B> {
    /// A format by its name, such as `json`. `decode` reads an untrusted request: it has to bound the memory of the
    /// message by its length, and its nesting. `encode` writes a response.
    pub const fn new(
        name: &'static str,
        decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>,
        encode: fn(&B, &FormatTerms) -> Result<Bytes, Status>,
    ) -> Self {
        Self { name, decode, encode, append: None, positional: None, fields: &[], described: ("", &[]) }
    }

    /// Adds a way to append a response to existing bytes, which saves a copy. In case of an error nothing has been
    /// written.
    #[must_use]
    pub const fn appending(self, append: fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>) -> Self {
        Self { append: Some(append), ..self }
    }

    /// Adds a format of its own name, whose requests have their fields in the order of declaration.
    #[must_use]
    pub const fn positional(self, name: &'static str, decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>) -> Self {
        Self { positional: Some((name, decode)), ..self }
    }

    /// States the names of a request's fields in the format, in the order of declaration.
    #[must_use]
    pub const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    /// States what documents say about the method: its comment, and the schemas of the messages that it uses by their
    /// full names. The schemas of a format `json` are JSON Schemas that refer to each other at `#/components/schemas/`.
    #[must_use]
    pub const fn described(self, comment: &'static str, schemas: &'static [(&'static str, &'static str)]) -> Self {
        Self { described: (comment, schemas), ..self }
    }

    /// This format or its positional variant, if it has the name.
    pub(crate) fn named(self, name: &str) -> Option<Self> {
        if self.name == name {
            return Some(self);
        }
        let (positional, decode) = self.positional?;
        (positional == name).then_some(Self { decode, ..self })
    }
}

impl<A, B> Clone for Format<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Format<A, B> {}

/// A method without its types.
pub(crate) trait MethodFormat: Send + Sync {
    fn about(&self) -> &MethodInfo;

    /// The names of its formats.
    fn formats(&self) -> Vec<&'static str>;

    /// The names of a request's fields in a format.
    fn fields(&self, format: &str) -> Option<&'static [&'static str]>;

    /// What documents in a format say about the method.
    fn described(&self, format: &str) -> Option<(&'static str, Schemas)>;

    /// Adds a format; `false` if it is one of other messages.
    fn add(&mut self, format: Box<dyn Any>) -> bool;
}

/// The formats of a method.
pub(crate) struct Formats<A, B> {
    pub(crate) about: MethodInfo,
    formats: Vec<Format<A, B>>,
}

impl<A, B> Formats<A, B> {
    pub(crate) fn new(about: MethodInfo) -> Self {
        Self { about, formats: Vec::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Format<A, B>> {
        self.formats.iter().find_map(|format| format.named(name))
    }
}

impl<A: 'static, B: 'static> MethodFormat for Formats<A, B> {
    fn about(&self) -> &MethodInfo {
        &self.about
    }

    fn formats(&self) -> Vec<&'static str> {
        self.formats.iter().map(|format| format.name).collect()
    }

    fn fields(&self, format: &str) -> Option<&'static [&'static str]> {
        self.get(format).map(|format| format.fields)
    }

    fn described(&self, format: &str) -> Option<(&'static str, Schemas)> {
        self.get(format).map(|format| format.described)
    }

    fn add(&mut self, format: Box<dyn Any>) -> bool {
        format.downcast().map(|format| self.formats.push(*format)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, Server};

    const MIB: usize = 1024 * 1024;

    #[tokio::test]
    async fn request_memory_is_charged_while_decoding() {
        let (notify, mut connections) = tokio::sync::mpsc::unbounded_channel();
        let server =
            Server::builder().memory_max(64 * MIB).on_connect(move |it: &Connection| drop(notify.send(it.clone())));
        let acceptor = server.build().expect("the settings are right");
        let stats = acceptor.stats();
        let (here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let _channel = Channel::connect_io(here).await.expect("it is open");
        let connection = connections.recv().await.expect("it is connected");
        let terms = FormatTerms::default();
        let first = terms.reserve(Some(&connection));
        let room = terms.memory_max();
        assert!(room >= 8 * MIB && stats.charged_bytes() >= 2 * room, "{room} bytes, {} held", stats.charged_bytes());
        let second = terms.reserve(Some(&connection));
        assert!(terms.memory_max() < room, "another thread has the rest");
        drop((first, second));
        assert_eq!(stats.charged_bytes(), 0);
        assert!(terms.reserve(None).is_none() && terms.memory_max() == CONTAINER_MEMORY_MAX);

        // Also of methods that stream.
        let decode: Decode<usize> = |_, terms| {
            terms.set_memory(5 * MIB);
            Ok(terms.memory_max())
        };
        let body = Bytes::from(vec![0; LARGE_BODY]);
        let (most, charge) = terms.decode(decode, &body, Some(&connection)).expect("it is decoded");
        assert!(
            most == room && (5 * MIB..6 * MIB).contains(&stats.charged_bytes()),
            "{most} bytes, {} held",
            stats.charged_bytes()
        );
        drop(charge);
        assert_eq!(stats.charged_bytes(), 0);
    }
}
