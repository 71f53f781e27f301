//! The dependency graph that cargo resolved.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use cargo_metadata::{DependencyKind, FeatureName, MetadataCommand};

use crate::Failure;

/// The supported platforms; dependencies of other platforms are ignored.
pub(super) const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// All packages that at least one of [`PLATFORMS`] needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The packages; dependencies are indexes into this list.
    pub(crate) packages: Vec<Package>,
}

/// One package.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// Name.
    pub(crate) name: String,
    /// Version.
    pub(crate) version: String,
    /// Its place in this workspace; `None` for a third-party library.
    pub(crate) member: Option<Member>,
    /// The licence expression in its manifest.
    pub(crate) licence: Option<String>,
    /// The dependencies.
    pub(crate) dependencies: Vec<Dependency>,
}

/// The place of a crate of the workspace, relative to the workspace's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its directory.
    pub(crate) dir: String,
    /// The root source files of its targets.
    pub(crate) roots: Vec<String>,
}

/// An edge of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// Index of the required package.
    pub(crate) package: usize,
    /// The kinds of the dependency.
    pub(crate) needs: BTreeSet<Need>,
}

/// A kind of dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// In the program.
    Normal,
    /// While it is built.
    Build,
    /// In tests.
    Test,
}

impl Package {
    /// Returns its dependencies of these kinds.
    pub(crate) fn needs(&self, when: &[Need]) -> impl Iterator<Item = usize> {
        let wanted: BTreeSet<Need> = when.iter().copied().collect();
        self.dependencies.iter().filter(move |edge| !edge.needs.is_disjoint(&wanted)).map(|edge| edge.package)
    }
}

impl Graph {
    /// Runs cargo with `--locked`: a check must not write.
    pub(crate) fn of_workspace(root: &Path) -> Result<Self, Failure> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(options())
            .exec()
            .map_err(|error| Failure::new(format!("{error}\n(`cargo check` updates a stale lock file)")))?;
        let relative =
            |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
        let mut indices = BTreeMap::new();
        let mut packages = Vec::new();
        for package in &metadata.packages {
            indices.insert(&package.id, packages.len());
            let member = members.contains(&package.id).then(|| Member {
                dir: package
                    .manifest_path
                    .parent()
                    .map(|dir| relative(dir.as_std_path()))
                    .unwrap_or_default(),
                roots: package.targets.iter().map(|target| relative(target.src_path.as_std_path())).collect(),
            });
            packages.push(Package {
                name: package.name.to_string(),
                version: package.version.to_string(),
                member,
                licence: package.license.clone(),
                dependencies: Vec::new(),
            });
        }
        for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
            let Some(&from) = indices.get(&node.id) else { continue };
            for dependency in &node.deps {
                let Some(&package) = indices.get(&dependency.pkg) else { continue };
                let needs = dependency.dep_kinds.iter().map(|info| Need::from(info.kind)).collect();
                if is_active(&metadata.packages[from], &node.features, &metadata.packages[package].name) {
                    packages[from].dependencies.push(Dependency { package, needs });
                }
            }
        }
        Ok(Self { packages })
    }

    /// The members of the workspace with their indexes.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, &Package, &Member)> {
        let packages = self.packages.iter().enumerate();
        packages.filter_map(|(index, package)| Some((index, package, package.member.as_ref()?)))
    }

    /// Returns the names on the shortest path from a package to one that `wanted` accepts, by edges of these kinds and packages that
    /// `may_enter` accepts, including both ends.
    pub(crate) fn way(
        &self,
        from: usize,
        when: &[Need],
        may_enter: impl Fn(&Package) -> bool,
        wanted: impl Fn(&Package) -> bool,
    ) -> Option<Vec<&str>> {
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(current) = queue.pop_front() {
            if current != from && wanted(&self.packages[current]) {
                let mut way = vec![self.packages[current].name.as_str()];
                let mut step = current;
                while step != from {
                    step = came_from[&step];
                    way.push(&self.packages[step].name);
                }
                way.reverse();
                return Some(way);
            }
            for next in self.packages[current].needs(when) {
                if next != from && !came_from.contains_key(&next) && may_enter(&self.packages[next]) {
                    came_from.insert(next, current);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

fn options() -> Vec<String> {
    let platforms = PLATFORMS.iter().flat_map(|platform| ["--filter-platform", platform]);
    ["--locked"].into_iter().chain(platforms).map(str::to_owned).collect()
}

/// Whether a package with these features needs a dependency. Cargo lists optional dependencies even if no feature enables them.
fn is_active(package: &cargo_metadata::Package, features: &[FeatureName], name: &str) -> bool {
    let mut listed = package.dependencies.iter().filter(|dependency| dependency.name == name).peekable();
    // A dependency that the manifest does not list by this name is assumed to be needed.
    listed.peek().is_none()
        || listed.any(|dependency| {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            let activates = |feature: &str| {
                let asked = package.features.get(feature).into_iter().flatten();
                feature == name
                    || asked
                        .clone()
                        .any(|it| it == &format!("dep:{name}") || it.starts_with(&format!("{name}/")))
            };
            !dependency.optional || features.iter().any(|feature| activates(feature))
        })
}

impl From<DependencyKind> for Need {
    fn from(kind: DependencyKind) -> Self {
        match kind {
            DependencyKind::Development => Need::Test,
            DependencyKind::Build => Need::Build,
            _ => Need::Normal,
        }
    }
}
