//! The values that options, variables and the project file give to settings. An option wins over a variable, a variable over the file.

use std::collections::BTreeMap;

use tiphys_model::limits::Limit;
use tiphys_model::params::suggest;

use super::setting::{ValueSource, read_limit};
use super::{CurrentCheckout, ServiceOptions, Setting, SettingOrigin};
use crate::context::host::Host;
use crate::context::project_file::{ProjectFile, ProjectValue};
use crate::error::ServiceError;

/// The settings that have a value.
#[derive(Clone, Debug, Default)]
pub struct GivenSettings {
    settings: BTreeMap<&'static str, GivenSetting>,
    /// Limits are merged one by one.
    limits: BTreeMap<Limit, (SettingOrigin, u64)>,
}

/// The values of a setting with their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenSetting {
    /// The setting.
    pub setting: &'static Setting,
    /// The values.
    pub values: Vec<String>,
    /// Where they are from.
    pub origin: SettingOrigin,
    /// Whether the caller gave them, or consented to the file that has them.
    is_of_caller: bool,
}

impl GivenSettings {
    /// Returns the values of the variables of this environment: `TIPHYS_` with the key, or the name of a limit, in upper case.
    pub fn of_variables(host: &Host) -> Result<Self, ServiceError> {
        let mut given = Self::default();
        for (setting, values) in setting_variables(host) {
            given.add(setting, values, SettingOrigin::Variable)?;
        }
        for limit in Limit::ALL {
            let name = limit.variable();
            if let Some(value) = host.variable(&name) {
                let value = limit.read(value).map_err(|error| {
                    ServiceError::invalid_input(format!("{name}: {error}, found {value:?}"))
                })?;
                given.add_limit(*limit, value, SettingOrigin::Variable)?;
            }
        }
        Ok(given)
    }

    /// Returns the values that the variables of this environment give to these settings.
    pub fn of_variables_for(settings: &[&Setting], host: &Host) -> Self {
        let mut given = Self::default();
        for (setting, values) in setting_variables(host).filter(|(setting, _)| settings.contains(setting)) {
            // An invalid value counts as none.
            drop(given.add(setting, values, SettingOrigin::Variable));
        }
        given
    }

    /// Gives a setting the values of an option.
    pub fn set_option(&mut self, setting: &'static Setting, values: Vec<String>) -> Result<(), ServiceError> {
        self.add(setting, values, SettingOrigin::Option)
    }

