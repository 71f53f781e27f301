//! Kubeconfig files.
//!
//! <https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tiphys_model::access::Secret;
use tiphys_yaml::{DecodeError, Node, Object, Position, read_document};

use crate::connection::decode_pem;
use crate::{CaCertificates, ClientCertificate, ExecPlugin, KubeConnection, KubeIdentity, Pem};

/// API versions of credential plugins that are supported.
const EXEC_VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/// Fields of a user that are not supported, and the remedy for each.
const UNSUPPORTED_USER_FIELDS: [(&str, &str); 5] = [
    ("auth-provider", "use a credential plugin (`exec`), which replaced it in Kubernetes 1.26"),
    ("as", IMPERSONATION),
    ("as-uid", IMPERSONATION),
    ("as-groups", IMPERSONATION),
    ("as-user-extra", IMPERSONATION),
];

const IMPERSONATION: &str = "use a user with the permissions itself";

/// The merged content of kubeconfig files.
#[derive(Clone, Default)]
pub struct Kubeconfig {
    clusters: BTreeMap<String, Entry>,
    users: BTreeMap<String, Entry>,
    contexts: BTreeMap<String, Entry>,
    current: Option<String>,
}

/// A named entry.
#[derive(Clone)]
struct Entry {
    node: Node,
    file: PathBuf,
}

/// A kubeconfig that cannot be used. The message never contains credentials.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// A file is not readable.
    #[error("cannot read kubeconfig {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// Invalid YAML. The syntax error itself may quote the file.
    #[error("kubeconfig {} is not YAML{}", path.display(), position.map(|position| format!(" at {position}")).unwrap_or_default())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The position of the syntax error, if known.
        position: Option<Position>,
    },
    /// A field has the wrong type.
    #[error("kubeconfig {} is invalid", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field and its position.
        #[source]
        source: DecodeError,
    },
    /// An entry is invalid or not supported.
    #[error("kubeconfig {}:{position}: {problem}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The position of the entry.
        position: Position,
        /// The problem and its remedy.
        problem: String,
    },
    /// No file exists.
    #[error("no kubeconfig found: {} does not exist", paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Missing {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// No context is selected.
    #[error("the kubeconfig has no `current-context`{}", choice(known))]
    NoContext {
        /// All contexts.
        known: Vec<String>,
    },
    /// The selected context does not exist.
    #[error("the kubeconfig has no context {context:?}; it has: {}", known.join(", "))]
    UnknownContext {
        /// The context.
        context: String,
        /// All contexts.
        known: Vec<String>,
    },
}

impl Kubeconfig {
    /// Reads the files of a `KUBECONFIG` list. As in kubectl, missing files are skipped unless all are missing, and the first file with an
    /// entry of a name wins.
    pub fn load(paths: &[PathBuf]) -> Result<Self, KubeconfigError> {
        let mut kubeconfig = Self::default();
        let mut is_found = false;
        for path in paths {
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(KubeconfigError::Io { path: path.clone(), source }),
            };
            is_found = true;
            kubeconfig.add(path, &bytes)?;
        }
        if is_found { Ok(kubeconfig) } else { Err(KubeconfigError::Missing { paths: paths.to_vec() }) }
    }

    /// Adds the content of a file. Entries of earlier files win.
    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), KubeconfigError> {
        let document = read_document(bytes)
            .map_err(|error| KubeconfigError::Syntax { path: path.to_owned(), position: error.position })?;
        let Some(document) = document else { return Ok(()) };
        let document = document.deduplicated();
        let field = |source| KubeconfigError::Field { path: path.to_owned(), source };
        let mut root = Object::new(&document, "").map_err(field)?;
        let current = root.text("current-context").map_err(field)?.filter(|context| !context.is_empty());
        self.current = self.current.take().or(current.map(str::to_owned));
        for (list, item, entries) in [
            ("clusters", "cluster", &mut self.clusters),
            ("users", "user", &mut self.users),
            ("contexts", "context", &mut self.contexts),
        ] {
            let mut found = BTreeMap::new();
            for node in root.list(list).map_err(field)?.unwrap_or_default() {
                let mut named = Object::new(node, list).map_err(field)?;
                let name = named.text("name").map_err(field)?.unwrap_or_default().to_owned();
                let value = named.get(item).unwrap_or(node);
                if found.insert(name.clone(), Entry { node: value.clone(), file: path.to_owned() }).is_some()
                {
                    return Err(entry_error(
                        path,
                        node.position,
                        format!("{item} {name:?} is defined twice"),
                    ));
                }
            }
            for (name, entry) in found {
                entries.entry(name).or_insert(entry);
            }
        }
        Ok(())
    }

    /// Returns the names of all contexts, sorted.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// Returns the connection of a context, by default of the current one. Its name is that of the context.
    pub fn connection(&self, context: Option<&str>) -> Result<KubeConnection, KubeconfigError> {
        let known = || self.contexts().map(str::to_owned).collect();
        let name = context.or(self.current.as_deref());
        let name = name.ok_or_else(|| KubeconfigError::NoContext { known: known() })?;
        let unknown = || KubeconfigError::UnknownContext { context: name.to_owned(), known: known() };
        let context = self.contexts.get(name).ok_or_else(unknown)?;
        let mut fields = context.object("context")?;
        let missing = |item: &str, wanted: &str| {
            context.error(format!("the context {name:?} names the {item} {wanted:?}, which does not exist"))
        };
        let cluster = context.text(&mut fields, "cluster")?.unwrap_or_default();
        let cluster = self.clusters.get(cluster).ok_or_else(|| missing("cluster", cluster))?;
        let mut connection = connection(name, cluster)?;
        if let Some(user) = context.text(&mut fields, "user")? {
            let user = self.users.get(user).ok_or_else(|| missing("user", user))?;
            (connection.identity, connection.client_certificate) = credentials(user)?;
        }
        Ok(connection)
    }
}

