//! Other RPC systems and variants of frpc, as contestants of one comparison.

pub mod chart;
pub mod contest;
pub mod machine;
pub mod meter;
pub mod process;

pub use benches::{BoxError, background, cost, flows, load, proto, text};

/// The contestants.
pub mod rivals {
    pub use benches::rivals::{Client, Rival, Setup, Wait, outside, tonic};

    #[cfg(feature = "axum")]
    pub mod axum;
    #[cfg(feature = "gateways")]
    pub mod gateways;
    #[cfg(feature = "telemetry")]
    pub mod observed;
    #[cfg(feature = "one-host")]
    pub mod one_host;
    pub mod raw;
    pub mod raw_streams;
    pub mod router;
    #[cfg(feature = "tls")]
    mod secured;
    pub mod streams;
    #[cfg(feature = "tarpc")]
    pub mod tarpc;
    #[cfg(feature = "tls")]
    pub mod tls;
    #[cfg(feature = "volo")]
    pub mod volo;

    /// frpc itself.
    pub mod frpc {
        #[cfg(feature = "tls")]
        pub use super::secured::{SecuredPerCore, SecuredPlain, SecuredShares};
        pub use benches::rivals::frpc::*;
    }
}
