//! Functions of templates: their types, and what they have access to.

#![expect(clippy::unnecessary_wraps, reason = "all functions of templates have one type")]

mod argo;
mod builtin;
mod case;
mod compare;
mod dates;
mod decimal;
mod defaults;
mod dicts;
mod encoding;
mod escape;
mod helm;
mod helm3;
mod index;
mod json;
mod lists;
mod math;
mod merge;
mod paths;
mod random;
mod reflection;
mod refused;
mod regex;
mod semver;
mod strings;
mod url;
mod wrap;
mod yaml;

pub use argo::{normalize, slug};
pub(crate) use encoding::base64;
pub use regex::compile_regex;
pub(crate) use strings::replaced;
pub(crate) use yaml::yaml_of;

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::gotemplate::datetime::DateTime;
use crate::gotemplate::execute::FunctionError;
use crate::gotemplate::limits::{Budget, LimitError};
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::template::Dialect;
use crate::gotemplate::value::{List, Map, Named, Special, Str, Value};
use crate::gotemplate::{ConvertError, Options};

/// Why a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The message that follows `error calling NAME: `.
    Message(String),
    /// A message, and what it is about.
    Caused(String, FunctionError),
    /// A limit is exceeded.
    Limit(LimitError),
}

impl Failure {
    /// Returns a failure with a message about what only the `helm` program can do.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::Caused(message.into(), FunctionError::Unsupported)
    }
}

impl From<LimitError> for Failure {
    fn from(limit: LimitError) -> Self {
        Self::Limit(limit)
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Limit(limit) => Self::Limit(limit),
            error @ ConvertError::Number(_) => Self::Message(error.to_string()),
            error @ ConvertError::Unsupported(_) => Self::unsupported(error.to_string()),
        }
    }
}

