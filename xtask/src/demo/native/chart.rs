//! Charts of the size that people have: some components, each with the same templates and values, hooks, a schema, and subcharts.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::Failure;
use crate::bench::place::write;

/// What stands for a component's name in the files below.
const COMPONENT: &str = "COMPONENT";

/// The templates of a component.
const COMPONENT_TEMPLATES: [(&str, &str); 7] = [
    ("account", include_str!("chart/component/account.yaml")),
    ("autoscaler", include_str!("chart/component/autoscaler.yaml")),
    ("budget", include_str!("chart/component/budget.yaml")),
    ("configmap", include_str!("chart/component/configmap.yaml")),
    ("deployment", include_str!("chart/component/deployment.yaml")),
    ("ingress", include_str!("chart/component/ingress.yaml")),
    ("service", include_str!("chart/component/service.yaml")),
];

/// The values of a component.
const COMPONENT_VALUES: &str = include_str!("chart/component/values.yaml");

/// The schema of a component's values.
const COMPONENT_SCHEMA: &str = include_str!("chart/component/schema.json");

/// The other files of a chart: a hook and a test among them.
const FILES: [(&str, &str); 5] = [
    ("crds/campaigns.yaml", include_str!("chart/crd.yaml")),
    ("templates/_names.tpl", include_str!("chart/templates/_names.tpl")),
    ("templates/NOTES.txt", include_str!("chart/templates/NOTES.txt")),
    ("templates/migrate.yaml", include_str!("chart/templates/migrate.yaml")),
    ("templates/tests/reachable.yaml", include_str!("chart/templates/tests/reachable.yaml")),
];

/// The values of a chart that are of no component.
const VALUES: &str = include_str!("chart/values.yaml");

/// The only template of a subchart.
const SUBCHART_TEMPLATE: &str = include_str!("chart/subchart.yaml");

/// A chart.
#[derive(Debug)]
pub(super) struct Chart {
    /// Its name, and that of its folder.
    pub(super) name: &'static str,
    /// Its components.
    pub(super) components: &'static [&'static str],
    /// Subcharts that stand in its own folder `charts`.
    pub(super) vendored: &'static [&'static str],
    /// Subcharts that stand beside it in the repository, by `file://`, and have to be brought before it renders.
    pub(super) beside: &'static [&'static str],
}

impl Chart {
    /// Writes the chart into a repository.
    pub(super) fn write(&self, repository: &Path) -> Result<(), Failure> {
        for (path, content) in self.files()? {
            write(&repository.join(path), content.as_bytes())?;
        }
        Ok(())
    }

    /// The contents by their paths in the repository.
    pub(super) fn files(&self) -> Result<BTreeMap<String, String>, Failure> {
        let own = |path: &str| format!("{}/{path}", self.name);
        let mut files: BTreeMap<String, String> =
            FILES.iter().map(|(path, content)| (own(path), (*content).to_owned())).collect();
        let mut values = VALUES.to_owned();
        for component in self.components {
            for (template, content) in COMPONENT_TEMPLATES {
                files.insert(
                    own(&format!("templates/{component}-{template}.yaml")),
                    content.replace(COMPONENT, component),
                );
            }
            values.push_str(&COMPONENT_VALUES.replace(COMPONENT, component));
        }
        files.insert(own("values.yaml"), values);
        files.insert(own("values.schema.json"), self.schema()?);
        files.insert(own("Chart.yaml"), self.metadata());
        let vendored = self.vendored.iter().map(|name| (own(&format!("charts/{name}")), *name));
        for (folder, name) in vendored.chain(self.beside.iter().map(|name| ((*name).to_owned(), *name))) {
            let metadata = format!("apiVersion: v2\nname: {name}\nversion: {SUBCHART_VERSION}\n");
            files.insert(format!("{folder}/Chart.yaml"), metadata);
            files.insert(format!("{folder}/values.yaml"), SUBCHART_VALUES.to_owned());
            files.insert(format!("{folder}/templates/size.yaml"), SUBCHART_TEMPLATE.to_owned());
        }
        Ok(files)
    }

    fn metadata(&self) -> String {
        let mut text =
            format!("apiVersion: v2\nname: {}\nversion: 3.2.0\nappVersion: \"2026.8\"\n", self.name);
        let vendored = self.vendored.iter().map(|name| (name, String::new()));
        let beside = self.beside.iter().map(|name| (name, format!(", repository: \"file://../{name}\"")));
        for (index, (name, repository)) in vendored.chain(beside).enumerate() {
            text.push_str(if index == 0 { "dependencies:\n" } else { "" });
            text.extend(["- {name: ", name, ", version: ", SUBCHART_VERSION, &repository, "}\n"]);
        }
        text
    }

    fn schema(&self) -> Result<String, Failure> {
        let component: Value = serde_json::from_str(COMPONENT_SCHEMA)
            .map_err(|error| Failure::new(format!("the schema of a component: {error}")))?;
        let components: serde_json::Map<String, Value> =
            self.components.iter().map(|name| ((*name).to_owned(), component.clone())).collect();
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": components,
        });
        Ok(format!("{schema:#}\n"))
    }
}

/// The version of each subchart.
const SUBCHART_VERSION: &str = "1.4.0";

/// The values of a subchart.
const SUBCHART_VALUES: &str = "# How many answer at once.\nsize: 2\nglobal:\n  registry: \"\"\n";
