//! The project file `.tiphys.yaml`: values for options that a checkout brings along.
//!
//! Some of them decide what runs, what is contacted or what is permitted. They take effect only with the caller's consent, which depends on
//! the content of the file; the table is in SECURITY.md.

mod consent;
mod find;
mod migrate;
mod parse;
mod paths;
mod schema;

use std::path::{Path, PathBuf};

use tiphys_process::quote_argument;
use tiphys_source::{WorkTreePath, redact_url};
use tiphys_yaml::Position;

use crate::context::host::Host;
use crate::context::options::{ConsentRule, Setting};
use crate::error::{Input, Remedy, ServiceError};
use crate::text::listed;

use consent::Consents;
use find::FoundFile;

pub use find::ProjectFileChoice;
pub(crate) use find::{checkout_of, current_checkout, nearest, read_project_file};
pub use migrate::{Migration, migrate as migrate_project_file};
pub(crate) use paths::leads_out;
pub use schema::project_file_schema;

/// Name of the project file.
pub const PROJECT_FILE: &str = ".tiphys.yaml";

/// A project file with the values of its keys.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    shown: String,
    /// The path without links. Consent is given to it and the content.
    path: PathBuf,
    content: Vec<u8>,
    values: Vec<ProjectValue>,
    consent: Consent,
    /// The remedy for missing consent.
    remedy: Remedy,
}

/// The values of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectValue {
    /// The setting of the key.
    pub setting: &'static Setting,
    /// Line of the key, from 1.
    pub line: usize,
    /// The values, as those of the option. Their paths are relative to the current directory, or absolute.
    pub values: Vec<String>,
    /// Why the values take effect only with consent. `None` if they do not need it.
    need: Option<Need>,
    /// The paths of the values, absolute, with their positions.
    paths: Vec<(PathBuf, Position)>,
}

/// Why a value needs consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Key,
    /// A path leads out of the checkout.
    LeadsOut,
}

/// Whether the caller consents.
#[derive(Clone, Debug)]
enum Consent {
    /// The caller named the file.
    Named,
    /// The consents of the user, if they count.
    Remembered(Option<Consents>),
}

impl ProjectFile {
    /// Finds and reads the project file.
    pub fn find(choice: &ProjectFileChoice, host: &Host) -> Result<Option<Self>, ServiceError> {
        let found = match choice {
            ProjectFileChoice::None => None,
            ProjectFileChoice::Search => find::search(host)?,
            ProjectFileChoice::Named(file) => Some(find::named(file, host)?),
            ProjectFileChoice::Base => {
                let message = "nothing is compared with a revision, so there is no project file of a base";
                return Err(ServiceError::invalid_input(message)
                    .of_input(Input::ProjectFile)
                    .with_remedy(Remedy::NameBase));
            }
        };
        let is_named = matches!(choice, ProjectFileChoice::Named(_));
        found.map(|found| Self::read(found, None, is_named, host)).transpose()
    }

    /// Reads a file. `shown` is its name in messages, if that is not its path.
    fn read(
        found: FoundFile,
        shown: Option<String>,
        is_named: bool,
        host: &Host,
    ) -> Result<Self, ServiceError> {
        let FoundFile { path, real, top, content } = found;
        let dir = paths::relative(path.parent().unwrap_or(&path), &host.current_dir);
        let at_revision = shown.is_some();
        let own_name = || dir.join(path.file_name().unwrap_or_default()).display().to_string();
        let shown = shown.unwrap_or_else(own_name);
        let consents = Consents::of(host);
        let brings_consent = |consents: &Consents| top.as_ref().is_some_and(|top| consents.are_in(top));
        let consent = if is_named {
            Consent::Named
        } else {
            Consent::Remembered(consents.filter(|consents| !brings_consent(consents)))
        };
        // The file of another revision may have keys of an earlier version, which the change renames.
        let present = at_revision.then(|| migrate::with_present_keys(&content).ok()).flatten();
        let present = present.map_or_else(|| content.clone(), |(present, _)| present);
        let values = values(&shown, &present, &dir, top.as_deref(), host)?;
        Ok(Self { shown, path: real, content, values, consent, remedy: Remedy::AllowProjectFile })
    }

