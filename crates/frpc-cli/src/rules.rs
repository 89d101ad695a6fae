//! The access rules of `frpc gateway`: parses a TOML file into an [`Access`].
//!
//! docs/gateway-command.md describes the format. This module parses it and resolves method patterns, and `frpc-access`
//! authorizes callers.
//!
//! # Decisions
//!
//! * **Errors name the line.** Unknown keys, patterns without a match, and conditions that no caller can meet are
//!   errors. If such a rule were ignored, callers would be admitted or rejected by mistake.
//! * **Patterns are resolved here.** `Access` takes method names, so that methods added to a program's schema later are
//!   closed by default. A gateway starts with a fixed schema, and the operator may open a whole service.

mod reload;

pub(crate) use reload::CurrentRules;

use crate::arguments::duration;
use crate::failure::Failure;
use crate::schema::{Callable, Service};
use crate::target::read;
use frpc_access::Proof;
use frpc_access::jwt::{Algorithm, Claims, Jwt, Keys};
use frpc_access::{Access, Rate, Who};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// Contents of a TOML file that defines the access rules of a gateway.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    jwt: Option<Spanned<JwtIssuer>>,
    #[serde(default)]
    allow: Vec<MethodRule>,
    #[serde(default)]
    deny: Vec<MethodRule>,
    #[serde(default)]
    limit: Vec<Spanned<LimitRule>>,
}

/// The `[jwt]` table of the rules file: the issuer of tokens, and the keys that verify its tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct JwtIssuer {
    issuer: String,
    audience: String,
    roles_claim: Option<String>,
    leeway: Option<Spanned<String>>,
    jwks: Option<PathBuf>,
    #[serde(default)]
    keys: Vec<Spanned<KeyFile>>,
}

/// A key that verifies tokens, with the file that contains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    kid: String,
    algorithm: Algorithm,
    pem: Option<PathBuf>,
    secret: Option<PathBuf>,
}

/// An `[[allow]]` or `[[deny]]` table in the rules file, which admits or rejects callers of methods.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodRule {
    methods: Spanned<Vec<Spanned<String>>>,
    who: Spanned<Vec<Spanned<Condition>>>,
}

/// A `[[limit]]` table in the rules file, which limits how many calls per second a caller may make.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LimitRule {
    methods: Option<Spanned<Vec<Spanned<String>>>>,
    who: Spanned<Vec<Spanned<Condition>>>,
    per_second: Option<u32>,
    one_in: Option<Spanned<String>>,
    burst: Option<u32>,
}

/// An element of a `who` list in the rules file. Matches callers if all of its keys are true for them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Condition {
    anybody: Option<bool>,
    known: Option<bool>,
    role: Option<String>,
    subject: Option<String>,
    #[serde(default)]
    claims: BTreeMap<String, Value>,
    spiffe: Option<String>,
    spiffe_below: Option<String>,
    host: Option<String>,
    common_name: Option<String>,
}

/// A rules file that is being evaluated. Its text is kept so that errors can state line numbers.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    /// Whether callers can authenticate by tokens, because the file contains a `[jwt]` table.
    has_tokens: bool,
    /// Whether callers can authenticate by client certificates, because --listen-cacert is set.
    has_certificates: bool,
    /// Names of all methods that the gateway forwards. Patterns in the rules file select from them.
    methods: BTreeSet<String>,
}

/// Methods that the gateway itself provides. The pattern `*` in the rules file does not match them.
const OWN_METHODS: [&str; 7] = [
    "frpc.reflection.v1.Reflection/Files",
    "frpc.reflection.v1.Reflection/List",
    "grpc.health.v1.Health/Check",
    "grpc.health.v1.Health/List",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Loads the access rules of a gateway. `services` contains the methods that it forwards.
pub(crate) fn load(
    path: &Path,
    services: &[(&Service, Vec<&Callable>)],
    has_certificates: bool,
) -> Result<Access, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    let methods = services.iter().flat_map(|(_, methods)| methods).map(|callable| callable.name()).collect();
    let mut source = Source { path, text: &text, has_tokens: false, has_certificates, methods };
    let file: RulesFile =
        toml::from_str(&text).map_err(|error| source.wrong(error.span().unwrap_or_default(), error.message()))?;
    if file.allow.is_empty() {
        return Err(Failure::new(format!(
            "{}: no rule admits a caller; add [[allow]] with `methods` and `who`, or leave out --rules",
            path.display()
        )));
    }
    let mut access = Access::new();
    if has_certificates {
        access = access.certificates();
    }
    if let Some(jwt) = &file.jwt {
        source.has_tokens = true;
        access = access.tokens(source.jwt(jwt)?);
    }
    access = source.admit(access, &file)?;
    for limit in &file.limit {
        let rate = source.rate(limit)?;
        let who = source.who(&limit.get_ref().who)?;
        access = match &limit.get_ref().methods {
            None => access.limit(who, rate),
            Some(patterns) => access.limit_methods(source.matching(patterns)?, who, rate),
        };
    }
    Ok(access)
}

