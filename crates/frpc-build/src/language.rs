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
    /// One module for each package, which imports the Python package `frisbee-rpc`: dataclasses with slots for messages,
    /// enums, and for each service a client that blocks, one for asyncio, and a class that servers derive from. All of it
    /// is typed. Needs [`Codec::Polyglot`](crate::Codec::Polyglot).
    ///
    /// `Outer.Inner` is `Outer_Inner`, the method `GetUser` is `get_user`, the package `shop.orders` is `shop_orders.py`,
    /// and a name that is a word of the language gets a `_` at its end. Modules that need others import them from the same
    /// package of Python.
    Python,
}
