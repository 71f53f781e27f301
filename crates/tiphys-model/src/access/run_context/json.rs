//! The run context as JSON. Every field is written; missing fields are read as their defaults.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use serde_json::{Value, json};
use strum::VariantNames;
use tiphys_yaml::{Data, DecodeError, Node, Object, read_json};

use super::{CONTEXT_VERSION, ContextError, ContextSource, LocalChart, RefTree, RunContext};
use crate::access::{RepositoryAccess, Secret};

impl RunContext {
    /// Returns the file's content, including passwords and keys. The file must be readable by the current user only.
    pub fn to_json(&self) -> String {
        let refs: serde_json::Map<String, Value> =
            self.refs.iter().map(|(name, tree)| (name.clone(), tree.to_value())).collect();
        let local_charts: serde_json::Map<String, Value> = self
            .local_charts
            .iter()
            .map(|(url, charts)| (url.clone(), charts.iter().map(LocalChart::to_value).collect()))
            .collect();
        let value = json!({
            "version": CONTEXT_VERSION,
            "source": {
                "kind": <&str>::from(self.source.kind),
                "repoURL": self.source.repo_url,
                "chart": self.source.chart,
                "multiple": self.source.multiple,
                "proxy": self.source.proxy.expose(),
                "noProxy": self.source.no_proxy,
                "root": self.source.root.as_ref().map(|root| root.to_string_lossy()),
            },
            "refs": refs,
            "refErrors": self.ref_errors,
            "project": { "name": self.project.name, "sourceRepos": self.project.source_repos },
            "valuesFileSchemes": self.values_file_schemes,
            "repositories": self.repositories.iter().map(RepositoryAccess::to_value).collect::<Vec<_>>(),
            "credentialTemplates": self.credential_templates.iter().map(RepositoryAccess::to_value).collect::<Vec<_>>(),
            "serverCertificates": self.server_certificates,
            "localCharts": local_charts,
            "mountedCredentials": <&str>::from(self.mounted_credentials),
            "network": <&str>::from(self.network),
        });
        value.to_string()
    }

    /// Parses a file. Missing fields have the values of [`RunContext::default`]; unknown fields are ignored.
    pub fn parse(file: &[u8]) -> Result<Self, ContextError> {
        let node = read_json(file).map_err(ContextError::Json)?;
        let mut file = Object::new(&node, "")?;
        match file.get("version").map(|version| (&version.data, version)) {
            Some((Data::Integer(CONTEXT_VERSION), _)) => {}
            Some((Data::Integer(version), _)) => return Err(ContextError::Version { version: *version }),
            Some((_, node)) => return Err(DecodeError::mismatch(node, "version", "an integer").into()),
            None => return Err(DecodeError::mismatch(&node, "version", "a file with a version").into()),
        }
        let mut context = Self::default();
        if let Some(mut source) = file.object("source")? {
            context.source = ContextSource::decode(&mut source)?;
        }
        if let Some(node) = file.get("refs") {
            context.refs = ref_trees(node)?;
        }
        context.ref_errors = file.text_map("refErrors")?.unwrap_or_default();
        if let Some(mut project) = file.object("project")? {
            if let Some(name) = project.text("name")? {
                name.clone_into(&mut context.project.name);
            }
            if let Some(permitted) = project.texts("sourceRepos")? {
                context.project.source_repos = permitted;
            }
        }
        if let Some(schemes) = file.texts("valuesFileSchemes")? {
            context.values_file_schemes = schemes;
        }
        context.repositories = accesses(&mut file, "repositories")?;
        context.credential_templates = accesses(&mut file, "credentialTemplates")?;
        context.server_certificates = file.text_map("serverCertificates")?.unwrap_or_default();
        if let Some(node) = file.get("localCharts") {
            context.local_charts = local_charts(node)?;
        }
        context.mounted_credentials = kind(&mut file, "mountedCredentials")?;
        context.network = kind(&mut file, "network")?;
        Ok(context)
    }
}

impl ContextSource {
    fn decode(source: &mut Object<'_>) -> Result<Self, DecodeError> {
        let root = source.text("root")?.map(PathBuf::from);
        if root.as_ref().is_some_and(|root| !root.is_absolute()) {
            let (position, path) = (source.position(), source.path_of("root"));
            return Err(DecodeError { position, path, message: "expected an absolute path".to_owned() });
        }
        Ok(Self {
            root,
            kind: kind(source, "kind")?,
            repo_url: text(source, "repoURL")?,
            chart: text(source, "chart")?,
            multiple: source.boolean("multiple")?.unwrap_or_default(),
            proxy: Secret::new(text(source, "proxy")?),
            no_proxy: text(source, "noProxy")?,
        })
    }
}

impl RefTree {
    fn to_value(&self) -> Value {
        json!({ "path": self.path.to_string_lossy(), "repoURL": self.repo_url, "revision": self.revision })
    }
}

impl LocalChart {
    fn to_value(&self) -> Value {
        json!({ "name": self.name, "version": self.version, "path": self.path.to_string_lossy() })
    }

