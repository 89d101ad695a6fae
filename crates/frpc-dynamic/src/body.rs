//! [`Body`]: a message for calls, encoded before the call is made and decoded after it.

use bytes::Bytes;
use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Form, Message, ProtobufCodec, Root};
use std::fmt;

/// A message in its encoded form, as a request or a reply of calls without generated code.
///
/// [`Codec::body`](crate::Codec::body) creates it from a message. A received body contains the unvalidated bytes of a
/// message; read it with [`Codec::decode`](crate::Codec::decode). Sending a received body does not convert it, so send
/// it only to native peers.
///
/// Bodies of calls to gRPC servers contain messages in protobuf's encoding: pass [`native`](Self::native) the bytes of
/// [`to_protobuf`](crate::to_protobuf), and decode replies with
/// [`DynamicMessage::decode`](crate::DynamicMessage::decode).
///
/// ```
/// use frpc_dynamic::Body;
/// use polyglot::{Decoder, Message, Root};
///
/// let Root::Message(body) = Body::decode_root(&mut Decoder::new(b"\x08\x00\x0c\x02"))? else { panic!("an error") };
/// assert_eq!(body.as_bytes()[..], b"\x08\x00\x0c\x02"[..]);
/// # Ok::<(), polyglot::DecodeError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// The message in the flat encoding. Empty if the message has only default values.
    flat: Bytes,
    extended: Bytes,
    is_lossy: bool,
}

impl Body {
    pub(crate) fn encoded(flat: Vec<u8>, extended: Vec<u8>, is_lossy: bool) -> Self {
        let extended = Bytes::from(extended);
        let flat = if flat == extended { extended.clone() } else { flat.into() };
        Self { flat, extended, is_lossy }
    }

    /// Creates a message from its encoding for a native peer, without validation. The form of a compat peer may differ.
    ///
    /// ```
    /// let body = frpc_dynamic::Body::native(&b"\x08\x00\x0c\x02"[..]);
    /// assert_eq!(body.as_bytes()[..], b"\x08\x00\x0c\x02"[..]);
    /// ```
    #[must_use]
    pub fn native(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { flat: bytes.clone(), extended: bytes, is_lossy: false }
    }

    /// Returns the message in the extended encoding. The result is empty if the message has only default values.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.extended
    }
}

impl Message for Body {
    const NAME: &'static str = "the message";
    const PROTOBUF: Option<ProtobufCodec<Self>> = Some(ProtobufCodec {
        encode: |body, out| out.extend_from_slice(&body.extended),
        decode: |bytes| Ok(Self::native(bytes)),
    });

    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let bytes = match to.form() {
            Form::Flat => {
                if self.is_lossy {
                    to.note_lost_presence();
                }
                &self.flat
            }
            Form::Extended => &self.extended,
        };
        if bytes.is_empty() {
            to.nil();
        } else {
            to.encoded(bytes);
        }
        Ok(())
    }

    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(match from.take_body()? {
            Root::Message(bytes) => Root::Message(Self::native(bytes)),
            Root::Error(text) => Root::Error(text),
        })
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("bytes", &self.extended.len()).finish_non_exhaustive()
    }
}
