//! A setting: what the table of settings has in a row, and what is derived from it.

use std::path::PathBuf;

use tiphys_model::limits::Limit;
use tiphys_model::params::suggest;
use tiphys_model::resources::parse_bool;

use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::error::{Remedy, ServiceError};

/// A setting. The project file, `--config KEY=VALUE`, a variable, and for some an option of their own, give it a value.
#[derive(Debug)]
pub struct Setting {
    /// The key of the project file.
    pub key: &'static str,
    /// The name of its option, without dashes. None: it is set by its key only.
    pub option: Option<&'static str>,
    /// The name of a value in the help.
    pub value_name: &'static str,
    /// The default for users; may be empty.
    pub default: &'static str,
    /// The purpose, in a line of help.
    pub summary: &'static str,
    /// The rest of the description; may be empty.
    pub details: &'static str,
    /// The separator of values in its variable. None: the variable has one value.
    pub(super) separator: Option<char>,
    /// Whether an empty value has a meaning. Otherwise it is an error: as a path it would be the current directory.
    pub(super) accepts_empty: bool,
    pub(crate) kind: SettingKind,
    pub(crate) consent: ConsentRule,
    /// Whether it gives access to the objects of clusters, or of folders that stand for them.
    pub(crate) reads_clusters: bool,
}

/// The values that a setting accepts, and the field of the options that they change.
#[derive(Debug)]
pub(crate) enum SettingKind {
    /// `true` or `false`.
    Switch(fn(&mut ServiceOptions) -> &mut bool),
    /// One of these words, each with its effect.
    Word(&'static [(&'static str, SetWord)]),
    /// A string.
    Value(fn(&mut ServiceOptions) -> &mut Option<String>),
    /// Strings.
    Values(fn(&mut ServiceOptions) -> &mut Vec<String>),
    /// A path.
    Path(fn(&mut ServiceOptions) -> &mut Option<PathBuf>),
    /// Paths.
    Paths(fn(&mut ServiceOptions) -> &mut Vec<PathBuf>),
    /// Strings with a syntax of their own.
    Parsed {
        /// Adds one value.
        add: fn(&mut ServiceOptions, &str, &ValueSource<'_>) -> Result<(), ServiceError>,
        /// Returns the path at the end of a value. None: values have no paths.
        path: Option<fn(&str) -> Option<PathBuf>>,
    },
    /// Values of [limits](tiphys_model::limits), `NAME=VALUE`; in the project file an object.
    Limits,
}

/// Sets the field of a word.
type SetWord = fn(&mut ServiceOptions);

/// Where a value is from.
pub(crate) struct ValueSource<'a> {
    pub(crate) host: &'a Host,
    pub(crate) origin: SettingOrigin,
    /// Whether the caller gave the value, or consented to the file that has it.
    pub(crate) is_of_caller: bool,
}

/// The values of the project file that take effect only with the caller's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsentRule {
    /// All.
    Every,
    /// All. Consent is also to the content of the files that they name.
    Content,
    /// This word. Other words are the default or restrict.
    Word(&'static str),
    /// Paths that lead out of the checkout.
    PathsOut,
    /// None.
    Never,
}

/// Where the values of a setting are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingOrigin {
    /// The project file.
    ProjectFile,
    /// The variable.
    Variable,
    /// The command line.
    #[default]
    Option,
}

/// The parts of a row.
impl Setting {
    /// A setting without an option whose values in the project file all need consent.
    pub(super) const fn new(key: &'static str, kind: SettingKind) -> Self {
        let (summary, details, default) = ("", "", "");
        let (option, separator, value_name, accepts_empty) = (None, None, "VALUE", false);
        let consent = ConsentRule::Every;
        let reads_clusters = false;
        Self {
            key,
            option,
            value_name,
            default,
            summary,
            details,
            separator,
            accepts_empty,
            kind,
            consent,
            reads_clusters,
        }
    }

    pub(super) const fn option(self, option: &'static str) -> Self {
        Self { option: Some(option), ..self }
    }

    pub(super) const fn value(self, value_name: &'static str) -> Self {
        Self { value_name, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn separated_by(self, separator: char) -> Self {
        Self { separator: Some(separator), ..self }
    }

    pub(super) const fn accepts_empty(self) -> Self {
        Self { accepts_empty: true, ..self }
    }

    pub(super) const fn reads_clusters(self) -> Self {
        Self { reads_clusters: true, ..self }
    }

    pub(super) const fn consent(self, consent: ConsentRule) -> Self {
        Self { consent, ..self }
    }

    pub(super) const fn help(self, summary: &'static str, details: &'static str) -> Self {
        Self { summary, details, ..self }
    }
}

impl Setting {
    /// Returns the setting of a key.
    pub fn named(key: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|setting| setting.key == key)
    }

    /// Returns the name of its variable: `TIPHYS_` and the key in upper case.
    pub fn variable(&self) -> String {
        let mut name = "TIPHYS_".to_owned();
        for char in self.key.chars() {
            if char.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(char.to_ascii_uppercase());
        }
        name
    }

    /// Returns what a user writes for it on the command line, without a value.
    pub fn argument(&self) -> String {
        match self.option {
            Some(option) => format!("--{option}"),
            None => format!("--config {}", self.key),
        }
    }

    /// Returns its name in messages about values of an origin.
    pub fn named_by(&self, origin: SettingOrigin) -> String {
        match origin {
            SettingOrigin::Option => self.argument(),
            SettingOrigin::Variable => self.variable(),
            SettingOrigin::ProjectFile => format!("{} of the project file", self.key),
        }
    }

    /// Whether it has several values.
    pub fn is_list(&self) -> bool {
        match self.kind {
            SettingKind::Values(_)
            | SettingKind::Paths(_)
            | SettingKind::Parsed { .. }
            | SettingKind::Limits => true,
            SettingKind::Switch(_) | SettingKind::Word(_) | SettingKind::Value(_) | SettingKind::Path(_) => {
                false
            }
        }
    }

    /// Whether its values are `true` and `false`.
    pub fn is_switch(&self) -> bool {
        matches!(self.kind, SettingKind::Switch(_))
    }

    /// Whether these values give access to the objects of clusters, or of folders that stand for them.
    pub fn gives_clusters(&self, values: &[String]) -> bool {
        let is_on = |value: &String| !self.is_switch() || parse_bool(value) == Some(true);
        self.reads_clusters && values.iter().any(is_on)
    }

    /// Returns the words that it accepts. Empty: other values.
    pub fn words(&self) -> Vec<&'static str> {
        match self.kind {
            SettingKind::Switch(_) => vec!["true", "false"],
            SettingKind::Word(words) => words.iter().map(|(word, _)| *word).collect(),
            _ => Vec::new(),
        }
    }

