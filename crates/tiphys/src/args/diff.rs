//! Arguments of `diff`, and how differences are printed.

use clap::{ArgAction, Args};

use super::{ApplicationArgs, BaseArgs};

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys diff --repo . --cluster-state live/              what a sync would change in the cluster that live/ is a copy of
  tiphys diff guestbook --cluster-state prod=live/prod    one application, whose destination is named prod
  tiphys diff --cluster-state live/ -o markdown           for a comment on a pull request
  tiphys diff --repo . --base origin/main --merge-base    what this branch changes in the manifests of all applications

Exit code: 0 if nothing differs, 1 if something does, 2 and more if something failed.
Without -o, KUBECTL_EXTERNAL_DIFF may name a program that shows the differences: it gets two folders, as from kubectl.")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
}

/// What `--help` says first.
pub(crate) const LONG_ABOUT: &str = "Show what differs in the manifests of applications: from what is live, or between two revisions

With --cluster-state, the rendered manifests are compared with live objects. With --base REV, all applications of the store at REV are \
compared with those of the working copy, uncommitted files included. Each --store must lie in a git work tree and is read from its objects: \
nothing is checked out, and nothing of the work tree is touched. Where the files of a --repo folder stand for its repository now, the commit REV does on \
the other side; any other revision or repository is the same on both. REV is looked up in each of the repositories.

An application that is on one side only is added or removed; one that was renamed is both. Applications whose inputs are equal on both sides \
are not rendered: their sources, the files that these are made from, destination, project, settings and plugin. The files are the whole repository, or what \
the annotation argocd.argoproj.io/manifest-generate-paths says; of plain manifests, the application's folder. The commit is no input: a plugin that \
prints ARGOCD_APP_REVISION shows it where something else has changed, too.

What a change may run: plugins that --plugins names in a work tree that is compared are those of REV on both sides, since a change must not choose the \
commands that check it; so are repository Secrets and kustomize's build options of the store. Compared are all work trees that a --store, an \
APP that is a path, a --repo folder or the current folder lies in. In a work tree within another one REV is the inner one's, unless the change \
has put it in the place of something else, which is refused. With --plugins-from head or each the \
change's own are used, which run with all that this process may do; with each, no input of a plugin's application is equal once a file of the \
plugin's work tree differs. Plugins outside of these work trees are used as they are. \
Whichever side they come from: a plugin that runs files of the application's folder (./render.sh), or lets its tool do so, runs the change's files.";

/// How differences are printed.
#[derive(Debug, Args)]
pub(crate) struct DiffOutputArgs {
    /// Equal lines around each difference
    #[arg(short = 'U', long, value_name = "N", default_value_t = tiphys_engine::diff::DEFAULT_CONTEXT_LINES)]
    pub(crate) context_lines: usize,

    /// Exit with 1 if something differs; `--exit-code=false`: with 0
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub(crate) exit_code: bool,

    /// Bytes of a comment that -o markdown writes; what does not fit is counted and named. GitHub takes 65,536
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    max_bytes: u64,

    /// No colours, even on a terminal
    #[arg(long)]
    pub(crate) no_color: bool,
}

impl DiffOutputArgs {
    /// Bytes of a comment.
    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(usize::MAX)
    }
}
