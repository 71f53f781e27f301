//! `Chart.yaml`, with `requirements.yaml` decoded over it, and its validation.

use std::collections::{BTreeMap, HashSet};

use tiphys_go::path::base;
use tiphys_go::strconv::quote;
use tiphys_go::versions::Version;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::dependency::{Dependency, ListError, dependencies_with_nulls};
use crate::overlaid::Overlaid;
use crate::sanitize::sanitized;

/// The metadata of a chart. Missing strings are empty. In most of them, Helm replaces white space with spaces and removes unprintable
/// characters: not in versions, the type, annotations and aliases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The chart's name.
    pub name: String,
    /// URL of the project.
    pub home: String,
    /// URLs of the source code; `None` if the field does not exist or is `null`.
    pub sources: Option<Vec<String>>,
    /// The chart's version.
    pub version: String,
    /// One sentence about the chart.
    pub description: String,
    /// Words for searches; `None` if the field does not exist or is `null`.
    pub keywords: Option<Vec<String>>,
    /// People to contact.
    pub maintainers: Vec<Maintainer>,
    /// URL of an image.
    pub icon: String,
    /// The version of the chart format; `v1` if `Chart.yaml` has none.
    pub api_version: String,
    /// `condition`, which Helm does not read here.
    pub condition: String,
    /// `tags`, which Helm does not read here.
    pub tags: String,
    /// The version of the application.
    pub app_version: String,
    /// Whether the chart is deprecated.
    pub deprecated: bool,
    /// Annotations; `None` if the field does not exist or is `null`.
    pub annotations: Option<BTreeMap<String, String>>,
    /// A range of Kubernetes versions.
    pub kube_version: String,
    /// The dependencies; `None` if the field does not exist or is `null`.
    pub dependencies: Option<Vec<Dependency>>,
    /// `application`, `library` or empty.
    pub chart_type: String,
}

/// A maintainer of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintainer {
    /// A person or an organization.
    pub name: String,
    /// An email address.
    pub email: String,
    /// The URL of a page.
    pub url: String,
}

/// Invalid metadata, in Helm's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidationError {
    /// A field is missing or empty.
    #[error("validation: chart.metadata.{field} is required")]
    Required {
        /// The field.
        field: &'static str,
    },
    /// The name is `.` or `..`.
    #[error("validation: chart.metadata.name {} is not allowed", quote(name))]
    NameNotAllowed {
        /// The name.
        name: String,
    },
    /// The name is not the name of a file.
    #[error("validation: chart.metadata.name {} is invalid", quote(name))]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The version is not a version.
    #[error("validation: chart.metadata.version {} is invalid", quote(version))]
    InvalidVersion {
        /// The version.
        version: String,
    },
    /// The type is unknown.
    #[error("validation: chart.metadata.type must be application or library")]
    UnknownType,
    /// An item of a list is `null`.
    #[error("validation: {field} must not contain empty or null nodes")]
    NullItem {
        /// The list.
        field: &'static str,
    },
    /// An alias contains characters other than letters, digits, `_` and `-`.
    #[error("validation: dependency {} has disallowed characters in the alias", quote(dependency))]
    InvalidAlias {
        /// The name of the dependency.
        dependency: String,
    },
    /// Two dependencies would have their values under one key.
    #[error("validation: more than one dependency with name or alias {}", quote(name))]
    DuplicateDependency {
        /// The key.
        name: String,
    },
}

/// Errors of [`Metadata::decode`].
pub(crate) enum MetadataError {
    Field(ListError),
    Invalid(ValidationError),
}

impl From<ListError> for MetadataError {
    fn from(error: ListError) -> Self {
        Self::Field(error)
    }
}

