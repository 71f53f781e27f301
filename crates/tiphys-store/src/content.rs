//! Reading one file: the documents that belong to the store, and the errors in the others.

use std::sync::Arc;

use tiphys_model::resources::{
    AppProject, Application, ArgoCdSecret, ArgoCdSettings, Metadata, ObjectRef, ResourceError,
    TlsCertificates,
};
use tiphys_yaml::{Node, read_documents};

use crate::document::{
    CERTIFICATES_NAME, GROUP_WORD, Kind, SETTINGS_NAME, kind_of, mistake, objects, partial,
};
use crate::files::FileVersion;
use crate::place::{FileName, Place};
use crate::resources::{
    Broken, BrokenReason, SkipReason, Skipped, StoredApplication, StoredCertificates, StoredProject,
    StoredSecret, StoredSet, StoredSettings,
};

/// Byte strings of which every relevant file contains one: the API group, also in the label of Secrets and misspelt, or the name of a
/// `ConfigMap`.
const MARKERS: [&[u8]; 3] = [GROUP_WORD.as_bytes(), SETTINGS_NAME.as_bytes(), CERTIFICATES_NAME.as_bytes()];

/// The documents that one file adds to a store.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) applications: Vec<Arc<StoredApplication>>,
    pub(crate) projects: Vec<StoredProject>,
    pub(crate) sets: Vec<StoredSet>,
    pub(crate) settings: Vec<StoredSettings>,
    pub(crate) certificates: Vec<StoredCertificates>,
    pub(crate) secrets: Vec<StoredSecret>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) broken: Vec<Broken>,
    /// Whether the file was parsed.
    pub(crate) is_parsed: bool,
}

/// Reads a file. It is not parsed if it contains none of the markers.
pub(crate) fn read(file: &FileName, text: &[u8]) -> Content {
    let mut content = Content::default();
    if !MARKERS.iter().any(|marker| memchr::memmem::find(text, marker).is_some()) {
        return content;
    }
    content.is_parsed = true;
    let place = |position| Place { file: file.clone(), position };
    let documents = match read_documents(text) {
        Ok(documents) => documents,
        Err(error) => {
            let at = place(error.position);
            if has_actions(text) && !is_set(text) {
                content.skipped.push(Skipped { place: at, object: None, reason: SkipReason::Template });
            } else if memchr::memmem::find(text, MARKERS[0]).is_some() {
                content.broken.push(Broken { place: at, object: None, reason: BrokenReason::Syntax(error) });
            } else {
                content.skipped.push(Skipped { place: at, object: None, reason: SkipReason::Syntax(error) });
            }
            return content;
        }
    };
    let version = file.path().map(|_| FileVersion::of(text));
    let mut nodes = Vec::new();
    for document in documents {
        objects(document, &mut nodes);
    }
    for node in nodes {
        let Some(kind) = kind_of(&node) else { continue };
        let place = place(Some(node.position));
        let Some(why) = partial(&node, kind) else {
            content.add(kind, node, place, version);
            continue;
        };
        let object = ObjectRef::of(&node);
        match mistake(&node, kind) {
            Some(error) => {
                let error = ResourceError { object: object.clone(), source: Box::new(error) };
                content.add_broken(place, object, BrokenReason::Resource(error));
            }
            None => content.skipped.push(Skipped {
                place,
                object: Some(object),
                reason: SkipReason::Partial(why),
            }),
        }
    }
    content
}

/// Returns whether the content of a file may have actions of a template.
pub(crate) fn has_actions(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"{{").is_some()
}

/// Returns whether a file that cannot be parsed is an `ApplicationSet`, and no template of a chart: these have lines that begin with `{{`.
fn is_set(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.clone().any(|line| line == b"kind: ApplicationSet") && !lines.any(|line| line.starts_with(b"{{"))
}

/// Returns the objects of a kind with this name; none if the file cannot be parsed.
pub(crate) fn named_objects(file: &FileName, text: &[u8], kind: &str, name: &str) -> Vec<(Node, Place)> {
    if [kind, name].iter().any(|part| memchr::memmem::find(text, part.as_bytes()).is_none()) {
        return Vec::new();
    }
    let mut nodes = Vec::new();
    for document in read_documents(text).unwrap_or_default() {
        objects(document, &mut nodes);
    }
    let is_named = |node: &Node| {
        node.get("kind").and_then(Node::as_str) == Some(kind)
            && node.at(["metadata", "name"]).and_then(Node::as_str) == Some(name)
    };
    let place = |node: &Node| Place { file: file.clone(), position: Some(node.position) };
    nodes
        .into_iter()
        .filter(is_named)
        .map(|node| {
            let place = place(&node);
            (node, place)
        })
        .collect()
}

impl Content {
    fn add(&mut self, kind: Kind, node: Node, place: Place, version: Option<FileVersion>) {
        let object = ObjectRef::of(&node);
        let result = self.decode(kind, node, &place, version);
        if let Err(reason) = result {
            self.add_broken(place, object, reason);
        }
    }

    fn add_broken(&mut self, place: Place, object: ObjectRef, reason: BrokenReason) {
        // The position of the error is more precise than that of the document.
        let position = reason.position().or(place.position);
        self.broken.push(Broken { place: Place { position, ..place }, object: Some(object), reason });
    }

    fn decode(
        &mut self,
        kind: Kind,
        node: Node,
        place: &Place,
        version: Option<FileVersion>,
    ) -> Result<(), BrokenReason> {
        match kind {
            Kind::Application => Application::decode(&node).map_err(BrokenReason::Resource).map(|decoded| {
                let stored = StoredApplication {
                    application: decoded.value,
                    findings: decoded.findings,
                    place: place.clone(),
                    node,
                    generated_by: None,
                    version,
                    link_target: None,
                };
                self.applications.push(Arc::new(stored));
            }),
            Kind::AppProject => AppProject::decode(&node)
                .map_err(BrokenReason::Resource)
                .map(|project| self.projects.push(StoredProject { project, place: place.clone() })),
            Kind::ApplicationSet => Metadata::of(&node)
                .map_err(BrokenReason::Resource)
                .map(|metadata| self.sets.push(StoredSet { metadata, node, place: place.clone() })),
            Kind::Settings => ArgoCdSettings::decode(&node.deduplicated())
                .map_err(BrokenReason::Field)
                .map(|settings| self.settings.push(StoredSettings { settings, place: place.clone() })),
            Kind::Certificates => TlsCertificates::decode(&node.deduplicated())
                .map_err(BrokenReason::Field)
                .map(|certificates| {
                    self.certificates.push(StoredCertificates { certificates, place: place.clone() });
                }),
            Kind::Secret => ArgoCdSecret::decode(&node.deduplicated())
                .map_err(BrokenReason::from)
                .map(|secret| self.secrets.push(StoredSecret { secret, place: place.clone() })),
        }
    }
}
