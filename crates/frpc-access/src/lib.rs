//! Access rules for [frpc](https://docs.rs/frpc-rs): [`Access`] admits callers by method, and limits their rates. Callers
//! are known by users of this machine, by bearer tokens, and by feature: `tls` for certificates, `jwt` for JSON Web Tokens.
//!
//! # Decisions
//!
//! A set of rules never changes: each method of a builder makes a new set, without verdicts. So no cached verdict outlives
//! its rules, keys or limits.
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

/// The runtime's clock, which tests may stop.
fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(all(test, feature = "jwt"))]
mod tests;
