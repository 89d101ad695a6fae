//! Other RPC systems and variants of frpc, as contestants of one comparison.

pub mod contest;
pub mod meter;
pub mod process;

pub use benches::{BoxError, background, cost, flows, load, proto, text};

/// The contestants.
pub mod rivals {
    pub use benches::rivals::{Client, Rival, Setup, outside, tonic};

    pub mod axum;
    pub mod doors;
    pub mod observed;
    pub mod one_host;
    pub mod raw;
    pub mod router;
    mod secured;
    pub mod streams;
    pub mod tarpc;
    pub mod tls;
    pub mod volo;

    /// Ourselves.
    pub mod frpc {
        pub use super::secured::{SecuredPerCore, SecuredPlain, SecuredShares};
        pub use benches::rivals::frpc::*;
    }
}
