//! The template engines of ApplicationSets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tiphys_go::gotemplate::{
    ExecuteError, LimitError, MissingKey, OptionError, Options, ParseError, Template, replace,
};
use tiphys_model::limits::Limit;
use tiphys_model::resources::ApplicationSet;

use crate::appset::{Engine, ParameterSet, TemplateMode};

/// The name that Argo CD gives to templates. It is part of messages.
const TEMPLATE_NAME: &str = "base";

/// Parsed templates, and the options of their execution.
pub(crate) struct Templates {
    pub(crate) mode: TemplateMode,
    options: Options,
    parsed: RwLock<HashMap<String, Parsed>>,
    volatile: Mutex<BTreeSet<&'static str>>,
    /// Whether a template cannot be parsed.
    has_invalid: AtomicBool,
}

type Parsed = Arc<Result<Template, ParseError>>;

/// An engine with the parameters of one set.
pub(crate) struct SetEngine<'a> {
    templates: &'a Templates,
    data: Data,
    options: Options,
}

enum Data {
    Go(tiphys_go::gotemplate::Value),
    Fast(BTreeMap<String, String>),
}

impl Templates {
    /// Returns the templates of a set, with its `goTemplateOptions`.
    pub(crate) fn of(set: &ApplicationSet, options: Options) -> Result<Self, OptionError> {
        let (mode, missing_key) = if set.go_template {
            (TemplateMode::Go, MissingKey::parse(&set.go_template_options)?)
        } else {
            (TemplateMode::Fast, MissingKey::Default)
        };
        Ok(Self {
            mode,
            options: Options { missing_key, ..options },
            parsed: RwLock::default(),
            volatile: Mutex::default(),
            has_invalid: AtomicBool::default(),
        })
    }

    /// Returns the engine for a parameter set.
    pub(crate) fn engine(&self, parameters: &ParameterSet) -> SetEngine<'_> {
        let data = match self.mode {
            TemplateMode::Go => {
                let string_maps: Vec<&str> = parameters.string_maps.iter().map(String::as_str).collect();
                Data::Go(tiphys_go::gotemplate::Value::from_json_object(&parameters.values, &string_maps))
            }
            TemplateMode::Fast => {
                let strings = parameters.values.iter();
                Data::Fast(
                    strings
                        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                        .collect(),
                )
            }
        };
        SetEngine { templates: self, data, options: self.options }
    }

    /// Returns whether a template cannot be parsed.
    pub(crate) fn has_invalid(&self) -> bool {
        self.has_invalid.load(Ordering::Relaxed)
    }

    /// Returns the functions that were called and return something else at each call.
    pub(crate) fn volatile(self) -> BTreeSet<&'static str> {
        self.volatile.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn parsed(&self, source: &str) -> Parsed {
        if let Some(parsed) = self.parsed.read().unwrap_or_else(PoisonError::into_inner).get(source) {
            return Arc::clone(parsed);
        }
        let parsed = Arc::new(Template::parse(TEMPLATE_NAME, source, self.options.limits));
        let mut all = self.parsed.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(source.to_owned(), Arc::clone(&parsed));
        parsed
    }
}

impl SetEngine<'_> {
    /// Returns an engine for which a missing key is an error.
    pub(crate) fn strict(self) -> Self {
        Self { options: Options { missing_key: MissingKey::Error, ..self.options }, ..self }
    }
}

impl Engine for SetEngine<'_> {
    fn render(&self, text: &str) -> Result<String, String> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        match &self.data {
            Data::Fast(strings) => replace(text, strings).map_err(|error| {
                self.templates.has_invalid.store(true, Ordering::Relaxed);
                error.to_string()
            }),
            Data::Go(data) => {
                let parsed = self.templates.parsed(text);
                let template = parsed.as_ref().as_ref().map_err(|error| {
                    self.templates.has_invalid.store(true, Ordering::Relaxed);
                    format!("failed to parse template {text}: {error}")
                })?;
                let output = template.execute(data, &self.options).map_err(|error| {
                    format!("failed to execute go template {text}: {}", with_limit(&error))
                })?;
                if !output.volatile.is_empty() {
                    let volatile = self.templates.volatile.lock();
                    volatile.unwrap_or_else(PoisonError::into_inner).extend(&output.volatile);
                }
                Ok(output.string())
            }
        }
    }
}

/// Returns an error with the name of the limit that caused it.
fn with_limit(error: &ExecuteError) -> String {
    match error.limit {
        Some(limit) => format!("{error} ({})", limit_of(limit)),
        None => error.to_string(),
    }
}

/// Returns the name of a limit of templates.
fn limit_of(error: LimitError) -> Limit {
    match error {
        LimitError::Steps(_) => Limit::TEMPLATE_STEPS_MAX,
        LimitError::Bytes(_) => Limit::TEMPLATE_OUTPUT_MAX,
        LimitError::Depth(_) => Limit::TEMPLATE_DEPTH_MAX,
    }
}
