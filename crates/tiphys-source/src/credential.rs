//! Credentials and connection settings for calls of git. They are passed in environment variables and in files that only this user can read,
//! never in arguments.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tempfile::NamedTempFile;
use tiphys_model::access::{RepoUrl, RepositoryAccess};
use tiphys_process::quote_argument;

use crate::url::{RemoteUrl, Transport};
use crate::{OwnCredentials, Secret, SourceError, UserSettings, secret_file};

/// Git's settings for one repository, besides the fixed environment. Dropping it removes the files.
#[derive(Debug, Default)]
pub(crate) struct GitAccess {
    /// Git configuration: keys and values.
    pub(crate) config: Vec<(String, String)>,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Environment variables for the calls of this process only, which access no other repository. Plugins do not get them.
    pub(crate) own_env: Vec<(OsString, OsString)>,
    /// Whether git must not use the user's own credentials. Plugins get no settings then.
    pub(crate) excludes_user_credentials: bool,
    /// A description of the credentials in use, for error messages.
    pub(crate) tried: String,
    /// Whether a Secret, the URL or a CA certificate for the server determines a setting.
    pub(crate) is_configured: bool,
    /// Redacted in git's output.
    pub(crate) secrets: Vec<Secret>,
    /// The files that `config` and `env` name.
    files: Vec<NamedTempFile>,
}

/// The input of [`GitAccess::new`].
pub(crate) struct GitAccessInput<'a> {
    pub(crate) url: &'a RemoteUrl,
    /// The connection settings and credentials of Secrets.
    pub(crate) access: &'a RepositoryAccess,
    pub(crate) user: UserSettings,
    pub(crate) own_credentials: OwnCredentials,
    /// The directory of files with secrets.
    pub(crate) secrets_dir: &'a Path,
    /// The user's `core.sshCommand`, `ssh` by default.
    pub(crate) ssh_command: &'a str,
    pub(crate) ssh_known_hosts: Option<&'a Path>,
}

impl GitAccessInput<'_> {
    /// Whether the Secret's settings would show the user's own credentials to an unverified server or to a proxy.
    fn may_expose_own_credentials(&self) -> bool {
        let via_proxy = !self.access.proxy.is_empty() && self.own_credentials == OwnCredentials::Direct;
        self.url.transport == Transport::Http && (self.access.insecure || via_proxy)
    }
}

impl GitAccess {
    pub(crate) fn new(input: &GitAccessInput<'_>) -> Result<Self, SourceError> {
        let mut access = Self::default();
        let address = &input.url.address;
        let known = input.access;
        let secret_login = secret_login(known, input.url.transport);
        let url_login =
            input.url.login.as_ref().map(|(username, password)| Login::Basic { username, password });
        let uses_secret = secret_login.is_some() || (known.has_credentials() && url_login.is_none());
        access.tried = describe(input, uses_secret);
        let login = secret_login.or(url_login);
        access.is_configured =
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
            None if input.may_expose_own_credentials() => access.exclude_user_credentials(known),
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
        } else if RepoUrl::new(address).has_scheme("https") && !known.ca_data.is_empty() {
            access.trust(input.secrets_dir, address, &known.ca_data)?;
        }
        if !known.proxy.is_empty() && input.url.transport == Transport::Http {
            access.set("http.proxy", known.proxy.expose());
            access.secrets.push(known.proxy.clone());
        }
        if input.url.transport == Transport::Ssh {
            access.env.push(("GIT_SSH_COMMAND".into(), ssh.0.into()));
        }
        Ok(access)
    }

    /// Makes git trust only these CA certificates for this repository (`http.sslCAInfo`). The environment variable takes precedence over the
    /// configuration, and this process sets it from the user's `SSL_CERT_FILE`, so it is replaced.
    fn trust(&mut self, dir: &Path, address: &str, pem: &str) -> Result<(), SourceError> {
        let path = self.file(dir, pem, "\n")?;
        self.set(&format!("http.{address}.sslCAInfo"), &path.to_string_lossy());
        self.own_env.push(("GIT_SSL_CAINFO".into(), path.into()));
        self.is_configured = true;
        Ok(())
    }

    /// Adds an HTTP header for this repository only. Redirects are not followed, because they may lead to another server; Argo CD does not
    /// follow them either. Credential helpers are switched off, so that a rejected password is not replaced by another one.
    fn header(&mut self, address: &str, header: &str) {
        self.set(&format!("http.{address}.extraHeader"), header);
        self.set("http.followRedirects", "false");
        self.set("credential.helper", "");
    }

    /// Runs git without the user's configuration, credential helpers and `~/.netrc`. A Secret without credentials must not determine which
    /// proxy or unverified server receives the user's.
    fn exclude_user_credentials(&mut self, known: &RepositoryAccess) {
        self.set("credential.helper", "");
        self.excludes_user_credentials = true;
        let nothing =
            [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("HOME", "/dev/null")];
        self.own_env.extend(nothing.map(|(name, value)| (name.into(), value.into())));
        self.tried = withheld(known.exposing_setting().unwrap_or_default());
    }

    /// Makes settings for the repository's URL settings for any, for a call for this repository that writes its URL differently.
    pub(crate) fn without_url(&mut self, address: &str) {
        let prefix = format!("http.{address}.");
        for (key, _) in &mut self.config {
            if let Some(setting) = key.strip_prefix(&prefix) {
                *key = format!("http.{setting}");
            }
        }
    }

    /// Returns environment variables for another program's git.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let count = [("GIT_CONFIG_COUNT".to_owned(), self.config.len().to_string())];
        let settings = self.config.iter().enumerate().flat_map(|(at, (key, value))| {
            [(format!("GIT_CONFIG_KEY_{at}"), key.clone()), (format!("GIT_CONFIG_VALUE_{at}"), value.clone())]
        });
        let prompt = [("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned())];
        count.into_iter().chain(settings).chain(texts(&self.env)).chain(prompt)
    }

    /// Like [`Self::variables`], for calls of git that access no other repository.
    pub(crate) fn variables_of_one(&self) -> impl Iterator<Item = (String, String)> {
        self.variables().chain(texts(&self.own_env))
    }

    fn set(&mut self, key: &str, value: &str) {
        self.config.push((key.to_owned(), value.to_owned()));
    }

    /// Creates a file that only this user can read, and returns its path. `end` is appended if the text has no final newline.
    fn file(&mut self, dir: &Path, text: &str, end: &str) -> Result<PathBuf, SourceError> {
        let end = if text.ends_with('\n') { "" } else { end };
        let file = secret_file::create(dir, [text, end].concat().as_bytes())
            .map_err(SourceError::cache("write a secret to", dir))?;
        let path = file.path().to_path_buf();
        self.files.push(file);
        Ok(path)
    }
}