/// Returns a failure with a message.
fn fail<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Message(message.into()))
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `interface {}`
    Any,
    /// `reflect.Value`: any value with its static type.
    Reflect,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float64`
    Float,
    /// `string`
    String,
    /// `map[string]interface {}`
    Map,
    /// `time.Time`
    Date,
}

impl Type {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Reflect => "reflect.Value",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float64",
            Self::String => "string",
            Self::Map => "map[string]interface {}",
            Self::Date => "time.Time",
        }
    }

    pub(crate) fn can_be_nil(self) -> bool {
        matches!(self, Self::Any | Self::Reflect | Self::Map)
    }

    /// Returns whether a value of this type can be assigned without conversion.
    pub(crate) fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Any | Self::Reflect => true,
            Self::Map => matches!(value, Value::Map(map) if !map.holds_strings()),
            typed => typed.name() == value.type_name(),
        }
    }
}

type Outcome = Result<Value, Failure>;

/// Implementation of a function.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Returns a value of its own type.
    Plain(fn(&mut Call<'_>) -> Outcome),
    /// Returns a value of type `interface {}`.
    Any(fn(&mut Call<'_>) -> Outcome),
    /// Returns a value with its static type.
    Reflect(fn(&mut Call<'_>) -> Result<Reflected, Failure>),
    /// `and`, which evaluates its own arguments.
    And,
    /// `or`, which evaluates its own arguments.
    Or,
    /// `call`, which fails because no value is a function.
    Call,
    /// `tpl`, which executes its first argument.
    Tpl,
    /// `include`, which executes the template that its first argument names.
    Include,
}

/// A function.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Type],
    /// The type of further arguments.
    pub(crate) rest: Option<Type>,
    pub(crate) body: Body,
    /// Whether it can change its arguments.
    pub(crate) changes_data: bool,
    /// Whether it returns something else at each call.
    is_volatile: bool,
    /// Whether the language has it, and this program does not.
    pub(crate) is_missing: bool,
}

impl Function {
    const fn of(name: &'static str, parameters: &'static [Type], body: Body) -> Self {
        Self {
            name,
            parameters,
            rest: None,
            body,
            changes_data: false,
            is_volatile: false,
            is_missing: false,
        }
    }

    const fn new(
        name: &'static str,
        parameters: &'static [Type],
        body: fn(&mut Call<'_>) -> Outcome,
    ) -> Self {
        Self::of(name, parameters, Body::Plain(body))
    }

    const fn any(
        name: &'static str,
        parameters: &'static [Type],
        body: fn(&mut Call<'_>) -> Outcome,
    ) -> Self {
        Self::of(name, parameters, Body::Any(body))
    }

    const fn and(mut self, rest: Type) -> Self {
        self.rest = Some(rest);
        self
    }

    const fn changing(mut self) -> Self {
        self.changes_data = true;
        self
    }

    const fn volatile(mut self) -> Self {
        self.is_volatile = true;
        self
    }

    const fn missing(mut self) -> Self {
        self.is_missing = true;
        self
    }

    /// Returns the type of the argument at an index.
    pub(crate) fn parameter(&self, index: usize) -> Type {
        self.parameters.get(index).copied().or(self.rest).unwrap_or(Type::Any)
    }

    /// Calls the function.
    pub(crate) fn call(&self, call: &mut Call<'_>) -> Result<Reflected, Failure> {
        if self.is_volatile {
            call.context.volatile.insert(self.name);
        }
        let result = match self.body {
            Body::Plain(body) => Reflected::Plain(body(call)?),
            Body::Any(body) => Reflected::Interface(body(call)?),
            Body::Reflect(body) => body(call)?,
            Body::And | Body::Or | Body::Call | Body::Tpl | Body::Include => Reflected::Invalid,
        };
        match result.value() {
            Value::String(string) => call.context.budget.take_bytes(string.len())?,
            Value::List(list) => call.context.budget.take(list.len())?,
            Value::Map(map) => call.context.budget.take(map.len())?,
            _ => {}
        }
        Ok(result)
    }
}

/// Finds a function by its name.
pub(crate) fn find(name: &str, dialect: Dialect) -> Option<&'static Function> {
    type Functions = HashMap<&'static str, &'static Function>;
    static OF_ARGO_CD: LazyLock<Functions> = LazyLock::new(|| functions(&[argo::FUNCTIONS], &[]));
    static OF_HELM_3: LazyLock<Functions> =
        LazyLock::new(|| functions(&[helm::FUNCTIONS, helm3::FUNCTIONS], &helm3::MISSING));
    static OF_HELM_4: LazyLock<Functions> = LazyLock::new(|| functions(&[helm::FUNCTIONS], &[]));

    fn functions(of_dialect: &[&'static [Function]], missing: &[&str]) -> Functions {
        let all = [
            // Functions of sprig replace those of the language.
            builtin::FUNCTIONS,
            compare::FUNCTIONS,
            escape::FUNCTIONS,
            index::FUNCTIONS,
            case::FUNCTIONS,
            dates::FUNCTIONS,
            defaults::FUNCTIONS,
            dicts::FUNCTIONS,
            encoding::FUNCTIONS,
            json::FUNCTIONS,
            lists::FUNCTIONS,
            math::FUNCTIONS,
            merge::FUNCTIONS,
            paths::FUNCTIONS,
            random::FUNCTIONS,
            reflection::FUNCTIONS,
            refused::FUNCTIONS,
            regex::FUNCTIONS,
            semver::FUNCTIONS,
            strings::FUNCTIONS,
            url::FUNCTIONS,
            wrap::FUNCTIONS,
        ];
        let all = all.iter().chain(of_dialect).copied().flatten();
        let all = all.filter(|function| !missing.contains(&function.name));
        all.map(|function| (function.name, function)).collect()
    }

    match dialect {
        Dialect::ArgoCd => OF_ARGO_CD.get(name),
        Dialect::Helm3 => OF_HELM_3.get(name),
        Dialect::Helm4 => OF_HELM_4.get(name),
    }
    .copied()
}

/// State of one execution that functions can access.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) budget: Budget,
    now: SystemTime,
    random: u64,
    volatile: BTreeSet<&'static str>,
    /// Maps that functions changed, which may contain each other.
    changed: Vec<Map>,
    /// Compiled regular expressions.
    expressions: HashMap<Str, ::regex::bytes::Regex>,
    /// The number of running executions of each template by `include`.
    pub(crate) included: HashMap<Str, usize>,
}

impl Context {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            budget: Budget::new(options.limits),
            now: options.now,
            random: options.random,
            volatile: BTreeSet::new(),
            changed: Vec::new(),
            expressions: HashMap::new(),
            included: HashMap::new(),
        }
    }

    /// Returns the volatile functions that were called.
    pub(crate) fn finish(mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.volatile).into_iter().collect()
    }

    /// Returns the next random number (`SplitMix64`).
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn now(&self) -> DateTime {
        let since = |time: std::time::Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        match self.now.duration_since(UNIX_EPOCH) {
            Ok(after) => DateTime::from_unix(since(after), after.subsec_nanos()),
            Err(before) => DateTime::from_unix(-since(before.duration()), 0),
        }
    }
}

/// Frees maps that contain each other.
impl Drop for Context {
    fn drop(&mut self) {
        for map in &self.changed {
            map.clear();
        }
    }
}

/// A call of a function. The types of the arguments have been checked.
pub(crate) struct Call<'a> {
    arguments: Vec<Reflected>,
    /// The name of the function.
    name: &'static str,
    context: &'a mut Context,
}

impl<'a> Call<'a> {
    pub(crate) fn new(name: &'static str, arguments: Vec<Reflected>, context: &'a mut Context) -> Self {
        Self { arguments, name, context }
    }

    fn budget(&mut self) -> &mut Budget {
        &mut self.context.budget
    }

    fn reflected(&self, index: usize) -> Reflected {
        self.arguments.get(index).cloned().unwrap_or(Reflected::Invalid)
    }

    fn value(&self, index: usize) -> Value {
        self.arguments.get(index).map_or(Value::Nil, Reflected::value)
    }

    /// Returns the values from an index on.
    fn values(&self, from: usize) -> Vec<Value> {
        self.arguments.iter().skip(from).map(Reflected::value).collect()
    }

    fn string(&self, index: usize) -> Str {
        match self.value(index) {
            Value::String(string) => string,
            _ => "".into(),
        }
    }

    /// Returns a string with invalid UTF-8 replaced.
    fn text(&self, index: usize) -> String {
        self.string(index).lossy().into_owned()
    }

    fn integer(&self, index: usize) -> i64 {
        self.value(index).as_integer().unwrap_or(0)
    }

    fn boolean(&self, index: usize) -> bool {
        matches!(self.value(index), Value::Bool(true))
    }

    fn float(&self, index: usize) -> Option<f64> {
        match self.value(index) {
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    fn map(&self, index: usize) -> Map {
        match self.value(index) {
            Value::Map(map) => map,
            _ => Map::nil(),
        }
    }

    fn date(&self, index: usize) -> DateTime {
        match self.value(index) {
            Value::Special(Special(Named::Date(date))) => date,
            _ => DateTime::zero(),
        }
    }

    /// Returns a list, or fails with `Cannot ACTION KIND`.
    fn list(&mut self, index: usize, action: &str) -> Result<List, Failure> {
        match self.value(index) {
            Value::List(list) => {
                self.budget().take(list.len())?;
                Ok(list)
            }
            Value::Nil => fail("runtime error: invalid memory address or nil pointer dereference"),
            other => fail(format!("Cannot {action} {}", other.kind())),
        }
    }

    /// Formats a value like `fmt.Sprint`, or as it is if it is a string.
    fn written(&mut self, value: &Value) -> Result<Str, Failure> {
        match value {
            Value::String(string) => Ok(string.clone()),
            Value::Special(Special(Named::Bytes(bytes))) => Ok(bytes.clone()),
            value => Ok(crate::gotemplate::format::print(self.budget(), std::slice::from_ref(value))?.into()),
        }
    }
}

#[cfg(test)]
mod tests;
