//! Message formats of a method, for callers that use other protocols.

use crate::Status;
use crate::wire::body::check_length;
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, MemoryCharge};
use polyglot::{CONTAINER_MEMORY_MAX, Nesting};
#[cfg(feature = "json")]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Message format of a method in addition to the native encoding, such as JSON. Created by generated code.
#[must_use]
pub struct Format<A, B> {
    pub(crate) info: FormatInfo,
    pub(crate) decode: Decode<A>,
    pub(crate) encode: Encode<B>,
    /// Function that appends an encoded response to a buffer. If it fails, the buffer must remain unchanged.
    pub(crate) append: Option<Append<B>>,
    /// Decoder of the positional variant, whose requests contain only the field values in the order of declaration.
    positional: Option<Decode<A>>,
}

/// The part of a message format that is independent of the message types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatInfo {
    pub(crate) name: &'static str,
    /// Name of the format's positional variant. Its requests contain only the field values, in the order of
    /// declaration.
    positional: Option<&'static str>,
    /// Names of the request's fields in this format, in the order of declaration.
    pub(crate) fields: &'static [&'static str],
    /// Comment of the method in the schema, for generated documentation.
    pub(crate) comment: &'static str,
    /// Schemas of the messages as text, each with the full name of the message.
    pub(crate) schemas: &'static [(&'static str, &'static str)],
}

impl FormatInfo {
    /// Returns whether `name` names this format or its positional variant.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.name == name || self.positional == Some(name)
    }
}

pub(crate) type Decode<A> = fn(&Bytes, &FormatOptions) -> Result<A, Status>;

pub(crate) type Encode<B> = fn(&B, &FormatOptions) -> Result<Bytes, Status>;

pub(crate) type Append<B> = fn(&B, &mut Vec<u8>, &FormatOptions) -> Result<(), Status>;

/// Memory in bytes that every decoded request may use in addition to its encoded length. The actual memory is checked
/// after decoding.
const MEMORY_LEAST: usize = 1024 * 1024;

/// Minimum length in bytes of a request body for which memory is reserved before decoding, because its lists may need
/// more memory than every client is guaranteed.
pub(crate) const LARGE_BODY: usize = 16 * 1024;

/// Limits that a server applies to decoded messages in every format.
#[derive(Debug)]
pub struct FormatOptions {
    pub(crate) nesting: Nesting,
    /// Maximum length of a request message in bytes.
    pub(crate) length_max: usize,
    /// Memory in bytes used by the last decoded request, as recorded by its decoder.
    pub(crate) memory: AtomicUsize,
    /// Reduction of the next request's memory limit in bytes.
    pub(crate) withheld: AtomicUsize,
    /// Message types that an `Any` may contain in JSON. `None` if no service uses `Any`.
    #[cfg(feature = "json")]
    pub(crate) types: Option<Arc<frpc_json::Types>>,
}

impl FormatOptions {
    /// Returns the maximum nesting depth of request messages.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Records the memory that a decoded request uses in addition to its encoded length, for example for its lists. The
    /// memory is charged to the caller.
    pub fn set_memory(&self, bytes: usize) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// Returns the maximum memory in bytes that the next request may use in addition to its encoded length.
    #[must_use]
    pub fn memory_max(&self) -> usize {
        CONTAINER_MEMORY_MAX.saturating_sub(self.withheld.load(Ordering::Relaxed))
    }

    /// Returns the status of a request that would use `memory` bytes when decoded, more than
    /// [`memory_max`](Self::memory_max). `message` is the name of its type. The request does not count as abuse if only
    /// a temporary shortage of memory excludes it.
    #[must_use]
    pub fn memory_exceeded(message: &str, memory: usize) -> Status {
        let status = Status::resource_exhausted(format!("the decoded {message} would exceed the memory limit"));
        if memory <= CONTAINER_MEMORY_MAX { status.overload() } else { status }
    }

    /// Limits the memory of the next request to about the share of its caller. Returns a charge of twice that amount,
    /// to be held during decoding: other threads may decode at the same time, and a growing list briefly occupies two
    /// allocations.
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

    /// Decodes a request within the memory limit of its caller. The memory of its lists is charged to the caller until
    /// the returned charge is dropped.
    pub(crate) fn decode<A>(
        &self,
        decode: Decode<A>,
        bytes: &Bytes,
        caller: Option<&Connection>,
    ) -> Result<(A, Option<MemoryCharge>), Status> {
        check_length(bytes.len(), self.length_max)?;
        let reserved = self.reserve(caller.filter(|_| bytes.len() >= LARGE_BODY));
        let message = decode(bytes, self)?;
        let memory = self.take_memory();
        let charge = caller.filter(|_| memory >= LARGE_BODY).map(|caller| caller.charge_request(memory));
        drop(reserved);
        Ok((message, charge))
    }

