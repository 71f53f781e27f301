//! Types of fields: conversion and errors as in `sigs.k8s.io/yaml` and Go's `encoding/json`.
//!
//! Helm decodes YAML into Go structs. Numbers and booleans become strings where a field is a string; every other difference is an error.
//! After [`conform`], [`tiphys_yaml::Object`] reads all fields without an error.

use tiphys_go::gotemplate::is_rfc3339;
use tiphys_go::strconv::quote;
use tiphys_helm_values::{HelmVersion, Value};
use tiphys_yaml::{Data, Node, names_equal};

/// A Go type.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    String,
    Bool,
    /// `time.Time`.
    Time,
    /// `interface {}`.
    Any,
    List(&'static Type),
    Map(&'static Type),
    Struct(&'static Struct),
}

/// A Go struct.
pub(crate) struct Struct {
    name: &'static str,
    package: Package,
    fields: &'static [(&'static str, Type)],
}

#[derive(Clone, Copy)]
enum Package {
    /// `chart` in Helm 3, `v2` in Helm 4.
    Chart,
    /// `loader` in Helm 4.
    Loader,
}

const STRINGS: Type = Type::List(&Type::String);

/// Where Helm 4 reads the version of the format.
pub(crate) const CHART_BASE: Struct =
    Struct { name: "chartBase", package: Package::Loader, fields: &[("apiVersion", Type::String)] };

/// `Chart.yaml` and `requirements.yaml`.
pub(crate) const METADATA: Struct = Struct {
    name: "Metadata",
    package: Package::Chart,
    fields: &[
        ("name", Type::String),
        ("home", Type::String),
        ("sources", STRINGS),
        ("version", Type::String),
        ("description", Type::String),
        ("keywords", STRINGS),
        ("maintainers", Type::List(&Type::Struct(&MAINTAINER))),
        ("icon", Type::String),
        ("apiVersion", Type::String),
        ("condition", Type::String),
        ("tags", Type::String),
        ("appVersion", Type::String),
        ("deprecated", Type::Bool),
        ("annotations", Type::Map(&Type::String)),
        ("kubeVersion", Type::String),
        ("dependencies", DEPENDENCIES),
        ("type", Type::String),
    ],
};

/// `Chart.lock` and `requirements.lock`.
pub(crate) const LOCK: Struct = Struct {
    name: "Lock",
    package: Package::Chart,
    fields: &[("generated", Type::Time), ("digest", Type::String), ("dependencies", DEPENDENCIES)],
};

const MAINTAINER: Struct = Struct {
    name: "Maintainer",
    package: Package::Chart,
    fields: &[("name", Type::String), ("email", Type::String), ("url", Type::String)],
};

const DEPENDENCIES: Type = Type::List(&Type::Struct(&DEPENDENCY));

const DEPENDENCY: Struct = Struct {
    name: "Dependency",
    package: Package::Chart,
    fields: &[
        ("name", Type::String),
        ("version", Type::String),
        ("repository", Type::String),
        ("condition", Type::String),
        ("tags", STRINGS),
        ("enabled", Type::Bool),
        ("import-values", Type::List(&Type::Any)),
        ("alias", Type::String),
    ],
};

/// Converts the fields of a document to their types. Returns Go's message for the first one with another type.
pub(crate) fn conform(
    document: &mut Node,
    target: &'static Struct,
    version: HelmVersion,
) -> Result<(), String> {
    Conversion { version, owner: None, path: Vec::new() }.value(document, Type::Struct(target))
}

/// Returns a number or boolean as the string that it becomes in a string field.
pub(crate) fn scalar_string(data: &Data) -> Option<String> {
    match data {
        Data::Bool(value) => Some(value.to_string()),
        Data::Integer(value) => Some(value.to_string()),
        Data::Unsigned(value) => Some(value.to_string()),
        Data::Float(value) => Some(match value.value() {
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            value if value.is_nan() => "NaN".to_owned(),
            value => Value::Float(value).to_string(),
        }),
        Data::Null | Data::String(_) | Data::Sequence(_) | Data::Mapping(_) => None,
    }
}

struct Conversion {
    version: HelmVersion,
    /// The innermost struct.
    owner: Option<&'static Struct>,
    /// The fields from the document to the value. As in Go, without indexes and keys of maps.
    path: Vec<&'static str>,
}

impl Conversion {
    fn value(&mut self, node: &mut Node, target: Type) -> Result<(), String> {
        match (&mut node.data, target) {
            (Data::Null, _)
            | (_, Type::Any)
            | (Data::String(_), Type::String)
            | (Data::Bool(_), Type::Bool) => Ok(()),
            (data, Type::String) => match scalar_string(data) {
                Some(text) => {
                    *data = Data::String(text);
                    Ok(())
                }
                None => Err(self.mismatch(node, target)),
            },
            (Data::Sequence(items), Type::List(item)) => {
                items.iter_mut().try_for_each(|node| self.value(node, *item))
            }
            (Data::Mapping(entries), Type::Map(item)) => {
                entries.iter_mut().try_for_each(|entry| self.value(&mut entry.value, *item))
            }
            (Data::Mapping(entries), Type::Struct(target)) => {
                let outer = self.owner.replace(target);
                for entry in entries {
                    let field = target.fields.iter().find(|(name, _)| names_equal(name, &entry.key.text));
                    if let Some((name, field)) = field {
                        self.path.push(name);
                        self.value(&mut entry.value, *field)?;
                        self.path.pop();
                    }
                }
                self.owner = outer;
                Ok(())
            }
            (Data::String(text), Type::Time) if is_rfc3339(text) => Ok(()),
            (Data::String(text), Type::Time) => {
                Err(format!("parsing time {} as \"2006-01-02T15:04:05Z07:00\"", quote(text)))
            }
            (_, Type::Time) => Err("Time.UnmarshalJSON: input is not a JSON string".to_owned()),
            _ => Err(self.mismatch(node, target)),
        }
    }

    fn mismatch(&self, node: &Node, target: Type) -> String {
        let place = match self.owner {
            Some(owner) => format!("struct field {}.{}", owner.name, self.path.join(".")),
            None => "value".to_owned(),
        };
        let (found, expected) = (node.json_type(), target.go_name(self.version));
        format!("json: cannot unmarshal {found} into Go {place} of type {expected}")
    }
}

impl Type {
    fn go_name(self, version: HelmVersion) -> String {
        match self {
            Self::String => "string".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Time => "time.Time".to_owned(),
            Self::Any => "interface {}".to_owned(),
            Self::List(Self::Struct(item)) => format!("[]*{}", item.go_name(version)),
            Self::List(item) => format!("[]{}", item.go_name(version)),
            Self::Map(item) => format!("map[string]{}", item.go_name(version)),
            Self::Struct(target) => target.go_name(version),
        }
    }
}

impl Struct {
    fn go_name(&self, version: HelmVersion) -> String {
        let package = match (self.package, version) {
            (Package::Loader, _) => "loader",
            (Package::Chart, HelmVersion::V3) => "chart",
            (Package::Chart, HelmVersion::V4) => "v2",
        };
        format!("{package}.{}", self.name)
    }
}
