//! Certificates for servers on loopback and their clients, made when a test runs.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A certificate authority that only one test knows.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
}

/// A certificate with its key.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate as PEM.
    pub certificate_pem: String,
    /// Its key as PEM.
    pub key_pem: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A new authority.
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key can be made");
        let mut parameters = named("An authority of a test", Vec::new());
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let certificate = parameters.self_signed(&key).expect("a certificate can be signed");
        Self {
            pem: pem("CERTIFICATE", certificate.der()),
            certificate: certificate.der().clone(),
            issuer: Issuer::new(parameters, key),
        }
    }

    /// The authority's certificate as PEM, for the one who is to trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// For a server at 127.0.0.1 and localhost.
    pub fn server(&self) -> Identity {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        self.sign(named("A server of a test", names), ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// For a client.
    pub fn client(&self) -> Identity {
        self.sign(named("A client of a test", Vec::new()), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut parameters: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Identity {
        parameters.extended_key_usages = vec![usage];
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate can be signed");
        Identity {
            certificate_pem: pem("CERTIFICATE", certificate.der()),
            key_pem: pem("PRIVATE KEY", &key.serialize_der()),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("the certificate is one of an authority");
        Arc::new(roots)
    }

    /// How a client that trusts this authority begins, with a certificate of its own or none.
    pub(crate) fn client_config(&self, identity: Option<&Identity>) -> ClientConfig {
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .with_root_certificates(self.roots());
        match identity {
            None => config.with_no_client_auth(),
            Some(identity) => config
                .with_client_auth_cert(vec![identity.certificate.clone()], identity.key())
                .expect("key and certificate belong together"),
        }
    }
}

impl Identity {
    /// How a server with this identity begins; with `clients` it takes only those that this authority knows.
    pub fn server_config(&self, clients: Option<&Authority>) -> ServerConfig {
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions");
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(authority) => config.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(authority.roots(), provider())
                    .build()
                    .expect("there is an authority"),
            ),
        };
        config
            .with_single_cert(vec![self.certificate.clone()], self.key())
            .expect("key and certificate belong together")
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.clone()).into()
    }
}

/// Bytes as a block of text of this kind.
fn pem(kind: &str, bytes: &[u8]) -> String {
    const LINE_BYTES: usize = 48;
    let mut text = format!("-----BEGIN {kind}-----\n");
    for line in bytes.chunks(LINE_BYTES) {
        STANDARD.encode_string(line, &mut text);
        text.push('\n');
    }
    text + &format!("-----END {kind}-----\n")
}

fn named(common_name: &str, names: Vec<String>) -> CertificateParams {
    let mut parameters = CertificateParams::new(names).expect("the names hold");
    parameters.distinguished_name.push(DnType::CommonName, common_name);
    parameters
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
