//! Tests that valid tokens are accepted and invalid ones are rejected.

use crate::{Principal, Proof};
use frpc_access::jwt::{Algorithm, Claims, Jwt, Keys};
use frpc_access::{TokenError, Tokens};
use jsonwebtoken::{EncodingKey, Header, encode};
use rcgen::{KeyPair, PublicKeyData as _};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const SECRET: [u8; 32] = [7; 32];

/// Current time of the test server, in seconds since the Unix epoch.
const NOW: u64 = 1_900_000_000;

fn clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn shared() -> Keys {
    Keys::new().secret("main", Algorithm::HS256, SECRET).expect("shared secret should be long enough")
}

fn jwt(keys: Keys) -> Jwt {
    Jwt::new("https://issuer.example.org", "bank", keys).clock(clock).leeway(Duration::from_secs(10))
}

/// Returns valid claims modified by `changes`. A `null` value removes a claim.
fn claims(changes: &Value) -> Value {
    let mut claims = json!({
        "iss": "https://issuer.example.org", "aud": "bank", "sub": "ada", "exp": NOW + 60, "roles": ["teller"],
    });
    let all = claims.as_object_mut().expect("claims should be a JSON object");
    for (name, value) in changes.as_object().expect("changes to claims should be a JSON object") {
        all.insert(name.clone(), value.clone());
        all.retain(|_, value| !value.is_null());
    }
    claims
}

fn header(algorithm: Algorithm, kid: Option<&str>) -> Header {
    Header { kid: kid.map(str::to_owned), ..Header::new(algorithm) }
}

fn token(changes: &Value) -> String {
    let key = EncodingKey::from_secret(&SECRET);
    encode(&header(Algorithm::HS256, Some("main")), &claims(changes), &key).expect("token should be signed")
}

