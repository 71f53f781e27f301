//! Charts for servers, created from strings and packed like `helm package`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::iter;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, Header};

use crate::workspace_root;

/// A chart: name, version, and its files by their path in the chart's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// As in `Chart.yaml`.
    pub name: String,
    /// As in `Chart.yaml`.
    pub version: String,
    /// Files by their path in the chart's directory.
    pub files: BTreeMap<String, String>,
}

impl Chart {
    /// Creates a chart with a `Chart.yaml` only.
    pub fn new(name: &str, version: &str) -> Self {
        let file = format!("apiVersion: v2\nname: {name}\nversion: {version:?}\n");
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            files: BTreeMap::from([("Chart.yaml".to_owned(), file)]),
        }
    }

    /// Adds or replaces a file.
    #[must_use]
    pub fn with(mut self, path: &str, content: &str) -> Self {
        self.files.insert(path.to_owned(), content.to_owned());
        self
    }

    /// Packs the chart with every file below a directory with the chart's name. The result is deterministic.
    pub fn pack(&self) -> Vec<u8> {
        self.pack_below(&format!("{}/", self.name))
    }

    fn pack_below(&self, directory: &str) -> Vec<u8> {
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, content) in &self.files {
            let mut header = Header::new_gnu();
            header.set_mode(0o644);
            header.set_size(content.len() as u64);
            archive
                .append_data(&mut header, format!("{directory}{path}"), content.as_bytes())
                .expect("writing to memory");
        }
        archive.into_inner().and_then(GzEncoder::finish).expect("writing to memory")
    }

    /// `NAME-VERSION.tgz`.
    pub fn archive_name(&self) -> String {
        format!("{}-{}.tgz", self.name, self.version)
    }

    /// The tag in a registry. A tag cannot contain `+`, which helm replaces by `_`.
    pub fn tag(&self) -> String {
        self.version.replace('+', "_")
    }
}

/// A chart of the recorded answers of native Helm support by its id, `NAME-VERSION`.
pub fn recorded(id: &str) -> Chart {
    let path = workspace_root().join("testdata/oracles/helm-native-charts.json");
    let text = fs::read_to_string(path).expect("the charts can be read");
    let charts: Value = serde_json::from_str(&text).expect("the charts are JSON");
    let (name, version) = id.split_once('-').expect("an id is a name and a version");
    let files = charts[id].as_object().unwrap_or_else(|| panic!("no chart {id}"));
    let content = |value: &Value| value.as_str().expect("a file is a string").to_owned();
    Chart {
        name: name.to_owned(),
        version: version.to_owned(),
        files: files.iter().map(|(path, value)| (path.clone(), content(value))).collect(),
    }
}

/// The `index.yaml` of charts whose archives are below `base`; `""` is relative to the index.
pub(crate) fn index(charts: &[Chart], base: &str) -> String {
    let mut text = "apiVersion: v1\ngenerated: \"2026-01-01T00:00:00Z\"\nentries:\n".to_owned();
    let mut by_name: BTreeMap<&str, Vec<&Chart>> = BTreeMap::new();
    for chart in charts {
        by_name.entry(&chart.name).or_default().push(chart);
    }
    for (name, versions) in by_name {
        writeln!(text, "  {name}:").expect("writing to a string");
        for chart in versions {
            let entry = json!({
                "apiVersion": "v2", "name": name, "version": chart.version,
                "created": "2026-01-01T00:00:00Z", "digest": hexadecimal(&chart.pack()),
                "urls": [format!("{base}{}", chart.archive_name())],
            });
            writeln!(text, "  - {entry}").expect("writing to a string");
        }
    }
    text
}

/// A chart as an OCI image.
pub(crate) struct Image {
    /// The manifest.
    pub(crate) manifest: Vec<u8>,
    /// The manifest's media type.
    pub(crate) media_type: &'static str,
    /// The configuration and the layers.
    pub(crate) blobs: Vec<Vec<u8>>,
}

impl Image {
    pub(crate) fn of(chart: &Chart) -> Self {
        let configuration = json!({"apiVersion": "v2", "name": chart.name, "version": chart.version});
        let layer = ("application/vnd.cncf.helm.chart.content.v1.tar+gzip", chart.pack());
        Self::new("application/vnd.cncf.helm.config.v1+json", &configuration, &[layer])
    }

    /// Creates the image of an artefact that is not a chart. The files are in the root of its archive.
    pub(crate) fn of_files(chart: &Chart) -> Self {
        Self::of_layers(&[("application/vnd.oci.image.layer.v1.tar+gzip", chart.pack_below(""))])
    }

    /// Creates the image of an artefact with these layers and their media types.
    pub(crate) fn of_layers(layers: &[(&str, Vec<u8>)]) -> Self {
        Self::new("application/vnd.oci.empty.v1+json", &json!({}), layers)
    }

    fn new(media_type: &str, configuration: &Value, layers: &[(&str, Vec<u8>)]) -> Self {
        const MEDIA_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
        let configuration = configuration.to_string().into_bytes();
        let part = |media_type: &str, bytes: &[u8]| json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()});
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MEDIA_TYPE,
            "config": part(media_type, &configuration),
            "layers": layers.iter().map(|(media_type, layer)| part(media_type, layer)).collect::<Vec<_>>(),
        });
        Self {
            manifest: manifest.to_string().into_bytes(),
            media_type: MEDIA_TYPE,
            blobs: iter::once(configuration).chain(layers.iter().map(|(_, layer)| layer.clone())).collect(),
        }
    }
}

/// The digest: `sha256:` and 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}
