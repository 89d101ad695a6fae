//! Message formats of a method for callers that use other protocols.

use crate::Status;
use bytes::Bytes;
use frisbee::{Connection, MemoryCharge};
use polyglot::{CONTAINER_MEMORY_MAX, Nesting};
#[cfg(feature = "json")]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A format of a method's messages other than the native encoding. Created by generated code.
pub struct Format<A, B> {
    pub(crate) info: FormatInfo,
    pub(crate) decode: Decode<A>,
    pub(crate) encode: Encode<B>,
    /// Like `encode`, but appends to a buffer. Must append nothing if it fails.
    pub(crate) append: Option<Append<B>>,
    /// Like `decode`, for requests that are encoded without field names, in the order of declaration.
    positional: Option<Decode<A>>,
}

/// The part of a format that does not depend on the message types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatInfo {
    pub(crate) name: &'static str,
    /// Name of the format's positional variant, in which requests contain their fields in the order of declaration,
    /// without names.
    positional: Option<&'static str>,
    /// Names of the fields of a request in this format, in the order of declaration.
    pub(crate) fields: &'static [&'static str],
    /// Comment of the method, for use in generated documentation.
    pub(crate) comment: &'static str,
    /// Schemas of the messages as text, with the full names of the messages.
    pub(crate) schemas: &'static [(&'static str, &'static str)],
}

impl FormatInfo {
    /// Returns whether `name` is the name of this format or of its positional variant.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.name == name || self.positional == Some(name)
    }
}

pub(crate) type Decode<A> = fn(&Bytes, &FormatTerms) -> Result<A, Status>;

pub(crate) type Encode<B> = fn(&B, &FormatTerms) -> Result<Bytes, Status>;

pub(crate) type Append<B> = fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>;

/// Memory in bytes that every request may take in addition to its length. The actual memory is checked after decoding.
const MEMORY_LEAST: usize = 1024 * 1024;

/// Length of a body in bytes above which its decoded lists may take more memory than every client is guaranteed.
pub(crate) const LARGE_BODY: usize = 16 * 1024;

/// Limits that a server applies to decoded messages, regardless of their format.
#[derive(Debug, Default)]
pub struct FormatTerms {
    pub(crate) nesting: Nesting,
    /// Memory in bytes that the last decoded request takes, as recorded by its decoder.
    pub(crate) memory: AtomicUsize,
    /// Amount in bytes by which the memory limit of the next request is reduced.
    pub(crate) withheld: AtomicUsize,
    /// Types that an `Any` may contain in JSON. `None` if no service uses `Any`.
    #[cfg(feature = "json")]
    pub(crate) types: Option<Arc<frpc_json::Types>>,
}

impl FormatTerms {
    /// Returns the maximum nesting depth of requests.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Records the memory that a decoded request takes in addition to its length, for example for its lists. It is
    /// charged to the caller.
    pub fn set_memory(&self, bytes: usize) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// Returns the maximum memory that the next request may take in addition to its length.
    #[must_use]
    pub fn memory_max(&self) -> usize {
        CONTAINER_MEMORY_MAX.saturating_sub(self.withheld.load(Ordering::Relaxed))
    }

    /// Limits the memory of the next request to about the share of the caller. Reserves twice that while it is decoded,
    /// because several threads may decode requests at the same time, and a growing list briefly needs memory for its
    /// elements twice.
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

    /// Decodes a request within the memory limit of the caller. Charges the memory of its lists to the caller until the
    /// returned charge is dropped.
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

    /// Returns the memory of the last request, as recorded by its decoder, and resets it.
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
    /// Creates a format with this name, such as `json`. `decode` decodes an untrusted request; it must limit the
    /// nesting depth, and the memory in proportion to the length. `encode` encodes a response.
    pub const fn new(
        name: &'static str,
        decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>,
        encode: fn(&B, &FormatTerms) -> Result<Bytes, Status>,
    ) -> Self {
        let info = FormatInfo { name, positional: None, fields: &[], comment: "", schemas: &[] };
        Self { info, decode, encode, append: None, positional: None }
    }

    /// Adds a function that appends an encoded response to a buffer, which saves a copy. It must append nothing if it
    /// fails.
    #[must_use]
    pub const fn appending(self, append: fn(&B, &mut Vec<u8>, &FormatTerms) -> Result<(), Status>) -> Self {
        Self { append: Some(append), ..self }
    }

    /// Adds a positional variant with its own name, whose requests contain their fields in the order of declaration.
    #[must_use]
    pub const fn positional(self, name: &'static str, decode: fn(&Bytes, &FormatTerms) -> Result<A, Status>) -> Self {
        let info = FormatInfo { positional: Some(name), ..self.info };
        Self { info, positional: Some(decode), ..self }
    }

    /// Sets the names that the fields of a request have in this format, in the order of declaration.
    #[must_use]
    pub const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { info: FormatInfo { fields, ..self.info }, ..self }
    }

    /// Sets the documentation of the method, which consists of its comment and the schemas of its messages with their
    /// full names. The schemas of the format `json` are JSON Schemas that refer to each other at
    /// `#/components/schemas/`.
    #[must_use]
    pub const fn described(self, comment: &'static str, schemas: &'static [(&'static str, &'static str)]) -> Self {
        Self { info: FormatInfo { comment, schemas, ..self.info }, ..self }
    }

    /// Returns the format with this name, or the format whose positional variant has this name.
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
        let acceptor = server.build().expect("server without services should be built");
        let stats = acceptor.stats();
        let (here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let _channel = Channel::connect_io(here).await.expect("in-memory connection should be accepted");
        let connection = connections.recv().await.expect("server should report the connection");
        let terms = FormatTerms::default();
        let first = terms.reserve(Some(&connection));
        let room = terms.memory_max();
        assert!(room >= 8 * MIB && stats.charged_bytes() >= 2 * room, "{room} bytes, {} held", stats.charged_bytes());
        let second = terms.reserve(Some(&connection));
        assert!(terms.memory_max() < room, "another thread has the rest");
        drop((first, second));
        assert_eq!(stats.charged_bytes(), 0);
        assert!(terms.reserve(None).is_none() && terms.memory_max() == CONTAINER_MEMORY_MAX);

        // Streaming methods decode their requests in the same way.
        let decode: Decode<usize> = |_, terms| {
            terms.set_memory(5 * MIB);
            Ok(terms.memory_max())
        };
        let body = Bytes::from(vec![0; LARGE_BODY]);
        let (most, charge) =
            terms.decode(decode, &body, Some(&connection)).expect("request should be within the memory limit");
        assert!(
            most == room && (5 * MIB..6 * MIB).contains(&stats.charged_bytes()),
            "{most} bytes, {} held",
            stats.charged_bytes()
        );
        drop(charge);
        assert_eq!(stats.charged_bytes(), 0);
    }
}
