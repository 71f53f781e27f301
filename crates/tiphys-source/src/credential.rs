//! Credentials of repositories, as the store's repository Secrets hold them, and how git gets them: by its environment
//! and by files that only this user can read, never by an argument list.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tempfile::NamedTempFile;
use tiphys_params::context::certificates_of;

use crate::url::{RemoteUrl, Transport};
use crate::{Secret, SourceError, normalize_git_url};

/// Credentials and TLS settings for one repository or for all whose URL begins alike.
#[derive(Clone, Debug)]
pub struct RepositoryCredential {
    /// Which repositories these are for.
    pub scope: CredentialScope,
    /// Who we are.
    pub login: Login,
    /// A certificate that the server wants to see.
    pub client_certificate: Option<ClientCertificate>,
    /// Whether the server has to prove who it is.
    pub server: ServerCheck,
    /// Proxy for this repository; empty or absent: that of the environment.
    pub proxy: Option<String>,
}

/// Which repositories credentials are for; URLs compare as [`normalize_git_url`] makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialScope {
    /// One repository (secret type `repository`).
    Repository(String),
    /// All that begin with this URL, on the same host (secret type `repo-creds`); the longest wins.
    Prefix(String),
}

/// Who we are for a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// Nobody; one of a [`CredentialScope::Prefix`] is then taken if there is one.
    None,
    /// User and password, or user and token.
    Basic {
        /// The user; empty is allowed.
        username: String,
        /// Password or token.
        password: Secret,
    },
    /// A bearer token.
    Bearer(Secret),
    /// An SSH private key, in the text form that `ssh -i` reads.
    SshKey(Secret),
}

/// A TLS client certificate, both parts in PEM.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: Secret,
}

/// Whether a server has to prove who it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerCheck {
    /// By certificate or host key.
    #[default]
    Verified,
    /// Not at all (`insecure: "true"` of a repository Secret).
    Skipped,
}

/// Whose credentials and git settings are used beside those that are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSettings {
    /// The user's: git's configuration with helpers and `insteadOf`, `~/.ssh`, the agent. For a laptop and CI.
    #[default]
    Honoured,
    /// None. For servers.
    Ignored,
}

/// What one repository's calls of git get beside the fixed environment. Dropping it removes the files.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) config: Vec<(String, String)>,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The same for our own calls only, which go to this repository alone.
    pub(crate) own_env: Vec<(OsString, OsString)>,
    /// What was tried, for people.
    pub(crate) tried: String,
    /// Whether a Secret, the URL or the certificates of its server say anything; the rest is the user's own.
    pub(crate) given: bool,
    /// Texts that must not be seen in what git says.
    pub(crate) secrets: Vec<Secret>,
    /// Kept for as long as git may read them.
    files: Vec<NamedTempFile>,
}

/// What [`Access`] is made of.
pub(crate) struct AccessInput<'a> {
    pub(crate) url: &'a RemoteUrl,
    pub(crate) credentials: &'a [RepositoryCredential],
    /// Authorities by their servers' names.
    pub(crate) certificates: &'a BTreeMap<String, String>,
    pub(crate) user: UserSettings,
    /// Where files with secrets are put.
    pub(crate) secrets_dir: &'a Path,
    /// What the user runs for ssh (git's `core.sshCommand`), `ssh` by default.
    pub(crate) ssh_command: &'a str,
    pub(crate) ssh_known_hosts: Option<&'a Path>,
}

