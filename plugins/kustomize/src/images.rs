//! The entries of a kustomization's list of images.

use serde_json::Value;
use tiphys_model::params::Image;

/// Returns a reference after one entry of the list of images, as kustomize changes it.
pub(crate) fn changed(reference: &str, entry: &Value) -> String {
    let image = Image::parse(reference);
    let field = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if field("name").is_none_or(|name| name != image.name && name != reference) {
        return reference.to_owned();
    }
    let name = field("newName").unwrap_or(image.name);
    match (field("newTag"), field("digest")) {
        (None, None) => format!("{name}{}", image.version),
        (tag, digest) => {
            let tag = tag.map(|tag| format!(":{tag}")).unwrap_or_default();
            let digest = digest.map(|digest| format!("@{digest}")).unwrap_or_default();
            format!("{name}{tag}{digest}")
        }
    }
}

#[cfg(test)]
mod tests;
