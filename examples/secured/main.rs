//! A server that authenticates callers by certificates and tokens, with a role for each method and a rate limit, and
//! its replies to rejected callers. Makes one call of each kind, prints the replies, and exits.
//!
//! `cargo run -p secured`
//!
//! The certificate authority and the token issuer are created here and discarded at the end. Real programs get their
//! certificates from their organization's authority, and the token keys from their identity provider.

use frpc::details::RetryInfo;
use frpc::tls::{Authorities, CertificateDer, ClientTls, Identity, PrivateKeyDer, ServerTls};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status};
use frpc_access::jwt::{Algorithm, Claims, Jwt, Keys};
use frpc_access::{Access, Principal, Rate, Who};
use greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use jsonwebtoken::{EncodingKey, Header};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, SystemTime};

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

const ISSUER: &str = "https://login.example.org";
const AUDIENCE: &str = "greeter";

/// The secret shared by the issuer and the server, and a wrong one.
const SECRET: [u8; 32] = [7; 32];
const OTHER: [u8; 32] = [8; 32];

/// Greets callers by their authenticated names.
struct Service;

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        Ok(Response::new(Greeting { text: format!("Hello, {}!", caller(&request)?) }))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let text = format!("A verse for {}.", caller(&request)?);
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(Greeting { text })]))))
    }
}

/// Returns the caller of a request, with further claims of its token.
fn caller(request: &Request<Name>) -> Result<String, Status> {
    let who = Principal::of_request(request).ok_or_else(|| Status::internal("the rules admit only known callers"))?;
    let tenant = who.get::<Claims>().and_then(|claims| claims.text("tenant"));
    Ok(tenant.map_or_else(|| who.name().to_owned(), |tenant| format!("{} of {tenant}", who.name())))
}

/// Front ends may greet. Their users may request recitals, with a burst of two and then one per hour.
fn rules() -> Result<Access, Box<dyn Error>> {
    let keys = Keys::new().secret("2026", Algorithm::HS256, SECRET)?;
    let access = Access::new()
        .certificates()
        .tokens(Jwt::new(ISSUER, AUDIENCE, keys))
        .allow(["greet.Greeter/Greet"], Who::spiffe_below("spiffe://example.org/front"))
        .allow(["greet.Greeter/Recite"], Who::role("reader"))
        .limit(Who::role("reader"), Rate::one_in(Duration::from_secs(3600)).burst(2));
    Ok(access)
}

/// Issues certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "the authority of the house");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    fn issue(&self, name: SanType) -> Result<Identity, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![name];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.0)?;
        Ok(Identity::new(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into())))
    }

    fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    fn workload(&self, id: &str) -> Result<Identity, rcgen::Error> {
        self.issue(SanType::URI(id.try_into()?))
    }
}

/// Returns a token for Ada, signed with a secret, that expires in `seconds` seconds.
fn token(secret: &[u8], role: &str, seconds: i64) -> Result<String, Box<dyn Error>> {
    let now = i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs())?;
    let claims: BTreeMap<&str, serde_json::Value> = BTreeMap::from([
        ("iss", ISSUER.into()),
        ("aud", AUDIENCE.into()),
        ("sub", "Ada".into()),
        ("exp", (now + seconds).into()),
        ("roles", vec![role].into()),
        ("tenant", "the library".into()),
    ]);
    let header = Header { kid: Some("2026".to_owned()), ..Header::new(Algorithm::HS256) };
    Ok(jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(secret))?)
}

/// Returns a request that carries a token.
fn by(token: &str) -> Result<Request<Name>, Box<dyn Error>> {
    let mut request = Request::new(Name::default());
    request.metadata_mut().insert("authorization", format!("Bearer {token}"))?;
    Ok(request)
}

async fn verse(client: &GreeterClient, token: &str) -> Result<Result<String, Status>, Box<dyn Error>> {
    let mut verses = match client.recite(by(token)?).await {
        Ok(verses) => verses.into_inner(),
        Err(status) => return Ok(Err(status)),
    };
    Ok(verses.message().await.map(|verse| verse.unwrap_or_default().text))
}

/// Each request with its reply.
type Answers = Vec<(&'static str, Result<String, Status>)>;

/// Starts the server, and makes the calls.
async fn calls() -> Result<Answers, Box<dyn Error>> {
    let authority = Authority::new()?;
    let house = || Authorities::new([authority.certificate()]);
    let here = authority.issue(SanType::IpAddress([127, 0, 0, 1].into()))?;
    let server = Server::builder()
        .add_service(GreeterServer::new(Service))
        .tls(ServerTls::mutual(here, house()?)?)
        .access(rules()?)
        .bind("127.0.0.1:0")
        .await?;
    let address = server.local_addr().to_string();
    let serving = tokio::spawn(server.serve());
    let connect = async |id: &str| {
        let tls = ClientTls::new(house()?)?.with_identity(authority.workload(id)?)?;
        Ok::<_, Box<dyn Error>>(GreeterClient::new(Channel::builder().tls(tls).connect(address.as_str()).await?))
    };
    let front = connect("spiffe://example.org/front/web").await?;
    let back = connect("spiffe://example.org/back").await?;
    let greeted =
        async |client: &GreeterClient| client.greet(Name::default()).await.map(|greeting| greeting.into_inner().text);
    let reader = token(&SECRET, "reader", 600)?;
    let mut answers = vec![
        ("a front end greets", greeted(&front).await),
        ("another program greets", greeted(&back).await),
        ("a reader requests a verse", verse(&back, &reader).await?),
        ("a caller without the role does", verse(&back, &token(&SECRET, "guest", 600)?).await?),
        ("the token is forged", verse(&back, &token(&OTHER, "reader", 600)?).await?),
        ("the token has expired", verse(&back, &token(&SECRET, "reader", -600)?).await?),
        ("the reader requests a second verse", verse(&front, &reader).await?),
        ("and for a third one", verse(&front, &reader).await?),
    ];
    // Without a certificate the handshake fails before any rule is checked.
    let stranger = Channel::builder().tls(ClientTls::new(house()?)?).connect(address.as_str()).await;
    let answer = match stranger {
        Ok(channel) => greeted(&GreeterClient::new(channel)).await,
        Err(error) => Err(Status::unavailable(error.to_string())),
    };
    answers.push(("a stranger connects", answer));
    serving.abort();
    Ok(answers)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for (request, answer) in calls().await? {
        match answer {
            Ok(text) => println!("{request}: {text}"),
            Err(status) => {
                let wait = status.detail::<RetryInfo>().and_then(|info| info.delay());
                let wait = wait.map_or_else(String::new, |wait| format!(" (in {} s)", wait.as_secs()));
                println!("{request}: {:?}: {}{wait}", status.code(), status.message());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::Code;

    #[tokio::test]
    async fn rules_admit_or_reject_each_caller() {
        let answers = calls().await.expect("calls on this machine should be answered");
        let code = |answer: &Result<String, Status>| answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
        let codes: Vec<_> = answers.iter().map(|(_, answer)| code(answer)).collect();
        let expected = [
            Code::Ok,
            Code::PermissionDenied,
            Code::Ok,
            Code::PermissionDenied,
            Code::Unauthenticated,
            Code::Unauthenticated,
            Code::Ok,
            Code::ResourceExhausted,
            Code::Unavailable,
        ];
        assert_eq!(codes, expected, "{answers:?}");
        assert_eq!(answers[0].1.as_deref(), Ok("Hello, spiffe://example.org/front/web!"));
        assert_eq!(answers[2].1.as_deref(), Ok("A verse for Ada of the library."));
    }
}
