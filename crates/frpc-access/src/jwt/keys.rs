//! Keys that verify tokens, each for a single algorithm.

use jsonwebtoken::crypto::aws_lc;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

/// Minimum length of a shared secret in bytes, equal to the length of the shortest MAC. A shorter secret would be
/// easier to guess than the MAC.
const SECRET_MIN: usize = 32;

/// Verification keys of a token issuer.
///
/// Each key has one algorithm and an id, which tokens state as `kid`. A token that states another algorithm is
/// rejected, so that a public key is never used as a secret. A token without a `kid` is accepted if there is only one
/// key.
#[derive(Default)]
pub struct Keys(HashMap<String, Key>);

pub(crate) struct Key {
    pub(crate) algorithm: Algorithm,
    pub(crate) key: DecodingKey,
}

/// Error returned when an invalid key is added to [`Keys`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyError(String);

impl Keys {
    /// Creates an empty set of verification keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a public key in PEM format. The algorithm determines the type of the key: RSA, elliptic curve or Ed25519.
    ///
    /// # Errors
    /// If the key is invalid or of another type, or the `kid` is already in use.
    pub fn pem(self, kid: &str, algorithm: Algorithm, pem: impl AsRef<[u8]>) -> Result<Self, KeyError> {
        let pem = pem.as_ref();
        let key = match algorithm.family() {
            AlgorithmFamily::Rsa => DecodingKey::from_rsa_pem(pem),
            AlgorithmFamily::Ec => DecodingKey::from_ec_pem(pem),
            AlgorithmFamily::Ed => DecodingKey::from_ed_pem(pem),
            _ => return Err(KeyError(format!("{algorithm:?} needs a secret, not a public key"))),
        };
        let key = key.map_err(|error| KeyError(format!("no key for {algorithm:?} in PEM: {error}")))?;
        self.with(kid, algorithm, key)
    }

    /// Adds a secret shared with the token issuer, for HS256, HS384 or HS512. Anyone who knows the secret can issue
    /// tokens.
    ///
    /// # Errors
    /// If the secret is shorter than 32 bytes, the algorithm requires a public key, or the `kid` is already in use.
    pub fn secret(self, kid: &str, algorithm: Algorithm, secret: impl AsRef<[u8]>) -> Result<Self, KeyError> {
        let secret = secret.as_ref();
        if algorithm.family() != AlgorithmFamily::Hmac {
            return Err(KeyError(format!("{algorithm:?} needs a public key, not a secret")));
        }
        if secret.len() < SECRET_MIN {
            return Err(KeyError(format!("a secret of {} bytes is shorter than {SECRET_MIN}", secret.len())));
        }
        self.with(kid, algorithm, DecodingKey::from_secret(secret))
    }

    /// Parses the public keys of a JSON Web Key Set (JWKS), the format that issuers publish them in. The caller fetches
    /// the set.
    ///
    /// Encryption keys, keys without a `kid`, malformed keys and keys of unknown types are ignored, as RFC 7517,
    /// section 5, requires. Secrets are ignored because they must not be published.
    ///
    /// # Errors
    /// If the set is malformed or has no usable key, or if two keys have the same `kid`.
    pub fn from_jwks(set: impl AsRef<[u8]>) -> Result<Self, KeyError> {
        let set: Value =
            serde_json::from_slice(set.as_ref()).map_err(|error| KeyError(format!("invalid JWKS: {error}")))?;
        let Some(keys) = set.get("keys").and_then(Value::as_array) else {
            return Err(KeyError("invalid JWKS: it has no list `keys`".to_owned()));
        };
        let keys = keys.iter().filter_map(|key| Jwk::deserialize(key).ok());
        let mut keys = keys.filter_map(|jwk| public_key(&jwk).zip(jwk.common.key_id));
        let keys = keys.try_fold(Self::new(), |keys, ((algorithm, key), kid)| keys.with(&kid, algorithm, key))?;
        if keys.0.is_empty() { Err(KeyError("the set has no key that serves here".to_owned())) } else { Ok(keys) }
    }

    fn with(mut self, kid: &str, algorithm: Algorithm, key: DecodingKey) -> Result<Self, KeyError> {
        // The crypto provider is process-wide. Ignore the error, because a provider that was installed earlier is used
        // instead.
        let _ = aws_lc::DEFAULT_PROVIDER.install_default();
        match self.0.entry(kid.to_owned()) {
            Entry::Occupied(_) => Err(KeyError(format!("two keys have the kid {kid:?}; give each its own"))),
            Entry::Vacant(entry) => {
                entry.insert(Key { algorithm, key });
                Ok(self)
            }
        }
    }

    /// Returns the key with the id `kid` from a token's header. Without an id, returns the only key of the set.
    pub(crate) fn find(&self, kid: Option<&str>) -> Option<&Key> {
        match kid {
            Some(kid) => self.0.get(kid),
            None => self.0.values().next().filter(|_| self.0.len() == 1),
        }
    }
}

/// Converts a key of a JWK set to a public key with its algorithm. Returns `None` if the key cannot verify signatures.
fn public_key(jwk: &Jwk) -> Option<(Algorithm, DecodingKey)> {
    if jwk.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    // RFC 7517, section 4.3: `key_ops` states what the key may be used for, as an alternative to `use`.
    if jwk.common.key_operations.as_ref().is_some_and(|operations| !operations.contains(&KeyOperations::Verify)) {
        return None;
    }
    let usual = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P384 => Algorithm::ES384,
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => return None,
    };
    let stated = |stated: KeyAlgorithm| Algorithm::from_str(&stated.to_string()).ok();
    let algorithm = jwk.common.key_algorithm.map_or(Some(usual), stated)?;
    let key = DecodingKey::from_jwk(jwk).ok()?;
    (algorithm.family() == usual.family()).then_some((algorithm, key))
}

impl fmt::Debug for Keys {
    /// Formats the ids and algorithms of the keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(kid, key)| (kid, key.algorithm))).finish()
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for KeyError {}
