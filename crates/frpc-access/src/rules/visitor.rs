//! The peer of a connection: its identity and its permissions.

use crate::rules::limits::{Bucket, CallerAddress};
use crate::rules::tokens::TOKEN_MAX;
use crate::rules::who::Who;
use crate::rules::{Rule, RuleSet, TokenError};
use crate::{Principal, Tokens, now};
use frpc::{Admitted, Connection, Metadata, PeerRules, Status};
use parking_lot::Mutex;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Metadata key that carries the bearer token.
const AUTHORIZATION: &str = "authorization";

/// Maximum number of invalid tokens on a connection within [`REFUSALS_WITHIN`]. Further tokens are then rejected
/// without verification, unless they are cached. A misconfigured client sends fewer tokens before it stops, and
/// verifying this many takes less than a millisecond.
const REFUSALS_MAX: u32 = 16;

/// Period over which the invalid tokens of a connection are counted.
const REFUSALS_WITHIN: Duration = Duration::from_secs(10);

/// Minimum time between two verifications of a cached token that has expired. Verifying it for each call would be too
/// expensive, because a busy client may make many calls before it has a new token.
const REVERIFY_AFTER: Duration = Duration::from_secs(1);

/// A caller with the precomputed results of all access rules, so that each call only looks one up.
pub(crate) struct JudgedCaller {
    principal: Option<Principal>,
    /// Results of the rule conditions, by index.
    allowed: Box<[bool]>,
    /// Results of the rate limit conditions, by index.
    limited: Box<[bool]>,
    bucket: Option<Arc<Bucket>>,
    /// Token buckets for the rate limits of single methods, by index of the limit set. Each is created at the first
    /// call of such a method.
    of_methods: Box<[OnceLock<Option<Arc<Bucket>>>]>,
    /// Time of the last attempt to verify the caller's token after its expiry.
    reverified_at: Mutex<Option<Instant>>,
}

impl JudgedCaller {
    /// Evaluates all access rules for calls by `principal` on a connection.
    fn new(
        access: &RuleSet,
        principal: Option<Principal>,
        connection: &Connection,
        address: Option<CallerAddress>,
    ) -> Self {
        let identities = Principal::all_of(connection);
        let all: Vec<_> = principal.iter().chain(&identities).collect();
        let meets = |who: &Who| who.includes_any(principal.as_ref().as_slice(), &all);
        let allowed = access.rules.conditions.iter().map(meets).collect();
        let limited = access.limits.judge(meets);
        let bucket = access.limits.bucket(&limited, principal.as_ref(), address);
        let of_methods = access.rules.limit_sets.iter().map(|_| OnceLock::new()).collect();
        Self { principal, allowed, limited, bucket, of_methods, reverified_at: Mutex::default() }
    }

    #[cfg(test)]
    pub(super) fn for_test(principal: Option<Principal>) -> Self {
        Self {
            principal,
            allowed: Box::default(),
            limited: Box::default(),
            bucket: None,
            of_methods: Box::default(),
            reverified_at: Mutex::default(),
        }
    }

    /// Returns whether an access rule permits the caller. A method without a rule permits nobody.
    fn may(&self, rule: Option<Rule>) -> bool {
        rule.and_then(|rule| self.allowed.get(rule.condition)).is_some_and(|allowed| *allowed)
    }

    /// Takes one call from the caller's token buckets for the method and for all methods.
    fn take(&self, access: &RuleSet, rule: Option<Rule>, address: Option<CallerAddress>) -> Result<(), Status> {
        let principal = self.principal.as_ref();
        let mut of_method = None;
        if let Some(set) = rule.and_then(|rule| rule.limits)
            && let (Some(bucket), Some(numbers)) = (self.of_methods.get(set), access.rules.limit_sets.get(set))
        {
            let find = || access.limits.bucket_among(numbers.iter().copied(), &self.limited, principal, address);
            of_method = Bucket::take_from(bucket.get_or_init(find).as_ref(), find)?;
        }
        let taken = Bucket::take_from(self.bucket.as_ref(), || access.limits.bucket(&self.limited, principal, address));
        // Return the call to the method's bucket, because a call rejected by the general limit must not count.
        if let (Err(_), Some(bucket)) = (&taken, of_method) {
            bucket.put_back();
        }
        taken.map(drop)
    }

    fn expires(&self) -> Option<Instant> {
        self.principal.as_ref()?.expires()
    }

    fn is_over(&self) -> bool {
        self.expires().is_some_and(|expires| expires <= now())
    }

