//! The OCI registry of `cargo xtask tools` (`distribution`) on a free local port.
//!
//! Charts are pushed by the distribution protocol. The credentials are those of [`crate::chart_server`].

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::canned_server::Transport;
use crate::certificates::{Authority, Identity};
use crate::chart::{Chart, Image, digest};
use crate::chart_server::basic;
use crate::http_client::Client;
use crate::tools;

/// The htpasswd file: `user` with the password `pass`, hashed with the lowest bcrypt cost.
const USERS: &str = "user:$2b$04$oQQWmc7mWfp7QcN0EEfu.u0eQWabsdfrh1C4Ewh3LULT5zm2PWVmq\n";

/// Required credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryAccess {
    /// None.
    Open,
    /// Name and password.
    Basic,
}

/// A running registry, which ends when it is dropped.
#[derive(Debug)]
pub struct Registry {
    child: Child,
    address: SocketAddr,
    client: Client,
    /// Directory of its content and its settings.
    _folder: TempDir,
}

impl Registry {
    /// Starts an empty registry and waits until it listens. `authority` issued the certificate of `transport`, if there is one.
    pub fn start(access: RegistryAccess, transport: Transport<'_>, authority: &Authority) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = settings(folder.path(), access, transport);
        let file = folder.path().join("registry.yml");
        // JSON is valid YAML.
        fs::write(&file, settings.to_string()).expect("a file can be written");
        #[expect(clippy::disallowed_methods, reason = "tests only")]
        let mut child = Command::new(tools::program("registry"))
            .arg("serve")
            .arg(&file)
            .env_clear()
            // Without this it sends traces to a local collector.
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the registry starts");
        let address = address(&mut child, folder.path());
        let (tls, identity) = match transport {
            Transport::Plain => (None, None),
            Transport::Tls(_) => (Some(authority), None),
            Transport::MutualTls(_, clients) => (Some(authority), Some(clients.client())),
        };
        let client =
            Client::new(address, tls.map(|authority| authority.client_config(identity.as_ref())), basic());
        Self { child, address, client, _folder: folder }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Pushes a chart as `PREFIX/NAME` with its version as the tag, and returns the digest of its manifest.
    pub fn push(&self, prefix: &str, chart: &Chart) -> String {
        let image = Image::of(chart);
        let name = format!("{prefix}/{}", chart.name);
        for blob in &image.blobs {
            self.push_blob(&name, blob);
        }
        let path = format!("/v2/{name}/manifests/{}", chart.tag());
        self.client.send("PUT", &path, image.media_type, &image.manifest).expect_status(201);
        digest(&image.manifest)
    }

    fn push_blob(&self, name: &str, blob: &[u8]) {
        let begun = self.client.send("POST", &format!("/v2/{name}/blobs/uploads/"), "", &[]);
        begun.expect_status(202);
        let place = begun.header("Location").expect("an upload has a place");
        let path = place
            .split_once("://")
            .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]))
            .unwrap_or(place);
        let sign = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{sign}digest={}", digest(blob));
        self.client.send("PUT", &path, "application/octet-stream", blob).expect_status(201);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn settings(folder: &Path, access: RegistryAccess, transport: Transport<'_>) -> serde_json::Value {
    let write = |name: &str, content: &str| {
        let path = folder.join(name);
        fs::write(&path, content).expect("a file can be written");
        path.display().to_string()
    };
    let mut settings = json!({
        "version": "0.1",
        "log": {"level": "info", "formatter": "text", "accesslog": {"disabled": true}},
        "storage": {
            "filesystem": {"rootdirectory": folder.join("content").display().to_string()},
            "maintenance": {"uploadpurging": {"enabled": false}},
        },
        "http": {"addr": "127.0.0.1:0"},
    });
    let (identity, clients): (Option<&Identity>, Option<&Authority>) = match transport {
        Transport::Plain => (None, None),
        Transport::Tls(identity) => (Some(identity), None),
        Transport::MutualTls(identity, clients) => (Some(identity), Some(clients)),
    };
    if let Some(identity) = identity {
        settings["http"]["tls"] = json!({
            "certificate": write("certificate.pem", &identity.certificate_pem),
            "key": write("key.pem", &identity.key_pem),
        });
    }
    if let Some(clients) = clients {
        settings["http"]["tls"]["clientcas"] = json!([write("clients.pem", clients.pem())]);
    }
    if access == RegistryAccess::Basic {
        settings["auth"] = json!({"htpasswd": {"realm": "charts", "path": write("users", USERS)}});
    }
    settings
}

/// Reads the registry's address from its log. The rest of the log is written to a file.
fn address(child: &mut Child, folder: &Path) -> SocketAddr {
    const MARK: &str = "listening on ";
    let mut log = BufReader::new(child.stderr.take().expect("the log is piped"));
    let (mut seen, mut line) = (String::new(), String::new());
    let address = loop {
        line.clear();
        let bytes = log.read_line(&mut line).expect("the log can be read");
        assert!(bytes > 0, "the registry ended before it listened:\n{seen}");
        seen.push_str(&line);
        if let Some((_, rest)) = line.split_once(MARK) {
            let end = rest.find(|c: char| !c.is_ascii_digit() && !".:".contains(c)).unwrap_or(rest.len());
            break rest[..end].parse().expect("an address");
        }
    };
    let mut file = File::create(folder.join("log")).expect("a file can be written");
    // An unread pipe would block the registry once it is full. The thread ends with the registry.
    drop(std::thread::spawn(move || std::io::copy(&mut log, &mut file)));
    address
}