impl Source<'_> {
    /// Returns an error that states the line number in the rules file.
    fn wrong(&self, at: Range<usize>, text: impl fmt::Display) -> Failure {
        let line = self.text.bytes().take(at.start).filter(|byte| *byte == b'\n').count() + 1;
        Failure::new(format!("{}:{line}: {text}", self.path.display()))
    }

    /// Adds the access rules for all methods to `access`. Methods with the same rules share a condition.
    fn admit(&self, mut access: Access, file: &RulesFile) -> Result<Access, Failure> {
        let (allowed, denied) = (self.rules(&file.allow)?, self.rules(&file.deny)?);
        let matching = |rules: &[(BTreeSet<String>, Who)], method: &String| {
            (0..).zip(rules).filter(|(_, (methods, _))| methods.contains(method)).map(|(number, _)| number).collect()
        };
        // Methods without an `allow` rule are left out, which rejects all of their callers.
        let methods: BTreeSet<_> = allowed.iter().flat_map(|(methods, _)| methods).collect();
        let mut groups: BTreeMap<(Vec<usize>, Vec<usize>), Vec<&String>> = BTreeMap::new();
        for method in methods {
            groups.entry((matching(&allowed, method), matching(&denied, method))).or_default().push(method);
        }
        let any = |rules: &[(BTreeSet<String>, Who)], numbers: &[usize]| {
            numbers.iter().filter_map(|number| Some(rules.get(*number)?.1.clone())).reduce(Who::or)
        };
        for ((allow, deny), methods) in groups {
            let Some(who) = any(&allowed, &allow) else { continue };
            let who = match any(&denied, &deny) {
                Some(others) => who.except(others),
                None => who,
            };
            access = access.allow(methods, who);
        }
        Ok(access)
    }

    /// Returns the methods and the condition of each rule.
    fn rules(&self, rules: &[MethodRule]) -> Result<Vec<(BTreeSet<String>, Who)>, Failure> {
        rules.iter().map(|rule| Ok((self.matching(&rule.methods)?, self.who(&rule.who)?))).collect()
    }

    /// Returns the methods that match a list of patterns. A pattern is `package.Service/Method`, `package.Service/*`,
    /// or `*` for all forwarded methods.
    fn matching(&self, patterns: &Spanned<Vec<Spanned<String>>>) -> Result<BTreeSet<String>, Failure> {
        if patterns.get_ref().is_empty() {
            return Err(self.wrong(patterns.span(), "`methods` is empty; add a pattern such as \"*\""));
        }
        let mut found = BTreeSet::new();
        for pattern in patterns.get_ref() {
            let text = pattern.get_ref();
            let all = || self.methods.iter().map(String::as_str).chain(OWN_METHODS);
            let named: Vec<String> = match text.strip_suffix('*') {
                Some("") => self.methods.iter().cloned().collect(),
                Some(prefix) if prefix.ends_with('/') => {
                    all().filter(|name| name.starts_with(prefix)).map(ToOwned::to_owned).collect()
                }
                None if all().any(|name| name == text) => vec![text.clone()],
                _ => Vec::new(),
            };
            if named.is_empty() {
                let names: Vec<_> = all().collect();
                let text = format!(
                    "no method matches {text:?}; write package.Service/Method, package.Service/* or *, for one of: {}",
                    names.join(", ")
                );
                return Err(self.wrong(pattern.span(), text));
            }
            found.extend(named);
        }
        Ok(found)
    }

    /// Returns a condition that a caller meets if it satisfies at least one of these conditions.
    fn who(&self, conditions: &Spanned<Vec<Spanned<Condition>>>) -> Result<Who, Failure> {
        let who = conditions.get_ref().iter().map(|condition| self.condition(condition));
        let who = who.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(Who::or);
        who.ok_or_else(|| self.wrong(conditions.span(), "`who` is empty; add a condition such as { known = true }"))
    }

    fn condition(&self, spanned: &Spanned<Condition>) -> Result<Who, Failure> {
        let condition = spanned.get_ref();
        let by_token = condition.role.is_some() || condition.subject.is_some() || !condition.claims.is_empty();
        let of_certificate = [&condition.spiffe, &condition.spiffe_below, &condition.host, &condition.common_name];
        let by_certificate = of_certificate.iter().any(|name| name.is_some());
        let mut texts = [&condition.role, &condition.subject].into_iter().chain(of_certificate);
        let parts = [
            condition.anybody.map(|_| Who::anybody()),
            condition.known.map(|_| Who::known()),
            condition.role.clone().map(Who::role),
            condition.subject.clone().map(subject),
            condition.spiffe.clone().map(Who::spiffe),
            condition.spiffe_below.clone().map(Who::spiffe_below),
            condition.host.clone().map(Who::host),
            condition.common_name.clone().map(Who::common_name),
        ];
        let claims = condition.claims.iter().map(|(name, value)| claim(name.clone(), value.clone()));
        let parts: Vec<_> = parts.into_iter().flatten().chain(claims).collect();
        let is_alone = parts.len() == 1;
        let who = parts.into_iter().reduce(Who::and);
        let Some(who) = who else {
            return Err(self.wrong(spanned.span(), "a condition without keys; add a key, such as { known = true }"));
        };
        let unmet = match () {
            () if condition.anybody == Some(false) || condition.known == Some(false) => {
                "a condition cannot be false; remove the key, or write the rule as [[deny]]"
            }
            () if condition.anybody == Some(true) && !is_alone => {
                "`anybody` matches all callers, so the other keys have no effect; write a separate condition for each"
            }
            () if texts.any(|text| text.as_deref() == Some("")) => {
                "a name is empty, which matches no caller; write a name, or remove the key"
            }
            // The crate toml represents a date by a table with this key.
            () if condition.claims.values().any(|claim| claim.to_string().contains("$__toml_private_datetime")) => {
                "a claim is a date, which no token contains; write the date in quotes"
            }
            () if by_token && by_certificate => {
                "a condition matches a token or a certificate; write a separate condition for each"
            }
            () if by_token && !self.has_tokens => {
                "callers have no tokens; add [jwt] with `issuer`, `audience` and keys"
            }
            () if by_certificate && !self.has_certificates => "callers have no certificates; add --listen-cacert FILE",
            () if condition.known.is_some() && !self.has_tokens && !self.has_certificates => {
                "no caller can be known; add [jwt], or --listen-cacert FILE"
            }
            () => return Ok(who),
        };
        Err(self.wrong(spanned.span(), unmet))
    }

    fn rate(&self, spanned: &Spanned<LimitRule>) -> Result<Rate, Failure> {
        let limit = spanned.get_ref();
        let wrong = |text: &str| self.wrong(spanned.span(), text);
        let rate = match (limit.per_second, &limit.one_in) {
            (Some(calls @ 1..), None) => Rate::per_second(calls),
            (None, Some(period)) => match self.time(period)? {
                Duration::ZERO => return Err(wrong("one-in = 0 limits no call; must be greater than zero")),
                period => Rate::one_in(period),
            },
            (Some(0), None) => return Err(wrong("per-second = 0 admits no call; must be greater than zero")),
            _ => return Err(wrong("a limit needs one of `per-second = 10` and `one-in = \"10s\"`")),
        };
        match limit.burst {
            Some(0) => Err(wrong("burst = 0 admits no call; must be greater than zero")),
            Some(calls) => Ok(rate.burst(calls)),
            None => Ok(rate),
        }
    }

    fn time(&self, text: &Spanned<String>) -> Result<Duration, Failure> {
        duration(text.get_ref()).map_err(|error| self.wrong(text.span(), format!("{:?}: {error}", text.get_ref())))
    }

    fn jwt(&self, spanned: &Spanned<JwtIssuer>) -> Result<Jwt, Failure> {
        let jwt = spanned.get_ref();
        for (name, text) in [("issuer", &jwt.issuer), ("audience", &jwt.audience)] {
            if text.is_empty() {
                return Err(
                    self.wrong(spanned.span(), format!("`{name}` is empty; write the value that the tokens contain"))
                );
            }
        }
        let mut keys = match &jwt.jwks {
            Some(path) => {
                let path = self.relative(path);
                let set = read(&path)?;
                Keys::from_jwks(set).map_err(|error| Failure::file(&path, &error))?
            }
            None if jwt.keys.is_empty() => {
                return Err(self.wrong(spanned.span(), "[jwt] has no keys; add `jwks = FILE`, or [[jwt.keys]]"));
            }
            None => Keys::new(),
        };
        for spanned in &jwt.keys {
            let KeyFile { kid, algorithm, pem, secret } = spanned.get_ref();
            let added = match (pem, secret) {
                (Some(pem), None) => keys.pem(kid, *algorithm, read(&self.relative(pem))?),
                (None, Some(secret)) => {
                    let secret = read(&self.relative(secret))?;
                    let end = secret.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
                    keys.secret(kid, *algorithm, secret.get(..end).unwrap_or_default())
                }
                _ => return Err(self.wrong(spanned.span(), "a key needs one of `pem = FILE` and `secret = FILE`")),
            };
            keys = added.map_err(|error| self.wrong(spanned.span(), format!("key {kid:?}: {error}")))?;
        }
        let mut accepted = Jwt::new(&jwt.issuer, &jwt.audience, keys);
        if let Some(name) = &jwt.roles_claim {
            accepted = accepted.roles_claim(name);
        }
        if let Some(leeway) = &jwt.leeway {
            accepted = accepted.leeway(self.time(leeway)?);
        }
        Ok(accepted)
    }

    /// Returns the path of a file that the rules file names. A relative path starts at the folder of the rules file.
    fn relative(&self, path: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }
}

/// Returns a condition that a caller meets if its token has this subject. Names in certificates are ignored.
fn subject(name: String) -> Who {
    Who::when(move |principal| principal.name() == name && matches!(principal.proof(), Proof::Token { .. }))
}

/// Returns a condition that a caller meets if its token contains this claim, with this value or with a list that
/// contains the value.
fn claim(name: String, value: Value) -> Who {
    Who::when(move |principal| {
        let claim = principal.get::<Claims>().and_then(|claims| claims.get(&name));
        claim.is_some_and(|claim| *claim == value || claim.as_array().is_some_and(|list| list.contains(&value)))
    })
}
