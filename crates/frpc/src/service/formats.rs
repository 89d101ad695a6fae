//! The message encodings of a method for callers that speak other protocols.

use crate::Status;
use bytes::Bytes;
use frisbee::{Connection, MemoryCharge};
use polyglot::{CONTAINER_MEMORY_MAX, Nesting};
#[cfg(feature = "json")]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The encoding of a method's messages in a format other than the native one. For generated code.
pub struct Format<A, B> {
    pub(crate) info: FormatInfo,
    pub(crate) decode: Decode<A>,
    pub(crate) encode: Encode<B>,
    /// Like `encode`, but appends to existing bytes. Writes nothing in case of an error.
    pub(crate) append: Option<Append<B>>,
    /// Like `decode`, for requests whose fields are in the order of declaration, without names.
    positional: Option<Decode<A>>,
}

/// A format of a method, without its message types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatInfo {
    pub(crate) name: &'static str,
    /// The name of the positional variant, in which the fields of requests are in the order of declaration.
    positional: Option<&'static str>,
    /// The names of the request's fields.
    pub(crate) fields: &'static [&'static str],
    /// The comment of the method, for generated documents.
    pub(crate) comment: &'static str,
    /// Schemas of messages as text, by full name.
    pub(crate) schemas: &'static [(&'static str, &'static str)],
}

impl FormatInfo {
    /// Returns whether `name` is this format or its positional variant.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.name == name || self.positional == Some(name)
    }
}

pub(crate) type Decode<A> = fn(&Bytes, &FormatTerms) -> Result<A, Status>;

pub(crate) type Encode<B> = fn(&B, &FormatTerms) -> Result<Bytes, Status>;

pub(crate) type Append<B> = fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>;

/// Memory that any request may take in addition to its bytes. The actual memory is checked after decoding.
const MEMORY_LEAST: usize = 1024 * 1024;

/// Body length from which lists may take more memory than a client's minimum share.
pub(crate) const LARGE_BODY: usize = 16 * 1024;

/// A server's limits for messages in all formats.
#[derive(Debug, Default)]
pub struct FormatTerms {
    pub(crate) nesting: Nesting,
    /// The memory of the last decoded request.
    pub(crate) memory: AtomicUsize,
    /// Reduction of the memory limit for the next request.
    pub(crate) withheld: AtomicUsize,
    /// The types that an `Any` may hold in JSON. `None` if no service uses `Any`.
    #[cfg(feature = "json")]
    pub(crate) types: Option<Arc<frpc_json::Types>>,
}

impl FormatTerms {
    /// Returns the maximum nesting depth of requests.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Sets the memory that the decoded request takes in addition to its bytes, for example for its lists. It is
    /// charged to the caller.
    pub fn set_memory(&self, bytes: usize) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// Returns how much memory the next request may take in addition to its bytes.
    #[must_use]
    pub fn memory_max(&self) -> usize {
        CONTAINER_MEMORY_MAX.saturating_sub(self.withheld.load(Ordering::Relaxed))
    }

    /// Limits the memory of the next request to approximately the caller's share. Reserves twice as much during
    /// decoding, because requests are decoded on several threads and a growing list temporarily holds its elements
    /// twice.
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

    /// Decodes a request within the memory that the caller may use. The caller is charged for the request's lists until
    /// the charge is dropped.
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

    /// Takes the memory of the last request, as set by its decoder.
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
    /// Creates a format with this name, such as `json`. `decode` reads an untrusted request and must limit the
    /// message's memory, in proportion to its length, and its nesting depth. `encode` writes a response.
    pub const fn new(
        name: &'static str,
        decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>,
        encode: fn(&B, &FormatTerms) -> Result<Bytes, Status>,
    ) -> Self {
        let info = FormatInfo { name, positional: None, fields: &[], comment: "", schemas: &[] };
        Self { info, decode, encode, append: None, positional: None }
    }

    /// Adds a function that appends a response to existing bytes, which saves a copy. It must write nothing in case of
    /// an error.
    #[must_use]
    pub const fn appending(self, append: fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>) -> Self {
        Self { append: Some(append), ..self }
    }

    /// Adds a positional variant with its own name, whose requests have their fields in the order of declaration.
    #[must_use]
    pub const fn positional(self, name: &'static str, decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>) -> Self {
        let info = FormatInfo { positional: Some(name), ..self.info };
        Self { info, positional: Some(decode), ..self }
    }

    /// Sets the names of the request's fields in the format, in the order of declaration.
    #[must_use]
    pub const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { info: FormatInfo { fields, ..self.info }, ..self }
    }

    /// Sets the documentation of the method: its comment, and the schemas of its messages by full name. The schemas of
    /// the format `json` are JSON Schemas that refer to each other at `#/components/schemas/`.
    #[must_use]
    pub const fn described(self, comment: &'static str, schemas: &'static [(&'static str, &'static str)]) -> Self {
        Self { info: FormatInfo { comment, schemas, ..self.info }, ..self }
    }

    /// Returns the format with this name, or its positional variant.
    pub(crate) fn find(formats: &[Self], name: &str) -> Option<Self> {
        let found = *formats.iter().find(|format| format.info.has(name))?;
        Some(if found.info.name == name { found } else { Self { decode: found.positional?, ..found } })
    }
}

impl<A, B> Clone for Format<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Format<A, B> {}

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
        let acceptor = server.build().expect("settings should be valid");
        let stats = acceptor.stats();
        let (here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let _channel = Channel::connect_io(here).await.expect("connection in memory should be accepted");
        let connection = connections.recv().await.expect("channel should stay open");
        let terms = FormatTerms::default();
        let first = terms.reserve(Some(&connection));
        let room = terms.memory_max();
        assert!(room >= 8 * MIB && stats.charged_bytes() >= 2 * room, "{room} bytes, {} held", stats.charged_bytes());
        let second = terms.reserve(Some(&connection));
        assert!(terms.memory_max() < room, "another thread has the rest");
        drop((first, second));
        assert_eq!(stats.charged_bytes(), 0);
        assert!(terms.reserve(None).is_none() && terms.memory_max() == CONTAINER_MEMORY_MAX);

        // Streaming methods decode requests in the same way.
        let decode: Decode<usize> = |_, terms| {
            terms.set_memory(5 * MIB);
            Ok(terms.memory_max())
        };
        let body = Bytes::from(vec![0; LARGE_BODY]);
        let (most, charge) =
            terms.decode(decode, &body, Some(&connection)).expect("request should be decoded within the limit");
        assert!(
            most == room && (5 * MIB..6 * MIB).contains(&stats.charged_bytes()),
            "{most} bytes, {} held",
            stats.charged_bytes()
        );
        drop(charge);
        assert_eq!(stats.charged_bytes(), 0);
    }
}
