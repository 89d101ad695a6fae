//! Programs that print credentials, as providers of clusters have them: the kind `ExecCredential` of the group
//! `client.authentication.k8s.io`.

use crate::kubernetes::{Settings, invalid};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// How long a program may take. Some ask a service on the Internet; none can ask a person here.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program to run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plugin {
    api_version: String,
    pub(crate) command: String,
    args: Option<Vec<String>>,
    env: Option<Vec<Variable>>,
    #[serde(default)]
    provide_cluster_info: bool,
}

#[derive(Debug, Deserialize)]
struct Variable {
    name: String,
    value: String,
}

/// What a program has printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) token: Option<String>,
    /// A certificate and its key, in PEM.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    kind: &'a str,
    api_version: &'a str,
    spec: QuestionSpec<'a>,
}

#[derive(Serialize)]
struct QuestionSpec<'a> {
    interactive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Cluster<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster<'a> {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_server_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_authority_data: Option<String>,
}

#[derive(Deserialize)]
struct Printed {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Plugin {
    /// Runs the program.
    ///
    /// # Cancel safety
    /// Dropping the future ends the program.
    pub(crate) async fn ask(&self, settings: &Settings) -> io::Result<Answer> {
        let failed = |why: String| io::Error::other(format!("{:?} gave no credentials: {why}", self.command));
        let mut command = Command::new(&self.command);
        command.args(self.args.iter().flatten()).env("KUBERNETES_EXEC_INFO", self.question(settings)?);
        command.envs(self.env.iter().flatten().map(|variable| (&variable.name, &variable.value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        let ran = tokio::time::timeout(PATIENCE, command.output()).await;
        let output = ran.map_err(|_| failed(format!("it took longer than {PATIENCE:?}")))?;
        let output = output.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!("{}: {}", output.status, said.trim().chars().take(500).collect::<String>())));
        }
        read(&output.stdout).map_err(|error| failed(error.to_string()))
    }

    /// What the program is told, in its environment.
    fn question(&self, settings: &Settings) -> io::Result<String> {
        let address = &settings.address;
        let scheme = if address.is_tls { "https" } else { "http" };
        let cluster = self.provide_cluster_info.then(|| Cluster {
            server: format!("{scheme}://{}{}", address.authority(), address.prefix),
            tls_server_name: settings.server_name.as_deref(),
            certificate_authority_data: settings.authorities.as_ref().map(|pem| BASE64_STANDARD.encode(pem)),
        });
        let spec = QuestionSpec { interactive: false, cluster };
        let question = Question { kind: "ExecCredential", api_version: &self.api_version, spec };
        serde_json::to_string(&question).map_err(io::Error::other)
    }
}

/// Reads what a program has printed. The text itself is secret and stands in no error.
fn read(printed: &[u8]) -> io::Result<Answer> {
    let printed: Printed = serde_json::from_slice(printed).map_err(|_| invalid("it printed no ExecCredential"))?;
    let status = printed.status.ok_or_else(|| invalid("it printed no status"))?;
    let identity = status.client_certificate_data.zip(status.client_key_data);
    let identity = identity.map(|(chain, key)| (chain.into_bytes(), key.into_bytes()));
    if status.token.is_none() && identity.is_none() {
        return Err(invalid("it printed neither a token nor a certificate with its key"));
    }
    Ok(Answer { token: status.token, identity })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::Address;

    fn plugin(script: &str) -> Plugin {
        let arguments = serde_json::json!(["-c", script]);
        let plugin = serde_json::json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": arguments,
            "env": [{"name": "REGION", "value": "north"}], "provideClusterInfo": true,
        });
        serde_json::from_value(plugin).expect("it has all fields")
    }

    fn settings() -> Settings {
        let address = Address::parse("https://10.0.0.1:6443").expect("it is an address");
        Settings { authorities: Some(b"pem".to_vec()), ..Settings::plain(address) }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_is_told_of_the_cluster_and_prints_a_token() {
        // It prints what it was told as the token, with other quotation marks.
        let script =
            r#"told=$(echo "$KUBERNETES_EXEC_INFO" | tr '"' "'"); echo '{"status":{"token":"'"$REGION $told"'"}}'"#;
        let answer = plugin(script).ask(&settings()).await.expect("it prints a token");
        let told = "north {'kind':'ExecCredential','apiVersion':'client.authentication.k8s.io/v1','spec':\
            {'interactive':false,'cluster':{'server':'https://10.0.0.1:6443','certificate-authority-data':'cGVt'}}}";
        assert_eq!(answer, Answer { token: Some(told.to_owned()), identity: None });
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_fails_is_named_with_its_last_words() {
        let error = plugin("echo 'log in first' >&2; exit 3").ask(&settings()).await.expect_err("it fails");
        assert!(error.to_string().contains(r#""sh" gave no credentials"#), "{error}");
        assert!(error.to_string().contains("log in first"), "{error}");
        let missing = Plugin { command: "no-such-program-anywhere".to_owned(), ..plugin("") };
        let error = missing.ask(&settings()).await.expect_err("there is none");
        assert!(error.to_string().contains("no-such-program-anywhere"), "{error}");
    }

    #[test]
    fn a_program_prints_a_token_or_an_identity_and_its_output_stands_in_no_error() {
        let identity = r#"{"status":{"clientCertificateData":"chain","clientKeyData":"key"}}"#;
        let answer = read(identity.as_bytes()).expect("it is an identity");
        assert_eq!(answer, Answer { token: None, identity: Some((b"chain".to_vec(), b"key".to_vec())) });
        for text in
            ["", "{}", r#"{"status":{}}"#, r#"{"status":{"clientKeyData":"secret"}}"#, r#"{"status":["secret"]}"#]
        {
            let error = read(text.as_bytes()).expect_err("it has no credentials").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