impl std::fmt::Debug for Kubeconfig {
    /// Writes only the names of the contexts, because users have credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.contexts.keys()).finish()
    }
}

impl Entry {
    fn object(&self, path: &str) -> Result<Object<'_>, KubeconfigError> {
        Object::new(&self.node, path).map_err(|source| self.field_error(source))
    }

    /// Returns a non-empty string field.
    fn text<'a>(
        &self,
        object: &mut Object<'a>,
        key: &'static str,
    ) -> Result<Option<&'a str>, KubeconfigError> {
        let value = object.text(key).map_err(|source| self.field_error(source))?;
        Ok(value.filter(|value| !value.is_empty()))
    }

    fn boolean(&self, object: &mut Object<'_>, key: &'static str) -> Result<bool, KubeconfigError> {
        Ok(object.boolean(key).map_err(|source| self.field_error(source))?.unwrap_or_default())
    }

    /// Returns PEM data from the field `KEY-data`, or else the file that the field `KEY` names.
    fn pem(
        &self,
        object: &mut Object<'_>,
        [file, data]: [&'static str; 2],
    ) -> Result<Option<Pem>, KubeconfigError> {
        let path = self.text(object, file)?.map(|path| Pem::File(self.resolve(path)));
        let Some(base64) = self.text(object, data)? else { return Ok(path) };
        decode_pem(base64).map(Some).map_err(|problem| self.error(format!("{data}: {problem}")))
    }

    /// Returns a path relative to the directory of the file.
    fn resolve(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    fn error(&self, problem: impl Into<String>) -> KubeconfigError {
        entry_error(&self.file, self.node.position, problem)
    }

    fn field_error(&self, source: DecodeError) -> KubeconfigError {
        KubeconfigError::Field { path: self.file.clone(), source }
    }
}

fn choice(contexts: &[String]) -> String {
    if contexts.is_empty() {
        String::new()
    } else {
        format!("; select one of its contexts: {}", contexts.join(", "))
    }
}

fn entry_error(path: &Path, position: Position, problem: impl Into<String>) -> KubeconfigError {
    KubeconfigError::Entry { path: path.to_owned(), position, problem: problem.into() }
}

/// Returns the connection to a cluster without credentials.
fn connection(name: &str, cluster: &Entry) -> Result<KubeConnection, KubeconfigError> {
    let mut fields = cluster.object("cluster")?;
    let server = cluster.text(&mut fields, "server")?;
    let server = server.ok_or_else(|| cluster.error("the cluster has no `server`"))?.to_owned();
    let ca = cluster.pem(&mut fields, ["certificate-authority", "certificate-authority-data"])?;
    let ca = match (ca, cluster.boolean(&mut fields, "insecure-skip-tls-verify")?) {
        (None, true) => CaCertificates::Unchecked,
        (None, false) => CaCertificates::System,
        (Some(pem), false) => CaCertificates::Own(pem),
        (Some(_), true) => {
            return Err(cluster.error(
                "the cluster has both a certificate authority and insecure-skip-tls-verify; remove one",
            ));
        }
    };
    Ok(KubeConnection {
        name: name.to_owned(),
        server,
        ca,
        tls_server_name: cluster.text(&mut fields, "tls-server-name")?.map(str::to_owned),
        proxy: cluster.text(&mut fields, "proxy-url")?.map(Secret::new),
        client_certificate: None,
        identity: KubeIdentity::Anonymous,
    })
}

/// Returns the credentials of a user. As in kubectl, a token file takes precedence over a token.
fn credentials(user: &Entry) -> Result<(KubeIdentity, Option<ClientCertificate>), KubeconfigError> {
    let mut fields = user.object("user")?;
    for (field, remedy) in UNSUPPORTED_USER_FIELDS {
        if fields.get(field).is_some() {
            return Err(user.error(format!("`{field}` is not supported; {remedy}")));
        }
    }
    let certificate = user.pem(&mut fields, ["client-certificate", "client-certificate-data"])?;
    let key = user.pem(&mut fields, ["client-key", "client-key-data"])?;
    let client_certificate = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(ClientCertificate { certificate, key }),
        (None, None) => None,
        _ => {
            return Err(
                user.error("the user has only one of client-certificate and client-key; add the other")
            );
        }
    };
    let token = user.text(&mut fields, "token")?.map(|token| KubeIdentity::Token(Secret::new(token)));
    let file = user.text(&mut fields, "tokenFile")?.map(|file| KubeIdentity::TokenFile(user.resolve(file)));
    let password = Secret::new(user.text(&mut fields, "password")?.unwrap_or_default());
    let basic = user
        .text(&mut fields, "username")?
        .map(|username| KubeIdentity::Basic { username: username.to_owned(), password });
    let plugin = fields.object("exec").map_err(|source| user.field_error(source))?;
    let plugin = plugin.map(|fields| exec_plugin(user, fields).map(KubeIdentity::Exec)).transpose()?;
    let mut identities = [file.or(token), basic, plugin].into_iter().flatten();
    let identity = identities.next().unwrap_or(KubeIdentity::Anonymous);
    if identities.next().is_some() {
        return Err(user.error("the user has several of token, username and exec; keep one"));
    }
    Ok((identity, client_certificate))
}

