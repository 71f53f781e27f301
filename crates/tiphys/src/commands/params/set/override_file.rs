//! Writing into `.argocd-source-<app>.yaml` of the application's folder, for Applications that have no file of their own.

use std::path::Path;

use tiphys_api::ApplicationSource;
use tiphys_engine::{OverrideFile, SourceType, override_file_names, override_source, patch_changes};
use tiphys_store::FileEdit;
use tiphys_yaml::{Target, read_document};

use super::{Planned, not_edited};
use crate::commands::params::change::{self, Subject, Wanted};
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// What an override file that is not there yet begins with.
const NEW_FILE: &str =
    "# Changes the source of this folder's application; see Argo CD's documentation on source overrides.\n";

/// What is to be written into the override file.
pub(super) fn plan(subject: &Subject, wanted: &Wanted, host: &Host) -> Result<Planned, Failure> {
    let Some(announced) = &subject.announced else {
        return Err(Failure::bad_input(
            "--write-to override needs to know the source as it is in effect; leave --allow-unannounced out",
        ));
    };
    let name = subject.stored.full_name();
    let Some(folder) = announced.working_copy.as_ref().map(|copy| copy.join(announced.app_path.as_str()))
    else {
        return Err(Failure::bad_input(format!(
            "application {name}: no folder stands for {} at the revision that it names",
            tiphys_source::mask_url(&subject.source().repo_url)
        ))
        .hint("name the repository's folder with --repo [URL=]DIR"));
    };
    let names =
        override_file_names(&announced.instance_name).map_err(|error| Failure::bad_input_from(&error))?;
    let Some(file_name) = names.last() else {
        return Err(Failure::bug("an application without an override file"));
    };
    // As a person here would call it.
    let folder = folder.strip_prefix(host.absolute("")).map(Path::to_path_buf).unwrap_or(folder);
    let file = folder.join(file_name);

    let mut change = subject.change(wanted, &announced.source, host)?;
    // A list that is not there would leave that of the Application in effect.
    if let Some(block) = &mut change.after.plugin
        && subject.source_type == SourceType::Plugin
    {
        block.parameters.get_or_insert_default();
    }
    let before = read(&file)?;
    let document = source_of(&file, before.as_deref())?;
    let changes = patch_changes(subject.source(), &document, &change.before, &change.after);
    if changes.is_empty() || change.applied.changes.iter().all(|change| change.before == change.after) {
        return Ok(Planned { change, edit: None, warnings: Vec::new() });
    }
    let edit = if before.is_some() {
        FileEdit::of(&file, Target::FirstDocument, &changes).map_err(|error| not_edited(&error))?
    } else {
        let text = tiphys_yaml::edit(NEW_FILE.as_bytes(), Target::FirstDocument, &changes);
        let text =
            text.map_err(|error| Failure::bad_input(format!("{}: {}", file.display(), chain(&error))))?;
        FileEdit::create(&file, text)
    };
    agree(subject, &folder, &names, edit.after(), &change)?;
    Ok(Planned { change, edit: Some(edit), warnings: Vec::new() })
}

/// What an override file says of a source now.
fn source_of(file: &Path, text: Option<&[u8]>) -> Result<ApplicationSource, Failure> {
    let shown = file.display();
    let node = match text {
        None => None,
        Some(text) => read_document(text).map_err(|error| Failure::bad_input(format!("{shown}: {error}")))?,
    };
    match node {
        None => Ok(ApplicationSource::default()),
        Some(node) => ApplicationSource::decode(&node.deduplicated(), "")
            .map(|decoded| decoded.value)
            .map_err(|error| Failure::bad_input(format!("{shown}: {}", chain(&error)))),
    }
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match std::fs::read(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::bad_input(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Refuses what Argo CD would merge into something else: it decodes the patched source on top of the old one, so that lists' items
/// inherit what stood at their place, and keys of maps never go.
fn agree(
    subject: &Subject,
    folder: &Path,
    names: &[String],
    text: &[u8],
    change: &change::Change,
) -> Result<(), Failure> {
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    if let [general, _] = names
        && let Some(general_text) = read(&folder.join(general))?
    {
        files.push((general, general_text));
    }
    let own = names.last().map(String::as_str).unwrap_or_default();
    files.push((own, text.to_vec()));
    let files: Vec<OverrideFile<'_>> = files.iter().map(|(name, text)| OverrideFile { name, text }).collect();
    let merged =
        override_source(subject.source(), &files).map_err(|error| Failure::bad_input_from(&error))?;
    let same =
        merged.source.plugin == change.after.plugin && merged.source.kustomize == change.after.kustomize;
    if same && merged.differs_in.is_empty() {
        return Ok(());
    }
    let why = if same {
        "Argo CD would make something else of the file: it never takes away keys of maps, and gives items of lists what stood at their \
         place before"
    } else {
        "another part of the file, or a key in another letter case, would hide it"
    };
    Err(Failure::bad_input(format!(
        "{}: the change cannot be written there: {why}",
        folder.join(own).display()
    ))
    .hint("change the Application itself, or what makes it"))
}
