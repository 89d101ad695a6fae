//! Claims of a token: a JSON object signed by the issuer.

use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Claims of an accepted token. Handlers obtain them with `principal.get::<Claims>()`.
#[derive(Clone, PartialEq, Eq)]
pub struct Claims(Arc<Map<String, Value>>);

/// Validity period of a token, as durations since the Unix epoch.
pub(crate) struct TokenTimes {
    pub(crate) not_before: Duration,
    pub(crate) expires: Duration,
}

impl Claims {
    /// Returns the claim with this name, if the token has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns the claim with this name if the claim is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Returns the words in a claim, which is a list of strings or a single string separated by spaces.
    pub(crate) fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        let claim = self.get(name);
        let list = claim.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        list.chain(claim.and_then(Value::as_str).unwrap_or_default().split_ascii_whitespace())
    }

    /// Returns the validity period of the token, or `None` if the expiry is missing or a time is malformed.
    pub(crate) fn times(&self) -> Option<TokenTimes> {
        let time = |value: &Value| Duration::try_from_secs_f64(value.as_f64()?).ok();
        let not_before = self.get("nbf").map_or(Some(Duration::ZERO), time)?;
        Some(TokenTimes { not_before, expires: time(self.get("exp")?)? })
    }
}

impl<'de> serde::Deserialize<'de> for Claims {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|claims| Self(Arc::new(claims)))
    }
}

impl fmt::Debug for Claims {
    /// Formats the names of the claims without their values, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}
