//! Values of the templates of charts that have methods or fields.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{List, Map, Named, Special, Str, Value};
use crate::glob::{Glob, Slash};
use crate::gotemplate::functions::{Type, base64, yaml_of};
use crate::gotemplate::template::Dialect;

/// A struct.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) type_name: &'static str,
    pub(crate) fields: Vec<(&'static str, Value)>,
    /// Methods without arguments, and what they return.
    pub(crate) methods: Vec<(&'static str, Value)>,
    /// Fields that templates cannot read.
    pub(crate) hidden: &'static [&'static str],
    /// Members that only the `helm` program has, such as the fields that depend on how it was built.
    pub(crate) unsupported: Vec<&'static str>,
    /// How `printf "%v"` prints it. `None` if only the `helm` program can print it.
    pub(crate) text: Option<String>,
    /// How it is printed where nothing formats it, if that is different.
    pub(crate) printed: Option<String>,
}

impl Struct {
    /// Returns a field, or what a method returns.
    pub(crate) fn member(&self, name: &str) -> Option<Value> {
        let mut members = self.methods.iter().chain(&self.fields);
        members.find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn has_method(&self, name: &str) -> bool {
        self.methods.iter().any(|(known, _)| *known == name)
    }
}

/// `.Files`: files by their paths.
#[derive(Debug)]
pub(crate) struct Files(pub(crate) BTreeMap<Str, Arc<[u8]>>);

impl Value {
    /// Returns whether only charts have values of this type.
    pub(crate) fn is_of_chart(&self) -> bool {
        matches!(self, Self::Special(Special(Named::Files(_) | Named::Bytes(_) | Named::Struct(_))))
    }
}

impl Special {
    /// Returns the files of a chart.
    pub fn files(files: impl IntoIterator<Item = (Str, Arc<[u8]>)>) -> Self {
        Self(Named::Files(Rc::new(Files(files.into_iter().collect()))))
    }

    /// Returns a struct that cannot be printed. Only the `helm` program has the members `unsupported`.
    pub fn structure(
        type_name: &'static str,
        fields: Vec<(&'static str, Value)>,
        unsupported: Vec<&'static str>,
    ) -> Self {
        let methods = Vec::new();
        let of = Struct { type_name, fields, methods, hidden: &[], unsupported, text: None, printed: None };
        Self(Named::Struct(Rc::new(of)))
    }

    /// Returns `.Capabilities.KubeVersion`: a version of Kubernetes, `v1.30.2`, with its major and minor number.
    pub fn kube_version(dialect: Dialect, version: &str, [major, minor]: [&str; 2]) -> Self {
        let string = |string: &str| Value::from(string);
        // Helm 4 prints the version as it was given, too.
        let (type_name, hidden, text): (_, &[_], _) = match dialect {
            Dialect::Helm3 => ("chartutil.KubeVersion", &[], format!("{{{version} {major} {minor}}}")),
            Dialect::ArgoCd | Dialect::Helm4 => (
                "common.KubeVersion",
                &["normalizedVersion"],
                format!("{{{version} {version} {major} {minor}}}"),
            ),
        };
        Self(Named::Struct(Rc::new(Struct {
            type_name,
            fields: vec![("Version", string(version)), ("Major", string(major)), ("Minor", string(minor))],
            methods: vec![("String", string(version)), ("GitVersion", string(version))],
            hidden,
            unsupported: Vec::new(),
            text: Some(text),
            printed: Some(version.to_owned()),
        })))
    }
}

impl Files {
    /// Returns the parameters of a method. `None` if there is none of this name.
    pub(crate) fn parameters(name: &str) -> Option<&'static [Type]> {
        match name {
            "Get" | "GetBytes" | "Lines" | "Glob" => Some(&[Type::String]),
            "AsConfig" | "AsSecrets" => Some(&[]),
            _ => None,
        }
    }

    /// Calls a method, or returns the content of a file. The arguments have the types of the parameters.
    pub(super) fn method(&self, name: &str, arguments: &[Value]) -> Value {
        let nothing = Str::from("");
        let path = match arguments {
            [Value::String(path)] => path,
            _ => &nothing,
        };
        match name {
            "Get" => Value::String(self.content(path)),
            "GetBytes" => Value::named(Named::Bytes(self.content(path))),
            "Lines" => self.lines(path),
            "Glob" => self.matching(path),
            "AsConfig" => self.as_yaml(|content| content.into()),
            "AsSecrets" => self.as_yaml(|content| base64(content).into()),
            path => Value::named(Named::Bytes(self.content(&path.into()))),
        }
    }

    pub(crate) fn content(&self, path: &Str) -> Str {
        self.0.get(path).map_or_else(|| "".into(), |bytes| Str::from(&**bytes))
    }

    fn lines(&self, path: &Str) -> Value {
        let content = self.content(path);
        let text = content.strip_suffix(b"\n").unwrap_or(&content);
        if content.is_empty() {
            return Value::List(List::strings(Vec::<Str>::new()));
        }
        Value::List(List::strings(text.split(|byte| *byte == b'\n')))
    }

    /// Returns the files whose paths match a glob. An invalid one matches all, as in Helm.
    fn matching(&self, pattern: &Str) -> Value {
        let glob = Glob::new(&pattern.lossy(), Slash::Separator).ok();
        let is_match = |path: &Str| glob.as_ref().is_none_or(|glob| glob.matches(&path.lossy()));
        let files = self.0.iter().filter(|(path, _)| is_match(path));
        Value::Special(Special::files(files.map(|(path, content)| (path.clone(), Arc::clone(content)))))
    }

    /// Writes the files as a map by their base names. Of several with one name, Helm takes any.
    fn as_yaml(&self, content: impl Fn(&[u8]) -> Str) -> Value {
        let entries = self.0.iter().map(|(path, bytes)| {
            let base = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            (Str::from(base), content(bytes))
        });
        yaml_of(&Value::Map(Map::of_strings(entries))).into()
    }
}