impl Access {
    pub(crate) fn new(input: &AccessInput<'_>) -> Result<Self, SourceError> {
        let mut access = Self::default();
        let address = &input.url.address;
        let found = find(input.credentials, address);
        let login = match (&input.url.login, found.login) {
            (_, Some(login)) => Some(login.clone()),
            (Some((username, password)), None) => {
                Some(Login::Basic { username: username.clone(), password: password.clone() })
            }
            (None, None) => None,
        };
        access.describe(input, found.login.is_some());
        access.given = login.is_some() || found.credential.is_some();
        let mut ssh = SshCommand::new(input);
        match login {
            Some(Login::Basic { username, password }) if input.url.transport == Transport::Http => {
                let pair = BASE64.encode(format!("{username}:{}", password.expose()));
                access.header(address, &format!("Authorization: Basic {pair}"));
                access.secrets.extend([Secret::new(pair), password]);
            }
            Some(Login::Bearer(token)) if input.url.transport == Transport::Http => {
                access.header(address, &format!("Authorization: Bearer {}", token.expose()));
                access.secrets.push(token);
            }
            Some(Login::SshKey(key)) if input.url.transport == Transport::Ssh => {
                let path = access.file(input.secrets_dir, key.expose(), "\n")?;
                ssh.identity(&path);
            }
            _ => {}
        }
        if let Some(tls) = found.credential.and_then(|credential| credential.client_certificate.as_ref()) {
            let certificate = access.file(input.secrets_dir, &tls.certificate, "")?;
            let key = access.file(input.secrets_dir, tls.key.expose(), "")?;
            access.set("http.sslCert", &certificate.to_string_lossy());
            access.set("http.sslKey", &key.to_string_lossy());
        }
        if found.credential.is_some_and(|credential| credential.server == ServerCheck::Skipped) {
            access.set("http.sslVerify", "false");
            ssh.skip_host_key();
        } else if is_https(address)
            && let Some(pem) = certificates_of(input.certificates, address)
        {
            access.trust(input.secrets_dir, address, pem)?;
        }
        let proxy = found.credential.and_then(|credential| credential.proxy.as_deref());
        if let Some(proxy) = proxy.filter(|proxy| !proxy.is_empty() && input.url.transport == Transport::Http)
        {
            access.set("http.proxy", proxy);
            access.secrets.push(Secret::new(proxy));
        }
        if input.url.transport == Transport::Ssh {
            access.env.push(("GIT_SSH_COMMAND".into(), ssh.text.into()));
        }
        Ok(access)
    }

    /// Has git trust these authorities, and no others, for this repository (`http.sslCAInfo`). The variable, which wins over settings, may
    /// be set by that of the person (`SSL_CERT_FILE`); a plugin's git does not get that.
    fn trust(&mut self, dir: &Path, address: &str, pem: &str) -> Result<(), SourceError> {
        let path = self.file(dir, pem, "\n")?;
        self.set(&format!("http.{address}.sslCAInfo"), &path.to_string_lossy());
        self.own_env.push(("GIT_SSL_CAINFO".into(), path.into()));
        self.given = true;
        Ok(())
    }

    fn describe(&mut self, input: &AccessInput<'_>, from_secret: bool) {
        self.tried = match (from_secret, &input.url.login, input.user) {
            (true, _, _) => "the repository Secret's credentials".to_owned(),
            (false, Some(_), _) => "the user and password in the URL".to_owned(),
            (false, None, UserSettings::Ignored) => "no credentials".to_owned(),
            (false, None, UserSettings::Honoured) => match input.url.transport {
                Transport::Ssh => "the ssh agent and keys of this user".to_owned(),
                _ => "git's credential helpers of this user".to_owned(),
            },
        };
    }

    /// Sent to this repository only: a redirection, which could lead to another server, is not followed (nor is it by
    /// Argo CD). Helpers are switched off, so that a refused password is not replaced by another one.
    fn header(&mut self, address: &str, header: &str) {
        self.set(&format!("http.{address}.extraHeader"), header);
        self.set("http.followRedirects", "false");
        self.set("credential.helper", "");
    }

    fn set(&mut self, key: &str, value: &str) {
        self.config.push((key.to_owned(), value.to_owned()));
    }

    /// A file that only this user can read.
    fn file(&mut self, dir: &Path, text: &str, end: &str) -> Result<PathBuf, SourceError> {
        let mut file = tempfile::Builder::new()
            .prefix("tiphys-secret-")
            .tempfile_in(dir)
            .map_err(SourceError::cache("write a secret to", dir))?;
        let end = if text.ends_with('\n') { "" } else { end };
        file.write_all(text.as_bytes())
            .and_then(|()| file.write_all(end.as_bytes()))
            .and_then(|()| file.flush())
            .map_err(SourceError::cache("write a secret to", dir))?;
        let path = file.path().to_path_buf();
        self.files.push(file);
        Ok(path)
    }
}

