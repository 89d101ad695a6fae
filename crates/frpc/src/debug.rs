//! `Debug` for types with fields that do not implement it.

/// Implements `Debug` for a type by showing the listed fields followed by `..`. The generics of the type are given in
/// brackets.
macro_rules! opaque_debug {
    ([$($generics:tt)*] $type:ty, $name:literal $(, |$this:ident| $($field:ident = $value:expr),+)?) => {
        impl<$($generics)*> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $this = self;)?
                f.debug_struct($name)$($(.field(stringify!($field), &$value))+)?.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use opaque_debug;