    /// Gives settings the values of arguments `KEY=VALUE`. A key that occurs several times has several values.
    pub fn set_arguments<'a>(
        &mut self,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ServiceError> {
        let mut given: BTreeMap<&'static str, (&'static Setting, Vec<String>)> = BTreeMap::new();
        for argument in arguments {
            let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
            let setting = known(key)?;
            given.entry(setting.key).or_insert((setting, Vec::new())).1.push(value.to_owned());
        }
        for (key, (setting, values)) in given {
            if values.len() > 1 && !setting.is_list() {
                return Err(ServiceError::invalid_input(format!(
                    "--config {key} is given twice; give it once"
                )));
            }
            if self.by(setting) == Some(SettingOrigin::Option) {
                let option =
                    setting.option.map_or_else(|| "an option".to_owned(), |option| format!("--{option}"));
                let message = format!("{option} and --config {key} both set {key}; use one");
                return Err(ServiceError::invalid_input(message));
            }
            self.set_option(setting, values)?;
        }
        Ok(())
    }

    /// Ignores the values that the project file has for a setting: an argument of the command replaces them.
    pub fn replace(&mut self, setting: &'static Setting) {
        let origin = SettingOrigin::Option;
        let replaced = GivenSetting { setting, values: Vec::new(), origin, is_of_caller: true };
        self.settings.insert(setting.key, replaced);
    }

    /// Adds the values of a project file for settings without a value. Fails if it needs consent for one of them that is not given.
    pub fn add_file(&mut self, file: &ProjectFile) -> Result<(), ServiceError> {
        file.require_usable(|setting| self.by(setting).is_none())?;
        self.add_values(file, |_| true)
    }

    /// Adds the values of a project file that take effect.
    pub fn add_usable(&mut self, file: &ProjectFile) -> Result<(), ServiceError> {
        self.add_values(file, |value| file.takes_effect(value))
    }

    fn add_values(
        &mut self,
        file: &ProjectFile,
        takes_effect: impl Fn(&ProjectValue) -> bool,
    ) -> Result<(), ServiceError> {
        let is_of_caller = file.is_allowed();
        for value in file.values().iter().filter(|value| takes_effect(value)) {
            if value.setting == Setting::LIMITS {
                self.add_limits(&value.values, SettingOrigin::ProjectFile)?;
            } else if self.by(value.setting).is_none() {
                let (setting, origin) = (value.setting, SettingOrigin::ProjectFile);
                let given = GivenSetting { setting, values: value.values.clone(), origin, is_of_caller };
                self.settings.insert(setting.key, given);
            }
        }
        Ok(())
    }

    /// Removes the values of other settings.
    pub fn retain(&mut self, settings: &[&Setting]) {
        self.settings.retain(|_, given| settings.contains(&given.setting));
    }

    /// Returns the origin of a setting's values.
    pub fn by(&self, setting: &Setting) -> Option<SettingOrigin> {
        self.get(setting).map(|given| given.origin)
    }

    /// Returns the values of a setting.
    pub fn get(&self, setting: &Setting) -> Option<&GivenSetting> {
        self.settings.get(setting.key)
    }

    /// Returns the limits that are set, with their origins.
    pub fn limits(&self) -> impl Iterator<Item = (Limit, SettingOrigin, u64)> + '_ {
        self.limits.iter().map(|(limit, (origin, value))| (*limit, *origin, *value))
    }

    /// Gives the options the values.
    pub fn apply(&self, options: &mut ServiceOptions, host: &Host) -> Result<(), ServiceError> {
        for given in self.settings.values() {
            let GivenSetting { setting, values, origin, is_of_caller } = given;
            if values.is_empty() {
                continue;
            }
            let source = ValueSource { host, origin: *origin, is_of_caller: *is_of_caller };
            setting
                .apply(options, values, &source)
                .map_err(|error| error.about(&setting.named_by(*origin)))?;
        }
        for (limit, _, value) in self.limits() {
            options.limits.set(limit, value);
        }
        if options.offline && options.refresh {
            return Err(ServiceError::invalid_input("offline and refresh exclude each other; use one"));
        }
        Ok(())
    }

    /// Returns whether the checkout of the current directory is used instead of its remotes.
    pub fn current_checkout(&self) -> CurrentCheckout {
        match self.by(Setting::REPO) {
            None => CurrentCheckout::Used,
            Some(SettingOrigin::ProjectFile) => CurrentCheckout::Replaced,
            Some(SettingOrigin::Variable | SettingOrigin::Option) => CurrentCheckout::Unused,
        }
    }

    fn add(
        &mut self,
        setting: &'static Setting,
        values: Vec<String>,
        origin: SettingOrigin,
    ) -> Result<(), ServiceError> {
        if setting == Setting::LIMITS {
            return self.add_limits(&values, origin);
        }
        if !setting.accepts_empty && values.iter().any(String::is_empty) {
            return Err(ServiceError::invalid_input("must not be empty").about(&setting.named_by(origin)));
        }
        self.settings.insert(setting.key, GivenSetting { setting, values, origin, is_of_caller: true });
        Ok(())
    }

    fn add_limits(&mut self, values: &[String], origin: SettingOrigin) -> Result<(), ServiceError> {
        for value in values {
            let (limit, value) =
                read_limit(value).map_err(|error| error.about(&Setting::LIMITS.named_by(origin)))?;
            self.add_limit(limit, value, origin)?;
        }
        Ok(())
    }

    fn add_limit(&mut self, limit: Limit, value: u64, origin: SettingOrigin) -> Result<(), ServiceError> {
        match self.limits.get(&limit).map(|(earlier, _)| *earlier) {
            Some(earlier) if earlier == origin => {
                return Err(ServiceError::invalid_input(format!("{limit} is given twice; give it once")));
            }
            Some(earlier) if earlier > origin => {}
            _ => drop(self.limits.insert(limit, (origin, value))),
        }
        Ok(())
    }
}

/// Returns the settings whose variables have values. An empty variable counts as unset, unless an empty value has a meaning.
fn setting_variables(host: &Host) -> impl Iterator<Item = (&'static Setting, Vec<String>)> {
    Setting::ALL.iter().copied().filter_map(|setting| {
        let value = host.variables.get(&setting.variable())?;
        (setting.accepts_empty || !value.is_empty()).then(|| (setting, setting.values_of_variable(value)))
    })
}

/// Returns the setting of a key, or which there are.
fn known(key: &str) -> Result<&'static Setting, ServiceError> {
    Setting::named(key).ok_or_else(|| ServiceError::invalid_input(unknown_key(key)))
}

/// Describes a key that no setting has.
pub(crate) fn unknown_key(key: &str) -> String {
    let keys = || Setting::ALL.iter().map(|setting| setting.key);
    let similar = suggest(key, keys());
    let is_limit = Limit::named(key.strip_prefix("limits.").unwrap_or(key)).is_some();
    match (renamed(key), similar.first()) {
        _ if is_limit => {
            let name = key.strip_prefix("limits.").unwrap_or(key);
            format!("{key:?} is a limit; write it below limits:, or --limit {name}=VALUE")
        }
        (Some(new), _) => format!("{key:?} is now {new:?}; `tiphys config migrate` renames it"),
        (None, Some(near)) => format!("unknown key {key:?}; did you mean {near}?"),
        (None, None) => format!("unknown key {key:?}; known keys: {}", keys().collect::<Vec<_>>().join(", ")),
    }
}

/// Keys of earlier versions with their present names.
pub(crate) const RENAMED_KEYS: &[(&str, &str)] = &[("repositories", "repo")];

/// Returns the present name of a key.
fn renamed(key: &str) -> Option<&'static str> {
    RENAMED_KEYS.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

#[cfg(test)]
mod tests;
