//! Go templates as Argo CD renders them in application sets, and Helm in charts.
//!
//! [`Template`] is Go's `text/template` with the functions of sprig and those of Argo CD, [`TemplateSet`] with those of Helm; [`replace`] is the simple form `{{key}}`
//! (fasttemplate). The rules are those of the Go version that Argo CD is built with. Nothing here reads a clock, the environment, files or
//! the network: the time and a random seed are [`Options`], and functions that create keys or passwords are refused.

mod datetime;
mod execute;
mod fasttemplate;
mod flatten;
mod format;
mod functions;
mod lex;
mod limits;
mod number;
mod options;
mod parse;
mod reflected;
mod set;
mod template;
mod tree;
pub(crate) mod unicode;
mod value;

pub use datetime::{is_rfc3339, parse_duration};
pub use execute::{ExecuteError, FunctionError};
pub use fasttemplate::{ReplaceError, replace};
pub use flatten::{flatten, go_string};
pub use functions::{compile_regex, normalize, slug};
pub use limits::{LimitError, Limits};
pub use options::{MissingKey, OptionError, Options};
pub use parse::ParseError;
pub use set::{Execution, TemplateSet};
pub use template::{Dialect, Output, Template};
pub use unicode::lower_case;
pub use value::{ConvertError, List, Map, Special, Str, Value};
