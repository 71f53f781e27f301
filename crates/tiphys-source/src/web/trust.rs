//! Which servers are trusted, and who we are for them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tiphys_access::RepositoryAccess;
use tiphys_access::SYSTEM_CA_BUNDLES;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

use super::{Variable, WebError};

/// What a repository's settings say of TLS.
pub(super) struct Trust {
    roots: RootCerts,
    certificate: Option<ClientCert>,
    insecure: bool,
}

impl Trust {
    /// Authorities are the repository's own, else those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the system's.
    pub(super) fn new(access: &RepositoryAccess, variable: Variable<'_>) -> Result<Self, WebError> {
        let roots = if access.ca_data.is_empty() {
            trusted(variable)
        } else {
            let roots = certificates(access.ca_data.as_bytes());
            if roots.is_empty() {
                return Err(WebError::Other(
                    "its authority's certificate (PEM) holds no certificate".to_owned(),
                ));
            }
            roots
        };
        let certificate = client_certificate(access)?;
        Ok(Self { roots: RootCerts::from(roots), certificate, insecure: access.insecure })
    }

    /// Whether the settings have something that is for the repository's own server only.
    pub(super) fn is_for_one_server(&self) -> bool {
        self.insecure || self.certificate.is_some()
    }

    /// For that server.
    pub(super) fn own(&self) -> TlsConfig {
        self.config(self.certificate.clone(), self.insecure)
    }

    /// For all others: they are checked, and do not get to know who we are. The repository's authorities are trusted there, too, as
    /// helm does.
    pub(super) fn for_others(&self) -> TlsConfig {
        self.config(None, false)
    }

    fn config(&self, certificate: Option<ClientCert>, insecure: bool) -> TlsConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        TlsConfig::builder()
            .unversioned_rustls_crypto_provider(provider)
            .root_certs(self.roots.clone())
            .client_cert(certificate)
            .disable_verification(insecure)
            .build()
    }
}

fn client_certificate(access: &RepositoryAccess) -> Result<Option<ClientCert>, WebError> {
    let key = access.tls_client_cert_key.expose();
    if access.tls_client_cert_data.is_empty() || key.is_empty() {
        return Ok(None);
    }
    let chain = certificates(access.tls_client_cert_data.as_bytes());
    if chain.is_empty() {
        return Err(WebError::Other("its tlsClientCertData (PEM) holds no certificate".to_owned()));
    }
    let key = PrivateKey::from_pem(key.as_bytes())
        .map_err(|_| WebError::Other("its tlsClientCertKey (PEM) holds no private key".to_owned()))?;
    Ok(Some(ClientCert::new_with_certs(&chain, key)))
}

fn trusted(variable: Variable<'_>) -> Vec<Certificate<'static>> {
    let given = |name| variable(name).filter(|value: &String| !value.is_empty());
    let (file, folders) = (given("SSL_CERT_FILE"), given("SSL_CERT_DIR"));
    let bundle = match &file {
        Some(file) => fs::read(file).ok(),
        None if folders.is_some() => None,
        None => SYSTEM_CA_BUNDLES.iter().find_map(|file| fs::read(file).ok()),
    };
    let mut roots = certificates(&bundle.unwrap_or_default());
    for folder in folders.iter().flat_map(|folders| folders.split(':')) {
        for entry in fs::read_dir(Path::new(folder)).into_iter().flatten().flatten() {
            roots.extend(certificates(&fs::read(entry.path()).unwrap_or_default()));
        }
    }
    roots
}

/// What cannot be read is passed over, as other programs do with the system's files.
fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect()
}
