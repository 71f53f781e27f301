//! Arguments of `diff --base`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

/// Which two revisions are compared, and whose plugins run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparing revisions")]
pub(crate) struct BaseArgs {
    /// Compare with a revision of the store and of the `--repo` folders: a branch, `origin/main`, a tag, a commit, `HEAD^`
    ///
    /// All applications of the store at REV are compared with those of the working copy, uncommitted files included. Each `--store` must lie
    /// in a git work tree and is read from its objects; nothing is checked out and no file of the work tree is touched. Where a `--repo` folder's
    /// files stand for its repository now, its commit REV does on the other side; any other revision or repository is the same on both sides.
    /// REV is looked up in each of the repositories.
    ///
    /// An application that is only on one side is added or removed; one that was renamed is both. Applications whose inputs are equal on
    /// both sides are not rendered: the sources, the files that they are made from (`argocd.argoproj.io/manifest-generate-paths` says
    /// which of a repository those are; of plain manifests they are the application's folder), destination, project, settings and plugin. The commit is no
    /// input: a plugin that prints `ARGOCD_APP_REVISION` shows it where something else has changed too.
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) base: Option<String>,

    /// Compare with the commit where HEAD began to differ from REV, as `git diff --merge-base` does
    #[arg(long, requires = "base")]
    pub(crate) merge_base: bool,

    /// Which side's plugins run, if `--plugins` names a path in one of the work trees that are compared
    ///
    /// A change must not choose the commands that check it, so that the plugins are those of REV on both sides; those outside of the work
    /// trees, and those installed with tiphys, are used as they are. With `head` or `each` the commands of the change run with all that this process may do:
    /// only for changes that are trusted. With `base` also the repository Secrets and kustomize's build options are those of the store at REV.
    ///
    /// Whichever side: a plugin that runs files of the application's folder (`./render.sh`), or lets its tool do so, runs the change's files.
    #[arg(long, value_name = "SIDE", requires = "base", default_value = "base")]
    pub(crate) plugins_from: PluginsFrom,
}

/// Where the plugins of a work tree that is compared are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginsFrom {
    /// From REV, for both sides
    Base,
    /// From the working copy, for both sides
    Head,
    /// For each side its own
    Each,
}