fn texts(env: &[(OsString, OsString)]) -> impl Iterator<Item = (String, String)> {
    env.iter().filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
}

/// Returns the description for credentials of the user that are withheld because of a setting of a Secret.
pub(crate) fn withheld(setting: &str) -> String {
    format!(
        "no credentials: the repository Secret sets {setting} without credentials, so those of the user are withheld"
    )
}

/// The remedy if the user's own credentials are withheld.
pub(crate) const WITHHELD_REMEDY: &str = "add credentials to that Secret, or remove the setting";

/// Returns the remedy for rejected credentials.
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

/// Returns a description of the credentials in use.
fn describe(input: &GitAccessInput<'_>, uses_secret: bool) -> String {
    let credentials = match (&input.url.login, input.user, input.url.transport) {
        _ if uses_secret => "the repository Secret's credentials",
        (Some(_), _, _) => "the user and password in the URL",
        (None, UserSettings::Ignored, _) => "no credentials",
        (None, UserSettings::Honoured, Transport::Ssh) => "the ssh agent and keys of this user",
        (None, UserSettings::Honoured, _) => "git's credential helpers of this user",
    };
    credentials.to_owned()
}

/// The credentials of one user of a server.
enum Login<'a> {
    Basic { username: &'a str, password: &'a Secret },
    Bearer(&'a Secret),
    SshKey(&'a Secret),
}

/// Returns the Secret's credentials for a transport.
fn secret_login(access: &RepositoryAccess, transport: Transport) -> Option<Login<'_>> {
    match transport {
        Transport::Http if !access.bearer_token.is_empty() => Some(Login::Bearer(&access.bearer_token)),
        Transport::Http if !access.password.is_empty() => {
            Some(Login::Basic { username: &access.username, password: &access.password })
        }
        Transport::Ssh if !access.ssh_private_key.is_empty() => Some(Login::SshKey(&access.ssh_private_key)),
        Transport::Http | Transport::Ssh | Transport::File | Transport::Git => None,
    }
}

/// The value of `GIT_SSH_COMMAND`, which git passes to a shell.
struct SshCommand(String);

impl SshCommand {
    fn new(input: &GitAccessInput<'_>) -> Self {
        let mut command = Self(input.ssh_command.to_owned());
        command.option("BatchMode=yes");
        if input.user == UserSettings::Ignored {
            command.0 += " -F /dev/null";
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
        self.0 += " -i ";
        self.0 += &quote_argument(&path.to_string_lossy());
    }

    fn skip_host_key(&mut self) {
        self.option("StrictHostKeyChecking=no");
        self.option("UserKnownHostsFile=/dev/null");
    }

    fn option(&mut self, option: &str) {
        self.0 += " -o ";
        self.0 += &quote_argument(option);
    }
}
