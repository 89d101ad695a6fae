//! Authentication of [frpc](https://docs.rs/frpc-rs) callers, by feature: `jwt` for JSON Web Tokens.

#[cfg(feature = "jwt")]
pub mod jwt;
