//! [`Body`]: the encoded bytes of a message.

use bytes::Bytes;
use std::fmt;
use std::ops::Deref;

/// Maximum length in bytes of a body that is stored inline. Moving such a body takes a few instructions, an allocation
/// more than a hundred.
const INLINE_MAX: usize = 62;

/// Encoded bytes of a message. Short ones are stored inline, which saves an allocation.
#[derive(Clone)]
pub(crate) enum Body {
    Inline { len: u8, bytes: [u8; INLINE_MAX] },
    Shared(Bytes),
}

impl Body {
    /// Copies the encoded bytes of a message.
    pub(crate) fn copy(from: &[u8]) -> Self {
        match Self::copy_short(from) {
            Some(body) => body,
            None => Self::Shared(Bytes::copy_from_slice(from)),
        }
    }

    /// Copies bytes into an inline body. Returns `None` if they are too long.
    pub(crate) fn copy_short(from: &[u8]) -> Option<Self> {
        let mut bytes = [0; INLINE_MAX];
        bytes.get_mut(..from.len())?.copy_from_slice(from);
        Some(Self::Inline { len: u8::try_from(from.len()).ok()?, bytes })
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Inline { .. } => Bytes::copy_from_slice(&self),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Inline { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Inline { len: 0, bytes: [0; INLINE_MAX] }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("bytes", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_of_each_length_keeps_its_bytes() {
        for len in [0, 1, INLINE_MAX, INLINE_MAX + 1, 255, 256, 70_000] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let body = Body::copy(&bytes);
            assert_eq!(*body, *bytes);
            assert_eq!(matches!(body, Body::Inline { .. }), len <= INLINE_MAX);
            assert_eq!(body.into_bytes(), bytes);
            assert_eq!(*Body::from(Bytes::from(bytes.clone())), *bytes);
        }
        assert!(Body::default().is_empty());
    }
}