/// What to set when a server refuses.
pub(crate) fn remedy(transport: Transport, user: UserSettings) -> &'static str {
    match (transport, user) {
        (Transport::Ssh, UserSettings::Honoured) => {
            "load a key that the server knows into ssh-agent, trust the server's host key with ssh-keyscan, or add a Secret labelled argocd.argoproj.io/secret-type: repository to the store"
        }
        (_, UserSettings::Honoured) => {
            "set a git credential helper that knows this server, or add a Secret labelled argocd.argoproj.io/secret-type: repository to the store"
        }
        (_, UserSettings::Ignored) => {
            "add or mend the Secret labelled argocd.argoproj.io/secret-type: repository for this URL"
        }
    }
}

struct Found<'a> {
    /// The one whose TLS and proxy settings count.
    credential: Option<&'a RepositoryCredential>,
    login: Option<&'a Login>,
}

/// The repository's own, completed by the login of the longest prefix where it has none.
fn find<'a>(credentials: &'a [RepositoryCredential], url: &str) -> Found<'a> {
    let url = normalize_git_url(url);
    let is_same = |other: &str| !url.is_empty() && normalize_git_url(other) == url;
    let own = credentials
        .iter()
        .find(|credential| matches!(&credential.scope, CredentialScope::Repository(other) if is_same(other)));
    let template = credentials
        .iter()
        .filter_map(|credential| match &credential.scope {
            CredentialScope::Prefix(prefix) => {
                let prefix = normalize_git_url(prefix);
                begins_with(&url, &prefix).then_some((prefix.len(), credential))
            }
            CredentialScope::Repository(_) => None,
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, credential)| credential);
    let login = [own, template]
        .into_iter()
        .flatten()
        .map(|credential| &credential.login)
        .find(|login| **login != Login::None);
    Found { credential: own.or(template), login }
}

/// Whether a normalised URL begins with another one. As in Argo CD a path may end in the middle of a name, but a host may not:
/// credentials for `https://git.example.org` are none for `https://git.example.org.evil.example`.
fn begins_with(url: &str, prefix: &str) -> bool {
    let Some(rest) = url.strip_prefix(prefix) else { return false };
    let has_path = prefix.split_once("://").map_or(prefix, |(_, rest)| rest).contains('/');
    !prefix.is_empty() && (has_path || rest.is_empty() || rest.starts_with(['/', ':']))
}

/// Whether git speaks TLS with a server.
fn is_https(address: &str) -> bool {
    address.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
}

/// The text of `GIT_SSH_COMMAND`, which git gives to a shell.
struct SshCommand {
    text: String,
}

impl SshCommand {
    fn new(input: &AccessInput<'_>) -> Self {
        let mut command = Self { text: input.ssh_command.to_owned() };
        command.option("BatchMode=yes");
        if input.user == UserSettings::Ignored {
            command.text.push_str(" -F /dev/null");
            command.option("IdentityAgent=none");
            command.option("IdentitiesOnly=yes");
        }
        if let Some(path) = input.ssh_known_hosts {
            command.option(&format!("UserKnownHostsFile={}", path.display()));
            command.option("StrictHostKeyChecking=yes");
        }
        command
    }

    fn identity(&mut self, path: &Path) {
        self.option("IdentitiesOnly=yes");
        self.text.push_str(" -i ");
        self.text.push_str(&shell_quote(&path.to_string_lossy()));
    }

    fn skip_host_key(&mut self) {
        self.option("StrictHostKeyChecking=no");
        self.option("UserKnownHostsFile=/dev/null");
    }

    fn option(&mut self, option: &str) {
        self.text.push_str(" -o ");
        self.text.push_str(&shell_quote(option));
    }
}

fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
