//! JSON pointers of fields that are not compared.

use serde_json::Value;
use tiphys_yaml::{JsonPointer, Object, read_document};

/// The annotation of an object with the fields in which its live state may differ: YAML with `jsonPointers`.
const IGNORE_DIFFERENCES_ANNOTATION: &str = "argocd.argoproj.io/ignore-differences";

/// Parses a pointer as Argo CD's library for JSON patches does: what comes before the first slash does not count.
pub(crate) fn patch_pointer(text: &str) -> Option<JsonPointer> {
    JsonPointer::parse(&text[text.find('/')?..])
}

/// Returns the pointers in the annotation of a rendered object's metadata. As in Argo CD, there are none if it is invalid.
pub(crate) fn annotated_pointers(metadata: &Value) -> Vec<JsonPointer> {
    let read = || {
        let text = metadata["annotations"][IGNORE_DIFFERENCES_ANNOTATION].as_str()?;
        let document = read_document(text.as_bytes()).ok()??;
        Object::new(&document, "").ok()?.texts("jsonPointers").ok()?
    };
    read().unwrap_or_default().iter().filter_map(|text| patch_pointer(text)).collect()
}

#[cfg(test)]
mod tests;
