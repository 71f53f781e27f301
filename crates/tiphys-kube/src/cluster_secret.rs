//! Argo CD's cluster Secrets.
//!
//! <https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters>

use tiphys_model::access::Secret;
use tiphys_model::resources::{ArgoCdSecret, SecretValue};
use tiphys_yaml::{DecodeError, Object, read_json};

use crate::connection::decode_pem;
use crate::{CaCertificates, ClientCertificate, KubeConnection, KubeIdentity};

/// Fields of `config` that need a program or a service of a cloud provider.
const UNSUPPORTED_FIELDS: [&str; 2] = ["execProviderConfig", "awsAuthConfig"];

/// A cluster Secret that cannot be used. The message names the key and never quotes the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterSecretError {
    /// A value is missing or invalid.
    #[error("Secret {secret}: {key}: {problem}")]
    Value {
        /// Name of the Secret.
        secret: String,
        /// The key.
        key: String,
        /// The problem.
        problem: &'static str,
    },
    /// A field of `config` has the wrong type.
    #[error("Secret {secret}: config is invalid")]
    Field {
        /// Name of the Secret.
        secret: String,
        /// The field.
        #[source]
        source: DecodeError,
    },
    /// `config` uses a way of authentication that is not supported.
    #[error("Secret {secret}: config.{field} is not supported; put this cluster into a kubeconfig")]
    Unsupported {
        /// Name of the Secret.
        secret: String,
        /// The field.
        field: &'static str,
    },
}

impl KubeConnection {
    /// Returns the connection of a cluster Secret. `name` and `server` are those that the rules of projects know, so that no rule is applied
    /// to another cluster than is read.
    pub fn of_secret(secret: &ArgoCdSecret, name: &str, server: &str) -> Result<Self, ClusterSecretError> {
        let reader = Reader { secret: secret.metadata.name.clone() };
        if server.is_empty() {
            return Err(reader.error("server", "missing; it must be the URL of the API server"));
        }
        let config = secret.values.get("config").map(SecretValue::expose).unwrap_or_default();
        reader.connection(if name.is_empty() { server } else { name }, server, config)
    }
}

/// Decodes the values of one Secret.
struct Reader {
    secret: String,
}

impl Reader {
    fn connection(
        &self,
        name: &str,
        server: &str,
        config: &[u8],
    ) -> Result<KubeConnection, ClusterSecretError> {
        let config = if config.is_empty() { b"{}" } else { config };
        let node = read_json(config).map_err(|_| self.error("config", "expected JSON"))?;
        let field = |source| self.field_error(source);
        let mut fields = Object::new(&node, "").map_err(field)?;
        for name in UNSUPPORTED_FIELDS {
            if fields.get(name).is_some() {
                return Err(ClusterSecretError::Unsupported { secret: self.secret.clone(), field: name });
            }
        }
        let username = self.text(&mut fields, "username")?;
        let password = Secret::new(self.text(&mut fields, "password")?.unwrap_or_default());
        let basic = username.map(|username| KubeIdentity::Basic { username: username.to_owned(), password });
        let token = self.text(&mut fields, "bearerToken")?;
        let token = token.map(|token| KubeIdentity::Token(Secret::new(token)));
        let identity = match (basic, token) {
            (Some(_), Some(_)) => {
                return Err(self.error("config", "has both username and bearerToken; remove one"));
            }
            (identity, None) | (None, identity) => identity.unwrap_or(KubeIdentity::Anonymous),
        };
        let proxy = self.text(&mut fields, "proxyUrl")?.map(Secret::new);
        let mut connection = KubeConnection {
            name: name.to_owned(),
            server: server.to_owned(),
            ca: CaCertificates::System,
            tls_server_name: None,
            proxy,
            client_certificate: None,
            identity,
        };
        if let Some(mut tls) = fields.object("tlsClientConfig").map_err(field)? {
            let pem = |tls: &mut Object<'_>, key| {
                let base64 = self.text(tls, key)?;
                let path = tls.path_of(key);
                let decode = |problem| self.error(&format!("config.{path}"), problem);
                base64.map(|base64| decode_pem(base64).map_err(decode)).transpose()
            };
            let is_insecure = tls.boolean("insecure").map_err(field)?.unwrap_or_default();
            connection.ca = match (pem(&mut tls, "caData")?, is_insecure) {
                (None, true) => CaCertificates::Unchecked,
                (None, false) => CaCertificates::System,
                (Some(ca), false) => CaCertificates::Own(ca),
                (Some(_), true) => {
                    return Err(
                        self.error("config.tlsClientConfig", "has both insecure and caData; remove one")
                    );
                }
            };
            connection.client_certificate = match (pem(&mut tls, "certData")?, pem(&mut tls, "keyData")?) {
                (Some(certificate), Some(key)) => Some(ClientCertificate { certificate, key }),
                (None, None) => None,
                _ => {
                    return Err(self.error(
                        "config.tlsClientConfig",
                        "has only one of certData and keyData; add the other",
                    ));
                }
            };
            connection.tls_server_name = self.text(&mut tls, "serverName")?.map(str::to_owned);
        }
        Ok(connection)
    }

    /// Returns a non-empty string field.
    fn text<'a>(
        &self,
        object: &mut Object<'a>,
        key: &'static str,
    ) -> Result<Option<&'a str>, ClusterSecretError> {
        let value = object.text(key).map_err(|source| self.field_error(source))?;
        Ok(value.filter(|value| !value.is_empty()))
    }

    fn error(&self, key: &str, problem: &'static str) -> ClusterSecretError {
        ClusterSecretError::Value { secret: self.secret.clone(), key: key.to_owned(), problem }
    }

    fn field_error(&self, source: DecodeError) -> ClusterSecretError {
        ClusterSecretError::Field { secret: self.secret.clone(), source }
    }
}

#[cfg(test)]
mod tests;
