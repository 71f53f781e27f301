//! Go's small languages as Argo CD, Helm and Kubernetes use them: templates, patterns, URLs, and versions of charts.
//!
//! Each module follows one Go library, errors included. All are functions of their arguments.

pub mod glob;
pub mod gotemplate;
pub mod json;
pub mod path;
pub mod strconv;
pub mod url;
pub mod versions;
