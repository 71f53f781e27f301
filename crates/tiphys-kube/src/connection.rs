//! Connection settings of an API server.

use std::path::{Path, PathBuf};

use tiphys_model::access::Secret;
use tiphys_model::resources::decode_base64;

use crate::ExecPlugin;

/// Connection settings of an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeConnection {
    /// Name of the cluster, for messages.
    pub name: String,
    /// URL of the API server.
    pub server: String,
    /// Trusted CA certificates.
    pub ca: CaCertificates,
    /// Name that the server's certificate must have, if it is not that of the URL.
    pub tls_server_name: Option<String>,
    /// URL of the HTTP proxy, which may have credentials.
    pub proxy: Option<Secret>,
    /// Client certificate. It may be combined with any identity.
    pub client_certificate: Option<ClientCertificate>,
    /// Credentials of each request.
    pub identity: KubeIdentity,
}

/// The CA certificates that a server's certificate is checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaCertificates {
    /// Those of the system.
    System,
    /// Only these. A file is read again every minute.
    Own(Pem),
    /// Any certificate is accepted (`insecure`).
    Unchecked,
}

/// A client certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: Pem,
    /// Its private key.
    pub key: Pem,
}

/// Credentials of each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KubeIdentity {
    /// None.
    Anonymous,
    /// A bearer token.
    Token(Secret),
    /// A file with a bearer token, which is read before the first request and when the server refuses the token.
    TokenFile(PathBuf),
    /// User name and password.
    Basic {
        /// User name.
        username: String,
        /// Password.
        password: Secret,
    },
    /// A credential plugin, which is called before the first request and when the server refuses its credentials.
    Exec(ExecPlugin),
}

/// PEM data, which may contain a private key, or the file that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pem {
    /// The data.
    Data(Secret),
    /// The file.
    File(PathBuf),
}

/// Directory of the service account in a pod.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

impl KubeConnection {
    /// Returns the connection of a pod to its own cluster, from `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. The token is read
    /// again when it has expired. `None` outside of a pod.
    pub fn in_cluster(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let host = set("KUBERNETES_SERVICE_HOST")?;
        let port = set("KUBERNETES_SERVICE_PORT")?;
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let file = |name: &str| Path::new(SERVICE_ACCOUNT).join(name);
        Some(Self {
            name: "in-cluster".to_owned(),
            server: format!("https://{host}:{port}"),
            ca: CaCertificates::Own(Pem::File(file("ca.crt"))),
            tls_server_name: None,
            proxy: None,
            client_certificate: None,
            identity: KubeIdentity::TokenFile(file("token")),
        })
    }
}

/// Decodes base64 of PEM data. The error is the problem, without the data.
pub(crate) fn decode_pem(base64: &str) -> Result<Pem, &'static str> {
    let bytes = decode_base64(base64).ok_or("expected base64")?;
    let pem = String::from_utf8(bytes).map_err(|_| "expected PEM")?;
    if pem.contains("-----BEGIN ") { Ok(Pem::Data(Secret::new(pem))) } else { Err("expected PEM") }
}

#[cfg(test)]
mod tests;
