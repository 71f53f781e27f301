//! Arguments of `affected`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use tiphys_service::compare::{HeadReferences, Rendering, RevisionOptions};

use super::base::{PluginsFrom, base_revision};
use super::{ApplicationArgs, shared};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys affected --repo . --base origin/main --merge-base       one name per line
  tiphys affected --repo . --base HEAD^ -o json | jq -r '.[] | select(.change == \"added\").application'

An application is listed if its inputs differ from those at REV, or are not known to be equal. Added and removed applications are listed,
too. Nothing is rendered, so the manifests of a listed application may be equal. `tiphys inputs` prints what an application is made from.

Exit code: 0 whether or not applications are listed, 2 or greater for errors. After an error, stderr says that the list is not complete.")]
pub(crate) struct AffectedArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,

    /// Compare with a revision of the store and of the `--repo` folders: a branch, `origin/main`, a tag, a commit, `HEAD^`
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    base: String,

    /// Compare with the merge base of REV and HEAD, like `git diff --merge-base`
    #[arg(long)]
    merge_base: bool,

    /// Side whose plugins count if `--plugins` names a path in a compared work tree
    #[arg(long, value_name = "SIDE", default_value = "base")]
    plugins_from: PluginsFrom,

    /// Do not exit with 5 because of applications and application sets that could not be compared
    #[arg(long)]
    pub(crate) allow_not_compared: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

impl AffectedArgs {
    /// Returns the revision to compare with.
    pub(crate) fn revision(&self) -> RevisionOptions {
        RevisionOptions {
            base: base_revision(&self.base, self.merge_base),
            plugins_from: self.plugins_from.into(),
            head_references: HeadReferences::Unresolved,
            rendering: Rendering::Changed,
            follow: false,
        }
    }
}
