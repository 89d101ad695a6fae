//! The claims of a token: JSON that an issuer has signed.

use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The claims of a token that was accepted, for handlers: `principal.get::<Claims>()`.
#[derive(Clone, PartialEq, Eq)]
pub struct Claims(Arc<Map<String, Value>>);

/// The times of a token, since the beginning of 1970.
pub(crate) struct TokenTimes {
    pub(crate) not_before: Duration,
    pub(crate) expires: Duration,
}

impl Claims {
    /// A claim by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A claim that is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The strings of a claim: of a list, or between the spaces of one string.
    pub(crate) fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        let claim = self.get(name);
        let list = claim.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        list.chain(claim.and_then(Value::as_str).unwrap_or_default().split_ascii_whitespace())
    }

    /// `None` if there is no end, or one of the two is no time.
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
    /// The names alone, since the values may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}
