//! Authentication of [frpc](https://docs.rs/frpc-rs) callers by JSON Web Tokens.
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
//! A token is accepted if all of the following hold:
//!
//! * It is signed by one of the keys, with the algorithm configured for that key. A token that states another algorithm
//!   is rejected.
//! * It is from the issuer, for the audience, and has a subject.
//! * It is valid at the current time and has an expiry.
//!
//! Tokens with missing or malformed claims are rejected. Tokens with critical header parameters (`crit`) are rejected
//! too, because none are supported.

mod claims;
mod keys;

pub use claims::Claims;
pub use jsonwebtoken::Algorithm;
pub use keys::{KeyError, Keys};

use crate::{Principal, Proof, TokenError, Tokens};
use jsonwebtoken::{Validation, decode, decode_header};
use parking_lot::RwLock;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Default allowed clock skew between token issuer and server. It suffices for clocks that are synchronized over the
/// network.
const LEEWAY: Duration = Duration::from_secs(30);

/// Verifier for the tokens of one issuer, for use with [`Access::tokens`](crate::Access::tokens). Clones share the
/// keys.
///
/// The [principal](Principal) of a token has the subject as its name, the [issuer](Proof::Token) as its proof, and the
/// strings of the claim `roles` as its roles. Handlers can access all [`Claims`]. The principal expires with the token.
#[derive(Clone, Debug)]
#[must_use]
pub struct Jwt {
    issuer: String,
    audience: String,
    leeway: Duration,
    roles: String,
    clock: fn() -> SystemTime,
    keys: Arc<Ring>,
}

/// The current verification keys and their generation, a number that changes when the keys are replaced.
#[derive(Debug)]
struct Ring {
    keys: RwLock<Arc<Keys>>,
    generation: AtomicU64,
}

impl Jwt {
    /// Creates a verifier for tokens with an `iss` claim equal to `issuer` and an `aud` claim that includes `audience`.
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

    /// Sets the allowed clock skew. Tokens are accepted this long before their start (`nbf`) and after their expiry
    /// (`exp`). Defaults to 30 s; zero allows no skew.
    pub fn leeway(self, leeway: Duration) -> Self {
        Self { leeway, ..self }
    }

    /// Sets the name of the claim that contains the caller's roles. The claim is a list of strings, or a single string
    /// separated by spaces like `scope`. Defaults to `roles`.
    pub fn roles_claim(self, name: impl Into<String>) -> Self {
        Self { roles: name.into(), ..self }
    }

    /// Sets the clock that token times are compared with, for use in tests. Defaults to the system clock.
    pub fn clock(self, clock: fn() -> SystemTime) -> Self {
        Self { clock, ..self }
    }

    /// Replaces the verification keys. Tokens that were accepted earlier are verified again at their next use, so
    /// removing a key takes effect immediately. Streams in progress continue until their token expires.
    pub fn reload(&self, keys: Keys) {
        *self.keys.keys.write() = Arc::new(keys);
        self.keys.generation.fetch_add(1, Ordering::Release);
    }
}

impl Tokens for Jwt {
    fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        let refused = |reason: &dyn fmt::Display| TokenError::Refused(reason.to_string());
        let header = decode_header(token).map_err(|error| refused(&error))?;
        // RFC 7515, section 4.1.11: a token with an unsupported critical parameter must be rejected. This verifier
        // supports none.
        if let Some(critical) = &header.crit {
            return Err(refused(&format_args!("unsupported critical header parameters: {critical:?}")));
        }
        let keys = self.keys.keys.read().clone();
        let key = keys.find(header.kid.as_deref()).ok_or_else(|| refused(&"unknown key id"))?;
        let mut validation = Validation::new(key.algorithm);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        // Disable both checks here, because expiry and start are checked below by the configured clock.
        (validation.validate_exp, validation.validate_nbf) = (false, false);
        let claims: Claims = decode(token, &key.key, &validation).map_err(|error| refused(&error))?.claims;
        // `validation` also accepts a list that contains the issuer.
        if claims.text("iss") != Some(self.issuer.as_str()) {
            return Err(refused(&"the issuer is not a string"));
        }
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

    fn generation(&self) -> u64 {
        self.keys.generation.load(Ordering::Acquire)
    }
}
