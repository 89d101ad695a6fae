//! Verification of tokens, and the cache of accepted ones.

use crate::Principal;
use crate::rules::visitor::JudgedCaller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Maximum length of a token in bytes, equal to the usual limit for all HTTP header fields together.
pub(crate) const TOKEN_MAX: usize = 8 * 1024;

/// Maximum memory in bytes of each of the two generations of the token cache. When the young generation is full, it
/// replaces the old one.
const HALF: usize = 4 * 1024 * 1024;

/// Approximate memory of a token cache entry in bytes, excluding the token: a principal with name and roles, and the
/// table entry.
const ENTRY: usize = 512;

/// A verifier of bearer tokens, for [`Access::tokens`](crate::Access::tokens). The feature `jwt` provides one for JSON
/// Web Tokens.
///
/// ```
/// use frpc_access::{Principal, Proof};
/// use frpc_access::{TokenError, Tokens};
///
/// /// One secret for one robot.
/// struct Password(String);
///
/// impl Tokens for Password {
///     fn verify(&self, token: &str) -> Result<Principal, TokenError> {
///         // In a time that does not depend on where the two differ.
///         let differing = token.bytes().zip(self.0.bytes()).fold(0, |differing, (a, b)| differing | a ^ b);
///         if token.len() != self.0.len() || differing != 0 {
///             return Err(TokenError::Refused("not the password".to_owned()));
///         }
///         Ok(Principal::new("robot", Proof::Token { issuer: "password".to_owned() }))
///     }
/// }
/// ```
pub trait Tokens: Send + Sync + 'static {
    /// Verifies a token and returns its principal. A token has up to 8 KiB and only characters that RFC 6750 permits.
    ///
    /// Called on the thread that drives the connection, so it must not block. Fetch keys in another task. The result is
    /// cached until the principal [expires](Principal::expires).
    ///
    /// # Errors
    /// If the token is invalid.
    fn verify(&self, token: &str) -> Result<Principal, TokenError>;

    /// Returns a number that changes when accepted tokens may have become invalid. After a change, all tokens are
    /// verified again. Defaults to 0.
    fn generation(&self) -> u64 {
        0
    }
}

