//! Conditions on callers, as used by access rules.

use crate::Principal;
#[cfg(any(unix, test))]
use crate::Proof;
use std::fmt;
use std::sync::Arc;

/// A condition on the [`Principal`] of a call.
///
/// ```
/// use frpc_access::Who;
///
/// let tellers = Who::role("teller").or(Who::spiffe("spiffe://example.org/till"));
/// let night = Who::known().and(Who::when(|principal| principal.name().ends_with("-night")));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Who(Condition);

#[derive(Clone)]
enum Condition {
    Anybody,
    Known,
    Role(String),
    Spiffe(String),
    SpiffeBelow(String),
    Host(String),
    CommonName(String),
    #[cfg(unix)]
    User(u32),
    #[cfg(unix)]
    Group(u32),
    When(Arc<dyn Fn(&Principal) -> bool + Send + Sync>),
    Either(Vec<Who>),
    Both(Vec<Who>),
    Except(Box<[Who; 2]>),
}

impl Who {
    /// Matches all callers, known or unknown.
    ///
    /// ```
    /// use frpc_access::{Access, Who};
    ///
    /// let access = Access::new().allow(["grpc.health.v1.Health/Check"], Who::anybody());
    /// ```
    pub fn anybody() -> Self {
        Self(Condition::Anybody)
    }

    /// Matches every authenticated caller.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::known();
    /// ```
    pub fn known() -> Self {
        Self(Condition::Known)
    }

    /// Matches callers with this role, whether it comes from their token or was added by the program.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::role("admin").or(Who::role("operator"));
    /// ```
    pub fn role(role: impl Into<String>) -> Self {
        Self(Condition::Role(role.into()))
    }

    /// Matches the workload with this SPIFFE ID in its certificate.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::spiffe("spiffe://example.org/orders");
    /// ```
    pub fn spiffe(id: impl Into<String>) -> Self {
        Self(Condition::Spiffe(id.into()))
    }

    /// Matches workloads with a SPIFFE ID below `id`. `spiffe://example.org` matches a whole trust domain.
    /// `spiffe://example.org/shop` matches `spiffe://example.org/shop/till`, but not `spiffe://example.org/shopping`.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::spiffe_below("spiffe://example.org/shop");
    /// ```
    pub fn spiffe_below(id: impl Into<String>) -> Self {
        let mut below = id.into();
        if !below.ends_with('/') {
            below.push('/');
        }
        Self(Condition::SpiffeBelow(below))
    }

    /// Matches callers with this host name as a subject alternative name in their certificate. A certificate for
    /// `*.example.org` has exactly that name.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::host("worker.example.org");
    /// ```
    pub fn host(name: impl Into<String>) -> Self {
        Self(Condition::Host(name.into()))
    }

    /// Matches callers with this common name in their certificate, for authorities that do not issue alternative names.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::common_name("monitor");
    /// ```
    pub fn common_name(name: impl Into<String>) -> Self {
        Self(Condition::CommonName(name.into()))
    }

    /// Matches local processes with this user ID that connect over a Unix socket.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::user(1000);
    /// ```
    #[cfg(unix)]
    pub fn user(uid: u32) -> Self {
        Self(Condition::User(uid))
    }

    /// Matches local processes with this effective group ID that connect over a Unix socket. Ignores supplementary
    /// groups.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::group(100);
    /// ```
    #[cfg(unix)]
    pub fn group(gid: u32) -> Self {
        Self(Condition::Group(gid))
    }

    /// Matches principals if `predicate` returns true for them. The result is cached per connection and token, so it
    /// must not change.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::when(|principal| principal.name().starts_with("test-"));
    /// ```
    pub fn when(predicate: impl Fn(&Principal) -> bool + Send + Sync + 'static) -> Self {
        Self(Condition::When(Arc::new(predicate)))
    }

    /// Matches callers that meet `self`, `other` or both.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::user(0).or(Who::group(100));
    /// ```
    pub fn or(self, other: Self) -> Self {
        // Extend the list instead of nesting, because deeply nested conditions would overflow the stack.
        let mut parts = if let Condition::Either(parts) = self.0 { parts } else { vec![self] };
        parts.push(other);
        Self(Condition::Either(parts))
    }

    /// Matches callers that meet both `self` and `other`.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::role("admin").and(Who::when(|principal| principal.name() != "guest"));
    /// ```
    pub fn and(self, other: Self) -> Self {
        // Extend the list, as in `or`.
        let mut parts = if let Condition::Both(parts) = self.0 { parts } else { vec![self] };
        parts.push(other);
        Self(Condition::Both(parts))
    }

