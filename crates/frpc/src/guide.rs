//! The guide: one page per topic, from the first service to operating servers in production.
//!
//! The examples use the schema of the example `quickstart`, a calculator with a method of each kind:
//!
//! ```proto
//! service Calculator {
//!   rpc Add(Terms) returns (Number);
//!   rpc CountUp(Range) returns (stream Number);
//!   rpc SumUp(stream Number) returns (Sum);
//!   rpc RunningSum(stream Number) returns (stream Number);
//! }
//! ```
//!
//! Start with [`services`]. [`streams`], [`errors`] and [`deadlines`] explain calls. [`middleware`] describes code
//! around calls, [`tls`] and [`hand_off`] are about connections, and [`operations`] is about running servers in
//! production.

#[doc = include_str!("guide/services.md")]
pub mod services {}

#[doc = include_str!("guide/streams.md")]
pub mod streams {}

#[doc = include_str!("guide/errors.md")]
pub mod errors {}

#[doc = include_str!("guide/deadlines.md")]
pub mod deadlines {}

#[doc = include_str!("guide/middleware.md")]
pub mod middleware {}

pub mod tls {
    //! Encrypted connections with server certificates and optional client certificates. Requires the feature `tls`.
    //!
    #![cfg_attr(feature = "tls", doc = "```no_run")]
    #![cfg_attr(not(feature = "tls"), doc = "```text")]
    //! use frpc::tls::{Authorities, ClientTls, Identity, ServerTls};
    //! use frpc::{Channel, Server};
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let identity = Identity::from_pem(&std::fs::read("server.pem")?, &std::fs::read("server.key")?)?;
    //! let server = Server::builder().tls(ServerTls::new(identity)?).bind("0.0.0.0:8443").await?;
    //!
    //! let trusted = Authorities::from_pem(&std::fs::read("authority.pem")?)?;
    //! let channel = Channel::builder().tls(ClientTls::new(trusted)?).connect("service.example:8443").await?;
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * `ServerTls::mutual` requires clients to present a certificate. `ClientTls::with_identity` sets the certificate
    //!   that a client presents.
    //! * `reload` replaces the certificate for new connections. Open connections are not affected.
    //! * The certificate of the server must be valid for the host of the address, or for the name in `server_name`.
}

#[doc = include_str!("guide/hand_off.md")]
pub mod hand_off {}

#[doc = include_str!("guide/operations.md")]
pub mod operations {}
