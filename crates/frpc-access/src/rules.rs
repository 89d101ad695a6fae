//! Immutable rule sets, and their verdicts on the peer of each connection.
//!
//! [`Access`] implements [`Authorize`] for an endpoint, and [`Visitor`] implements [`PeerRules`] for a connection.
//! `certificates.rs` extracts the names from a certificate.

#[cfg(feature = "tls")]
mod certificates;
pub(crate) mod limits;
pub(crate) mod tokens;
#[cfg(feature = "pubsub")]
pub(crate) mod topics;
pub(crate) mod visitor;
pub(crate) mod who;

use crate::Principal;
#[cfg(unix)]
use crate::Proof;
use crate::rules::limits::{Limit, Limits, Rate};
use crate::rules::tokens::{Cache, TokenError, Tokens};
use crate::rules::visitor::Visitor;
use crate::rules::who::Who;
use frpc::{Authorize, Connection, PeerRules};
use std::collections::HashMap;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// Rules for authenticating callers and authorizing their calls.
///
/// An endpoint with rules rejects every call that no rule permits, including calls to methods that a later schema adds.
/// The rules apply to all protocols: every kind of call, calls in the reverse direction, hand-offs, other protocols of
/// a gateway, and mounted routers such as a pub/sub broker.
///
/// Callers are authenticated by `certificates`, local [`users`](Self::users) or [`tokens`](Self::tokens), as far as
/// these methods are enabled. This happens once per connection and once per token. Unauthorized calls fail before their
/// request is decoded: calls of unknown callers with [`Unauthenticated`](frpc::Code::Unauthenticated), all others with
/// [`PermissionDenied`](frpc::Code::PermissionDenied).
///
#[cfg_attr(feature = "tls", doc = "```")]
#[cfg_attr(not(feature = "tls"), doc = "```text")]
/// use samples::greeter::GreeterServer;
/// use frpc::Server;
/// use frpc_access::{Access, Rate, Who};
/// # use samples::started::Polite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let access = Access::new()
///     .certificates()
///     .allow(["greeter.Greeter/Greet"], Who::spiffe_below("spiffe://example.org/front"))
///     .limit(Who::known(), Rate::per_second(100));
/// let server = Server::builder().add_service(GreeterServer::new(Polite)).access(access).bind("127.0.0.1:0").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Access(Arc<RuleSet>);

/// A complete set of access rules with its cached verdicts. The set is immutable: adding a rule creates a new set with
/// an empty cache, so a verdict cannot outlive the rules, keys or limits that it was derived from.
#[derive(Default)]
pub(crate) struct RuleSet {
    rules: Rules,
    /// Access rules and rate limits of methods. Method names are mapped to indexes in this list.
    methods: Vec<Rule>,
    numbers: HashMap<String, usize>,
    /// Cache of accepted tokens, with the results of the rules for each token's caller.
    cache: Cache,
    limits: Limits,
    /// Whether any rule excludes callers. If so, the verdict on a token depends on the connection that presents it.
    has_exclusion: bool,
}

/// A range of operations, as given to [`Access::allow_mounted`].
type Operations = (Bound<u16>, Bound<u16>);

#[derive(Clone, Default)]
struct Rules {
    conditions: Vec<Who>,
    /// Access rules of single methods, by full method name.
    methods: HashMap<String, Rule>,
    mounted: Vec<(Operations, Rule)>,
    fallback: Option<Rule>,
    by_certificate: bool,
    by_user: bool,
    tokens: Option<Arc<dyn Tokens>>,
    limits: Vec<Limit>,
    /// Rate limits of single methods, by full method name, as indexes into `limit_sets`.
    limited: HashMap<String, usize>,
    /// Sets of rate limits. Each set is a list of indexes into `limits`.
    limit_sets: Vec<Vec<usize>>,
}

/// Access rule of a method: the index of the condition that callers must meet, and the rate limits of the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    condition: usize,
    /// Rate limits of the method in addition to the general limits, as an index into [`Rules::limit_sets`].
    limits: Option<usize>,
}

impl Access {
    /// Creates rules that authenticate and permit no callers.
    ///
    /// ```
    /// use frpc::Server;
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow(["greet.Greeter/Greet"], Who::user(1000));
    /// let server = Server::builder().access(access);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Authenticates callers by their TLS certificates: by SPIFFE ID, host names or common name. Requires TLS with
    /// client certificates, see [`ServerTls::mutual`](frpc::tls::ServerTls::mutual).
    ///
    /// A certificate is ignored if its SPIFFE ID is invalid, or if it has a SPIFFE ID and further URIs. A connection
    /// keeps its principal when the certificate expires.
    #[cfg(feature = "tls")]
    pub fn certificates(self) -> Self {
        self.change(|rules| rules.by_certificate = true)
    }