fn accepted(jwt: &Jwt, token: &str) -> Principal {
    jwt.verify(token).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(jwt: &Jwt, token: &str) -> String {
    match jwt.verify(token) {
        Err(TokenError::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

/// Encodes bytes as base64 without padding, for malformed tokens that no library creates.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let number = chunk.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        (0..=chunk.len()).map(move |at| char::from(DIGITS[(number >> (18 - 6 * at) & 63) as usize]))
    });
    digits.collect()
}

#[test]
fn critical_header_parameters_refuse_token() {
    let key = EncodingKey::from_secret(&SECRET);
    for critical in [&["exp"][..], &["b64", "http://example.org/extension"], &[]] {
        let critical = Some(critical.iter().map(|&name| name.to_owned()).collect());
        let header = Header { crit: critical, ..header(Algorithm::HS256, Some("main")) };
        let token = encode(&header, &claims(&json!({})), &key).expect("token should be signed");
        let reason = refused(&jwt(shared()), &token);
        assert!(reason.contains("critical"), "{reason}");
    }
}

#[test]
fn accepted_token_names_bearer() {
    let principal = accepted(&jwt(shared()), &token(&json!({"tenant": "blue"})));
    assert_eq!((principal.name(), principal.roles()), ("ada", &["teller".to_owned()][..]));
    assert_eq!(principal.proof(), &Proof::Token { issuer: "https://issuer.example.org".to_owned() });
    assert_eq!(principal.get::<Claims>().and_then(|claims| claims.text("tenant")), Some("blue"));
    assert!(
        !format!("{principal:?} {:?}", principal.get::<Claims>()).contains("blue"),
        "debug output should not contain claims, which may be private"
    );
    let scopes = jwt(shared()).roles_claim("scope");
    let principal = accepted(&scopes, &token(&json!({"scope": "pay refund"})));
    assert_eq!(principal.roles(), ["pay", "refund"]);
    for none in [json!({"roles": 7}), json!({"roles": [7, null]}), json!({"roles": null})] {
        assert!(accepted(&jwt(shared()), &token(&none)).roles().is_empty());
    }
}

#[test]
fn unsigned_token_is_rejected() {
    let body = base64(claims(&json!({})).to_string().as_bytes());
    for alg in ["none", "None", "NONE", ""] {
        let header = base64(json!({"alg": alg, "typ": "JWT", "kid": "main"}).to_string().as_bytes());
        for signature in ["", "AAAA"] {
            refused(&jwt(shared()), &format!("{header}.{body}.{signature}"));
        }
    }
    let good = token(&json!({}));
    let (signed, _) = good.rsplit_once('.').expect("JWT should have three parts");
    for bad in ["", ".", "..", "a.b.c", &format!("{signed}."), signed, &format!("{good}x"), &format!("{good}.x")] {
        refused(&jwt(shared()), bad);
    }
}

#[test]
fn token_is_verified_by_key_and_algorithm() {
    let key = EncodingKey::from_secret(&SECRET);
    let signed =
        |header: &Header, key: &EncodingKey| encode(header, &claims(&json!({})), key).expect("token should be signed");
    refused(&jwt(shared()), &signed(&header(Algorithm::HS256, Some("main")), &EncodingKey::from_secret(&[8; 32])));
    refused(&jwt(shared()), &signed(&header(Algorithm::HS512, Some("main")), &key));
    refused(&jwt(shared()), &signed(&header(Algorithm::HS256, Some("other")), &key));
    accepted(&jwt(shared()), &signed(&header(Algorithm::HS256, None), &key));
    let two = shared().secret("second", Algorithm::HS256, [9; 32]).expect("second shared secret should be long enough");
    refused(&jwt(two), &signed(&header(Algorithm::HS256, None), &key));
}

#[test]
fn public_key_is_never_used_as_secret() {
    let pair = KeyPair::generate().expect("key pair should be generated");
    let (public, private) = (pair.public_key_pem(), pair.serialize_pem());
    let keys = || Keys::new().pem("main", Algorithm::ES256, &public).expect("public key should be valid");
    let header_of = |algorithm| header(algorithm, Some("main"));
    let key = EncodingKey::from_ec_pem(private.as_bytes()).expect("private key should be valid");
    accepted(
        &jwt(keys()),
        &encode(&header_of(Algorithm::ES256), &claims(&json!({})), &key).expect("token should be signed"),
    );
    for secret in [public.as_bytes(), pair.der_bytes()] {
        let key = EncodingKey::from_secret(secret);
        let forged = encode(&header_of(Algorithm::HS256), &claims(&json!({})), &key).expect("token should be signed");
        refused(&jwt(keys()), &forged);
    }
    assert!(Keys::new().pem("main", Algorithm::HS256, &public).is_err());
    assert!(Keys::new().pem("main", Algorithm::RS256, &public).is_err());
    assert!(Keys::new().secret("main", Algorithm::ES256, SECRET).is_err());
    assert!(Keys::new().secret("main", Algorithm::HS256, [7; 31]).is_err());
}

#[test]
fn token_with_wrong_issuer_or_audience_fails() {
    let jwt = jwt(shared());
    for changes in [
        json!({"iss": "https://other.example.org"}),
        json!({"iss": null}),
        json!({"iss": 7}),
        json!({"iss": ["https://issuer.example.org", "https://other.example.org"]}),
        json!({"iss": ["https://issuer.example.org"]}),
        json!({"aud": "shop"}),
        json!({"aud": ["shop", "post"]}),
        json!({"aud": null}),
        json!({"aud": []}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": 7}),
        json!({"exp": null}),
        json!({"exp": "tomorrow"}),
        json!({"exp": (NOW + 60).to_string()}),
        json!({"exp": -1}),
        json!({"nbf": "yesterday"}),
        json!({"nbf": {}}),
    ] {
        refused(&jwt, &token(&changes));
    }
    accepted(&jwt, &token(&json!({"aud": ["shop", "bank"]})));
}

#[test]
fn token_times_are_checked_with_leeway() {
    let jwt = jwt(shared());
    for changes in [
        json!({"exp": NOW + 1}),
        json!({"exp": NOW - 9}),
        json!({"nbf": NOW + 10}),
        json!({"exp": NOW as f64 + 0.5}),
        json!({"exp": u64::MAX / 2}),
    ] {
        accepted(&jwt, &token(&changes));
    }
    for passed in [NOW - 10, NOW - 11, 0] {
        assert_eq!(jwt.verify(&token(&json!({"exp": passed}))).unwrap_err(), TokenError::Expired);
    }
    refused(&jwt, &token(&json!({"nbf": NOW + 11})));
    let before_1970 = jwt.clone().clock(|| SystemTime::UNIX_EPOCH - Duration::from_secs(1));
    refused(&before_1970, &token(&json!({"nbf": NOW})));
}

#[tokio::test(start_paused = true)]
async fn principal_expires_with_token_after_leeway() {
    let now = tokio::time::Instant::now().into_std();
    let principal = accepted(&jwt(shared()), &token(&json!({})));
    assert_eq!(principal.expires().map(|at| at - now), Some(Duration::from_secs(70)));
}

#[test]
fn replaced_keys_apply_to_all_clones() {
    let (jwt, good) = (jwt(shared()), token(&json!({})));
    let clone = jwt.clone();
    accepted(&jwt, &good);
    let before = jwt.generation();
    clone.reload(
        Keys::new().secret("main", Algorithm::HS256, [9; 32]).expect("new shared secret should be long enough"),
    );
    refused(&jwt, &good);
    assert_ne!(jwt.generation(), before);
    clone.reload(Keys::new());
    refused(&jwt, &good);
    clone.reload(shared());
    accepted(&jwt, &good);
}

#[test]
fn only_public_keys_in_set_are_used() {
    let pair = KeyPair::generate().expect("key pair should be generated");
    let point = pair.der_bytes();
    let (x, y) = (base64(&point[1..33]), base64(&point[33..]));
    let key = json!({"kty": "EC", "crv": "P-256", "kid": "a", "x": x, "y": y, "use": "sig", "alg": "ES256"});
    let without = |name: &str, kid: &str| {
        let mut key = key.clone();
        let fields = key.as_object_mut().expect("JWK should be a JSON object");
        fields.remove(name);
        fields.insert("kid".to_owned(), kid.into());
        key
    };
    let mut encrypting = without("alg", "c");
    encrypting["use"] = "enc".into();
    let secret = json!({"kty": "oct", "kid": "d", "k": base64(&SECRET), "alg": "HS256"});
    let unknown = [json!({"kty": "new", "kid": "e"}), json!({"kty": "EC", "crv": 7, "kid": "f"}), json!("no key")];
    // RFC 7517, section 4.3: `key_ops` is an alternative to `use`.
    let [mut deriving, mut verifying] = ["g", "h"].map(|kid| without("use", kid));
    (deriving["key_ops"], verifying["key_ops"]) = (json!(["deriveBits"]), json!(["verify"]));
    let known = [key.clone(), without("alg", "b"), encrypting, secret.clone(), deriving, verifying];
    let keys = [&unknown[..], &known].concat();
    let set = json!({"keys": keys});
    let keys = Keys::from_jwks(set.to_string()).expect("key set should have three usable keys");
    let signing = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).expect("private key should be valid");
    let jwt = jwt(keys);
    for (kid, serves) in [("a", true), ("b", true), ("c", false), ("g", false), ("h", true)] {
        let signed = encode(&header(Algorithm::ES256, Some(kid)), &claims(&json!({})), &signing)
            .expect("token should be signed");
        assert_eq!(jwt.verify(&signed).is_ok(), serves, "{kid}");
    }
    let coded = encode(&header(Algorithm::HS256, Some("d")), &claims(&json!({})), &EncodingKey::from_secret(&SECRET));
    refused(&jwt, &coded.expect("token should be signed"));
    let doubled = json!({"keys": [key, without("alg", "a")]}).to_string();
    for none in ["", "{}", &doubled, "[]", r#"{"keys": []}"#, &json!({"keys": [secret]}).to_string()] {
        assert!(Keys::from_jwks(none).is_err(), "{none}");
    }
}