    fn decode(node: &Node, place: String) -> Result<Self, DecodeError> {
        let mut chart = Object::new(node, place)?;
        let (name, version) = (text(&mut chart, "name")?, text(&mut chart, "version")?);
        Ok(Self { name, version, path: absolute_path(&mut chart, "path")? })
    }
}

impl RepositoryAccess {
    fn to_value(&self) -> Value {
        json!({
            "url": self.url,
            "name": self.name,
            "project": self.project,
            "type": <&str>::from(self.kind),
            "username": self.username,
            "password": self.password.expose(),
            "enableOCI": self.enable_oci,
            "insecure": self.insecure,
            "insecureOCIForceHttp": self.insecure_oci_force_http,
            "caData": self.ca_data,
            "tlsClientCertData": self.tls_client_cert_data,
            "tlsClientCertKey": self.tls_client_cert_key.expose(),
            "proxy": self.proxy.expose(),
            "noProxy": self.no_proxy,
        })
    }

    fn decode(access: &mut Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            url: text(access, "url")?,
            name: text(access, "name")?,
            project: text(access, "project")?,
            kind: kind(access, "type")?,
            username: text(access, "username")?,
            password: Secret::new(text(access, "password")?),
            bearer_token: Secret::default(),
            ssh_private_key: Secret::default(),
            enable_oci: access.boolean("enableOCI")?.unwrap_or_default(),
            insecure: access.boolean("insecure")?.unwrap_or_default(),
            insecure_oci_force_http: access.boolean("insecureOCIForceHttp")?.unwrap_or_default(),
            ca_data: text(access, "caData")?,
            tls_client_cert_data: text(access, "tlsClientCertData")?,
            tls_client_cert_key: Secret::new(text(access, "tlsClientCertKey")?),
            proxy: Secret::new(text(access, "proxy")?),
            no_proxy: text(access, "noProxy")?,
        })
    }
}

fn accesses(file: &mut Object<'_>, key: &'static str) -> Result<Vec<RepositoryAccess>, DecodeError> {
    let path = file.path_of(key);
    let items = file.list(key)?.unwrap_or_default();
    items
        .iter()
        .enumerate()
        .map(|(index, item)| RepositoryAccess::decode(&mut Object::new(item, format!("{path}[{index}]"))?))
        .collect()
}

fn local_charts(node: &Node) -> Result<BTreeMap<String, Vec<LocalChart>>, DecodeError> {
    let charts = |entry: &tiphys_yaml::Entry| {
        let (url, place) = (entry.key.text.clone(), format!("localCharts.{}", entry.key.text));
        let Data::Sequence(items) = &entry.value.data else {
            return Err(DecodeError::mismatch(&entry.value, &place, "a list"));
        };
        let decode = |(index, item)| LocalChart::decode(item, format!("{place}[{index}]"));
        Ok((url, items.iter().enumerate().map(decode).collect::<Result<_, _>>()?))
    };
    entries(node, "localCharts")?.iter().map(charts).collect()
}

fn ref_trees(node: &Node) -> Result<BTreeMap<String, RefTree>, DecodeError> {
    let tree = |entry: &tiphys_yaml::Entry| {
        let name = &entry.key.text;
        let mut tree = Object::new(&entry.value, format!("refs.{name}"))?;
        let path = absolute_path(&mut tree, "path")?;
        let found =
            RefTree { path, repo_url: text(&mut tree, "repoURL")?, revision: text(&mut tree, "revision")? };
        Ok((name.clone(), found))
    };
    entries(node, "refs")?.iter().map(tree).collect()
}

fn entries<'a>(node: &'a Node, place: &str) -> Result<&'a [tiphys_yaml::Entry], DecodeError> {
    match &node.data {
        Data::Mapping(entries) => Ok(entries),
        _ => Err(DecodeError::mismatch(node, place, "an object")),
    }
}

fn absolute_path(object: &mut Object<'_>, key: &'static str) -> Result<PathBuf, DecodeError> {
    let path = PathBuf::from(text(object, key)?);
    if path.is_absolute() {
        return Ok(path);
    }
    let (position, path) = (object.position(), object.path_of(key));
    Err(DecodeError { position, path, message: "expected an absolute path".to_owned() })
}

fn text(object: &mut Object<'_>, key: &'static str) -> Result<String, DecodeError> {
    Ok(object.text(key)?.unwrap_or_default().to_owned())
}

/// Returns the kind with a name; the default if the field is missing. An unknown name, which a later version may define, is an error.
fn kind<K: Default + FromStr + VariantNames>(
    object: &mut Object<'_>,
    key: &'static str,
) -> Result<K, DecodeError> {
    let path = object.path_of(key);
    let position = object.position();
    let Some(word) = object.text(key)?.filter(|word| !word.is_empty()) else { return Ok(K::default()) };
    word.parse().map_err(|_unknown| DecodeError {
        position,
        path,
        message: format!("expected one of {}", K::VARIANTS.join(", ")),
    })
}
