//! Access rules for [frpc](https://docs.rs/frpc-rs).
//!
//! [`Access`] authorizes callers by method and limits their rates. Callers are authenticated as local Unix users, by
//! bearer tokens, by certificates (feature `tls`) or by JSON Web Tokens (feature `jwt`).
//!
//! # Decisions
//!
//! A rule set is immutable: each builder method creates a new set with an empty cache. A cached verdict thus cannot
//! outlive the rules, keys or limits that it was derived from.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
extern crate self as frpc_access;

#[cfg(feature = "jwt")]
pub mod jwt;
mod principal;
mod rules;

pub use principal::{CertificateNames, Principal, Proof};
pub use rules::Access;
pub use rules::limits::Rate;
pub use rules::tokens::{TokenError, Tokens};
#[cfg(feature = "pubsub")]
pub use rules::topics::TopicRules;
pub use rules::who::Who;

/// Returns the current time of the runtime's clock, which tests can pause.
fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(all(test, feature = "jwt"))]
mod tests;
