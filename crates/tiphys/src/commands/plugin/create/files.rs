//! The files of a new plugin. They are files of this source tree, so that editors, `ShellCheck` and `plugin test` check them.

use tiphys_plugin::config::{SCHEMA, SCHEMA_FILE};

/// Placeholder of the plugin's name in paths and contents.
pub(super) const PLACEHOLDER: &str = "template-name";

/// A file to write.
pub(super) struct File {
    /// Path in the plugin's directory, with the placeholder.
    pub(super) path: &'static str,
    /// Content, with the placeholder.
    pub(super) text: &'static str,
    pub(super) mode: Mode,
}

/// Whether a file is executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Executable,
}

/// A file in `template`.
macro_rules! file {
    ($path:literal, $mode:ident) => {
        File { path: $path, text: include_str!(concat!("template/", $path)), mode: Mode::$mode }
    };
}

/// All files.
pub(super) const FILES: &[File] = &[
    file!("Dockerfile", Plain),
    file!("README.md", Plain),
    file!("generate.jq", Plain),
    file!("generate.sh", Executable),
    file!("parameters.sh", Executable),
    file!("plugin.yaml", Plain),
    file!("testdata/every-parameter/announcement.json", Plain),
    file!("testdata/every-parameter/app.yaml", Plain),
    file!("testdata/every-parameter/expected.yaml", Plain),
    file!("testdata/every-parameter/tree/app/template-name.json", Plain),
    file!("testdata/odd-values/app.yaml", Plain),
    file!("testdata/odd-values/expected.yaml", Plain),
    file!("testdata/odd-values/tree/app/template-name.json", Plain),
    file!("testdata/owner-missing/app.yaml", Plain),
    file!("testdata/owner-missing/error.txt", Plain),
    file!("testdata/owner-missing/tree/app/template-name.json", Plain),
    File { path: SCHEMA_FILE, text: SCHEMA, mode: Mode::Plain },
];

#[cfg(test)]
mod tests;
