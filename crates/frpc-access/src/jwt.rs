//! Bearer tokens for [frpc](https://docs.rs/frpc-rs): JSON Web Tokens that say who calls.
//!
//! ```
//! use frpc_access::{Access, Who};
//! use frpc_access::jwt::{Algorithm, Jwt, Keys};
//!
//! # fn main() -> Result<(), frpc_access::jwt::KeyError> {
//! # let secret = [7; 32];
//! let keys = Keys::new().secret("2026", Algorithm::HS256, &secret)?;
//! let jwt = Jwt::new("https://issuer.example.org", "bank", keys);
//! let access = Access::new().tokens(jwt.clone()).allow(["bank.Bank/Pay"], Who::role("teller"));
//! // Later, when the issuer has new keys.
//! # let secret = [8; 32];
//! jwt.reload(Keys::new().secret("2027", Algorithm::HS256, &secret)?);
//! # Ok(())
//! # }
//! ```
//!
//! A token is accepted if it is signed by one of the keys with the algorithm that belongs to that key, not that of the
//! token itself, if it is from the issuer and for the audience, if its time has come and has not passed, and if it has
//! a subject. A token without one of these claims, or with a malformed one, is refused, and so is one with critical
//! header parameters (`crit`), since none is supported.

mod claims;
mod keys;

pub use claims::Claims;
pub use jsonwebtoken::Algorithm;
pub use keys::{KeyError, Keys};

use crate::{Principal, Proof};
use crate::{TokenError, Tokens};
use jsonwebtoken::{Validation, decode, decode_header};
use parking_lot::RwLock;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How far the clocks of issuer and server may be apart: what remains where they are set by the network.
const LEEWAY: Duration = Duration::from_secs(30);

/// Verifies the tokens of one issuer, for [`Access::tokens`](crate::Access::tokens). Clones share the keys.
///
/// The [principal](Principal) of a token has the subject as its name, the [issuer](Proof::Token) as its proof, the
/// strings in the claim `roles` as its roles, and all [`Claims`] as a value for handlers. It expires with the token.
#[derive(Clone)]
pub struct Jwt {
    issuer: String,
    audience: String,
    leeway: Duration,
    roles: String,
    clock: fn() -> SystemTime,
    keys: Arc<Ring>,
}

/// The keys of the present.
struct Ring {
    keys: RwLock<Arc<Keys>>,
    generation: AtomicU64,
}

impl Jwt {
    /// Accepts tokens of this issuer, the claim `iss`, for this audience, one of those in the claim `aud`.
    #[must_use]
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>, keys: Keys) -> Self {
        Self {
            issuer: issuer.into(),
            audience: audience.into(),
            leeway: LEEWAY,
            roles: "roles".to_owned(),
            clock: SystemTime::now,
            keys: Arc::new(Ring { keys: RwLock::new(Arc::new(keys)), generation: AtomicU64::new(0) }),
        }
    }

    /// Sets how far the clocks of issuer and server may be apart. A token is valid for so much longer, and earlier.
    /// Default: 30 s.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Sets the claim that holds the roles: a list of strings, or a string with spaces between them such as that of
    /// `scope`. Default: `roles`.
    #[must_use]
    pub fn roles_claim(mut self, name: impl Into<String>) -> Self {
        self.roles = name.into();
        self
    }

    /// Sets the clock for the times of tokens. Default: that of the system. For tests.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> SystemTime) -> Self {
        self.clock = clock;
        self
    }

    /// Uses these keys from now on, in place of those before. Accepted tokens are verified again at their next use, so
    /// that removed keys take effect at once; streams in progress continue until their token expires.
    pub fn reload(&self, keys: Keys) {
        *self.keys.keys.write() = Arc::new(keys);
        self.keys.generation.fetch_add(1, Ordering::Release);
    }

    fn principal(&self, token: &str) -> Result<Principal, TokenError> {
        let refused = |reason: &dyn fmt::Display| TokenError::Refused(reason.to_string());
        let header = decode_header(token).map_err(|error| refused(&error))?;
        // RFC 7515, section 4.1.11: a token with an extension that is not understood must be rejected. None is.
        if let Some(critical) = &header.crit {
            return Err(refused(&format_args!("unsupported critical header parameters: {critical:?}")));
        }
        let keys = self.keys.keys.read().clone();
        let key = keys.find(header.kid.as_deref()).ok_or_else(|| refused(&"unknown key id"))?;
        let mut validation = Validation::new(key.algorithm);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        // By the clock of this server, below.
        (validation.validate_exp, validation.validate_nbf) = (false, false);
        let claims: Claims = decode(token, &key.key, &validation).map_err(|error| refused(&error))?.claims;
        let now = (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let times = claims.times().ok_or_else(|| refused(&"malformed times"))?;
        if times.not_before > now.saturating_add(self.leeway) {
            return Err(refused(&"not valid yet"));
        }
        let left = times.expires.saturating_add(self.leeway).saturating_sub(now);
        if left.is_zero() {
            return Err(TokenError::Expired);
        }
        let subject = claims.text("sub").filter(|subject| !subject.is_empty());
        let subject = subject.ok_or_else(|| refused(&"malformed subject"))?;
        let principal = Principal::new(subject, Proof::Token { issuer: self.issuer.clone() }).expiring_in(left);
        let principal = claims.words(&self.roles).fold(principal, Principal::with_role);
        Ok(principal.with(claims))
    }
}

impl Tokens for Jwt {
    fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        self.principal(token)
    }

    fn generation(&self) -> u64 {
        self.keys.generation.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Jwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwt")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .field("keys", &self.keys.keys.read())
            .finish_non_exhaustive()
    }
}