fn exec_plugin(user: &Entry, mut fields: Object<'_>) -> Result<ExecPlugin, KubeconfigError> {
    if user.boolean(&mut fields, "provideClusterInfo")? {
        return Err(
            user.error("`exec.provideClusterInfo` is not supported; use a plugin that does not need it")
        );
    }
    if user.text(&mut fields, "interactiveMode")? == Some("Always") {
        return Err(user
            .error("`exec.interactiveMode: Always` is not supported; use a plugin that needs no terminal"));
    }
    let api_version = user.text(&mut fields, "apiVersion")?.unwrap_or_default();
    if !EXEC_VERSIONS.contains(&api_version) {
        return Err(user.error(format!("`exec.apiVersion` must be {}", EXEC_VERSIONS.join(" or "))));
    }
    let command = user.text(&mut fields, "command")?.ok_or_else(|| user.error("`exec` has no `command`"))?;
    let field_error = |source| user.field_error(source);
    let mut env = Vec::new();
    for variable in fields.list("env").map_err(field_error)?.unwrap_or_default() {
        let mut variable = Object::new(variable, "exec.env").map_err(field_error)?;
        let value = Secret::new(user.text(&mut variable, "value")?.unwrap_or_default());
        env.push((user.text(&mut variable, "name")?.unwrap_or_default().to_owned(), value));
    }
    Ok(ExecPlugin {
        // As in kubectl, a path is relative to the file, and a name is looked up in `PATH`.
        command: if command.contains('/') { user.resolve(command) } else { command.into() },
        args: fields.texts("args").map_err(field_error)?.unwrap_or_default(),
        env,
        api_version: api_version.to_owned(),
    })
}

#[cfg(test)]
mod tests;
