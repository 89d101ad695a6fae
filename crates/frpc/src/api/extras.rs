//! Metadata and extensions of a message. Metadata is sent to the peer; extensions are local.

mod spare;

use crate::api::metadata::Metadata;
use http::Extensions;
use std::fmt;
use std::sync::LazyLock;

/// Empty metadata, returned by reference for messages without metadata.
static NONE: Metadata = Metadata::new();

static NO_EXTENSIONS: LazyLock<Extensions> = LazyLock::new(Extensions::new);

/// The metadata and extensions of a request or response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras {
    metadata: Metadata,
    extensions: Extensions,
}

#[cfg(test)]
impl PartialEq for Extras {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.extensions.is_empty() && other.extensions.is_empty()
    }
}

impl Extras {
    /// Returns the metadata, which is the only part that is sent to the peer.
    pub(crate) fn sent(extras: Option<&Self>) -> Option<&Metadata> {
        extras.map(|extras| &extras.metadata)
    }

    pub(crate) fn metadata(extras: Option<&Self>) -> &Metadata {
        extras.map_or(&NONE, |extras| &extras.metadata)
    }

    #[inline(always)]
    pub(crate) fn metadata_mut(extras: &mut OptionalExtras) -> &mut Metadata {
        &mut extras.present().metadata
    }

    pub(crate) fn extensions(extras: Option<&Self>) -> &Extensions {
        extras.map_or(&NO_EXTENSIONS, |extras| &extras.extensions)
    }

    /// Adds the metadata and extensions to `Debug` output, omitting empty ones.
    pub(crate) fn show(extras: Option<&Self>, shown: &mut fmt::DebugStruct<'_, '_>) {
        let Some(Self { metadata, extensions }) = extras else { return };
        if !metadata.is_empty() {
            shown.field("metadata", metadata);
        }
        if !extensions.is_empty() {
            shown.field("extensions", extensions);
        }
    }

    pub(crate) fn extensions_mut(extras: &mut OptionalExtras) -> &mut Extensions {
        &mut extras.present().extensions
    }

    /// Clears the metadata and extensions before the box is reused.
    fn clear(&mut self) {
        self.metadata.clear();
        self.extensions.clear();
    }
}

/// Metadata and extensions of a message, allocated only if there are any. This type has its own `Drop` implementation,
/// because for a plain `Option`, the compiler emits drop code wherever a message is moved.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct OptionalExtras(Option<Box<Extras>>);

impl OptionalExtras {
    pub(crate) fn as_deref(&self) -> Option<&Extras> {
        self.0.as_deref()
    }

    /// Returns the metadata and extensions, allocating them if necessary. `Option::get_or_insert_with` is avoided,
    /// because the compiler does not inline it.
    #[inline(always)]
    fn present(&mut self) -> &mut Extras {
        match &mut self.0 {
            Some(extras) => extras,
            slot => slot.insert(spare::take()),
        }
    }

    /// Takes the metadata and extensions, leaving none.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Returns the metadata and discards the extensions.
    pub(crate) fn into_metadata(mut self) -> Option<Metadata> {
        self.0.take().map(|extras| extras.metadata)
    }
}

impl Drop for OptionalExtras {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(extras) = self.0.take() {
            spare::recycle(extras);
        }
    }
}

/// Defines the accessors for the metadata and extensions of a type. `$example` is the type used in doc examples.
macro_rules! accessors {
    (
        [$($generic:ident)?] $type:ty, $($field:ident).+, $example:literal,
        $metadata:literal, $sent:literal, $extensions:literal
    ) => {
        impl$(<$generic>)? $type {
            #[doc = $metadata]
            #[doc = concat!("\n```\n# fn example(of: ", $example, ") {")]
            /// let tenant = of.metadata().get("tenant");
            /// # let _ = tenant;
            /// # }
            /// ```
            pub fn metadata(&self) -> &$crate::Metadata {
                $crate::api::extras::Extras::metadata(self.$($field).+.as_deref())
            }

            #[doc = concat!("Returns the metadata for modification. ", $sent)]
            #[doc = concat!("\n```\n# fn example(mut of: ", $example, ") -> Result<(), frpc::MetadataError> {")]
            /// of.metadata_mut().insert("tenant", "blue")?;
            /// # Ok(())
            /// # }
            /// ```
            pub fn metadata_mut(&mut self) -> &mut $crate::Metadata {
                $crate::api::extras::Extras::metadata_mut(&mut self.$($field).+)
            }

            #[doc = $extensions]
            #[doc = concat!("\n```\n# fn example(of: ", $example, ") {")]
            /// let user: Option<&u64> = of.extensions().get();
            /// # let _ = user;
            /// # }
            /// ```
            pub fn extensions(&self) -> &$crate::Extensions {
                $crate::api::extras::Extras::extensions(self.$($field).+.as_deref())
            }

            /// Returns the extensions for modification; see [`extensions`](Self::extensions).
            #[doc = concat!("\n```\n# fn example(mut of: ", $example, ") {")]
            /// of.extensions_mut().insert(42_u64);
            /// # }
            /// ```
            pub fn extensions_mut(&mut self) -> &mut $crate::Extensions {
                $crate::api::extras::Extras::extensions_mut(&mut self.$($field).+)
            }
        }
    };
}
pub(crate) use accessors;