    /// Matches callers in `self` that are not in `others`.
    ///
    /// The exclusion applies to every verified identity of a call: its token, the certificate or Unix user of its
    /// connection, and a signed-in principal. A caller therefore cannot avoid it by choosing another identity.
    /// Conditions that `others` combines with [`and`](Self::and) may be met by different identities.
    ///
    /// ```
    /// use frpc_access::Who;
    ///
    /// let who = Who::known().except(Who::role("guest"));
    /// ```
    pub fn except(self, others: Self) -> Self {
        Self(Condition::Except(Box::new([self, others])))
    }

    /// Returns whether the condition is met by every possible caller.
    pub(crate) fn includes_all(&self) -> bool {
        match &self.0 {
            Condition::Anybody => true,
            Condition::Either(parts) => parts.iter().any(Self::includes_all),
            Condition::Both(parts) => parts.iter().all(Self::includes_all),
            _ => false,
        }
    }

    /// Returns whether the condition excludes callers, so that its result depends on all identities of the caller.
    pub(crate) fn has_exclusion(&self) -> bool {
        match &self.0 {
            Condition::Except(_) => true,
            Condition::Either(parts) | Condition::Both(parts) => parts.iter().any(Self::has_exclusion),
            _ => false,
        }
    }

    /// Returns whether a caller with only this identity meets the condition.
    #[cfg(test)]
    pub(crate) fn includes(&self, caller: Option<&Principal>) -> bool {
        self.includes_any(caller.as_slice(), caller.as_slice())
    }

    /// Returns whether one of the identities in `callers` meets the condition. An exclusion rejects a caller if any of
    /// the caller's verified identities, `all`, meets the excluded condition. An exclusion within an exclusion is
    /// evaluated for `callers` only.
    pub(crate) fn includes_any(&self, callers: &[&Principal], all: &[&Principal]) -> bool {
        match &self.0 {
            Condition::Anybody => true,
            Condition::Either(parts) => parts.iter().any(|part| part.includes_any(callers, all)),
            Condition::Both(parts) => parts.iter().all(|part| part.includes_any(callers, all)),
            Condition::Except(parts) => parts[0].includes_any(callers, all) && !parts[1].includes_any(all, callers),
            _ => callers.iter().any(|caller| self.is_met_by(caller)),
        }
    }

