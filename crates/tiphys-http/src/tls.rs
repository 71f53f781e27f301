//! TLS settings: trusted CA certificates and the client certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tiphys_model::access::{RepositoryAccess, SYSTEM_CA_BUNDLES};
use tokio::fs;

use crate::{Environment, HttpError};

/// The TLS settings of a repository.
pub(crate) struct TlsSettings {
    roots: Arc<RootCertStore>,
    client_certificate: Option<ClientCertificate>,
    insecure: bool,
}

struct ClientCertificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// Accepts any certificate (`insecure`).
#[derive(Debug)]
struct NoVerification;

impl TlsSettings {
    /// Reads CA certificates: the repository's own, else those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the system's.
    pub(crate) async fn load(
        access: &RepositoryAccess,
        environment: Environment<'_>,
    ) -> Result<Self, HttpError> {
        let client_certificate = ClientCertificate::parse(access)?;
        let certificates = if access.ca_data.is_empty() {
            let set = |name| environment(name).filter(|value: &String| !value.is_empty());
            trusted_certificates(set("SSL_CERT_FILE"), set("SSL_CERT_DIR")).await
        } else {
            let certificates = parse_certificates(access.ca_data.as_bytes());
            if certificates.is_empty() {
                return Err(invalid("its CA certificate (PEM) holds no certificate"));
            }
            certificates
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        Ok(Self { roots: Arc::new(roots), client_certificate, insecure: access.insecure })
    }

    /// Whether some settings apply to the repository's own server only.
    pub(crate) fn has_own_server_settings(&self) -> bool {
        self.insecure || self.client_certificate.is_some()
    }

    /// The configuration for the repository's own server.
    pub(crate) fn for_own_server(&self) -> Result<ClientConfig, HttpError> {
        self.config(self.client_certificate.as_ref(), self.insecure)
    }

    /// The configuration for all other servers: they need a trusted certificate, and get no client certificate. The repository's CA
    /// certificates are trusted there, too, as in Helm.
    pub(crate) fn for_other_servers(&self) -> Result<ClientConfig, HttpError> {
        self.config(None, false)
    }

    fn config(
        &self,
        client_certificate: Option<&ClientCertificate>,
        insecure: bool,
    ) -> Result<ClientConfig, HttpError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| HttpError::Tls(error.to_string()))?;
        let builder = if insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(NoVerification))
        } else {
            builder.with_root_certificates(Arc::clone(&self.roots))
        };
        match client_certificate {
            None => Ok(builder.with_no_client_auth()),
            Some(ClientCertificate { chain, key }) => {
                builder.with_client_auth_cert(chain.clone(), key.clone_key()).map_err(|error| {
                    invalid(&format!(
                        "its tlsClientCertData and tlsClientCertKey (PEM) cannot be used: {error}"
                    ))
                })
            }
        }
    }
}

impl ClientCertificate {
    /// Parses the repository's client certificate; none if the certificate or the key is not set.
    fn parse(access: &RepositoryAccess) -> Result<Option<Self>, HttpError> {
        let key = access.tls_client_cert_key.expose();
        if access.tls_client_cert_data.is_empty() || key.is_empty() {
            return Ok(None);
        }
        let chain = parse_certificates(access.tls_client_cert_data.as_bytes());
        if chain.is_empty() {
            return Err(invalid("its tlsClientCertData (PEM) holds no certificate"));
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|_| invalid("its tlsClientCertKey (PEM) holds no private key"))?;
        Ok(Some(Self { chain, key }))
    }
}

fn invalid(problem: &str) -> HttpError {
    HttpError::Other(problem.to_owned())
}

/// The CA certificates of a file and of directories separated by colons. Without both, those of the first system bundle that exists.
async fn trusted_certificates(
    file: Option<String>,
    directories: Option<String>,
) -> Vec<CertificateDer<'static>> {
    let bundle = match &file {
        Some(file) => fs::read(file).await.ok(),
        None if directories.is_some() => None,
        None => system_bundle().await,
    };
    let mut certificates = parse_certificates(&bundle.unwrap_or_default());
    for directory in directories.iter().flat_map(|directories| directories.split(':')) {
        let Ok(mut entries) = fs::read_dir(Path::new(directory)).await else { continue };
        while let Ok(Some(entry)) = entries.next_entry().await {
            certificates.extend(parse_certificates(&fs::read(entry.path()).await.unwrap_or_default()));
        }
    }
    certificates
}

async fn system_bundle() -> Option<Vec<u8>> {
    for file in SYSTEM_CA_BUNDLES {
        if let Ok(bundle) = fs::read(file).await {
            return Some(bundle);
        }
    }
    None
}

/// Parses PEM. Invalid sections are skipped, as other programs do in the system's files.
fn parse_certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect()
}

impl ServerCertVerifier for NoVerification {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