    /// Returns whether the caller's expired token is due for another verification. If so, records the current time as
    /// the time of this verification.
    fn begin_reverification(&self) -> bool {
        let (now, mut last) = (now(), self.reverified_at.lock());
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= REVERIFY_AFTER);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// Access state of a connection's peer, which authorizes the peer's calls.
pub(crate) struct Visitor {
    access: Arc<RuleSet>,
    connection: Connection,
    address: Option<CallerAddress>,
    memory: Mutex<Memory>,
}

/// Identities of the peer, cached between its calls.
struct Memory {
    /// Identity of calls without a token, with the number of changes to the connection's attachments. If the number
    /// differs, the identity is evaluated again.
    own: (u32, Arc<JudgedCaller>),
    bearer: Option<Bearer>,
    /// Number of recent invalid tokens, and the start of the period that they are counted for.
    refusals: (u32, Option<Instant>),
}

/// The last accepted token and its caller. Reused until the caller expires, or until the verification keys or the
/// attachments of the connection change.
struct Bearer {
    token: Box<str>,
    caller: Arc<JudgedCaller>,
    generation: u64,
    changes: u32,
}

impl Visitor {
    /// Creates the access state for the peer of a new connection. The peer is identified by its transport.
    pub(crate) fn new(access: &Arc<RuleSet>, connection: &Connection) -> Self {
        Principal::own_all(access.principals(connection), connection);
        let address = CallerAddress::of(connection);
        let changes = connection.attachments().changes();
        let own = Arc::new(JudgedCaller::new(access, Principal::of(connection), connection, address));
        let memory = Mutex::new(Memory { own: (changes, own), bearer: None, refusals: (0, None) });
        Self { access: access.clone(), connection: connection.clone(), address, memory }
    }
    /// Authenticates the caller and checks that `rule` permits it to call the method. Does not check rate limits.
    /// Returns the caller, and whether it was authenticated by a token in `metadata`.
    fn allowed(
        &self,
        rule: Option<Rule>,
        method: &dyn fmt::Display,
        metadata: &Metadata,
    ) -> Result<(Arc<JudgedCaller>, bool), Status> {
        let (caller, has_token) = self.identify(metadata)?;
        if !caller.may(rule) {
            return Err(self.denied(caller.principal.as_ref(), method));
        }
        Ok((caller, has_token))
    }

    /// Authenticates the caller by the token in `metadata`, or by its connection if there is no token. Returns the
    /// caller, and whether there was a token. Fails if the token is invalid, or if the identity has expired.
    fn identify(&self, metadata: &Metadata) -> Result<(Arc<JudgedCaller>, bool), Status> {
        let token = self.access.rules.tokens.as_ref().and_then(|_| metadata.get(AUTHORIZATION));
        let caller = match token {
            // Reject multiple tokens, because the next hop might evaluate another one of them.
            Some(_) if metadata.get_all(AUTHORIZATION).nth(1).is_some() => {
                return Err(self.not_accepted(&TokenError::Refused("more than one token".to_owned())));
            }
            Some(token) => self.bearer(token)?,
            None => self.own(),
        };
        if caller.is_over() {
            return Err(expired());
        }
        Ok((caller, token.is_some()))
    }

    fn verdict(&self, caller: &JudgedCaller, may: bool, target: &dyn fmt::Display) -> Result<(), Status> {
        match may {
            _ if caller.is_over() => Err(expired()),
            true => Ok(()),
            false => Err(self.denied(caller.principal.as_ref(), target)),
        }
    }

    /// Returns the identity of the connection, which is used for calls without a token.
    fn own(&self) -> Arc<JudgedCaller> {
        let changes = self.connection.attachments().changes();
        let (known_changes, known) = self.memory.lock().own.clone();
        if known_changes == changes {
            return known;
        }
        // Evaluate the rules and drop the replaced caller without the lock, because both may run code of the program.
        let caller = self.judge(Principal::of(&self.connection));
        let _replaced = std::mem::replace(&mut self.memory.lock().own, (changes, caller.clone()));
        caller
    }