    /// Authenticates callers on Unix sockets by the user and group of their process at connect time, as reported by the
    /// kernel.
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow(["jobs.Queue/Push"], Who::group(100));
    /// ```
    #[cfg(unix)]
    pub fn users(self) -> Self {
        self.change(|rules| rules.by_user = true)
    }

    /// Authenticates callers by the bearer token in the `authorization` metadata, which takes precedence over the
    /// connection's identity. Calls with an invalid token are rejected, even if the connection is authenticated.
    ///
    /// A token is verified on its first use and cached until it expires or the keys change. If a client continues to
    /// use an expired token, the token is verified again, but at most once per second. The cache is limited to 8 MiB. A
    /// connection that sends 16 invalid tokens within ten seconds may only use cached tokens for the rest of that
    /// period.
    pub fn tokens(self, tokens: impl Tokens) -> Self {
        self.change(|rules| rules.tokens = Some(Arc::new(tokens)))
    }

    /// Permits callers that match `who` to call the given methods, named `package.Service/Method`. Several rules for a
    /// method permit the callers of each rule. [`bind`](frpc::ServerBuilder::bind) fails if a method does not exist.
    ///
    /// Rules name methods rather than services, so that a method that is added later stays closed until a rule permits
    /// it.
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow(["shop.Orders/List", "shop.Orders/Get"], Who::known());
    /// ```
    pub fn allow<M: Into<String>>(self, methods: impl IntoIterator<Item = M>, who: Who) -> Self {
        self.change(|rules| {
            let new = rules.add(who);
            for method in methods {
                let method = method.into();
                let rule = match rules.methods.get(&method) {
                    Some(others) => {
                        let either =
                            rules.conditions[others.condition].clone().or(rules.conditions[new.condition].clone());
                        rules.add(either)
                    }
                    None => new,
                };
                rules.methods.insert(method, rule);
            }
        })
    }

    /// Permits peers to use the operations of mounted routers, such as a pub/sub broker. Peers are identified by their
    /// connection: by certificate, Unix user or [sign-in](Principal::sign_in). Packets of other peers are rejected and
    /// counted as abuse.
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow_mounted(1000..=1099, Who::user(1000));
    /// ```
    pub fn allow_mounted(self, operations: impl RangeBounds<u16>, who: Who) -> Self {
        let range = (operations.start_bound().cloned(), operations.end_bound().cloned());
        self.change(|rules| {
            let rule = rules.add(who);
            rules.mounted.push((range, rule));
        })
    }

    /// Permits peers to open streams without an operation, for the [fallback](frpc::ServerBuilder::fallback).
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow_fallback(Who::known());
    /// ```
    pub fn allow_fallback(self, who: Who) -> Self {
        self.change(|rules| rules.fallback = Some(rules.add(who)))
    }

    /// Limits the call rate of each matching caller: of a principal by name, over all its connections, and of an
    /// unknown caller by address. The first limit that matches a caller applies; other callers are not limited.
    ///
    /// Excess calls fail with [`ResourceExhausted`](frpc::Code::ResourceExhausted) before their request is decoded. The
    /// status states the time to wait as a [`RetryInfo`](frpc::details::RetryInfo). Packets for mounted routers are not
    /// counted. To bound memory, additional callers share one bucket while 65 536 others have used some of their
    /// allowance.
    ///
    /// ```
    /// use frpc_access::{Access, Rate, Who};
    ///
    /// let access = Access::new().limit(Who::anybody(), Rate::per_second(100).burst(20));
    /// ```
    pub fn limit(self, who: Who, rate: Rate) -> Self {
        self.change(|rules| rules.limits.push(Limit { who, rate, is_of_methods: false }))
    }

