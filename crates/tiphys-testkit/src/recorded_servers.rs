//! The local servers of the recorded answers of native Helm support, on the same ports.
//!
//! The answers contain the ports, so only one process at a time can run these servers. Other processes wait.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::certificates::Authority;
use crate::chart::{self, Chart};
use crate::chart_server::{Access, ChartServer, Transport};

/// HTTP.
const PLAIN_PORT: u16 = 18480;
/// TLS with a trusted certificate.
const TRUSTED_PORT: u16 = 18443;
/// TLS with an untrusted certificate.
const UNTRUSTED_PORT: u16 = 18444;

/// The charts of each server.
const CHARTS: [&str; 5] =
    ["remote-1.0.0", "remote-1.1.0", "remote-2.0.0", "remote-2.1.0-rc.1", "remote2-0.1.0"];

/// The servers, which end when this is dropped.
#[derive(Debug)]
pub struct RecordedServers {
    _servers: [ChartServer; 3],
    folder: TempDir,
    digests: Vec<(Chart, String)>,
    /// Locked while the servers run, so it is dropped last.
    _lock: File,
}

impl RecordedServers {
    /// Starts the servers when no other process runs them.
    pub fn start() -> Self {
        let lock = lock();
        let (trusted, untrusted) = (Authority::new(), Authority::new());
        let charts = CHARTS.map(chart::recorded);
        let (trusted_identity, untrusted_identity) = (trusted.server(), untrusted.server());
        let servers = [
            (PLAIN_PORT, Transport::Plain),
            (TRUSTED_PORT, Transport::Tls(&trusted_identity)),
            (UNTRUSTED_PORT, Transport::Tls(&untrusted_identity)),
        ]
        .map(|(port, transport)| {
            ChartServer::start_at(port, transport)
                .unwrap_or_else(|error| panic!("the recorded answers name port {port} of loopback: {error}"))
        });
        let digests = servers.each_ref().map(|server| fill(server, &charts));
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(certificate(folder.path()), trusted.pem()).expect("a file can be written");
        let [digests, ..] = digests;
        Self { _servers: servers, folder, digests: charts.into_iter().zip(digests).collect(), _lock: lock }
    }

    /// The file for `SSL_CERT_FILE`.
    pub fn certificate_file(&self) -> PathBuf {
        certificate(self.folder.path())
    }

    /// The digest of a chart in the registries.
    pub fn digest(&self, name: &str, version: &str) -> Option<&str> {
        let mut digests = self.digests.iter();
        digests
            .find(|(chart, _)| chart.name == name && chart.version == version)
            .map(|(_, digest)| digest.as_str())
    }
}

fn certificate(folder: &Path) -> PathBuf {
    folder.join("trusted.pem")
}

/// Adds the content to a server, and returns the digests of the charts.
fn fill(server: &ChartServer, charts: &[Chart]) -> Vec<String> {
    let elsewhere = format!("{}/private/", server.url().replace("127.0.0.1", "localhost"));
    server
        .repository("/stable", charts)
        .repository("/private", charts)
        .protect("/private/", Access::Basic)
        .repository_elsewhere("/otherhost", charts, &elsewhere)
        .protect("/otherhost/", Access::Basic)
        .file("/values/remote.yaml", "k: remote\nurl: true\n")
        .protect("/v2/", Access::Basic)
        .protect("/v2/charts/", Access::Open);
    server.images("private", charts);
    server.images("charts", charts)
}

#[expect(clippy::disallowed_methods, reason = "a lock for all test processes")]
fn lock() -> File {
    let path = env::temp_dir().join("tiphys-recorded-servers.lock");
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.expect("a file for the lock can be made");
    file.lock().expect("the lock can be taken");
    file
}
