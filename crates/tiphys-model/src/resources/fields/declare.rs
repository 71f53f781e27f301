//! The declaration of a struct that tiphys reads: a line per field. Its Go type, its decoder and its JSON are derived from it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use tiphys_yaml::{Data, DecodeError, Node, Object};

use super::{GoField, GoStruct, GoType, Presence};
use crate::params::{Parameter, Parameters};
use crate::resources::Findings;
use crate::resources::decode::items;

/// Declares a struct of Argo CD's Go code that tiphys reads.
///
/// A line is `pub NAME: TYPE = "JSON NAME"`, followed by calls of [`GoField`]'s methods where the field is not printed, patched or named by the
/// rule for its type. `_ = FIELD` is a field of Go's struct that tiphys does not read. Below `own` are fields that Argo CD does not have;
/// below `unwritten` are those that no document has.
macro_rules! go_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident = $go_name:literal {
            $(
                $(
                    $(#[$doc:meta])*
                    pub $field:ident: $kind:ty = $json:literal $(.$method:ident($($argument:expr)?))*
                )?
                $(_ = $unread:expr)?
                ,
            )*
        }
        $(own {$(
            $(#[$own_doc:meta])*
            pub $own:ident: $own_kind:ty = $own_json:literal,
        )*})?
        $(unwritten {$(
            $(#[$unwritten_doc:meta])*
            pub $unwritten:ident: $unwritten_kind:ty,
        )*})?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($($(#[$doc])* pub $field: $kind,)?)*
            $($($(#[$own_doc])* pub $own: $own_kind,)*)?
            $($($(#[$unwritten_doc])* pub $unwritten: $unwritten_kind,)*)?
        }

        impl $crate::resources::GoFields for $name {
            const GO: $crate::resources::GoStruct = $crate::resources::GoStruct {
                own: &[$($(go_struct!(@row $own_kind, $own_json),)*)?],
                ..$crate::resources::GoStruct::new(
                    $go_name,
                    &[$(
                        $(go_struct!(@row $kind, $json $(.$method($($argument)?))*),)?
                        $($unread,)?
                    )*],
                )
            };

            fn read_fields(
                object: &mut ::tiphys_yaml::Object<'_>,
                findings: &mut $crate::resources::Findings,
            ) -> Result<Self, ::tiphys_yaml::DecodeError> {
                use $crate::resources::fields::GoValue;
                Ok(Self {
                    $($($field: GoValue::of_field(
                        object,
                        &go_struct!(@row $kind, $json $(.$method($($argument)?))*),
                        findings,
                    )?,)?)*
                    $($($own: GoValue::of_field(object, &go_struct!(@row $own_kind, $own_json), findings)?,)*)?
                    $($($unwritten: Default::default(),)*)?
                })
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::resources::fields::write_field;
                let mut map = serializer.serialize_map(None)?;
                $($(write_field(
                    &mut map,
                    &go_struct!(@row $kind, $json $(.$method($($argument)?))*),
                    &self.$field,
                )?;)?)*
                $($(write_field(&mut map, &go_struct!(@row $own_kind, $own_json), &self.$own)?;)*)?
                ::serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@row $kind:ty, $json:literal $(.$method:ident($($argument:expr)?))*) => {
        const {
            $crate::resources::fields::field($json, <$kind as $crate::resources::fields::GoValue>::TYPE)
                $(.$method($($argument)?))*
        }
    };
}
pub(crate) use go_struct;

/// A struct that `go_struct` declares.
pub trait GoFields: Default + PartialEq + Serialize {
    /// The struct in the table of Go's fields.
    const GO: GoStruct;

    /// Reads the fields of an object by Go's rules. Others are neither checked nor reported.
    fn read_fields(object: &mut Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError>;

    /// Reads an object by Go's rules, and records the fields that the struct does not have.
    fn read(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let read = Self::read_fields(&mut object, findings)?;
        findings.add_unknown(&object, &Self::GO);
        Ok(read)
    }

    /// Reads a JSON object by Go's rules. Unknown fields are ignored, and the position of an error is meaningless.
    fn of_json(value: &Value) -> Result<Self, DecodeError> {
        Self::read_fields(&mut Object::new(&Node::from(value), "")?, &mut Findings::default())
    }
}

/// A type of a field of [`GoFields`].
pub(crate) trait GoValue: Default + PartialEq + Serialize {
    /// Its type in Go.
    const TYPE: GoType;

    /// Reads a field of an object by Go's rules. A missing field and `null` are the default.
    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError>;
}

/// Writes a field, unless it has the default and Go omits that.
pub(crate) fn write_field<M: SerializeMap>(
    map: &mut M,
    field: &GoField,
    value: &impl GoValue,
) -> Result<(), M::Error> {
    if field.presence == Presence::Always || *value != Default::default() {
        map.serialize_entry(field.name, value)?;
    }
    Ok(())
}

impl GoValue for String {
    const TYPE: GoType = GoType::String;

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        Ok(object.text(field.name)?.unwrap_or_default().to_owned())
    }
}

/// A string whose empty value is none.
impl GoValue for Option<String> {
    const TYPE: GoType = GoType::String;

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        Ok(Some(String::of_field(object, field, findings)?).filter(|text| !text.is_empty()))
    }
}

impl GoValue for bool {
    const TYPE: GoType = GoType::Bool;

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        Ok(object.boolean(field.name)?.unwrap_or_default())
    }
}

impl GoValue for Vec<String> {
    const TYPE: GoType = GoType::List(&GoType::String);

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        Ok(object.texts(field.name)?.unwrap_or_default())
    }
}

impl GoValue for BTreeMap<String, String> {
    const TYPE: GoType = GoType::Map(&GoType::String);

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        Ok(object.text_map(field.name)?.unwrap_or_default())
    }
}

impl GoValue for BTreeMap<String, bool> {
    const TYPE: GoType = GoType::Map(&GoType::Bool);

    /// Reads a map; a `null` value is false, as in Go.
    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        let Some(node) = object.get(field.name) else { return Ok(Self::new()) };
        let path = object.path_of(field.name);
        let Data::Mapping(entries) = &node.data else {
            return Err(DecodeError::mismatch(node, &path, "an object"));
        };
        let entry = |key: &str, value: &Node| match value.data {
            Data::Bool(value) => Ok((key.to_owned(), value)),
            Data::Null => Ok((key.to_owned(), false)),
            _ => Err(DecodeError::mismatch(value, &format!("{path}.{key}"), "a boolean")),
        };
        entries.iter().map(|one| entry(&one.key.text, &one.value)).collect()
    }
}

/// JSON as it is written. If Go's type is a struct, it must be an object.
impl GoValue for Option<Value> {
    const TYPE: GoType = GoType::Pointer(&GoType::Free("runtime.RawExtension"));

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        match object.get(field.name) {
            Some(node)
                if matches!(field.kind.base(), GoType::Struct(_))
                    && !matches!(node.data, Data::Mapping(_)) =>
            {
                Err(DecodeError::mismatch(node, &object.path_of(field.name), "an object"))
            }
            node => Ok(node.map(Node::to_value)),
        }
    }
}

/// The plugin's parameters, whose warnings are recorded.
impl GoValue for Option<Vec<Parameter>> {
    const TYPE: GoType = super::application::PLUGIN_PARAMETERS;

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        let Some(node) = object.get(field.name) else { return Ok(None) };
        let parameters = Parameters::decode(node, &object.path_of(field.name))?;
        findings.warnings.extend(parameters.warnings);
        Ok(parameters.list)
    }
}

impl<T: GoFields> GoValue for T {
    const TYPE: GoType = GoType::Struct(&T::GO);

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        Ok(Option::<T>::of_field(object, field, findings)?.unwrap_or_default())
    }
}

impl<T: GoFields> GoValue for Option<T> {
    const TYPE: GoType = GoType::Pointer(&T::TYPE);

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        object.object(field.name)?.map(|object| GoFields::read(object, findings)).transpose()
    }
}

impl<T: GoFields> GoValue for Vec<T> {
    const TYPE: GoType = GoType::List(&T::TYPE);

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        Ok(Option::<Self>::of_field(object, field, findings)?.unwrap_or_default())
    }
}

/// A list for which missing and empty differ.
impl<T: GoFields> GoValue for Option<Vec<T>> {
    const TYPE: GoType = <Vec<T> as GoValue>::TYPE;

    fn of_field(
        object: &mut Object<'_>,
        field: &GoField,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        items(object, field.name, |node, path| GoFields::read(Object::new(node, path)?, findings))
    }
}

#[cfg(test)]
mod tests;