    /// Like [`limit`], but counts only calls to the given methods, named `package.Service/Method`. Calls to methods
    /// given together are counted together. If several such limits for a method match a caller, the first one applies,
    /// in addition to the limit set by [`limit`].
    ///
    /// ```
    /// use frpc_access::{Access, Rate, Who};
    ///
    /// let access = Access::new()
    ///     .allow(["shop.Orders/Place", "shop.Orders/List"], Who::known())
    ///     .limit_methods(["shop.Orders/Place"], Who::known(), Rate::per_second(5))
    ///     .limit(Who::known(), Rate::per_second(100));
    /// ```
    ///
    /// [`limit`]: Self::limit
    pub fn limit_methods<M: Into<String>>(self, methods: impl IntoIterator<Item = M>, who: Who, rate: Rate) -> Self {
        self.change(|rules| {
            let number = rules.limits.len();
            rules.limits.push(Limit { who, rate, is_of_methods: true });
            for method in methods {
                let new = rules.limit_sets.len();
                let set = *rules.limited.entry(method.into()).or_insert(new);
                if set == new {
                    rules.limit_sets.push(Vec::new());
                }
                rules.limit_sets[set].push(number);
            }
        })
    }

    fn change(self, change: impl FnOnce(&mut Rules)) -> Self {
        let mut rules = self.0.rules.clone();
        change(&mut rules);
        let limits = Limits::new(rules.limits.clone());
        let (mut methods, mut numbers) = (Vec::new(), HashMap::new());
        for (name, rule) in &rules.methods {
            numbers.insert(name.clone(), methods.len());
            methods.push(Rule { limits: rules.limited.get(name).copied(), ..*rule });
        }
        let mut conditions = rules.conditions.iter().chain(rules.limits.iter().map(|limit| &limit.who));
        let has_exclusion = conditions.any(Who::has_exclusion);
        Self(Arc::new(RuleSet { rules, methods, numbers, cache: Cache::default(), limits, has_exclusion }))
    }
}

impl Authorize for Access {
    fn methods(&self) -> Vec<String> {
        self.0.rules.methods.keys().chain(self.0.rules.limited.keys()).cloned().collect()
    }

    fn rule(&self, method: &str) -> Option<usize> {
        self.0.numbers.get(method).copied()
    }

    fn connected(&self, connection: &Connection) -> Arc<dyn PeerRules> {
        Arc::new(Visitor::new(&self.0, connection))
    }
}

impl Rules {
    fn add(&mut self, who: Who) -> Rule {
        self.conditions.push(who);
        Rule { condition: self.conditions.len() - 1, limits: None }
    }
}

impl RuleSet {
    /// Returns the access rule with this index, or `None` if the method has no rule.
    fn rule(&self, number: Option<usize>) -> Option<Rule> {
        self.methods.get(number?).copied()
    }

    /// Returns whether the condition of an access rule is met by every possible caller.
    pub(crate) fn includes_all(&self, rule: Option<Rule>) -> bool {
        rule.and_then(|rule| self.rules.conditions.get(rule.condition)).is_some_and(Who::includes_all)
    }

    /// Returns the identities that the transport of a connection has verified: one by certificate and one by Unix user.
    pub(crate) fn principals(&self, connection: &Connection) -> [Option<Principal>; 2] {
        let mut principals = [None, None];
        #[cfg(feature = "tls")]
        if self.rules.by_certificate
            && let Some([own, ..]) = connection.peer_certificates().map(|chain| &**chain)
        {
            principals[0] = certificates::principal(own);
        }
        #[cfg(unix)]
        if self.rules.by_user
            && let Some(credentials) = connection.peer_credentials()
        {
            principals[1] = Some(Principal::new(format!("uid {}", credentials.user), Proof::Unix(credentials)));
        }
        let _ = connection;
        principals
    }

    /// Describes the credentials that the server accepts, for the error text of unauthenticated calls.
    fn accepted_credentials(&self) -> String {
        let ways = [
            (self.rules.by_certificate, "a client certificate"),
            (self.rules.by_user, "a Unix socket"),
            (self.rules.tokens.is_some(), "a bearer token in the metadata `authorization`"),
        ];
        let ways: Vec<_> = ways.into_iter().filter_map(|(is_on, way)| is_on.then_some(way)).collect();
        ways.join(" or ")
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = &self.0.rules;
        let who = |rule: &Rule| rules.conditions.get(rule.condition);
        let mut methods: Vec<_> = rules.methods.iter().map(|(name, rule)| (name, who(rule))).collect();
        methods.sort_by_key(|(name, _)| *name);
        f.debug_struct("Access")
            .field("accepted_credentials", &self.0.accepted_credentials())
            .field("methods", &methods)
            .finish_non_exhaustive()
    }
}