impl From<ValidationError> for MetadataError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl Metadata {
    /// Decodes documents, each over the ones before it, and validates the result in Helm's order. Their fields have the expected types.
    pub(crate) fn decode(
        files: &[(&'static str, &Node)],
        api_version: String,
        dependencies_max: usize,
    ) -> Result<Self, MetadataError> {
        let mut metadata = Self::fields(files, api_version)?;
        let maintainers = maintainers(files)?;
        let dependencies = dependencies_with_nulls(files, dependencies_max)?;
        metadata.validate()?;
        let null = |field| move || ValidationError::NullItem { field };
        let maintainers: Option<_> = maintainers.into_iter().collect();
        metadata.maintainers = maintainers.ok_or_else(null("maintainers"))?;
        if let Some(list) = dependencies {
            let mut names = HashSet::new();
            let valid = list.into_iter().map(|one| {
                let one = one.ok_or_else(null("dependencies"))?;
                validate_dependency(&one, &mut names)?;
                Ok(one)
            });
            metadata.dependencies = Some(valid.collect::<Result<_, ValidationError>>()?);
        }
        Ok(metadata)
    }

    /// Decodes all fields except the lists of objects.
    fn fields(files: &[(&'static str, &Node)], api_version: String) -> Result<Self, ListError> {
        let mut fields = object(files)?;
        let fail = failure(files);
        let mut text = |key| fields.text(key).map(Option::unwrap_or_default).map(str::to_owned);
        let mut clean = |key| text(key).map(|text| sanitized(&text)).map_err(fail);
        let metadata = Self {
            name: clean("name")?,
            home: clean("home")?,
            description: clean("description")?,
            icon: clean("icon")?,
            condition: clean("condition")?,
            tags: clean("tags")?,
            app_version: clean("appVersion")?,
            kube_version: clean("kubeVersion")?,
            version: text("version").map_err(fail)?,
            chart_type: text("type").map_err(fail)?,
            api_version,
            ..Self::default()
        };
        let mut list = |key| {
            let list = fields.texts(key).map_err(fail)?;
            Ok(list.map(|list| list.iter().map(|text| sanitized(text)).collect()))
        };
        Ok(Self {
            sources: list("sources")?,
            keywords: list("keywords")?,
            deprecated: fields.boolean("deprecated").map_err(fail)?.unwrap_or_default(),
            annotations: fields.text_map("annotations").map_err(fail)?,
            ..metadata
        })
    }

    fn validate(&self) -> Result<(), ValidationError> {
        let required = |field, value: &str| {
            if value.is_empty() { Err(ValidationError::Required { field }) } else { Ok(()) }
        };
        required("apiVersion", &self.api_version)?;
        required("name", &self.name)?;
        if self.name == "." || self.name == ".." {
            return Err(ValidationError::NameNotAllowed { name: self.name.clone() });
        }
        if !is_chart_name(&self.name) {
            return Err(ValidationError::InvalidName { name: self.name.clone() });
        }
        required("version", &self.version)?;
        if Version::parse(&self.version).is_err() {
            return Err(ValidationError::InvalidVersion { version: self.version.clone() });
        }
        if !matches!(self.chart_type.as_str(), "" | "application" | "library") {
            return Err(ValidationError::UnknownType);
        }
        Ok(())
    }
}

/// Whether Helm permits a chart to have a name: it must be the name of a file.
pub fn is_chart_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && base(name.as_bytes()) == name.as_bytes()
}

fn validate_dependency(one: &Dependency, names: &mut HashSet<String>) -> Result<(), ValidationError> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !one.alias.bytes().all(is_valid) {
        return Err(ValidationError::InvalidAlias { dependency: one.name.clone() });
    }
    if !names.insert(one.known_as().to_owned()) {
        return Err(ValidationError::DuplicateDependency { name: one.known_as().to_owned() });
    }
    Ok(())
}

/// Decodes the maintainers, with `None` for null items.
fn maintainers(files: &[(&'static str, &Node)]) -> Result<Vec<Option<Maintainer>>, ListError> {
    let fail = failure(files);
    let mut lists = Overlaid::new("maintainers");
    object(files)?.all("maintainers").into_iter().try_for_each(|list| lists.add(list)).map_err(fail)?;
    let maintainer = |layers: &Vec<&Node>| {
        let mut item = Object::overlaid(layers, "maintainers")?;
        let mut text = |key| item.text(key).map(|text| sanitized(text.unwrap_or_default()));
        Ok(Maintainer { name: text("name")?, email: text("email")?, url: text("url")? })
    };
    let items = lists.items().unwrap_or_default().iter();
    let items = items.map(|layers| (!layers.is_empty()).then(|| maintainer(layers)).transpose());
    items.collect::<Result<_, _>>().map_err(fail)
}

fn object<'a>(files: &[(&'static str, &'a Node)]) -> Result<Object<'a>, ListError> {
    let nodes: Vec<&Node> = files.iter().map(|(_, node)| *node).collect();
    Object::overlaid(&nodes, "").map_err(failure(files))
}

/// Returns the error of a field in the last file.
fn failure(files: &[(&'static str, &Node)]) -> impl Fn(DecodeError) -> ListError + Copy + use<> {
    let file = files.last().map_or("Chart.yaml", |(file, _)| *file);
    move |source| ListError { file, source }
}

#[cfg(test)]
mod tests;
