//! When a set is generated again.

use tiphys_model::resources::{ApplicationSet, Generator, GeneratorEntry, GeneratorKind};

/// Default of Argo CD's setting for generators that ask git, a registry or a cluster, in seconds.
pub const DEFAULT_REQUEUE_SECONDS: u64 = 180;

/// Default of generators that ask other services, in seconds.
const SERVICE_SECONDS: i64 = 1800;

/// Returns the requeue interval of the generators of a set in seconds: the lowest `requeueAfterSeconds`. 0 counts as unset. `default`
/// is that of `git`, `oci` and `clusterDecisionResource` generators, see [`DEFAULT_REQUEUE_SECONDS`].
pub fn requeue_after_seconds(set: &ApplicationSet, default: u64) -> Option<u64> {
    let default = i64::try_from(default).unwrap_or(i64::MAX);
    lowest(&set.generators, default).and_then(|seconds| u64::try_from(seconds).ok())
}

fn lowest(entries: &[GeneratorEntry], default: i64) -> Option<i64> {
    entries.iter().flat_map(|entry| &entry.generators).filter_map(|generator| wish(generator, default)).min()
}

fn wish(generator: &Generator, default: i64) -> Option<i64> {
    let default = match &generator.kind {
        GeneratorKind::List(_) | GeneratorKind::Clusters(_) => return None,
        GeneratorKind::Matrix(entries) => return lowest(entries, default),
        GeneratorKind::Merge(merge) => return lowest(&merge.generators, default),
        GeneratorKind::Git(_) | GeneratorKind::Oci(_) | GeneratorKind::ClusterDecisionResource(_) => default,
        GeneratorKind::ScmProvider(_) | GeneratorKind::PullRequest(_) | GeneratorKind::Plugin(_) => {
            SERVICE_SECONDS
        }
    };
    Some(generator.requeue_after_seconds.unwrap_or(default)).filter(|seconds| *seconds != 0)
}

#[cfg(test)]
mod tests;
