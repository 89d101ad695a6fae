//! Access rules: sets of rules, which never change, and the verdicts on the peer of each connection.
//!
//! [`Access`] is the [`Authorize`] of an end, and a [`Visitor`] the [`PeerRules`] of one connection. `certificates.rs` reads
//! the names in a certificate.

#[cfg(feature = "tls")]
mod certificates;
pub(crate) mod limits;
pub(crate) mod tokens;
#[cfg(feature = "pubsub")]
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
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::sync::Arc;

/// Rules of authentication and authorization.
///
/// An end with rules admits only callers that match: a method that no rule names is closed to all, one that a later
/// schema adds included. The rules hold for every protocol alike: calls of each kind, calls of the other direction,
/// hand-offs, other protocols of a gateway, and mounted routers, a broker of topics among them.
///
/// A caller is known by `certificates`, [`users`](Self::users) of this machine or
/// [`tokens`](Self::tokens), as far as these have been switched on. It is made out once for each connection, and once for
/// each token. Calls of unknown callers fail with [`Unauthenticated`](frpc::Code::Unauthenticated), those of known ones
/// whom no rule lets in with [`PermissionDenied`](frpc::Code::PermissionDenied), before their request is decoded.
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

/// Complete rules, with the verdicts that they have led to. It never changes: a builder that adds a rule makes a new set,
/// without verdicts. So no verdict outlives the rules, the keys or the limits that it was made by.
#[derive(Default)]
pub(crate) struct RuleSet {
    rules: Rules,
    /// The rules of methods with their limits, and the numbers of these by name.
    methods: Vec<Rule>,
    numbers: HashMap<String, usize>,
    /// The verdicts on tokens.
    cache: Cache,
    limits: Limits,
    /// Whether the verdict on a token depends on the connection that it is sent on.
    has_exclusion: bool,
}

#[derive(Clone, Default)]
struct Rules {
    conditions: Vec<Who>,
    /// The rules of methods, by their full names.
    methods: HashMap<String, Rule>,
    mounted: Vec<(RangeInclusive<u16>, Rule)>,
    fallback: Option<Rule>,
    by_certificate: bool,
    by_user: bool,
    tokens: Option<Arc<dyn Tokens>>,
    limits: Vec<Limit>,
    /// The limits of single methods, by their full names: an index into `limit_sets`.
    limited: HashMap<String, usize>,
    /// Numbers of limits.
    limit_sets: Vec<Vec<usize>>,
}

/// A rule, by the number of its condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    condition: usize,
    /// The limits of a method, in addition to those of all: an index into [`Rules::limit_sets`].
    limits: Option<usize>,
}

impl Access {
    /// Rules that admit no caller, and identify none.
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

    /// Identifies callers by the certificates of the TLS handshake: by their SPIFFE ID, the names of hosts, or the
    /// common name. The end needs TLS with client certificates, as [`ServerTls::mutual`](frpc::tls::ServerTls::mutual)
    /// does.
    ///
    /// A certificate with a SPIFFE ID that is not valid, or with a further URI, counts as none. A connection keeps the
    /// principal that it began with when its certificate expires.
    #[cfg(feature = "tls")]
    pub fn certificates(self) -> Self {
        self.change(|rules| rules.by_certificate = true)
    }

    /// Knows callers on Unix sockets by the user and group of their process when it connected, which the kernel states.
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

    /// Knows callers by the bearer token in the metadata `authorization`, in place of what their connection says. Calls
    /// with a token that is not accepted are refused, whatever else the caller could show.
    ///
    /// A token is verified when it comes for the first time, and remembered until it expires or keys change. As many are
    /// remembered as fit into 8 MiB. A peer that sends 16 tokens within ten seconds that are not accepted gets no further
    /// one verified for that long.
    pub fn tokens(self, tokens: impl Tokens) -> Self {
        self.change(|rules| rules.tokens = Some(Arc::new(tokens)))
    }

    /// Lets callers into methods, whose names are `package.Service/Method`. Several rules for one method let in those of
    /// each. [`bind`](frpc::ServerBuilder::bind) fails if there is no such method.
    ///
    /// Rules name methods and not services, so that a later method is closed until it is considered.
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

    /// Lets peers use the operations of mounted routers, such as those of a broker. They are known by their connection:
    /// by its certificate, its user, or [by signing in](Principal::sign_in). Packets of others are refused, and counted as
    /// waste.
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow_mounted(1000..=1099, Who::user(1000));
    /// ```
    pub fn allow_mounted(self, operations: impl RangeBounds<u16>, who: Who) -> Self {
        let first = match operations.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let last = match operations.end_bound() {
            Bound::Included(last) => Some(*last),
            Bound::Excluded(behind) => behind.checked_sub(1),
            Bound::Unbounded => Some(u16::MAX),
        };
        let Some(last) = last else { return self };
        self.change(|rules| {
            let rule = rules.add(who);
            rules.mounted.push((first..=last, rule));
        })
    }

    /// Lets peers open streams that name no operation, for the [fallback](frpc::ServerBuilder::fallback).
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().users().allow_fallback(Who::known());
    /// ```
    pub fn allow_fallback(self, who: Who) -> Self {
        self.change(|rules| rules.fallback = Some(rules.add(who)))
    }

    /// Limits how often each of these may call: a principal by its name, over all its connections, and an unknown
    /// caller by its address. The first limit that is for a caller counts; callers without one are not limited.
    ///
    /// A call beyond is refused with [`ResourceExhausted`](frpc::Code::ResourceExhausted), with the time to wait as a
    /// [`RetryInfo`](frpc_details::RetryInfo), before its request is decoded. Packets for mounted routers are
    /// not counted. The memory for limits is bounded: when 65 536 callers have used some of their allowance, further
    /// ones share a limit.
    ///
    /// ```
    /// use frpc_access::{Access, Rate, Who};
    ///
    /// let access = Access::new().limit(Who::anybody(), Rate::per_second(100).burst(20));
    /// ```
    pub fn limit(self, who: Who, rate: Rate) -> Self {
        self.change(|rules| rules.limits.push(Limit { who, rate, is_of_methods: false }))
    }

    /// Limits how often each of these may call these methods, with names like `package.Service/Method`, as [`limit`]
    /// does for all methods. Calls of the methods that are named together count together. Of several such limits for
    /// one method, the first one that is for a caller counts; it applies in addition to that of [`limit`].
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
        let has_exclusion = rules.conditions.iter().any(Who::has_exclusion);
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
    /// The rule with a number.
    fn rule(&self, number: Option<usize>) -> Option<Rule> {
        self.methods.get(number?).copied()
    }

    /// Whether a rule lets in each caller there can be.
    pub(crate) fn includes_all(&self, rule: Option<Rule>) -> bool {
        rule.and_then(|rule| self.rules.conditions.get(rule.condition)).is_some_and(Who::includes_all)
    }

    /// The identity of the peer by its certificate, and that by its user.
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

    /// The remedy for an unknown caller.
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