    /// Reads the content of a project file at another revision, which `label` names. The settings of a comparison's base need no trust, and the
    /// paths need not exist now.
    pub(crate) fn at_revision(
        place: &WorkTreePath,
        content: Vec<u8>,
        label: &str,
        is_named: bool,
        host: &Host,
    ) -> Result<Self, ServiceError> {
        let path = place.path.below(&place.top);
        let found = FoundFile { real: path.clone(), path, top: Some(place.top.clone()), content };
        let file = Self::read(found, Some(format!("{label}:{}", place.path)), is_named, host)?;
        let values = file.values.into_iter().filter(|value| value.setting.consent != ConsentRule::Content);
        let values = values.map(|value| ProjectValue { paths: Vec::new(), ..value }).collect();
        // `config allow` is about the file of the checkout.
        Ok(Self { values, remedy: Remedy::TrustBaseProjectFile, ..file })
    }

    /// Returns whether the file at this path is this one and has this content. Its owner does not matter.
    pub(crate) fn is_now(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| real == self.path)
            && read_project_file(path).is_ok_and(|content| content == self.content)
    }

    /// Returns the path of the file for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the keys of the file with their values.
    pub fn values(&self) -> &[ProjectValue] {
        &self.values
    }

    /// Returns whether a value takes effect.
    pub fn takes_effect(&self, value: &ProjectValue) -> bool {
        value.need.is_none() || (self.is_allowed() && self.changed_settings(value).is_empty())
    }

    /// Fails if a value needs consent that is missing, or names a path that does not exist. `is_used` returns whether the value of a setting is
    /// used; an option replaces it otherwise.
    pub fn require_usable(&self, is_used: impl Fn(&Setting) -> bool) -> Result<(), ServiceError> {
        let used = || self.values.iter().filter(|value| is_used(value.setting));
        if !self.is_allowed() {
            let needing = used().filter_map(|value| {
                let leads_out =
                    if value.need? == Need::LeadsOut { ", which leads out of the checkout" } else { "" };
                Some(format!("{} (line {}{leads_out})", value.setting.key, value.line))
            });
            let needing: Vec<String> = needing.collect();
            if !needing.is_empty() {
                let message =
                    format!("{}: not used without your consent: {}", self.shown, needing.join(", "));
                return Err(ServiceError::invalid_input(message).with_remedy(self.remedy.clone()));
            }
        }
        for value in used() {
            let missing = value.paths.iter().find(|(path, _)| !path.exists());
            if let Some((path, position)) = missing {
                let (key, path) = (value.setting.key, path.display());
                let message = format!("{}:{position}: {key}: {path} does not exist", self.shown);
                return Err(ServiceError::invalid_input(message));
            }
            let changed = self.changed_settings(value);
            if !changed.is_empty() {
                let (key, line) = (value.setting.key, value.line);
                let message = format!(
                    "{}:{line}: {key}: not used without your consent to the content of {}",
                    self.shown,
                    listed(&changed)
                );
                return Err(ServiceError::invalid_input(message).with_remedy(self.remedy.clone()));
            }
        }
        Ok(())
    }

    /// Remembers the caller's consent to the content of the file, and of the files whose settings it trusts. Returns their paths.
    pub fn allow(&self, host: &Host) -> Result<Vec<String>, ServiceError> {
        let consents = self.consents(host)?;
        let failed = |path: &Path, error: std::io::Error| {
            ServiceError::invalid_input(format!("cannot allow {}: {error}", path.display()))
        };
        let mut allowed = vec![(self.shown.clone(), self.path.clone(), self.content.clone())];
        for path in self.settings_files() {
            let shown = paths::relative(path, &host.current_dir).display().to_string();
            let real = path.canonicalize().map_err(|error| failed(path, error))?;
            let content = find::read(&real).map_err(|error| failed(path, error))?;
            let content = content.ok_or_else(|| {
                ServiceError::invalid_input(format!("cannot allow {shown}: {}", find::too_large()))
            })?;
            allowed.push((shown, real, content));
        }
        for (_, path, content) in &allowed {
            consents.add(path, content).map_err(|error| failed(path, error))?;
            if !consents.contain(path, content) {
                return Err(ServiceError::invalid_input(format!(
                    "cannot allow {}: others may write to {}; run: chmod go-w {}",
                    path.display(),
                    consents.dir().display(),
                    quote_argument(&consents.dir().display().to_string())
                )));
            }
        }
        Ok(allowed.into_iter().map(|(shown, ..)| shown).collect())
    }

    /// Forgets the caller's consent to the file, whatever its content. Returns whether there was one.
    pub fn deny(&self, host: &Host) -> Result<bool, ServiceError> {
        self.consents(host)?.remove(&self.path).map_err(|error| {
            ServiceError::invalid_input(format!("cannot withdraw the consent to {}: {error}", self.shown))
        })
    }

    /// Returns the consents of the user.
    fn consents(&self, host: &Host) -> Result<Consents, ServiceError> {
        match &self.consent {
            Consent::Remembered(Some(consents)) => Ok(consents.clone()),
            Consent::Named => Consents::of(host)
                .ok_or_else(|| ServiceError::invalid_input("no configuration folder: HOME is not set")),
            Consent::Remembered(None) => Err(ServiceError::invalid_input(format!(
                "{}: consent cannot be remembered: there is no configuration folder outside of the checkout",
                self.shown
            ))
            .with_remedy(Remedy::NameProjectFile)),
        }
    }

    /// Returns whether the caller named the file, or allowed its content.
    pub fn is_allowed(&self) -> bool {
        match &self.consent {
            Consent::Named => true,
            Consent::Remembered(consents) => {
                consents.as_ref().is_some_and(|consents| consents.contain(&self.path, &self.content))
            }
        }
    }

    /// Returns the files whose settings are to be trusted, and whose content the caller has not allowed.
    fn changed_settings(&self, value: &ProjectValue) -> Vec<String> {
        let Consent::Remembered(consents) = &self.consent else { return Vec::new() };
        if value.setting.consent != ConsentRule::Content {
            return Vec::new();
        }
        let is_allowed = |path: &Path| {
            let (Ok(real), Ok(Some(content))) = (path.canonicalize(), find::read(path)) else { return false };
            consents.as_ref().is_some_and(|consents| consents.contain(&real, &content))
        };
        let changed = value.values.iter().zip(&value.paths).filter(|(_, (path, _))| !is_allowed(path));
        changed.map(|(shown, _)| shown.clone()).collect()
    }

    fn settings_files(&self) -> impl Iterator<Item = &Path> {
        let values = self.values.iter().filter(|value| value.setting.consent == ConsentRule::Content);
        values.flat_map(|value| value.paths.iter().map(|(path, _)| path.as_path()))
    }
}

