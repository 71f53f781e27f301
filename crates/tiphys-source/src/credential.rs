//! How git gets what is known of a repository, its credentials among it: by its environment and by files that only this user can read, never by an argument list.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tempfile::NamedTempFile;
use tiphys_access::{RepoUrl, RepositoryAccess};

use crate::url::{RemoteUrl, Transport};
use crate::{OwnCredentials, Secret, SourceError, secret_file};

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
    /// Whether the user's own credentials are kept away from the settings of a Secret: then no other program gets these either.
    pub(crate) refuses_own: bool,
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
    /// What is known of the repository.
    pub(crate) access: &'a RepositoryAccess,
    pub(crate) user: UserSettings,
    pub(crate) own_credentials: OwnCredentials,
    /// Where files with secrets are put.
    pub(crate) secrets_dir: &'a Path,
    /// What the user runs for ssh (git's `core.sshCommand`), `ssh` by default.
    pub(crate) ssh_command: &'a str,
    pub(crate) ssh_known_hosts: Option<&'a Path>,
}

impl AccessInput<'_> {
    /// Whether others than the server could read the user's own credentials on the way that the settings say.
    fn may_expose_own_credentials(&self) -> bool {
        let via_proxy = !self.access.proxy.is_empty() && self.own_credentials == OwnCredentials::Direct;
        self.url.transport == Transport::Http && (self.access.insecure || via_proxy)
    }
}

impl Access {
    pub(crate) fn new(input: &AccessInput<'_>) -> Result<Self, SourceError> {
        let mut access = Self::default();
        let address = &input.url.address;
        let known = input.access;
        let of_secret = login_of(known, input.url.transport);
        let of_url = input.url.login.as_ref().map(|(username, password)| Login::Basic { username, password });
        let has_secret = of_secret.is_some() || (known.has_credentials() && of_url.is_none());
        access.describe(input, has_secret);
        let login = of_secret.or(of_url);
        access.given =
            login.is_some() || known.has_credentials() || known.insecure || !known.proxy.is_empty();
        let mut ssh = SshCommand::new(input);
        match login {
            Some(Login::Basic { username, password }) => {
                let pair = BASE64.encode(format!("{username}:{}", password.expose()));
                access.header(address, &format!("Authorization: Basic {pair}"));
                access.secrets.extend([Secret::new(pair), password.clone()]);
            }
            Some(Login::Bearer(token)) => {
                access.header(address, &format!("Authorization: Bearer {}", token.expose()));
                access.secrets.push(token.clone());
            }
            Some(Login::SshKey(key)) => {
                let path = access.file(input.secrets_dir, key.expose(), "\n")?;
                ssh.identity(&path);
            }
            None if input.may_expose_own_credentials() => access.refuse_own_credentials(known),
            None => {}
        }
        if !known.tls_client_cert_data.is_empty() && !known.tls_client_cert_key.is_empty() {
            let certificate = access.file(input.secrets_dir, &known.tls_client_cert_data, "")?;
            let key = access.file(input.secrets_dir, known.tls_client_cert_key.expose(), "")?;
            access.set("http.sslCert", &certificate.to_string_lossy());
            access.set("http.sslKey", &key.to_string_lossy());
        }
        if known.insecure {
            access.set("http.sslVerify", "false");
            ssh.skip_host_key();
        } else if is_https(address) && !known.ca_data.is_empty() {
            access.trust(input.secrets_dir, address, &known.ca_data)?;
        }
        if !known.proxy.is_empty() && input.url.transport == Transport::Http {
            access.set("http.proxy", known.proxy.expose());
            access.secrets.push(known.proxy.clone());
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

    /// Runs git without the user's configuration, helpers and `~/.netrc`: connection settings and credentials travel together, so a Secret
    /// that has no credentials does not decide on which way the user's are sent.
    fn refuse_own_credentials(&mut self, known: &RepositoryAccess) {
        self.set("credential.helper", "");
        self.refuses_own = true;
        let nothing =
            [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("HOME", "/dev/null")];
        self.own_env.extend(nothing.map(|(name, value)| (name.into(), value.into())));
        self.tried = withheld(known.exposing_setting().unwrap_or_default());
    }

    fn set(&mut self, key: &str, value: &str) {
        self.config.push((key.to_owned(), value.to_owned()));
    }

    /// A file that only this user can read.
    fn file(&mut self, dir: &Path, text: &str, end: &str) -> Result<PathBuf, SourceError> {
        let end = if text.ends_with('\n') { "" } else { end };
        let file = secret_file::create(dir, [text, end].concat().as_bytes())
            .map_err(SourceError::cache("write a secret to", dir))?;
        let path = file.path().to_path_buf();
        self.files.push(file);
        Ok(path)
    }
}

/// What was tried if the user's own credentials are withheld because of a setting of a Secret.
pub(crate) fn withheld(setting: &str) -> String {
    format!(
        "no credentials: the repository Secret sets {setting} without credentials, so those of the user are withheld"
    )
}

/// What to set when a server refuses, and the user's own credentials were withheld.
pub(crate) const WITHHELD_REMEDY: &str = "add credentials to that Secret, or remove the setting";

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

/// Who we are for a server.
enum Login<'a> {
    Basic { username: &'a str, password: &'a Secret },
    Bearer(&'a Secret),
    SshKey(&'a Secret),
}

/// The login of a Secret that a transport can use.
fn login_of(access: &RepositoryAccess, transport: Transport) -> Option<Login<'_>> {
    let there = |secret: &Secret| !secret.is_empty();
    match transport {
        Transport::Http if there(&access.bearer_token) => Some(Login::Bearer(&access.bearer_token)),
        Transport::Http if there(&access.password) => {
            Some(Login::Basic { username: &access.username, password: &access.password })
        }
        Transport::Ssh if there(&access.ssh_private_key) => Some(Login::SshKey(&access.ssh_private_key)),
        Transport::Http | Transport::Ssh | Transport::File | Transport::Git => None,
    }
}

/// Whether git speaks TLS with a server.
fn is_https(address: &str) -> bool {
    RepoUrl::new(address).has_scheme("https")
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
