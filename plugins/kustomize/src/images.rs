//! Image references, and the entries of a kustomization's list of images.

use serde_json::Value;

/// An image reference in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image<'a> {
    /// The name, with its registry.
    pub(crate) name: &'a str,
    /// `:tag` and `@digest`; empty if there are none.
    version: &'a str,
}

impl<'a> Image<'a> {
    /// Splits a reference. A colon before the last `/` belongs to the registry.
    pub(crate) fn parse(reference: &'a str) -> Self {
        let named = reference.split('@').next().unwrap_or_default();
        let base = named.rfind('/').map_or(0, |slash| slash + 1);
        let end =
            named.get(base..).and_then(|base| base.rfind(':')).map_or(named.len(), |colon| base + colon);
        let (name, version) = reference.split_at(end);
        Self { name, version }
    }
}

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