impl ProjectValue {
    /// Returns the values without passwords in URLs.
    pub fn shown(&self) -> Vec<String> {
        self.values.iter().map(|value| redact_url(value)).collect()
    }

    /// Returns whether the values take effect only with consent.
    pub fn needs_consent(&self) -> bool {
        self.need.is_some()
    }
}

/// Parses a file. Its relative paths become relative to `dir`, its own directory.
fn values(
    shown: &str,
    content: &[u8],
    dir: &Path,
    top: Option<&Path>,
    host: &Host,
) -> Result<Vec<ProjectValue>, ServiceError> {
    let written = parse::parse(content).map_err(|parse::Invalid { position, message }| {
        ServiceError::invalid_input(format!("{shown}:{position}: {message}"))
    })?;
    let value = |parse::WrittenKey { setting, position, values }| {
        let mut paths = Vec::new();
        let of_option = |(value, position): (String, Position)| match setting.split_path(&value) {
            None => value,
            Some((before, path)) => {
                let path = paths::joined(dir, path);
                paths.push((host.absolute(&path), position));
                format!("{before}{}", path.display())
            }
        };
        let values: Vec<String> = values.into_iter().map(of_option).collect();
        let leads_out = |path: &Path| top.is_none_or(|top| paths::leads_out(path, top));
        let need = match paths.iter().any(|(path, _)| leads_out(path)) {
            _ if setting.needs_consent(&values) => Some(Need::Key),
            true => Some(Need::LeadsOut),
            false => None,
        };
        ProjectValue { setting, line: position.line, values, need, paths }
    };
    Ok(written.into_iter().map(value).collect())
}