    /// Returns a copy of these options with another maximum length of messages.
    pub(crate) fn with_length_max(&self, length_max: usize) -> Self {
        Self { length_max, ..self.clone() }
    }

    /// Returns the memory that the decoder of the last request recorded, and resets it.
    pub(crate) fn take_memory(&self) -> usize {
        self.memory.swap(0, Ordering::Relaxed)
    }
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self {
            nesting: Nesting::default(),
            length_max: usize::MAX,
            memory: AtomicUsize::new(0),
            withheld: AtomicUsize::new(0),
            #[cfg(feature = "json")]
            types: None,
        }
    }
}

impl Clone for FormatOptions {
    fn clone(&self) -> Self {
        Self {
            nesting: self.nesting,
            length_max: self.length_max,
            #[cfg(feature = "json")]
            types: self.types.clone(),
            ..Self::default()
        }
    }
}

impl<A, B> Format<A, B> {
    /// Creates a message format with this name, such as `json`. `decode` decodes an untrusted request. It must limit
    /// the nesting depth, and limit the memory in proportion to the length of the request. `encode` encodes a response.
    pub const fn new(
        name: &'static str,
        decode: fn(&Bytes, &FormatOptions) -> Result<A, Status>,
        encode: fn(&B, &FormatOptions) -> Result<Bytes, Status>,
    ) -> Self {
        let info = FormatInfo { name, positional: None, fields: &[], comment: "", schemas: &[] };
        Self { info, decode, encode, append: None, positional: None }
    }

    /// Sets a function that appends an encoded response to a buffer, which saves a copy. If the function fails, it must
    /// not have appended anything.
    pub const fn appending(self, append: fn(&B, &mut Vec<u8>, &FormatOptions) -> Result<(), Status>) -> Self {
        Self { append: Some(append), ..self }
    }

    /// Adds a positional variant with the given name. Its requests contain only the field values, in the order of
    /// declaration.
    pub const fn positional(self, name: &'static str, decode: fn(&Bytes, &FormatOptions) -> Result<A, Status>) -> Self {
        let info = FormatInfo { positional: Some(name), ..self.info };
        Self { info, positional: Some(decode), ..self }
    }

    /// Sets the names of the request's fields in this format, in the order of declaration, such as `userId` in JSON.
    /// Names in the format `json` must already be escaped for use in a JSON string.
    pub const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { info: FormatInfo { fields, ..self.info }, ..self }
    }

    /// Sets the documentation of the method: its comment, and the schemas of its messages with their full names. The
    /// schemas of the format `json` are JSON Schemas that refer to each other at `#/components/schemas/`.
    pub const fn described(self, comment: &'static str, schemas: &'static [(&'static str, &'static str)]) -> Self {
        Self { info: FormatInfo { comment, schemas, ..self.info }, ..self }
    }

    /// Returns the format with this name, or with a positional variant of this name.
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

    #[test]
    fn only_temporary_memory_limit_is_overload() {
        let is_overload = |memory| FormatOptions::memory_exceeded("a.B", memory).is_overload();
        assert!(is_overload(CONTAINER_MEMORY_MAX) && !is_overload(CONTAINER_MEMORY_MAX + 1));
    }

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
        let options = FormatOptions::default();
        let first = options.reserve(Some(&connection));
        let room = options.memory_max();
        assert!(
            room >= 8 * MIB && stats.charged_bytes() >= 2 * room,
            "{room} bytes are available, with {} held",
            stats.charged_bytes()
        );
        let second = options.reserve(Some(&connection));
        assert!(options.memory_max() < room, "memory that another thread holds should not be available");
        drop((first, second));
        assert_eq!(stats.charged_bytes(), 0);
        assert!(options.reserve(None).is_none() && options.memory_max() == CONTAINER_MEMORY_MAX);

        // Streaming methods decode their requests in the same way.
        let decode: Decode<usize> = |_, options| {
            options.set_memory(5 * MIB);
            Ok(options.memory_max())
        };
        let body = Bytes::from(vec![0; LARGE_BODY]);
        let (most, charge) =
            options.decode(decode, &body, Some(&connection)).expect("request should be within the memory limit");
        assert!(
            most == room && (5 * MIB..6 * MIB).contains(&stats.charged_bytes()),
            "{most} bytes are available, with {} held",
            stats.charged_bytes()
        );
        drop(charge);
        assert_eq!(stats.charged_bytes(), 0);
    }
}
