//! Traits that no type implements. They bound methods that must not be called, so that the compiler error of a
//! mistaken call states the remedy.

/// Address of a server that has not been bound. No type implements this trait.
#[diagnostic::on_unimplemented(
    message = "a `ServerBuilder` must be bound before it serves",
    label = "pass this address to `bind`",
    note = "`.bind(address).await?.serve().await?`"
)]
pub trait UnboundAddress {}

/// TLS settings in a build without TLS. No type implements this trait.
#[cfg(not(feature = "tls"))]
#[diagnostic::on_unimplemented(
    message = "`tls` requires the feature `tls` of frpc",
    note = "in Cargo.toml: `frpc = {{ package = \"frpc-rs\", features = [\"tls\"] }}`"
)]
pub trait TlsFeature {}
