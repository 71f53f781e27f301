//! The documents of generated Applications, with the positions of the template.

use serde_json::Value;
use tiphys_yaml::{Data, Entry, Key, Node, Position, Step, read_document};

use super::ApplicationSet;
use crate::resources::fields::{FieldPath, locate};

impl ApplicationSet {
    /// Returns the document of an Application in canonical form. Its fields have the positions of those of the set's template, or of the
    /// template of the generator (`spec.generators[0].list`) where that sets them. What the rendered patch sets has the position of
    /// `templatePatch`.
    pub fn application_document(&self, generator: &str, application: &Value, patch: Option<&str>) -> Node {
        let spec = FieldPath::default().key("spec");
        let patched = patch.and_then(|text| read_document(text.as_bytes()).ok()?);
        let patched = patched.zip(locate(&self.document, &spec.key("templatePatch").0));
        let patched = patched.map(|(patch, field)| located(&patch.to_value(), &[], field.position));
        let generators = self.generators.iter().flat_map(|entry| &entry.generators);
        let own = generators
            .filter(|one| one.template.is_some())
            .find(|one| one.path.to_string() == generator)
            .and_then(|one| locate(&self.document, &one.path.key("template").0));
        let template = locate(&self.document, &spec.key("template").0);
        let templates: Vec<&Node> = patched.iter().chain(own).chain(template).collect();
        let mut document = located(application, &templates, self.document.position);
        if let Data::Mapping(entries) = &mut document.data {
            let constants = [("apiVersion", "argoproj.io/v1alpha1"), ("kind", "Application")];
            let constants = constants.map(|(key, value)| {
                entry(key, Node { position: document.position, data: Data::String(value.to_owned()) })
            });
            entries.splice(..0, constants);
        }
        document
    }
}

/// Converts a value. Its position is that of the first template that has it, else that of its parent.
fn located(value: &Value, templates: &[&Node], parent: Position) -> Node {
    let position = templates.first().map_or(parent, |node| node.position);
    let child = |step: &Step, value: &Value| {
        let is_set = |node: &&Node| !node.is_null() && node.as_str() != Some("");
        let below = templates.iter().filter_map(|node| locate(node, std::slice::from_ref(step)));
        located(value, &below.filter(is_set).collect::<Vec<_>>(), position)
    };
    let data = match value {
        Value::Array(items) => Data::Sequence(
            items.iter().enumerate().map(|(index, item)| child(&Step::Index(index), item)).collect(),
        ),
        Value::Object(fields) => Data::Mapping(
            fields.iter().map(|(key, value)| entry(key, child(&Step::Key(key.clone()), value))).collect(),
        ),
        scalar => Node::from(scalar).data,
    };
    Node { position, data }
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: Key { text: key.to_owned(), position: value.position }, value }
}
