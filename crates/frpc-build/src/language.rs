//! The language of generated code.

/// The language of the generated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// One file for each package, for `frpc::include_proto!`.
    #[default]
    Rust,
    /// One module for each package, which imports the npm package `frisbee-rpc`: interfaces and tables for messages,
    /// constants for enums, and a client class for each service. Needs [`Codec::Polyglot`](crate::Codec::Polyglot).
    ///
    /// Names become those of TypeScript: `user_id` is `userId`, `Outer.Inner` is `Outer_Inner`, and a name that is a
    /// word of the language gets a `$` at its end.
    TypeScript,
}