    /// Returns the caller identified by the token in `value`, a value of the `authorization` metadata.
    fn bearer(&self, value: &str) -> Result<Arc<JudgedCaller>, Status> {
        let Some(tokens) = &self.access.rules.tokens else { return Ok(self.own()) };
        let Some(token) = token(value) else {
            return Err(self.not_accepted(&TokenError::Refused("no bearer token".to_owned())));
        };
        let generation = tokens.generation();
        let changes = self.connection.attachments().changes();
        let is_same = |last: &&Bearer| {
            *last.token == *token && (last.generation, last.changes) == (generation, changes) && !last.caller.is_over()
        };
        if let Some(last) = self.memory.lock().bearer.as_ref().filter(is_same) {
            return Ok(last.caller.clone());
        }
        let caller = match self.access.cache.get(token, generation) {
            // The cached verdicts belong to another connection. If rules exclude callers, evaluate them again, because
            // exclusions depend on all identities of a connection.
            Some(caller) if !caller.is_over() => match self.access.has_exclusion {
                true => self.judge(caller.principal.clone()),
                false => caller,
            },
            Some(caller) if !caller.begin_reverification() => return Err(expired()),
            known => {
                let verified = match known {
                    // Verify an expired token again, because the program may have extended its session.
                    Some(_) => verify(&**tokens, token).map_err(|error| self.not_accepted(&error)),
                    None => self.verify_new(&**tokens, token),
                };
                let caller = self.judge(Some(verified?));
                self.access.cache.insert(token, caller.clone(), generation);
                caller
            }
        };
        let bearer = Bearer { token: token.into(), caller: caller.clone(), generation, changes };
        let _replaced = self.memory.lock().bearer.replace(bearer);
        Ok(caller)
    }

    /// Verifies a token that is not cached, unless too many tokens of this connection were invalid.
    fn verify_new(&self, tokens: &dyn Tokens, token: &str) -> Result<Principal, Status> {
        let now = now();
        let mut memory = self.memory.lock();
        let (count, since) = &mut memory.refusals;
        let is_over = |since: &Instant| now.saturating_duration_since(*since) >= REFUSALS_WITHIN;
        if since.as_ref().is_none_or(is_over) {
            (*count, *since) = (0, Some(now));
        }
        if *count >= REFUSALS_MAX {
            return Err(Status::unauthenticated(
                "too many tokens of this connection were not accepted: wait ten seconds before the next one",
            ));
        }
        drop(memory);
        verify(tokens, token).map_err(|error| {
            self.memory.lock().refusals.0 += 1;
            self.not_accepted(&error)
        })
    }

    /// Evaluates all access rules for calls by `principal` on this connection.
    fn judge(&self, principal: Option<Principal>) -> Arc<JudgedCaller> {
        Arc::new(JudgedCaller::new(&self.access, principal, &self.connection, self.address))
    }

    fn not_accepted(&self, error: &TokenError) -> Status {
        tracing::debug!(target: "frpc::access", peer = ?self.connection.peer_addr(), %error, "a token is not accepted");
        match error {
            TokenError::Expired => expired(),
            TokenError::Refused(_) => Status::unauthenticated("the token is not accepted: get a new one"),
        }
    }

    fn denied(&self, principal: Option<&Principal>, method: &dyn fmt::Display) -> Status {
        let name = principal.map(Principal::name);
        tracing::debug!(target: "frpc::access", peer = ?self.connection.peer_addr(), principal = ?name, %method, "caller denied");
        match principal {
            Some(_) => Status::permission_denied(format!(
                "{method} is not permitted: ask the operator of the server for access"
            )),
            None => {
                let ways = self.access.accepted_credentials();
                let how = if ways.is_empty() { "the server has no means of authentication" } else { &ways };
                Status::unauthenticated(format!("{method} requires authentication: {how}"))
            }
        }
    }
}

impl PeerRules for Visitor {
    fn is_open(&self, rule: Option<usize>) -> bool {
        let rule = self.access.rule(rule);
        let own = self.own();
        let is_limited = !self.access.limits.is_empty() || rule.is_some_and(|rule| rule.limits.is_some());
        // The verdict on an unauthenticated caller may change, because a sign-in can give the connection a principal
        // that the rule excludes.
        let stays = own.principal.is_some() || self.access.includes_all(rule);
        own.may(rule) && own.expires().is_none() && stays && !is_limited
    }

