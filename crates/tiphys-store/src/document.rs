//! The role of a document in a store, determined from its kind before it is decoded.

use tiphys_api::{
    APPLICATION, APPLICATION_SET, GROUP, GoStruct, SECRET_TYPE_LABEL, decode_base64, decode_fields,
};
use tiphys_yaml::{Data, Key, Node};

/// The ConfigMap with Argo CD's settings.
pub(crate) const SETTINGS_NAME: &str = "argocd-cm";

/// The ConfigMap with the CA certificates of servers.
pub(crate) const CERTIFICATES_NAME: &str = "argocd-tls-certs-cm";

/// The part of the API group by which an Application with a wrong `apiVersion` is recognised.
pub(crate) const GROUP_WORD: &str = "argoproj";

/// The fields of Argo CD's objects.
const OBJECT_FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "spec", "status", "operation"];

/// A kind of document that belongs to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Application,
    AppProject,
    ApplicationSet,
    Settings,
    Certificates,
    Secret,
}

/// Returns the kind of a document; `None` if it does not belong to a store.
pub(crate) fn kind_of(node: &Node) -> Option<Kind> {
    let text = |key| node.get(key).and_then(Node::as_str);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    // A wrong version is reported as a finding of the Application.
    if kind == "Application" && api_version.contains(GROUP_WORD) {
        return Some(Kind::Application);
    }
    if api_version.split_once('/').is_some_and(|(group, _)| group == GROUP) {
        return match kind {
            "AppProject" => Some(Kind::AppProject),
            "ApplicationSet" => Some(Kind::ApplicationSet),
            _ => None,
        };
    }
    if api_version != "v1" {
        return None;
    }
    match kind {
        "ConfigMap" => match node.at(["metadata", "name"]).and_then(Node::as_str)? {
            SETTINGS_NAME => Some(Kind::Settings),
            CERTIFICATES_NAME => Some(Kind::Certificates),
            _ => None,
        },
        "Secret" if node.at(["metadata", "labels", SECRET_TYPE_LABEL]).is_some() => Some(Kind::Secret),
        _ => None,
    }
}

/// Collects the objects of a document: the items of a List or an array, at any depth, else the document itself.
pub(crate) fn objects(document: Node, found: &mut Vec<Node>) {
    let is_list = is_list(&document);
    let items = match document.data {
        Data::Sequence(items) => items,
        Data::Mapping(entries) if is_list => {
            match entries
                .into_iter()
                .rev()
                .find(|entry| entry.key.text == "items")
                .map(|entry| entry.value.data)
            {
                Some(Data::Sequence(items)) => items,
                _ => Vec::new(),
            }
        }
        data => {
            found.push(Node { data, ..document });
            return;
        }
    };
    for item in items {
        objects(item, found);
    }
}

fn is_list(document: &Node) -> bool {
    document.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"))
        && document.get("items").is_some_and(|items| matches!(items.data, Data::Sequence(_)))
}

/// Returns why a document is only a part of an object, such as a patch or a template. `None` if it looks complete.
pub(crate) fn partial(node: &Node, kind: Kind) -> Option<&'static str> {
    let name = node.at(["metadata", "name"]);
    if name.is_some_and(is_template) || node.at(["metadata", "namespace"]).is_some_and(is_template) {
        return Some("its name is a template");
    }
    // A name that is not a string counts as a name, so that decoding reports the mistake.
    if name.is_none_or(|name| name.is_null() || name.as_str() == Some("")) {
        return Some("it has no name");
    }
    if node.get("$patch").is_some() {
        return Some("it is a patch");
    }
    // A patch has the fields of its object. Decoding reports a misspelt one, and what is missing.
    if has_misspelt_field(node, kind) {
        return None;
    }
    match kind {
        Kind::Application if !has_repository(node) => Some("it names no repository"),
        Kind::AppProject | Kind::ApplicationSet if node.get("spec").is_none_or(Node::is_null) => {
            Some("it has no spec")
        }
        Kind::Secret if ["data", "stringData"].iter().all(|key| node.get(key).is_none_or(Node::is_null)) => {
            Some("it has no data")
        }
        // Placeholders of tools that inject secrets later are not base64.
        Kind::Secret if !has_base64_data(node) => Some("a value of its `data` is not base64"),
        _ => None,
    }
}

/// Returns the unknown field of an object of Argo CD that has no `spec`. Kubernetes distinguishes upper and lower case, so `Spec` is unknown.
pub(crate) fn misspelt_spec(node: &Node, kind: Kind) -> Option<&Key> {
    let is_settings = matches!(kind, Kind::Settings | Kind::Certificates | Kind::Secret);
    if is_settings || node.get("spec").is_some() {
        return None;
    }
    unknown_field(node)
}

fn unknown_field(node: &Node) -> Option<&Key> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries.iter().map(|entry| &entry.key).find(|key| !OBJECT_FIELDS.contains(&key.text.as_str()))
}

/// Returns whether a document of Argo CD has a field that no such object has, or one below that is similar to a known one.
fn has_misspelt_field(node: &Node, kind: Kind) -> bool {
    let is_unknown = unknown_field(node).is_some();
    match kind {
        Kind::AppProject => is_unknown,
        Kind::Application => is_unknown || has_unknown_field(&APPLICATION, node),
        Kind::ApplicationSet => is_unknown || has_unknown_field(&APPLICATION_SET, node),
        Kind::Settings | Kind::Certificates | Kind::Secret => false,
    }
}

fn has_unknown_field(object: &'static GoStruct, node: &Node) -> bool {
    decode_fields(object, node)
        .is_ok_and(|decoded| decoded.unknown.iter().any(|field| field.suggestion.is_some()))
}

fn is_template(value: &Node) -> bool {
    value.as_str().is_some_and(|text| text.contains("{{"))
}

fn has_base64_data(node: &Node) -> bool {
    let Some(Data::Mapping(entries)) = node.get("data").map(|data| &data.data) else { return true };
    entries.iter().filter_map(|entry| entry.value.as_str()).all(|text| decode_base64(text).is_some())
}

/// Returns whether a source of an Application has a repository. One of the wrong type counts, so that decoding reports the mistake.
fn has_repository(node: &Node) -> bool {
    let Some(spec) = node.get("spec") else { return false };
    let Data::Mapping(entries) = &spec.data else { return !spec.is_null() };
    entries.iter().filter(|entry| !entry.value.is_null()).any(|entry| {
        let names_url = |source: &Node| match &source.data {
            Data::Mapping(fields) => {
                fields.iter().any(|field| tiphys_yaml::names_equal(&field.key.text, "repoURL"))
            }
            Data::Null => false,
            _ => true,
        };
        let key = &entry.key.text;
        if tiphys_yaml::names_equal(key, "source") {
            names_url(&entry.value)
        } else if tiphys_yaml::names_equal(key, "sources") {
            match &entry.value.data {
                Data::Sequence(items) => items.iter().any(names_url),
                _ => true,
            }
        } else {
            tiphys_yaml::names_equal(key, "sourceHydrator")
        }
    })
}
