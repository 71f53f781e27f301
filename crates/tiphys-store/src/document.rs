//! The role of a document in a store, determined from its kind before it is decoded.

use tiphys_model::resources::{
    APPLICATION, APPLICATION_SET, GROUP, SECRET_TYPE_LABEL, UnknownField, decode_base64, decode_fields,
};
use tiphys_yaml::{Data, DecodeError, Key, Node};

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
    if has_template_name(node) {
        return Some("its name is a template");
    }
    let name = node.at(["metadata", "name"]);
    // A name that is not a string counts as a name, so that decoding reports the mistake.
    if name.is_none_or(|name| name.is_null() || name.as_str() == Some("")) {
        return Some("it has no name");
    }
    if node.get("$patch").is_some() {
        return Some("it is a patch");
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

/// Returns why an incomplete document of Argo CD is not a patch: it has a field that such an object cannot have, or a value of the wrong type.
pub(crate) fn mistake(node: &Node, kind: Kind) -> Option<DecodeError> {
    let fields = match kind {
        Kind::Application => Some(&APPLICATION),
        Kind::ApplicationSet => Some(&APPLICATION_SET),
        Kind::AppProject => None,
        Kind::Settings | Kind::Certificates | Kind::Secret => return None,
    };
    if has_template_name(node) || node.get("$patch").is_some() {
        return None;
    }
    let Data::Mapping(entries) = &node.data else { return None };
    // Unlike Go's decoder, Kubernetes distinguishes upper and lower case. Directives of patches begin with `$`.
    let is_unknown = |key: &&Key| !OBJECT_FIELDS.contains(&key.text.as_str()) && !key.text.starts_with('$');
    if let Some(Key { text, position, .. }) = entries.iter().map(|entry| &entry.key).find(is_unknown) {
        let message = "unknown field; the fields are apiVersion, kind, metadata and spec".to_owned();
        return Some(DecodeError { position: *position, path: text.clone(), message });
    }
    match decode_fields(fields?, node) {
        Ok(decoded) => decoded.unknown.into_iter().find(is_mistake).map(|field| DecodeError {
            position: field.position,
            message: match &field.suggestion {
                Some(known) => format!("unknown field; did you mean {known}?"),
                None => "unknown field".to_owned(),
            },
            path: field.path,
        }),
        Err(error) => Some(error.at),
    }
}

/// Whether an unknown field is a mistake rather than a field of a later Argo CD: it is similar to a known one, or affects the rendering.
fn is_mistake(field: &UnknownField) -> bool {
    let of_source = field.path.strip_prefix("spec.").is_some_and(|path| {
        let field = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        field.is_empty() || field == "source" || field.starts_with("sources[")
    });
    of_source || field.suggestion.is_some()
}

fn has_template_name(node: &Node) -> bool {
    [["metadata", "name"], ["metadata", "namespace"]]
        .into_iter()
        .any(|path| node.at(path).is_some_and(is_template))
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
