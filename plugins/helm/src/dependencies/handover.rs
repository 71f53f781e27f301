//! Passes repository access to helm: files in its private home, a few options, proxies. Arguments contain no secrets.
//!
//! | what | where |
//! |---|---|
//! | Helm repositories with user, password, certificates | `repositories.yaml`, mode 0600 |
//! | credentials of registries | `registry/config.json`, mode 0600 |
//! | certificates | files of their own, mode 0600 |
//! | TLS settings and plain HTTP of registries | options: helm has one set of them for all registries of a chart |
//! | a proxy, which may have a password | the environment: helm reads it nowhere else |

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tiphys_model::access::SYSTEM_CA_BUNDLES;
use tiphys_model::access::{CredentialReach, RegistryLogin, RepositoryAccess, Secret};
use tiphys_tree::read_bounded;

use super::DependencyError;
use super::remote::{RemoteKind, RemoteRepository};
use crate::home::{Home, HomeError};
use crate::host::Host;

/// Maximum bytes of a file with CA certificates. System bundles have a few hundred thousand.
const CA_BYTES_MAX: u64 = 16 << 20;

/// Input of helm besides its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handover {
    /// Options of `helm dependency build`.
    pub(crate) options: Vec<String>,
    pub(crate) environment: Vec<(String, Secret)>,
}

/// Writes helm's files into its home.
pub(crate) fn hand_over(
    home: &Home,
    host: &Host,
    remotes: &[RemoteRepository],
) -> Result<Handover, DependencyError> {
    let of_kind = |kind| remotes.iter().filter(move |remote| remote.kind == kind).collect::<Vec<_>>();
    let (web, registries) = (of_kind(RemoteKind::Web), of_kind(RemoteKind::Registry));
    home.folder("config/certificates")?;
    home.write("config/repositories.yaml", repositories(home, &web)?.to_string().as_bytes())?;
    home.folder("config/registry")?;
    home.write("config/registry/config.json", logins(&registries)?.to_string().as_bytes())?;
    let options = registry_options(home, host, &registries)?;
    Ok(Handover { options, environment: proxies(remotes)? })
}

/// Removes the files. The rest is removed with the home.
pub(crate) fn take_back(home: &Home) {
    let config = home.path().join("config");
    for folder in ["certificates", "registry"] {
        drop(fs::remove_dir_all(config.join(folder)));
    }
    drop(fs::remove_file(config.join("repositories.yaml")));
}

/// Returns `repositories.yaml` as JSON, which is YAML.
fn repositories(home: &Home, web: &[&RemoteRepository]) -> Result<Value, HomeError> {
    let mut entries = Vec::new();
    for (index, remote) in web.iter().enumerate() {
        let access = &remote.access;
        let file =
            |part: &str, text: &str| certificate(home, &format!("repository-{index}-{part}.pem"), text);
        entries.push(json!({
            "name": entry_name(web, index),
            "url": remote.address.expose(),
            "username": access.username,
            "password": access.password.expose(),
            "certFile": file("cert", &access.tls_client_cert_data)?,
            "keyFile": file("key", access.tls_client_cert_key.expose())?,
            "caFile": file("ca", &access.ca_data)?,
            "insecure_skip_tls_verify": access.insecure,
            "pass_credentials_all": remote.credentials == CredentialReach::EveryServer,
        }));
    }
    Ok(json!({ "apiVersion": "v1", "generated": "0001-01-01T00:00:00Z", "repositories": entries }))
}

/// Returns the chart's own name for a repository, otherwise a unique one.
fn entry_name(web: &[&RemoteRepository], index: usize) -> String {
    let remote = web[index];
    if !remote.name.is_empty() {
        return remote.name.clone();
    }
    let mut name = format!("repository-{index}");
    while web.iter().any(|other| other.name == name) {
        name.push('-');
    }
    name
}

/// Writes a certificate or a key, and returns the file's path; empty for an empty string.
fn certificate(home: &Home, name: &str, text: &str) -> Result<String, HomeError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let path = home.write(&format!("config/certificates/{name}"), text.as_bytes())?;
    Ok(path.to_string_lossy().into_owned())
}

/// Returns `registry/config.json`: credentials of the required registries only. Helpers have been called before.
fn logins(registries: &[&RemoteRepository]) -> Result<Value, DependencyError> {
    let mut logins: BTreeMap<&str, Value> = BTreeMap::new();
    let mut taken: BTreeMap<&str, &RemoteRepository> = BTreeMap::new();
    for remote in registries {
        let (host, access) = (remote.login_name(), &remote.access);
        if !access.has_password() {
            if let RegistryLogin::Entry(entry) = &remote.login {
                let entry = serde_json::from_str(entry.json.expose()).unwrap_or_default();
                logins.entry(host).or_insert(entry);
            }
            continue;
        }
        if let Some(other) = taken.get(host)
            && (&other.access.username, &other.access.password) != (&access.username, &access.password)
        {
            return Err(differing("credentials", other, remote));
        }
        let pair = BASE64.encode(format!("{}:{}", access.username, access.password.expose()));
        logins.insert(host, json!({ "auth": pair }));
        taken.insert(host, remote);
    }
    Ok(json!({ "auths": logins }))
}

