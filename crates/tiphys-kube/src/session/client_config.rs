//! Connection settings as the configuration of the Kubernetes client.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::header::HeaderValue;
use kube::Config;
use kube::config::AuthInfo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::{BoxError, Cause};
use crate::cluster_reader::ClusterErrorKind;
use crate::exec::ExecCredentials;
use crate::{CaCertificates, KubeConnection, KubeIdentity, Pem};

/// Returns kube's configuration of a connection. Reads files.
pub(super) fn client_config(
    connection: &KubeConnection,
    credentials: Option<ExecCredentials>,
) -> Result<Config, (ClusterErrorKind, BoxError)> {
    let unreachable = |cause: Cause| (ClusterErrorKind::Unreachable, BoxError::from(cause));
    let unusable = |cause: Cause| (ClusterErrorKind::Settings, BoxError::from(cause));
    let server = url(&connection.server).ok_or_else(|| unreachable(Cause::Url("server")))?;
    let mut config = Config::new(server);
    // Repetitions end with the request's time here, and kube's need not.
    config.default_retry = false;
    config.tls_server_name.clone_from(&connection.tls_server_name);
    if let Some(proxy) = &connection.proxy {
        let proxy = url(proxy.expose()).ok_or_else(|| unreachable(Cause::Url("proxy")))?;
        config.proxy_url = Some(proxy);
    }
    match &connection.ca {
        CaCertificates::System => {}
        CaCertificates::Unchecked => config.accept_invalid_certs = true,
        CaCertificates::Own(pem) => {
            config.root_cert = Some(certificates(pem, "the CA of the cluster").map_err(unreachable)?);
            if let Pem::File(file) = pem {
                config.root_cert_file = Some(file.clone());
            }
        }
    }
    let auth = &mut config.auth_info;
    let mut client_certificate = connection.client_certificate.clone();
    match &connection.identity {
        KubeIdentity::Anonymous | KubeIdentity::Exec(_) => {}
        KubeIdentity::Token(token) => set_token(auth, token.expose()).map_err(unusable)?,
        KubeIdentity::TokenFile(file) => {
            // As in kubectl, a line break at the end is not a part of the token.
            let token = read(file).map_err(unusable)?;
            set_token(auth, token.trim()).map_err(unusable)?;
        }
        KubeIdentity::Basic { username, password } => {
            auth.username = Some(username.clone());
            auth.password = Some(password.expose().to_owned().into());
        }
    }
    if let Some(credentials) = credentials {
        if let Some(token) = credentials.token {
            set_token(auth, token.expose()).map_err(unusable)?;
        }
        client_certificate = credentials.client_certificate.or(client_certificate);
    }
    if let Some(own) = client_certificate {
        certificates(&own.certificate, "the client certificate").map_err(unusable)?;
        set_certificate(auth, &own.certificate, &own.key).map_err(unusable)?;
    }
    Ok(config)
}

/// Parses a URL with a host.
fn url(url: &str) -> Option<Uri> {
    let url: Uri = url.parse().ok()?;
    (matches!(url.scheme_str(), Some("http" | "https")) && url.authority().is_some()).then_some(url)
}

/// Returns the certificates of PEM data, at least one.
fn certificates(pem: &Pem, object: &'static str) -> Result<Vec<Vec<u8>>, Cause> {
    let certificates: Result<Vec<Vec<u8>>, _> = CertificateDer::pem_slice_iter(content(pem)?.as_bytes())
        .map(|certificate| certificate.map(|certificate| certificate.to_vec()))
        .collect();
    certificates.ok().filter(|found| !found.is_empty()).ok_or(Cause::NoCertificate(object))
}

/// Sets the bearer token. kube panics for a token that is not a valid header value.
fn set_token(auth: &mut AuthInfo, token: &str) -> Result<(), Cause> {
    HeaderValue::from_str(token).map_err(|_| Cause::Token)?;
    auth.token = Some(token.to_owned().into());
    Ok(())
}

fn set_certificate(auth: &mut AuthInfo, certificate: &Pem, key: &Pem) -> Result<(), Cause> {
    auth.client_certificate_data = Some(STANDARD.encode(content(certificate)?));
    auth.client_key_data = Some(STANDARD.encode(content(key)?).into());
    Ok(())
}

fn content(pem: &Pem) -> Result<String, Cause> {
    match pem {
        Pem::Data(data) => Ok(data.expose().to_owned()),
        Pem::File(file) => read(file),
    }
}

fn read(file: &std::path::Path) -> Result<String, Cause> {
    std::fs::read_to_string(file).map_err(|error| Cause::File(file.to_owned(), error))
}