    /// Describes which values of the project file need the caller's consent.
    pub fn consent_text(&self) -> String {
        match self.consent {
            ConsentRule::Every | ConsentRule::Content => "yes".to_owned(),
            ConsentRule::Word(word) => format!("for `{word}`"),
            ConsentRule::PathsOut => "for paths that lead out of the checkout".to_owned(),
            ConsentRule::Never => String::new(),
        }
    }

    /// Whether its values may have paths.
    pub(crate) fn has_paths(&self) -> bool {
        match self.kind {
            SettingKind::Path(_) | SettingKind::Paths(_) => true,
            SettingKind::Parsed { path, .. } => path.is_some(),
            _ => false,
        }
    }

    /// Returns whether values of the project file need consent, whatever their paths.
    pub(crate) fn needs_consent(&self, values: &[String]) -> bool {
        match self.consent {
            ConsentRule::Every | ConsentRule::Content => true,
            ConsentRule::Word(word) => values.iter().any(|value| value == word),
            ConsentRule::PathsOut | ConsentRule::Never => false,
        }
    }

    /// Splits a value into the part before its path, and the path. `None` for a value without a path.
    pub(crate) fn split_path<'a>(&self, value: &'a str) -> Option<(&'a str, &'a str)> {
        let path = match self.kind {
            SettingKind::Path(_) | SettingKind::Paths(_) => return Some(("", value)),
            SettingKind::Parsed { path: Some(path), .. } => path(value)?,
            _ => return None,
        };
        value.split_at_checked(value.len().checked_sub(path.as_os_str().len())?)
    }

    /// Splits the value of its variable.
    pub(crate) fn values_of_variable(&self, value: &str) -> Vec<String> {
        let Some(separator) = self.separator else { return vec![value.to_owned()] };
        value.split(separator).filter(|value| !value.is_empty()).map(str::to_owned).collect()
    }

    /// Gives the options its values. The error does not name the setting.
    pub(crate) fn apply(
        &self,
        options: &mut ServiceOptions,
        values: &[String],
        source: &ValueSource<'_>,
    ) -> Result<(), ServiceError> {
        let only = values.last().map(String::as_str).unwrap_or_default();
        let paths = || values.iter().map(PathBuf::from).collect();
        match self.kind {
            SettingKind::Switch(field) => *field(options) = boolean(only)?,
            SettingKind::Word(words) => match words.iter().find(|(word, _)| *word == only) {
                Some((_, set)) => set(options),
                None => return Err(unknown_word(only, &self.words())),
            },
            SettingKind::Value(field) => *field(options) = Some(only.to_owned()),
            SettingKind::Values(field) => *field(options) = values.to_vec(),
            SettingKind::Path(field) => *field(options) = Some(PathBuf::from(only)),
            SettingKind::Paths(field) => *field(options) = paths(),
            SettingKind::Parsed { add, .. } => {
                for value in values {
                    add(options, value, source)?;
                }
            }
            // They are merged one by one.
            SettingKind::Limits => {}
        }
        Ok(())
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Setting {}

fn boolean(value: &str) -> Result<bool, ServiceError> {
    parse_bool(value).ok_or_else(|| unknown_word(value, &["true", "false"]))
}

fn unknown_word(value: &str, words: &[&str]) -> ServiceError {
    ServiceError::invalid_input(format!("unknown {value:?}; use {}", words.join(", ")))
}

/// Reads `NAME=VALUE`.
pub(crate) fn read_limit(text: &str) -> Result<(Limit, u64), ServiceError> {
    let invalid = |message: String| ServiceError::invalid_input(message);
    let (name, value) =
        text.split_once('=').ok_or_else(|| invalid(format!("{text:?}: expected NAME=VALUE")))?;
    let limit = Limit::named(name).ok_or_else(|| {
        let similar = suggest(name, Limit::ALL.iter().map(|limit| limit.name()));
        let similar = similar.first().map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        invalid(format!("unknown limit {name:?}{similar}")).with_remedy(Remedy::ListLimits)
    })?;
    let value = limit.read(value).map_err(|error| invalid(format!("{name}: {error}, found {value:?}")))?;
    Ok((limit, value))
}