/// Helm uses the same settings for all registries of a chart, so they must agree: a password for one must not go unencrypted to another.
fn registry_options(
    home: &Home,
    host: &Host,
    registries: &[&RemoteRepository],
) -> Result<Vec<String>, DependencyError> {
    let Some((first, others)) = registries.split_first() else { return Ok(Vec::new()) };
    for other in others {
        if let Some(what) = difference(&first.access, &other.access) {
            return Err(differing(what, first, other));
        }
    }
    let access = &first.access;
    // Helm 4 ignores plain HTTP if any TLS option is set.
    if access.insecure_oci_force_http {
        return Ok(vec!["--plain-http".to_owned()]);
    }
    let mut options = Vec::new();
    if access.insecure {
        options.push("--insecure-skip-tls-verify".to_owned());
    }
    let files = [
        ("--ca-file", "registry-ca.pem", ca_certificates(host, registries)),
        ("--cert-file", "registry-cert.pem", access.tls_client_cert_data.clone()),
        ("--key-file", "registry-key.pem", access.tls_client_cert_key.expose().to_owned()),
    ];
    for (option, name, text) in files {
        if !text.is_empty() {
            options.extend([option.to_owned(), certificate(home, name, &text)?]);
        }
    }
    Ok(options)
}

/// Returns the setting in which two registries differ.
fn difference(one: &RepositoryAccess, other: &RepositoryAccess) -> Option<&'static str> {
    let certificate = |one: &RepositoryAccess| {
        (one.tls_client_cert_data.clone(), one.tls_client_cert_key.expose().to_owned())
    };
    if one.insecure_oci_force_http != other.insecure_oci_force_http {
        Some("plain HTTP")
    } else if one.insecure != other.insecure {
        Some("insecure")
    } else if certificate(one) != certificate(other) {
        Some("client certificates")
    } else {
        None
    }
}

/// Returns the CA certificates of all registries. Helm trusts only these, so the system's are added if a registry has none of its own.
fn ca_certificates(host: &Host, registries: &[&RemoteRepository]) -> String {
    let mut all: Vec<&str> = registries.iter().map(|one| one.access.ca_data.trim_end()).collect();
    all.sort_unstable();
    all.dedup();
    let needs_system = all.first().is_some_and(|text| text.is_empty());
    all.retain(|text| !text.is_empty());
    if all.is_empty() {
        return String::new();
    }
    let mut bundle = all.join("\n");
    bundle.push('\n');
    if needs_system {
        bundle.push_str(&system_ca_certificates(host));
    }
    bundle
}

/// Returns the CA certificates that Go reads from the system: a file, and all files of the directories in a variable. Unreadable files are
/// skipped, as in Go.
fn system_ca_certificates(host: &Host) -> String {
    let read = |path: &Path| String::from_utf8(read_bounded(path, CA_BYTES_MAX).ok()??).ok();
    let set = host.set("SSL_CERT_FILE").into_iter();
    let mut bundle = set.chain(SYSTEM_CA_BUNDLES).map(Path::new).find_map(read).unwrap_or_default();
    let folders = host.set("SSL_CERT_DIR").unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    for text in files.iter().filter_map(|path| read(path)) {
        bundle.push('\n');
        bundle.push_str(&text);
    }
    bundle
}

/// Returns variables for the repositories' proxy, if any. Repositories without a proxy are in `NO_PROXY`.
fn proxies(remotes: &[RemoteRepository]) -> Result<Vec<(String, Secret)>, DependencyError> {
    let with_proxy = |remote: &&RemoteRepository| !remote.access.proxy.is_empty();
    let Some(first) = remotes.iter().find(with_proxy) else { return Ok(Vec::new()) };
    let differs = |other: &&RemoteRepository| with_proxy(other) && other.access.proxy != first.access.proxy;
    if let Some(other) = remotes.iter().find(differs) {
        return Err(differing("proxies", first, other));
    }
    let mut past: Vec<&str> = Vec::new();
    for remote in remotes {
        if remote.access.proxy.is_empty() {
            past.push(remote.address.host());
        } else if !remote.access.no_proxy.is_empty() {
            past.push(&remote.access.no_proxy);
        }
    }
    past.dedup();
    let (proxy, past) = (first.access.proxy.expose(), past.join(","));
    let variables = [("HTTP_PROXY", proxy), ("HTTPS_PROXY", proxy), ("NO_PROXY", past.as_str())];
    let both = variables.into_iter().flat_map(|(name, value)| {
        [(name.to_owned(), value), (name.to_lowercase(), value)]
            .map(|(name, value)| (name, Secret::new(value)))
    });
    Ok(both.collect())
}

fn differing(what: &'static str, first: &RemoteRepository, second: &RemoteRepository) -> DependencyError {
    DependencyError::Differing { what, first: first.address.clone(), second: second.address.clone() }
}

#[cfg(test)]
mod tests;
