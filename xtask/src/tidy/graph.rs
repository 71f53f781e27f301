//! The packages that cargo resolved, and what depends on what.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use cargo_metadata::{DependencyKind, FeatureName, MetadataCommand};

use crate::Failure;

/// What tiphys is built for; libraries that only others need are not looked at.
pub(super) const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// All packages that are needed on one of [`PLATFORMS`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The packages; dependencies name them by their index here.
    pub(crate) packages: Vec<Package>,
}

/// One package.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// Name.
    pub(crate) name: String,
    /// Version.
    pub(crate) version: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// The licence expression of its manifest.
    pub(crate) licence: Option<String>,
    /// What it depends on.
    pub(crate) dependencies: Vec<Dependency>,
}

/// Where a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This workspace.
    Member {
        /// Its folder, relative to the workspace's root.
        dir: String,
        /// The root source files of its targets, relative to the workspace's root.
        roots: Vec<String>,
    },
    /// A library of somebody else.
    Library,
}

/// An edge of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// Index of the package that is needed.
    pub(crate) package: usize,
    /// When it is needed.
    pub(crate) needs: BTreeSet<Need>,
}

/// When a dependency is needed.
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
    /// Whether it belongs to the workspace.
    pub(crate) fn is_member(&self) -> bool {
        matches!(self.origin, Origin::Member { .. })
    }

    /// The packages that it needs at one of these times.
    pub(crate) fn needs(&self, when: &[Need]) -> impl Iterator<Item = usize> {
        let wanted: BTreeSet<Need> = when.iter().copied().collect();
        self.dependencies.iter().filter(move |edge| !edge.needs.is_disjoint(&wanted)).map(|edge| edge.package)
    }
}

impl Graph {
    /// Asks cargo, without letting it change the lock file: a check writes nothing.
    pub(crate) fn of_workspace(root: &Path) -> Result<Self, Failure> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(options())
            .exec()
            .map_err(|error| {
                Failure::new(format!(
                    "{error}\n(a stale lock file is mended by any other call of cargo, such as `cargo check`)"
                ))
            })?;
        let relative =
            |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
        let mut indices = BTreeMap::new();
        let mut packages = Vec::new();
        for package in &metadata.packages {
            indices.insert(&package.id, packages.len());
            let roots =
                package.targets.iter().map(|target| relative(target.src_path.as_std_path())).collect();
            let origin = if members.contains(&package.id) {
                let dir =
                    package.manifest_path.parent().map(|dir| relative(dir.as_std_path())).unwrap_or_default();
                Origin::Member { dir, roots }
            } else {
                Origin::Library
            };
            packages.push(Package {
                name: package.name.to_string(),
                version: package.version.to_string(),
                origin,
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

    /// The members of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, &Package)> {
        self.packages.iter().enumerate().filter(|(_, package)| package.is_member())
    }

    /// The shortest way from a package to one that `wanted` accepts, by edges of these needs, entering only what `may_enter` allows:
    /// names in order, both ends included.
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

/// Whether a package with these features needs a dependency: an optional one may be in the lock file, and so in cargo's answer, though
/// nothing asks for it.
fn is_active(package: &cargo_metadata::Package, features: &[FeatureName], name: &str) -> bool {
    let mut listed = package.dependencies.iter().filter(|dependency| dependency.name == name).peekable();
    // A dependency that the manifest does not list by this name is one that we cannot judge.
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
