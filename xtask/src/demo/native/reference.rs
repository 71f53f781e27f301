//! What helm itself gives for an Application, called as Argo CD calls it (`spec/helm-parity.md` 1.1).

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::people::quoted;
use super::super::program::isolated;
use super::super::repository;
use super::KUBE_VERSION;
use crate::bench::place::write;
use crate::cargo::output;
use crate::{Failure, tools};

/// Calls of `helm template`, written out as a person would, so that nothing of what they are compared with makes them.
pub(super) struct Reference {
    /// The Application.
    pub(super) application: &'static str,
    /// The chart's folder.
    chart: &'static str,
    /// What follows `helm template .`, but for the Kubernetes version.
    arguments: &'static [&'static str],
    /// The values of the block, which helm reads from a file.
    inline: &'static str,
}

/// Name of the file with the values of a block, beside the charts.
const INLINE: &str = "../inline.yaml";

/// The call of each Application.
pub(super) const REFERENCES: [Reference; 3] = [
    Reference {
        application: "ledger",
        chart: "ledger",
        arguments: &[
            "--name-template",
            "ledger",
            "--namespace",
            "finance",
            "--set",
            "archive.enabled=false",
            "--values",
            INLINE,
            "--skip-tests",
        ],
        inline: "book: {autoscaling: {enabled: true, maxReplicas: 4}}\n",
    },
    Reference {
        application: "ledger-staging",
        chart: "ledger",
        arguments: &["--name-template", "ledger-staging", "--namespace", "finance-staging", "--include-crds"],
        inline: "",
    },
    Reference {
        application: "storefront",
        chart: "storefront",
        arguments: &[
            "--name-template",
            "shop",
            "--namespace",
            "shops",
            "--set",
            "web.replicas=5",
            "--set",
            r"api.podAnnotations.example\.com/team=shops\, and whoever helps them",
            "--set",
            "api.ingress.hosts={api.example.com,api.example.org}",
            "--set-string",
            "web.image.tag=1.20",
            "--set-file",
            "web.config.MOTD=files/motd.txt",
            "--values",
            "values-production.yaml",
            "--values",
            "regions/eu.yaml",
            "--values",
            "../../settings/storefront/storefront.yaml",
            "--values",
            INLINE,
            "--include-crds",
        ],
        inline: "{global: {registry: mirror.example.com}, cache: {size: 4}}\n",
    },
];

impl Reference {
    /// The call, as a person would type it.
    pub(super) fn command(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|argument| quoted(argument)).collect();
        format!("helm template . --kube-version {KUBE_VERSION} {}", arguments.join(" "))
    }

    /// What helm gives, in a copy of the charts in which what is missing was brought before.
    pub(super) fn objects(&self, root: &Path, place: &Path) -> Result<Vec<Value>, Failure> {
        let copy = place.join("reference").join(self.application).join("charts");
        repository::copy(&place.join("charts"), &copy)?;
        repository::copy(&place.join("settings"), &copy.with_file_name("settings"))?;
        let chart = copy.join(self.chart);
        write(&chart.join(INLINE), self.inline.as_bytes())?;
        let helm = |arguments: &[&str]| {
            let program = tools::bin(root).join("helm");
            output(isolated(&program, &copy).args(arguments).current_dir(&chart))
        };
        helm(&["dependency", "build"])?;
        let version = ["template", ".", "--kube-version", KUBE_VERSION];
        objects(helm(&[&version[..], self.arguments].concat())?.as_bytes())
    }
}

/// The objects of a stream of documents, in its order.
pub(super) fn objects(stream: &[u8]) -> Result<Vec<Value>, Failure> {
    let documents = tiphys_yaml::read_documents(stream)
        .map_err(|error| Failure::new(format!("what was rendered is no YAML: {error}")))?;
    Ok(documents.iter().map(tiphys_yaml::Node::to_value).filter(|value| !value.is_null()).collect())
}

/// The first object that differs, or that only one side has; `None` if all are equal and in one order.
pub(super) fn difference(ours: &[Value], helms: &[Value]) -> Option<String> {
    let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', "");
    for (index, helms) in helms.iter().enumerate() {
        match ours.get(index) {
            Some(ours) if ours == helms => {}
            Some(ours) if name(ours) == name(helms) => return Some(format!("{} is another one", name(ours))),
            Some(ours) => return Some(format!("{} is where helm has {}", name(ours), name(helms))),
            None => return Some(format!("{} is missing", name(helms))),
        }
    }
    ours.get(helms.len()).map(|more| format!("{} is one that helm has not", name(more)))
}

/// The objects of a file that `tiphys render` wrote.
pub(super) fn rendered(file: &Path) -> Result<Vec<Value>, Failure> {
    objects(&fs::read(file).map_err(|error| Failure::at(file, error))?)
}
