//! Go's fields: one table of the types that Argo CD decodes, renders, patches, normalises and prints.
//!
//! A value of such a type is a JSON value in *canonical form*: what Go's `json.Marshal` prints for it. Zero values with `omitempty` are
//! missing, other zero values are present (`"project": ""`, an unset list is `null`). An unset pointer is missing; a pointer to a zero value
//! is present. Unset and empty lists or maps with `omitempty` are the same, as in Argo CD's comparisons.

pub(crate) mod application;
mod application_set;
mod cluster_config;
mod declare;
mod decode;
mod path;
mod print;
mod strings;

pub use application_set::{APPLICATION_SET, APPLICATION_SET_GENERATOR, APPLICATION_SET_TEMPLATE};
pub use cluster_config::CLUSTER_CONFIG;
pub use declare::GoFields;
pub(crate) use declare::{GoValue, go_struct, write_field};
pub use decode::{DecodedFields, FieldError, decode_fields, decode_value};
pub use path::{FieldPath, locate};
pub use print::{canonical, is_zero, print_go_json};
pub use strings::{StringError, StringSite, map_strings};

use tiphys_yaml::names_equal;

use crate::resources::Application;

/// An Application. Its status is not kept.
pub static APPLICATION: GoStruct = Application::GO;

/// A Go type, as far as its JSON is concerned.
#[derive(Debug)]
pub enum GoType {
    /// `string`
    String,
    /// `bool`
    Bool,
    /// `int64`
    Int64,
    /// `intstr.IntOrString`: a number in the range of an `int32`, or a string.
    IntOrString,
    /// `metav1.Time`, kept as written. Its strings are not templates.
    Time,
    /// Any JSON value, with the name of Go's type: `runtime.RawExtension`, `v1.JSON`.
    Free(&'static str),
    /// A struct whose content is not kept, with the name of Go's type.
    Ignored(&'static str),
    /// `[]T`
    List(&'static GoType),
    /// `map[string]T`
    Map(&'static GoType),
    /// A struct by its fields.
    Struct(&'static GoStruct),
    /// `*T`: unset differs from zero.
    Pointer(&'static GoType),
    /// A pointer to an embedded struct with this only field: `null` sets it to the empty value.
    Present(&'static GoType),
    /// A type with a name of its own, such as `v1alpha1.SyncOptions`.
    Named(&'static str, &'static GoType),
}

/// A struct of Go.
#[derive(Debug)]
pub struct GoStruct {
    /// Name with package, such as `v1alpha1.ApplicationSpec`.
    pub name: &'static str,
    /// Fields in the order of their declaration, in which Go prints, renders and reports them.
    pub fields: &'static [GoField],
    /// Fields that only tiphys has.
    pub own: &'static [GoField],
}

/// A field of a [`GoStruct`].
#[derive(Debug)]
pub struct GoField {
    /// Name in JSON.
    pub name: &'static str,
    /// Type.
    pub kind: GoType,
    /// When the field is printed.
    pub presence: Presence,
    /// Its `patchStrategy`.
    pub patch: PatchStrategy,
    /// Names of the embedded structs that declare it, as Go's errors have them; empty if the struct declares it itself.
    pub embedded: &'static str,
}

/// When a field is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// `omitempty`: unless it is false, 0, "", an unset pointer, or an empty list or map. Structs are always printed.
    OmitEmpty,
    /// `omitzero`: unless the struct prints as `{}`.
    OmitZero,
    /// Always.
    Always,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchStrategy {
    /// Objects are merged, everything else is replaced.
    Default,
    /// Objects are replaced, too.
    Replace,
    /// Lists of scalars are merged.
    Merge,
    /// Lists of objects are merged by this key.
    MergeBy(&'static str),
}

impl GoStruct {
    pub(crate) const fn new(name: &'static str, fields: &'static [GoField]) -> Self {
        Self { name, fields, own: &[] }
    }

    /// Returns the field that Go's decoder selects for a key: the exact name, else the first that differs in case only.
    pub fn field(&self, key: &str) -> Option<&'static GoField> {
        let exact = self.fields.iter().find(|field| field.name == key);
        exact.or_else(|| self.fields.iter().find(|field| names_equal(field.name, key)))
    }
}

impl GoType {
    /// Returns the type without its name and pointers.
    pub fn base(&self) -> &Self {
        match self {
            Self::Pointer(inner) | Self::Present(inner) | Self::Named(_, inner) => inner.base(),
            kind => kind,
        }
    }

    /// Returns the name as Go prints it in errors, such as `[]v1alpha1.HelmParameter`.
    pub fn go_name(&self) -> String {
        match self {
            Self::String | Self::Time => "string".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int64 => "int64".to_owned(),
            Self::IntOrString => "int32".to_owned(),
            Self::Free(name) | Self::Ignored(name) | Self::Named(name, _) => (*name).to_owned(),
            Self::List(item) => format!("[]{}", item.go_name()),
            Self::Map(value) => format!("map[string]{}", value.go_name()),
            Self::Struct(of) => of.name.to_owned(),
            Self::Pointer(inner) => format!("*{}", inner.go_name()),
            Self::Present(inner) => inner.go_name(),
        }
    }
}

/// A field with `omitempty`.
pub(crate) const fn field(name: &'static str, kind: GoType) -> GoField {
    let (presence, patch) = (Presence::OmitEmpty, PatchStrategy::Default);
    GoField { name, kind, presence, patch, embedded: "" }
}

/// A field that is always printed.
const fn always(name: &'static str, kind: GoType) -> GoField {
    field(name, kind).always()
}

impl GoField {
    pub(crate) const fn of(self, kind: GoType) -> Self {
        Self { kind, ..self }
    }

    pub(crate) const fn always(self) -> Self {
        Self { presence: Presence::Always, ..self }
    }

    pub(crate) const fn omit_zero(self) -> Self {
        Self { presence: Presence::OmitZero, ..self }
    }

    pub(crate) const fn patched(self, patch: PatchStrategy) -> Self {
        Self { patch, ..self }
    }

    pub(crate) const fn embedded_in(self, embedded: &'static str) -> Self {
        Self { embedded, ..self }
    }
}

/// `[]string`
pub(crate) const STRINGS: GoType = GoType::List(&GoType::String);

/// `map[string]string`
const STRING_MAP: GoType = GoType::Map(&GoType::String);

/// `*bool`
const OPTIONAL_BOOL: GoType = GoType::Pointer(&GoType::Bool);

/// `*int64`
pub(crate) const OPTIONAL_INT64: GoType = GoType::Pointer(&GoType::Int64);

/// `*string`
const OPTIONAL_STRING: GoType = GoType::Pointer(&GoType::String);

#[cfg(test)]
mod tests;
