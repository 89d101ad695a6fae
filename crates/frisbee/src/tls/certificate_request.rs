//! Detects whether a server requests a client certificate. rustls reports this only to the certificate resolver. All
//! connections with the same settings share the resolver, because otherwise no session would be resumed.

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

thread_local! {
    /// Whether the server has requested a client certificate in the handshake that this thread is performing.
    static IS_REQUESTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns a copy of the settings with a certificate resolver that reports requests for a client certificate to
/// [`with_use_recorded`].
pub(super) fn noting(config: Arc<ClientConfig>) -> Arc<ClientConfig> {
    let mut config = Arc::unwrap_or_clone(config);
    config.client_auth_cert_resolver = Arc::new(UseRecorder(config.client_auth_cert_resolver));
    Arc::new(config)
}

/// Runs a TLS handshake. Returns its result, and whether the server has requested a client certificate.
pub(super) async fn with_use_recorded<F: Future>(handshake: F) -> (F::Output, bool) {
    let mut handshake = pin!(handshake);
    let mut is_requested = false;
    let done = poll_fn(|context| {
        // Save the flag, because the transport below may itself be performing a TLS handshake.
        let of_others = IS_REQUESTED.replace(false);
        let polled = handshake.as_mut().poll(context);
        is_requested |= IS_REQUESTED.replace(of_others);
        polled
    });
    let done = done.await;
    (done, is_requested)
}

/// A client certificate resolver that records whether it was used.
#[derive(Debug)]
struct UseRecorder(Arc<dyn ResolvesClientCert>);

impl ResolvesClientCert for UseRecorder {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        IS_REQUESTED.set(true);
        self.0.resolve(issuers, schemes)
    }

    fn only_raw_public_keys(&self) -> bool {
        self.0.only_raw_public_keys()
    }

    fn has_certs(&self) -> bool {
        self.0.has_certs()
    }
}
