//! Arguments of `diff`, and options for printing differences.

use clap::{ArgAction, Args};
use regex::Regex;

use super::{ApplicationArgs, BaseArgs, FollowArgs, shared};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys diff --repo . --cluster-state live/              what a sync would change, live/ being a dump of the cluster
  tiphys diff guestbook --cluster-state prod=live/prod    one application with the destination named prod
  tiphys diff --cluster-state live/ -o markdown           for a comment on a pull request
  tiphys diff -o html > report.html                       a report for a browser, in one file
  tiphys diff                                             what this branch changes in the manifests of all applications
  tiphys diff --base origin/main --merge-base             the same with a branch by name

Exit code: 0 without differences, 1 with differences, 2 or greater for errors.
Without -o, the program in KUBECTL_EXTERNAL_DIFF shows the differences. As with kubectl, its arguments are two folders.")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) following: FollowArgs,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

/// The description in `--help`.
pub(crate) const LONG_ABOUT: &str = "Compare the manifests of applications with live objects, or between two revisions

With --cluster-state, the rendered manifests are compared with live objects. With --base REV, all applications of the store at REV are \
compared with those of the working copy, uncommitted files included; clusters and folders of --cluster-state then only answer dynamic \
parameters. Without --base and without clusters, the base is the merge base of the remote's default branch and HEAD. Each --store must be in a git work tree. The base is read from git \
objects: nothing is checked out, and the work tree is not changed. Where the files of a --repo folder replace its repository on the side \
of the working copy, the commit REV replaces it on the other side. All other revisions and repositories are the same on both sides. REV is \
resolved in each repository.

An application that exists on one side only is reported as added or removed, a renamed one as both. Applications with the same inputs on \
both sides are not rendered. Inputs are the sources and their files, destination, project, settings and plugin. The files are those that \
the result can depend on: a chart with its value files, everything that a kustomization names, the files of a directory; or those of the \
annotation argocd.argoproj.io/manifest-generate-paths. If anything is not understood, they are the whole repository. `tiphys inputs` prints \
them, and --render-all renders all applications. The commit is not an input: a plugin that prints ARGOCD_APP_REVISION shows a new one only \
if another input differs as well.

A change must not choose the commands that check it. If --plugins names a path in a compared work tree, the plugins of REV run for both \
sides; repository Secrets and kustomize build options of the store are also those of REV. Compared work trees are those that contain a \
--store, an APP path, a --repo folder or the current folder. In a nested work tree, REV is resolved in the inner repository, unless the \
change put the inner repository there, which is an error. With --plugins-from head or each, the plugins of the change run with all \
permissions of this process; with each, a difference in the plugin's work tree changes the inputs of all its applications. Plugins outside \
of the compared work trees are used as they are. On either side, a plugin that runs files of the application's folder (./render.sh), or \
whose tool does so, runs the files of that side.";

// Options for printing differences.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct DiffOutputArgs {
    /// Number of unchanged lines around each difference
    #[arg(short = 'U', long, value_name = "N", default_value_t = tiphys_engine::diff::DEFAULT_CONTEXT_LINES)]
    pub(crate) context_lines: usize,

    /// Exit with 1 if there are differences; with `--exit-code=false` exit with 0
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub(crate) exit_code: bool,

    /// Leave out changed lines that match, such as `helm.sh/chart:`; repeat for more. They are counted, and still exit with 1
    #[arg(long, value_name = "REGEX")]
    pub(crate) ignore_lines: Vec<Regex>,

    /// Exit with 0 if nothing but ignored lines differs
    #[arg(long, requires = "ignore_lines")]
    pub(crate) ignore_lines_exit: bool,

    /// Do not exit with 5 because of applications and application sets that could not be compared
    #[arg(long)]
    pub(crate) allow_not_compared: bool,

    /// Maximum size of the comment that -o markdown prints, in bytes. What does not fit is listed and counted. GitHub accepts 65,536
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    max_bytes: u64,

    /// Disable colours
    #[arg(long)]
    pub(crate) no_color: bool,
}

impl DiffOutputArgs {
    /// Returns the maximum size of a comment in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(usize::MAX)
    }
}
