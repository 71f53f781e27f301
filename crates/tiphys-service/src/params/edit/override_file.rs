//! Changes of `.argocd-source-<app>.yaml` in the application's directory, for Applications without a file of their own.

use std::path::{Path, PathBuf};

use tiphys_engine::{OverrideFile, SourceType, override_file_names, override_source, patch_changes};
use tiphys_model::params::ParameterChange;
use tiphys_model::resources::ApplicationSource;
use tiphys_render::{AnnouncedSource, MergedFile};
use tiphys_store::{FileEdit, FileVersion};
use tiphys_tree::first_link;
use tiphys_yaml::{Change, Step, Target, read_document};

use super::{EditOptions, Plan, edit_error};
use crate::context::host::Host;
use crate::error::{Remedy, ServiceError};
use crate::params::change::{Below, ParameterRequest, ParameterSource, SourceChange, ValuePlace};

/// The beginning of a new override file.
const NEW_FILE: &str =
    "# Changes the source of this folder's application; see Argo CD's documentation on source overrides.\n";

/// Plans a change of the override file.
pub(super) fn plan(
    subject: &ParameterSource,
    request: &ParameterRequest,
    options: &EditOptions,
    host: &Host,
) -> Result<Plan, ServiceError> {
    let Some(announced) = &subject.announced else {
        return Err(ServiceError::invalid_input(
            "an override file can be changed only if the source is known as it is in effect",
        )
        .with_remedy(Remedy::AskPlugin));
    };
    let name = subject.stored.full_name();
    let Some(copy) = &announced.working_copy else {
        return Err(ServiceError::invalid_input(format!(
            "application {name}: there is no local folder of {} at its revision",
            subject.source().shown_repository()
        ))
        .with_remedy(Remedy::AddRepository));
    };
    let names = override_file_names(&announced.instance_name).map_err(ServiceError::invalid_input_from)?;
    let Some(file_name) = names.last() else {
        return Err(ServiceError::bug("an application without an override file"));
    };
    let path = announced.app_path.join(file_name).map_err(ServiceError::invalid_input_from)?;
    let file = relative(path.below(copy), host);
    if let Some(link) = first_link(copy, &path) {
        return Err(linked(&file, &relative(link.below(copy), host)));
    }

    let own = merged(announced, file_name);
    let below = below(subject, announced, &names)?;
    let values = own.map(|_| Below::of(&below, subject.source_type, subject.plugin()));
    let mut change =
        subject.change(request, &announced.source, values.as_ref(), ValuePlace::Parameters, host)?;
    // Without a list, that of the Application would stay effective.
    if let Some(block) = &mut change.after.plugin
        && subject.source_type == SourceType::Plugin
        && change.before.plugin.as_ref().is_some_and(|block| block.parameters.is_some())
    {
        block.parameters.get_or_insert_default();
    }
    let merged = own;
    if merged.is_none()
        && let Ok(found) = file.symlink_metadata()
    {
        let why = if found.is_dir() { "it is a directory" } else { "git ignores it, or it was just created" };
        return Err(ServiceError::invalid_input(format!(
            "{} exists, but is not used for rendering: {why}; nothing was written",
            file.display()
        )));
    }
    if let Some(wanted) = &options.if_version {
        require_version(&file, merged, wanted)?;
    }
    let document = decode_source(&file, merged.map(|merged| merged.text.as_slice()))?;
    let changes = if is_equal(&change.after, &below) && change.before != change.after {
        empty_patch(&document)
    } else {
        patch_changes(subject.source(), &document, &change.before, &change.after)
    };
    if changes.is_empty() || is_without_effect(&change) {
        return Ok(Plan { change, edit: None });
    }
    let edit = if let Some(merged) = merged {
        let edit = FileEdit::of(&file, Target::FirstDocument, &changes).map_err(edit_error)?;
        // The change is based on the text that the plugin was asked with.
        if edit.before() != Some(merged.text.as_slice()) {
            return Err(ServiceError::conflict(format!(
                "{} was changed after it was read; nothing was written, try again",
                file.display()
            )));
        }
        edit
    } else {
        let text = tiphys_yaml::edit(NEW_FILE.as_bytes(), Target::FirstDocument, &changes);
        let text =
            text.map_err(|error| ServiceError::invalid_input(file.display().to_string()).because(error))?;
        FileEdit::create(&file, text)
    };
    check_merge(subject, announced, &file, &names, edit.after(), &change)?;
    Ok(Plan { change, edit: Some(edit) })
}

/// Returns a path relative to the current directory where possible.
fn relative(path: PathBuf, host: &Host) -> PathBuf {
    path.strip_prefix(host.absolute("")).map(Path::to_path_buf).unwrap_or(path)
}

/// Returns the error for a file that a link of the repository would lead elsewhere.
fn linked(file: &Path, link: &Path) -> ServiceError {
    let (shown, place) = (file.display(), link.display());
    let message = if link == file {
        format!("{shown}: it is a symbolic link; nothing was written")
    } else {
        format!("{shown}: {place} is a symbolic link; nothing was written")
    };
    ServiceError::invalid_input(message)
        .with_hint("change the file that it leads to, or replace the link by a file or folder of its own")
}

