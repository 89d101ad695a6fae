//! The file of `kubectl`: clusters, users, and contexts that name one of each.

use crate::kubernetes::{Address, Credentials, DEFAULT_NAMESPACE, Settings, invalid, read};
use crate::plugin::Plugin;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use std::io;
use std::path::Path;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Kubeconfig {
    current_context: Option<String>,
    contexts: Option<Vec<NamedContext>>,
    clusters: Option<Vec<NamedCluster>>,
    users: Option<Vec<NamedUser>>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    user: Option<String>,
    namespace: Option<String>,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    tls_server_name: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: Option<User>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    /// The one name that is not written as the others are.
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    username: Option<String>,
    password: Option<String>,
    auth_provider: Option<serde::de::IgnoredAny>,
    exec: Option<Plugin>,
}

/// Reads the file, and those that it names. Blocks.
pub(crate) fn load(path: &Path, context: Option<&str>) -> io::Result<Settings> {
    let bytes = read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let settings = parse(&bytes, folder, context);
    settings.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Reads the text of a file in a folder, from which relative paths go.
fn parse(bytes: &[u8], folder: &Path, context: Option<&str>) -> io::Result<Settings> {
    // Only the place of a mistake: the text beside it may be secret.
    let config: Kubeconfig = yaml_serde::from_slice(bytes).map_err(|error| {
        let place = error.location().map_or_else(String::new, |at| format!(" from line {} on", at.line()));
        invalid(format!("it is not a file of kubectl{place}"))
    })?;
    let name = context.or(config.current_context.as_deref()).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| invalid("there is no current context"))?;
    let mut contexts = config.contexts.into_iter().flatten();
    let context = contexts.find(|one| one.name == name).ok_or_else(|| invalid(format!("no context is {name:?}")))?;
    let Context { cluster: name, user, namespace } = context.context;
    let mut clusters = config.clusters.into_iter().flatten();
    let cluster = clusters.find(|one| one.name == name).ok_or_else(|| invalid(format!("no cluster is {name:?}")))?;
    let user = match user.filter(|name| !name.is_empty()) {
        None => User::default(),
        Some(name) => {
            let mut users = config.users.into_iter().flatten();
            let user = users.find(|one| one.name == name).ok_or_else(|| invalid(format!("no user is {name:?}")))?;
            user.user.unwrap_or_default()
        }
    };
    let namespace = namespace.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    cluster.cluster.settings(user, folder, namespace)
}

impl Cluster {
    fn settings(self, user: User, folder: &Path, namespace: String) -> io::Result<Settings> {
        if self.insecure_skip_tls_verify {
            return Err(invalid("insecure-skip-tls-verify is not done here: name the certificate-authority"));
        }
        if self.proxy_url.is_some_and(|url| !url.is_empty()) {
            return Err(invalid("proxy-url is not understood here"));
        }
        let User { client_certificate, client_certificate_data, client_key, client_key_data, .. } = &user;
        let chain = either(client_certificate_data, client_certificate, folder)?;
        let key = either(client_key_data, client_key, folder)?;
        if chain.is_some() != key.is_some() {
            return Err(invalid("the user has a certificate without its key, or a key without its certificate"));
        }
        Ok(Settings {
            address: Address::parse(&self.server)?,
            server_name: self.tls_server_name.filter(|name| !name.is_empty()),
            authorities: either(&self.certificate_authority_data, &self.certificate_authority, folder)?,
            identity: chain.zip(key),
            credentials: user.credentials(folder)?,
            namespace,
        })
    }
}

impl User {
    fn credentials(self, folder: &Path) -> io::Result<Credentials> {
        if let Some(path) = self.token_file.filter(|path| !path.is_empty()) {
            let token = String::from_utf8(read(&folder.join(path))?).map_err(|_| invalid("the token is no text"))?;
            return Ok(Credentials::Token(token.trim().to_owned()));
        }
        if let Some(token) = self.token.filter(|token| !token.is_empty()) {
            return Ok(Credentials::Token(token));
        }
        if let Some(mut plugin) = self.exec {
            // A path goes from the folder of the file, a name alone along PATH.
            if plugin.command.contains('/') {
                plugin.command = folder.join(&plugin.command).to_string_lossy().into_owned();
            }
            return Ok(Credentials::Plugin(plugin));
        }
        if self.username.is_some() || self.password.is_some() || self.auth_provider.is_some() {
            return Err(invalid(
                "passwords and auth-provider are understood no longer: use a token, a certificate or exec",
            ));
        }
        Ok(Credentials::None)
    }
}