    fn is_met_by(&self, principal: &Principal) -> bool {
        let certificate = principal.certificate();
        let spiffe = || certificate.and_then(|names| names.spiffe.as_deref());
        match &self.0 {
            Condition::Known => true,
            Condition::Role(role) => principal.has_role(role),
            Condition::Spiffe(id) => spiffe() == Some(id),
            Condition::SpiffeBelow(below) => spiffe().is_some_and(|id| id.starts_with(below)),
            Condition::Host(host) => {
                certificate.is_some_and(|names| names.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
            }
            Condition::CommonName(name) => certificate.is_some_and(|names| names.common_name.as_deref() == Some(name)),
            #[cfg(unix)]
            Condition::User(uid) => matches!(principal.proof(), Proof::Unix(owner) if owner.user == *uid),
            #[cfg(unix)]
            Condition::Group(gid) => matches!(principal.proof(), Proof::Unix(owner) if owner.group == *gid),
            Condition::When(predicate) => predicate(principal),
            Condition::Anybody | Condition::Either(_) | Condition::Both(_) | Condition::Except(_) => false,
        }
    }
}

impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Condition::Anybody => f.write_str("anybody"),
            Condition::Known => f.write_str("known"),
            Condition::Role(role) => write!(f, "role {role}"),
            Condition::Spiffe(id) => f.write_str(id),
            Condition::SpiffeBelow(below) => write!(f, "{below}…"),
            Condition::Host(host) => write!(f, "host {host}"),
            Condition::CommonName(name) => write!(f, "common name {name}"),
            #[cfg(unix)]
            Condition::User(uid) => write!(f, "uid {uid}"),
            #[cfg(unix)]
            Condition::Group(gid) => write!(f, "gid {gid}"),
            Condition::When(_) => f.write_str("by a function"),
            Condition::Either(parts) => write!(f, "any of {parts:?}"),
            Condition::Both(parts) => write!(f, "all of {parts:?}"),
            Condition::Except(parts) => write!(f, "({:?} except {:?})", parts[0], parts[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CertificateNames;

    fn workload(id: &str) -> Principal {
        let names = CertificateNames { spiffe: Some(id.to_owned()), ..CertificateNames::default() };
        Principal::new("somebody", Proof::Certificate(names))
    }

    #[test]
    fn only_anybody_includes_unknown_caller() {
        assert!(Who::anybody().includes(None));
        assert!(Who::role("a").or(Who::anybody()).includes(None));
        assert!(Who::role("a").or(Who::anybody()).includes_all());
        assert!(!Who::anybody().except(Who::role("a")).includes_all());
        for who in [Who::known(), Who::role("a"), Who::when(|_| true), Who::anybody().and(Who::known())] {
            assert!(!who.includes(None), "{who:?}");
        }
    }

    #[test]
    fn principal_name_matches_only_own_proof_kind() {
        let id = "spiffe://example.org/till";
        let workload = workload(id);
        assert!(Who::spiffe(id).includes(Some(&workload)));
        assert!(!Who::host(id).includes(Some(&workload)) && !Who::common_name(id).includes(Some(&workload)));
        let bearer = Principal::new(id, Proof::Token { issuer: "a".to_owned() });
        assert!(!Who::spiffe(id).includes(Some(&bearer)));
        assert!(!Who::user(0).includes(Some(&Principal::new("uid 0", Proof::Other))));
    }

    #[test]
    fn spiffe_id_prefixes_are_whole_segments() {
        let shop = Who::spiffe_below("spiffe://example.org/shop");
        assert!(shop.includes(Some(&workload("spiffe://example.org/shop/till"))));
        for other in
            ["spiffe://example.org/shop", "spiffe://example.org/shopping/a", "spiffe://example.org.evil/shop/a"]
        {
            assert!(!shop.includes(Some(&workload(other))), "{other}");
        }
        assert!(!Who::spiffe_below("spiffe://example.org").includes(Some(&workload("spiffe://example.org.evil/a"))));
    }

    #[test]
    fn both_and_either_combine_conditions() {
        let teller = Principal::new("Ada", Proof::Other).with_role("teller");
        assert!(Who::role("x").or(Who::role("teller")).includes(Some(&teller)));
        assert!(!Who::role("x").and(Who::role("teller")).includes(Some(&teller)));
        assert!(Who::known().and(Who::when(|principal| principal.name() == "Ada")).includes(Some(&teller)));
    }

    /// Regression test: a rule with many alternatives, or many claims of a token, overflowed the stack.
    #[test]
    fn many_conditions_do_not_overflow_stack() {
        let roles = || (0..100_000).map(|number| Who::role(number.to_string()));
        let (either, both) = roles().reduce(Who::or).zip(roles().reduce(Who::and)).expect("there should be roles");
        let last = Principal::new("Ada", Proof::Other).with_role("99999");
        for (who, includes) in [(either, true), (both, false)] {
            assert_eq!(who.clone().includes(Some(&last)), includes);
            assert!(!who.has_exclusion() && !who.includes_all());
        }
        let three = Who::known().or(Who::role("a")).or(Who::host("b"));
        assert_eq!(format!("{three:?}"), "any of [known, role a, host b]");
    }

    #[test]
    fn excepted_callers_are_not_included() {
        let guest = Principal::new("Ada", Proof::Other).with_role("guest");
        let who = Who::anybody().except(Who::role("guest"));
        assert!(!who.includes(Some(&guest)));
        assert!(who.includes(None) && who.includes(Some(&Principal::new("Eve", Proof::Other))));
        assert!(!Who::known().except(Who::anybody()).includes(Some(&guest)));
    }

    #[test]
    fn exclusion_applies_to_every_call_identity() {
        let token = Principal::new("Ada", Proof::Token { issuer: "a".to_owned() }).with_role("reader");
        let workload = workload("spiffe://example.org/evil");
        let evil = || Who::spiffe("spiffe://example.org/evil");
        let is_let_in = |who: &Who| who.includes_any(&[&token], &[&token, &workload]);
        assert!(!is_let_in(&Who::known().except(evil())));
        // The two conditions are met by different identities.
        assert!(!is_let_in(&Who::known().except(evil().and(Who::role("reader")))));
        assert!(is_let_in(&Who::known().except(evil().and(Who::role("writer")))));
        // An exclusion within an exclusion is evaluated for the calling identity only.
        assert!(!is_let_in(&Who::known().except(Who::known().except(evil()))));
        assert!(is_let_in(&Who::known().except(Who::known().except(Who::role("reader")))));
        assert!(!is_let_in(&evil()), "only the caller itself should be admitted");
    }
}