/// Reason why a token is rejected. Callers only learn whether the token has expired.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// The token has expired.
    Expired,
    /// The token is invalid. The contained reason is logged but not sent to the caller.
    Refused(String),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("the token has expired"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for TokenError {}

/// Cache of accepted tokens in two generations. When the young generation is full, it replaces the old one. The entries
/// of the old one are evicted. Using a token moves it to the young generation, so tokens in use are not evicted.
#[derive(Default)]
pub(crate) struct Cache(Mutex<CacheGenerations>);

type CachedCallers = HashMap<Box<str>, Arc<JudgedCaller>>;

#[derive(Default)]
struct CacheGenerations {
    /// Generation of the verification keys that accepted the cached tokens. The cache is cleared when the generation
    /// changes.
    generation: u64,
    young: CachedCallers,
    old: CachedCallers,
    /// Memory used by the entries in `young`, in bytes. At most [`HALF`].
    memory: usize,
}

impl Cache {
    /// Returns the caller of a cached token, or `None` if the token was accepted with another `generation` of keys.
    pub(crate) fn get(&self, token: &str, generation: u64) -> Option<Arc<JudgedCaller>> {
        // Declared before the guard, so that evicted callers are dropped without the lock: their principals may have
        // values whose destructors use the cache.
        let (_stale, _evicted);
        let mut halves = self.0.lock();
        _stale = halves.begin(generation);
        if let Some(caller) = halves.young.get(token) {
            return Some(caller.clone());
        }
        let (token, caller) = halves.old.remove_entry(token)?;
        _evicted = halves.insert(token, caller.clone());
        Some(caller)
    }

    /// Caches the caller of a token that was accepted with this `generation` of keys.
    pub(crate) fn insert(&self, token: &str, caller: Arc<JudgedCaller>, generation: u64) {
        let (_stale, _evicted);
        let mut halves = self.0.lock();
        _stale = halves.begin(generation);
        _evicted = halves.insert(token.into(), caller);
    }
}

impl CacheGenerations {
    /// Clears the cache if the generation of the keys has changed. Returns its earlier content.
    fn begin(&mut self, generation: u64) -> Option<Self> {
        (self.generation != generation).then(|| std::mem::replace(self, Self { generation, ..Self::default() }))
    }

    /// Inserts a caller. Returns the evicted callers.
    fn insert(&mut self, token: Box<str>, caller: Arc<JudgedCaller>) -> (CachedCallers, Option<Arc<JudgedCaller>>) {
        let (memory, mut evicted) = (memory(&token), CachedCallers::new());
        if self.memory + memory > HALF {
            evicted = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            self.memory = 0;
        }
        let replaced = self.young.insert(token, caller);
        self.memory += if replaced.is_none() { memory } else { 0 };
        (evicted, replaced)
    }
}

fn memory(token: &str) -> usize {
    token.len() + ENTRY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Proof;
    use std::sync::mpsc;

    impl Cache {
        fn len(&self) -> usize {
            let halves = self.0.lock();
            halves.young.len() + halves.old.len()
        }
    }

    fn token(number: usize) -> String {
        format!("{number:01000}")
    }

    #[test]
    fn token_flood_evicts_only_unused_tokens() {
        let (cache, caller) = (Cache::default(), Arc::new(JudgedCaller::for_test(None)));
        cache.insert("used", caller.clone(), 0);
        let bound = 2 * HALF / memory(&token(0));
        for number in 0..4 * bound {
            cache.insert(&token(number), caller.clone(), 0);
            assert!(
                cache.get("used", 0).is_some(),
                "token should be kept while it is used, but was dropped after {number}"
            );
            assert!(cache.len() <= bound + 2);
        }
        assert!(cache.get(&token(0), 0).is_none(), "oldest token should be dropped");
    }

    /// A value of a principal whose destructor uses the cache.
    #[derive(Clone)]
    struct CacheUser(#[allow(dead_code, reason = "its drop is observed")] Arc<UserState>);

    struct UserState {
        cache: Arc<Cache>,
        was_locked: mpsc::Sender<bool>,
    }

    impl Drop for UserState {
        fn drop(&mut self) {
            // Ignore the error, because the test may have ended.
            let _ = self.was_locked.send(self.cache.0.is_locked());
        }
    }

    /// Regression test: evicted callers were dropped under the lock of the cache, which the destructors of their values
    /// may need.
    #[test]
    fn evicted_caller_is_dropped_without_lock() {
        let (cache, (was_locked, drops)) = (Arc::new(Cache::default()), mpsc::channel());
        let insert = |generation| {
            let user = UserState { cache: cache.clone(), was_locked: was_locked.clone() };
            let principal = Principal::new("ada", Proof::Other).with(CacheUser(Arc::new(user)));
            cache.insert("a", Arc::new(JudgedCaller::for_test(Some(principal))), generation);
        };
        insert(0);
        insert(0);
        assert_eq!(drops.try_recv(), Ok(false), "replaced caller should be dropped");
        insert(1);
        assert_eq!(drops.try_recv(), Ok(false), "caller accepted by old keys should be dropped");
        for number in 0..4 * HALF / memory(&token(0)) {
            cache.insert(&token(number), Arc::new(JudgedCaller::for_test(None)), 1);
        }
        assert_eq!(drops.try_recv(), Ok(false), "unused caller should be dropped");
    }

    #[test]
    fn token_accepted_by_old_keys_is_evicted() {
        let (cache, caller) = (Cache::default(), Arc::new(JudgedCaller::for_test(None)));
        cache.insert("a", caller, 7);
        assert!(cache.get("a", 7).is_some());
        assert!(cache.get("a", 8).is_none());
        assert!(cache.get("a", 7).is_none());
    }
}