/// What is stated in the file itself, as base64, or in another one.
fn either(data: &Option<String>, path: &Option<String>, folder: &Path) -> io::Result<Option<Vec<u8>>> {
    let is_there = |text: &&String| !text.is_empty();
    if let Some(data) = data.as_ref().filter(is_there) {
        return BASE64_STANDARD.decode(data.trim()).map(Some).map_err(|_| invalid("data that is not base64"));
    }
    path.as_ref().filter(is_there).map(|path| read(&folder.join(path))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
apiVersion: v1
kind: Config
current-context: north
preferences: {}
contexts:
- name: north
  context: {cluster: big, user: ada, namespace: prod}
- name: south
  context: {cluster: small, user: robot}
- name: west
  context: {cluster: small, user: cloud}
- name: nobody
  context: {cluster: small}
- name: lost
  context: {cluster: gone, user: ada}
clusters:
- name: big
  cluster:
    server: https://10.0.0.1:6443
    tls-server-name: big.example
    certificate-authority-data: cGVt
- name: small
  cluster: {server: 'http://127.0.0.1:8001'}
- name: careless
  cluster: {server: 'https://10.0.0.1', insecure-skip-tls-verify: true}
users:
- name: ada
  user: {client-certificate-data: Y2hhaW4=, client-key: keys/ada}
- name: robot
  user: {token: ignored, tokenFile: robot-token}
- name: cloud
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./log-in, args: [now], env: null, interactiveMode: Never}
";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::create_dir(folder.path().join("keys")).expect("there is room");
        std::fs::write(folder.path().join("keys/ada"), "key").expect("there is room");
        std::fs::write(folder.path().join("robot-token"), "secret\n").expect("there is room");
        folder
    }

    fn settings(text: &str, context: Option<&str>) -> io::Result<Settings> {
        parse(text.as_bytes(), folder().path(), context)
    }

    #[test]
    fn the_current_context_names_a_cluster_a_user_and_a_namespace() {
        let settings = settings(TEXT, None).expect("all is there");
        assert_eq!(settings.address, Address::parse("https://10.0.0.1:6443").expect("it is an address"));
        assert_eq!(settings.server_name.as_deref(), Some("big.example"));
        assert_eq!(settings.authorities.as_deref(), Some(&b"pem"[..]));
        assert_eq!(settings.identity, Some((b"chain".to_vec(), b"key".to_vec())));
        assert!(matches!(settings.credentials, Credentials::None));
        assert_eq!(settings.namespace, "prod");
    }

    #[test]
    fn users_have_tokens_in_files_or_plugins_beside_the_file() {
        let robot = settings(TEXT, Some("south")).expect("all is there");
        assert!(matches!(&robot.credentials, Credentials::Token(token) if token == "secret"), "the file counts");
        assert_eq!(robot.namespace, "default");
        let cloud = settings(TEXT, Some("west")).expect("all is there");
        let Credentials::Plugin(plugin) = cloud.credentials else { panic!("it has a plugin") };
        assert!(plugin.command.ends_with("/./log-in") && plugin.command.len() > "./log-in".len(), "{plugin:?}");
        assert!(matches!(settings(TEXT, Some("nobody")).expect("it is whole").credentials, Credentials::None));
    }

    #[test]
    fn a_file_that_lacks_a_part_or_has_one_that_is_not_understood_is_refused_by_its_name() {
        let why = |text: &str, context| settings(text, context).map(drop).expect_err("it will not do").to_string();
        assert_eq!(why(TEXT, Some("east")), r#"no context is "east""#);
        assert_eq!(why(TEXT, Some("lost")), r#"no cluster is "gone""#);
        assert_eq!(why("{}", None), "there is no current context");
        assert!(
            why(&TEXT.replace("cluster: small, user: robot", "cluster: careless"), Some("south")).contains("insecure")
        );
        assert!(why(&TEXT.replace("Y2hhaW4=", "'?'"), None).contains("base64"));
        assert!(why(&TEXT.replace(", client-key: keys/ada", ""), None).contains("without its key"));
        assert!(why(&TEXT.replace("keys/ada", "keys/eve"), None).contains("keys/eve"));
        let password = TEXT.replace("token: ignored, tokenFile: robot-token", "username: a, password: b");
        assert!(why(&password, Some("south")).contains("passwords"));
    }

    #[test]
    fn a_mistake_in_the_file_is_told_without_the_secrets_beside_it() {
        let error =
            settings("users:\n- name: ada\n  user: {token: [secret]}", None).map(drop).expect_err("a list is none");
        assert!(error.to_string().starts_with("it is not a file of kubectl"), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
