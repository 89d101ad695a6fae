//! A server with rules, and callers with readable tokens.

use frpc::{Code, Request, Response, Status, Streaming};
use frpc_access::{Access, Principal, Proof, TokenError, Tokens};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Maximum time to wait for an event that should happen soon.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The methods of the interop schema that the tests call.
pub(crate) const METHODS: [&str; 5] = [
    "interop.Interop/Add",
    "interop.Interop/CountUp",
    "interop.Interop/SumUp",
    "interop.Interop/Chat",
    "interop.Interop/DoNothing",
];

/// Accepts tokens such as `clerk`, or `clerk.60` with a lifetime in seconds. All clones share the count of
/// verifications.
#[derive(Clone, Default)]
pub(crate) struct Names {
    pub(crate) verified: Arc<AtomicUsize>,
    pub(crate) generation: Arc<AtomicU64>,
    /// Whether all tokens have expired.
    pub(crate) is_expired: Arc<AtomicBool>,
}

impl Tokens for Names {
    fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        if self.is_expired.load(Ordering::SeqCst) {
            return Err(TokenError::Expired);
        }
        let (name, seconds) = token.split_once('.').unwrap_or((token, ""));
        if !matches!(name, "clerk" | "guest") {
            return Err(TokenError::Refused(format!("a secret reason: {name} is unknown")));
        }
        let principal = Principal::new(name, Proof::Token { issuer: "tests".to_owned() }).with_role(name);
        match seconds.parse() {
            Ok(seconds) => Ok(principal.expiring_in(Duration::from_secs(seconds))),
            Err(_) => Ok(principal),
        }
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }
}

/// Returns rules that accept the tokens of [`Names`], and the count of verifications.
pub(crate) fn access() -> (Access, Names) {
    let names = Names::default();
    (Access::new().tokens(names.clone()), names)
}

/// Returns a request with a token.
pub(crate) fn by<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if !token.is_empty() {
        request
            .metadata_mut()
            .insert("authorization", format!("Bearer {token}"))
            .expect("metadata entry should be valid");
    }
    request
}

/// Returns the code of a result, which is `Ok` for a reply.
pub(crate) fn code<T>(answer: Result<T, Status>) -> Code {
    answer.err().map_or(Code::Ok, |status| status.code())
}

/// Reads a stream to its end and returns its code.
pub(crate) async fn code_of_stream<M: polyglot::Message>(answer: Result<Response<Streaming<M>>, Status>) -> Code {
    let mut messages = match answer {
        Ok(messages) => messages.into_inner(),
        Err(status) => return status.code(),
    };
    loop {
        match messages.message().await {
            Ok(Some(_)) => {}
            Ok(None) => return Code::Ok,
            Err(status) => return status.code(),
        }
    }
}