    fn admit(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<Admitted, Status> {
        let rule = self.access.rule(rule);
        let (caller, has_token) = self.allowed(rule, method, metadata)?;
        caller.take(&self.access, rule, self.address)?;
        let mut admitted = Admitted::default();
        if let Some(principal) = caller.principal.as_ref().filter(|_| has_token) {
            admitted.extensions.insert(principal.clone());
        }
        admitted.expires = caller.expires();
        Ok(admitted)
    }

    fn check(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<(), Status> {
        self.allowed(self.access.rule(rule), method, metadata).map(drop)
    }

    fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        self.identify(metadata).map(drop)
    }

    fn admit_mounted(&self, operation: u16) -> Result<(), Status> {
        let caller = self.own();
        let mut rules = self.access.rules.mounted.iter().filter(|(range, _)| range.contains(&operation));
        let may = rules.any(|(_, rule)| caller.may(Some(*rule)));
        self.verdict(&caller, may, &format_args!("operation {operation}"))
    }

    fn admit_fallback(&self) -> Result<(), Status> {
        let caller = self.own();
        let may = caller.may(self.access.rules.fallback);
        self.verdict(&caller, may, &"a stream without an operation")
    }
}

/// Verifies a token. This runs code of the program, so no lock may be held.
fn verify(tokens: &dyn Tokens, token: &str) -> Result<Principal, TokenError> {
    let principal = tokens.verify(token)?;
    let has_expired = principal.expires().is_some_and(|expires| expires <= now());
    if has_expired { Err(TokenError::Expired) } else { Ok(principal) }
}

fn expired() -> Status {
    Status::unauthenticated("the token has expired: get a new one")
}

/// Returns the token in a value such as `Bearer abc`. Returns `None` if the authentication scheme differs, or the token
/// is malformed or too long.
fn token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    let is_mark = |byte: u8| matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
    let is_token = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte));
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    (is_bearer && !token.is_empty() && token.len() <= TOKEN_MAX && is_token).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principal::tests::connected;
    use crate::{Access, Proof, Who};
    use frpc::{Channel, Code, Request, Response, ResponseStream, Server};
    use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Weak, mpsc};
    use tokio::io::AsyncWriteExt as _;

    /// Service that signs each caller in under the requested name, which is also the caller's role.
    struct Reception;

    impl Greeter for Reception {
        async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
            let connection = request.connection().expect("request should have a connection");
            let name = &request.get_ref().name;
            if !name.is_empty() {
                Principal::new(name, Proof::Other).with_role(name).sign_in(connection)?;
            }
            Ok(Response::new(Greeting::default()))
        }

        async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
            Err(Status::unimplemented("it only greets"))
        }
    }

    /// Regression test: a method that was open to unauthenticated callers stayed open on a connection after a sign-in,
    /// even to a caller that the rule excludes.
    #[tokio::test]
    async fn excluded_caller_is_rejected_after_sign_in() {
        let access = Access::new().allow(["greet.Greeter/Greet"], Who::anybody().except(Who::role("guest")));
        let server = Server::builder().add_service(GreeterServer::new(Reception)).access(access);
        let server = server.build().expect("server settings should be valid");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let client =
            GreeterClient::new(Channel::connect_io(here).await.expect("server should accept the in-memory connection"));
        let name = |name: &str| Name { name: name.to_owned() };
        client.greet(name("")).await.expect("unauthenticated caller should be permitted");
        client.greet(name("guest")).await.expect("unauthenticated caller should be able to sign in");
        let refused = client.greet(name("")).await.expect_err("caller with the excluded role should be rejected");
        assert_eq!(refused.code(), Code::PermissionDenied);
    }

    /// Regression test: the principal that `on_connect` sets was lost when the client used HTTP, so a rule that
    /// excludes the principal's role permitted the call.
    #[tokio::test]
    async fn connection_principal_applies_to_other_protocols() {
        for (role, expected) in [("clerk", Ok(())), ("guest", Err(Code::PermissionDenied))] {
            let access = Access::new().allow(["greet.Greeter/Greet"], Who::anybody().except(Who::role("guest")));
            let (shows, mut shown) = tokio::sync::mpsc::unbounded_channel();
            let server = Server::builder()
                .add_service(GreeterServer::new(Reception))
                .access(access)
                .on_connect(move |connection| {
                    let principal = Principal::new(role, Proof::Other).with_role(role);
                    principal.sign_in(connection).expect("unauthenticated connection should accept a sign-in");
                })
                .adapter(
                    |_| true,
                    move |_, context| {
                        let method =
                            context.methods().get("greet.Greeter", "Greet").expect("method should exist in the schema");
                        shows
                            .send(method.check_access(&Metadata::new()))
                            .expect("test should be waiting for the access verdict");
                        std::future::ready(Ok(()))
                    },
                )
                .build()
                .expect("server settings should be valid");
            let (mut here, there) = frpc::memory();
            tokio::spawn(async move { server.serve_connection(there).await });
            here.write_all(b"x").await.expect("in-memory transport should accept the first byte");
            let verdict = shown.recv().await.expect("adapter should report its access verdict");
            assert_eq!(verdict.map_err(|status| status.code()), expected, "{role}");
        }
    }

    fn with_token(token: &str) -> Metadata {
        let mut metadata = Metadata::new();
        metadata.insert(AUTHORIZATION, format!("Bearer {token}")).expect("token should be valid metadata");
        metadata
    }

    /// Sends whether the lock of a visitor is held, each time it verifies a token or is dropped.
    #[derive(Clone)]
    struct LockProbe {
        visitor: Arc<OnceLock<Weak<Visitor>>>,
        was_locked: mpsc::Sender<bool>,
        generation: Arc<AtomicU64>,
    }

    impl LockProbe {
        fn report(&self) {
            let visitor = self.visitor.get().and_then(Weak::upgrade);
            // Ignore the error, because the test may have ended.
            let _ = visitor.map(|visitor| self.was_locked.send(visitor.memory.is_locked()));
        }

        fn principal(&self) -> Principal {
            Principal::new("ada", Proof::Other).expiring_in(Duration::from_secs(60)).with(self.clone())
        }
    }

    impl Drop for LockProbe {
        fn drop(&mut self) {
            self.report();
        }
    }

    impl Tokens for LockProbe {
        fn verify(&self, _token: &str) -> Result<Principal, TokenError> {
            self.report();
            Ok(self.principal())
        }

        fn generation(&self) -> u64 {
            self.generation.load(Ordering::Relaxed)
        }
    }

    /// Regression test: tokens were verified, rules evaluated and earlier callers dropped while the identities of the
    /// connection were locked. A destructor that made the server check the connection deadlocked.
    #[tokio::test]
    async fn program_code_runs_without_visitor_lock() {
        let ((_client, connection), (was_locked, reports)) = (connected().await, mpsc::channel());
        let probe = LockProbe { visitor: Arc::default(), was_locked, generation: Arc::default() };
        let of_rule = probe.clone();
        let who = Who::when(move |_| {
            of_rule.report();
            true
        });
        let access = Access::new().tokens(probe.clone()).allow(["greet.Greeter/Greet"], who);
        let visitor = Arc::new(Visitor::new(&access.0, &connection));
        probe.visitor.set(Arc::downgrade(&visitor)).expect("visitor should be set once");
        for generation in 0..3 {
            probe.generation.store(generation, Ordering::Relaxed);
            visitor.check_caller(&with_token("a")).expect("token should be accepted");
            probe.principal().sign_in(&connection).expect("connection should accept a sign-in");
            visitor.check_caller(&Metadata::new()).expect("signed-in caller should be accepted");
        }
        let reports: Vec<_> = reports.try_iter().collect();
        assert!(reports.len() > 12 && !reports.contains(&true), "{reports:?}");
    }

    /// Accepts a token for a minute after each verification, but the token `ended` only once. Counts verifications.
    #[derive(Clone, Default)]
    struct Sessions(Arc<AtomicU64>);

    impl Tokens for Sessions {
        fn verify(&self, token: &str) -> Result<Principal, TokenError> {
            let is_first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
            let principal = Principal::new(token, Proof::Other).expiring_in(Duration::from_secs(60));
            if token == "ended" && !is_first { Err(TokenError::Expired) } else { Ok(principal) }
        }
    }

    /// Regression test: a token whose cached principal had expired was rejected without verification, even if the
    /// program had extended its session.
    #[tokio::test(start_paused = true)]
    async fn token_is_reverified_at_after_expiry() {
        let ((_client, connection), sessions) = (connected().await, Sessions::default());
        let visitor = Visitor::new(&Access::new().tokens(sessions.clone()).0, &connection);
        let is_accepted = |token| visitor.check_caller(&with_token(token)).is_ok();
        assert!(is_accepted("ended") && is_accepted("ada"));
        tokio::time::advance(Duration::from_secs(60)).await;
        // A busy client uses its token until it has a new one. The server verifies it once per second.
        for second in 1..=30 {
            assert!((0..100).all(|_| !is_accepted("ended")));
            assert_eq!(sessions.0.load(Ordering::Relaxed), 2 + second);
            tokio::time::advance(REVERIFY_AFTER).await;
        }
        assert!(is_accepted("ada") && is_accepted("new"), "expired token should not block valid ones");
    }

    #[test]
    fn only_bearer_token_is_extracted() {
        assert_eq!(token("Bearer abc.d-e_f~+/="), Some("abc.d-e_f~+/="));
        assert_eq!(token("bEARER  abc"), Some("abc"));
        let long = format!("Bearer {}", "a".repeat(TOKEN_MAX + 1));
        for other in ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bearer a b", "Bearer a,Bearer b", "Bearer ä", &long]
        {
            assert_eq!(token(other), None, "{other:.20}");
        }
    }
}
