//! Metadata and extensions of a message. Metadata is sent, extensions are not.

use crate::api::metadata::Metadata;
use http::Extensions;
use std::fmt;
use std::sync::LazyLock;

/// The metadata of a message that has none.
static NONE: Metadata = Metadata::new();

static NO_EXTENSIONS: LazyLock<Extensions> = LazyLock::new(Extensions::new);

/// The metadata and extensions of a request or a reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Along {
    metadata: Metadata,
    extensions: Extensions,
}

#[cfg(test)]
impl PartialEq for Along {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.extensions.is_empty() && other.extensions.is_empty()
    }
}

impl Along {
    /// The part that is sent.
    pub(crate) fn sent(along: Option<&Self>) -> Option<&Metadata> {
        along.map(|along| &along.metadata)
    }

    pub(crate) fn metadata(along: Option<&Self>) -> &Metadata {
        along.map_or(&NONE, |along| &along.metadata)
    }

    pub(crate) fn metadata_mut(along: &mut Option<Box<Self>>) -> &mut Metadata {
        &mut along.get_or_insert_default().metadata
    }

    pub(crate) fn extensions(along: Option<&Self>) -> &Extensions {
        along.map_or(&NO_EXTENSIONS, |along| &along.extensions)
    }

    /// Adds what is not empty to `Debug` output.
    pub(crate) fn show(along: Option<&Self>, shown: &mut fmt::DebugStruct<'_, '_>) {
        let Some(Self { metadata, extensions }) = along else { return };
        if !metadata.is_empty() {
            shown.field("metadata", metadata);
        }
        if !extensions.is_empty() {
            shown.field("extensions", extensions);
        }
    }

    pub(crate) fn into_metadata(self) -> Metadata {
        self.metadata
    }

    pub(crate) fn extensions_mut(along: &mut Option<Box<Self>>) -> &mut Extensions {
        &mut along.get_or_insert_default().extensions
    }
}

/// The methods that give users the metadata and extensions of a type with a field `along`.
macro_rules! accessors {
    ([$($generic:ident)?] $type:ty, $metadata:literal, $sent:literal, $extensions:literal) => {
        impl$(<$generic>)? $type {
            #[doc = $metadata]
            pub fn metadata(&self) -> &$crate::Metadata {
                $crate::api::along::Along::metadata(self.along.as_deref())
            }

            #[doc = concat!("The metadata, to be changed. ", $sent)]
            pub fn metadata_mut(&mut self) -> &mut $crate::Metadata {
                $crate::api::along::Along::metadata_mut(&mut self.along)
            }

            #[doc = $extensions]
            pub fn extensions(&self) -> &$crate::Extensions {
                $crate::api::along::Along::extensions(self.along.as_deref())
            }

            /// The extensions, to be changed; see [`extensions`](Self::extensions).
            pub fn extensions_mut(&mut self) -> &mut $crate::Extensions {
                $crate::api::along::Along::extensions_mut(&mut self.along)
            }
        }
    };
}
pub(crate) use accessors;