/// Returns the source without the own override file of the application.
fn below(
    subject: &ParameterSource,
    announced: &AnnouncedSource,
    names: &[String],
) -> Result<ApplicationSource, ServiceError> {
    let general = general_file(announced, names);
    let files: Vec<OverrideFile<'_>> =
        general.iter().map(|(name, text)| OverrideFile { name, text }).collect();
    let overridden = override_source(subject.source(), &files);
    overridden.map(|merged| merged.source).map_err(ServiceError::invalid_input_from)
}

/// Returns the name and the text of the file for all applications of the directory.
fn general_file<'a>(announced: &'a AnnouncedSource, names: &'a [String]) -> Option<(&'a str, &'a [u8])> {
    let [general, _] = names else { return None };
    Some((general, &merged(announced, general)?.text))
}

/// Returns whether two sources have equal blocks. An empty block equals none.
fn is_equal(one: &ApplicationSource, other: &ApplicationSource) -> bool {
    let plugin = |source: &ApplicationSource| {
        let block = source.plugin.clone().unwrap_or_default();
        let parameters = block.parameters.filter(|list| !list.is_empty());
        tiphys_model::resources::PluginSource { parameters, ..block }
    };
    let kustomize = |source: &ApplicationSource| source.kustomize.clone().unwrap_or_default();
    let helm = |source: &ApplicationSource| source.helm.clone().unwrap_or_default();
    plugin(one) == plugin(other) && kustomize(one) == kustomize(other) && helm(one) == helm(other)
}

/// Returns the changes of an override file after which it sets no parameters.
fn empty_patch(document: &ApplicationSource) -> Vec<Change> {
    let blocks = [
        ("plugin", document.plugin.is_some()),
        ("kustomize", document.kustomize.is_some()),
        ("helm", document.helm.is_some()),
    ];
    let set = blocks.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(block, _)| Change::Remove { path: vec![Step::Key(block.to_owned())] }).collect()
}

/// Returns whether the change has no effect: an empty list instead of none.
fn is_without_effect(change: &SourceChange) -> bool {
    let list = |source: &ApplicationSource| {
        source.plugin.as_ref().and_then(|block| block.parameters.clone()).unwrap_or_default()
    };
    let is_seen = |change: &ParameterChange| change.before != change.after;
    !change.changes.iter().any(is_seen)
        && change.before.helm == change.after.helm
        && list(&change.before) == list(&change.after)
        && change.before.dynamic_parameters() == change.after.dynamic_parameters()
}

/// Returns the override file of this name as it was merged.
fn merged<'a>(announced: &'a AnnouncedSource, name: &str) -> Option<&'a MergedFile> {
    announced.override_files.iter().find(|merged| merged.path.rsplit('/').next() == Some(name))
}

/// Refuses a file of another version than the expected one.
fn require_version(file: &Path, merged: Option<&MergedFile>, wanted: &str) -> Result<(), ServiceError> {
    let file = file.display();
    match merged.map(|merged| FileVersion::of(&merged.text).to_string()) {
        Some(version) if version == wanted => Ok(()),
        Some(version) => Err(ServiceError::conflict(format!(
            "{file} is of version {version}, not {wanted}: it was changed; look at it again and repeat"
        ))),
        None => Err(ServiceError::conflict(format!("{file} does not exist, so it has no version {wanted}"))),
    }
}

/// Decodes the source of an override file.
fn decode_source(file: &Path, text: Option<&[u8]>) -> Result<ApplicationSource, ServiceError> {
    let shown = file.display();
    let node = match text {
        None => None,
        Some(text) => {
            read_document(text).map_err(|error| ServiceError::invalid_input(format!("{shown}: {error}")))?
        }
    };
    match node {
        None => Ok(ApplicationSource::default()),
        Some(node) => ApplicationSource::decode(&node.deduplicated(), "")
            .map(|decoded| decoded.value)
            .map_err(|error| ServiceError::invalid_input(shown.to_string()).because(error)),
    }
}

/// Refuses a file that Argo CD would merge differently. It decodes the patched source on top of the old one, so that items of lists inherit
/// fields of the previous item at their index, and keys of maps are never removed.
fn check_merge(
    subject: &ParameterSource,
    announced: &AnnouncedSource,
    file: &Path,
    names: &[String],
    text: &[u8],
    change: &SourceChange,
) -> Result<(), ServiceError> {
    let mut files: Vec<(&str, &[u8])> = general_file(announced, names).into_iter().collect();
    files.push((names.last().map(String::as_str).unwrap_or_default(), text));
    let files: Vec<OverrideFile<'_>> = files.iter().map(|(name, text)| OverrideFile { name, text }).collect();
    let merged = override_source(subject.source(), &files).map_err(ServiceError::invalid_input_from)?;
    let same = merged.source.plugin == change.after.plugin
        && merged.source.kustomize == change.after.kustomize
        && merged.source.helm.clone().unwrap_or_default() == change.after.helm.clone().unwrap_or_default();
    if same && merged.differs_in.is_empty() {
        return Ok(());
    }
    let why = if same {
        "Argo CD would make something else of the file: it never takes away keys of maps, and gives items of lists what stood at their \
         place before"
    } else {
        "another part of the file, or a key in another letter case, would hide it"
    };
    Err(ServiceError::invalid_input(format!("{}: the change cannot be written there: {why}", file.display()))
        .with_hint("change the Application itself, or what makes it"))
}
