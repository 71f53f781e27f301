//! A chart with its subcharts at the paths where Helm puts their values.
//!
//! Helm reads a list of dependencies only if all parent charts have one. An entry selects the first subchart with its name and a version in
//! its range. Subcharts without an entry stay, under their own name, even if an entry with an alias has that name.

use std::collections::BTreeSet;
use std::ptr;

use tiphys_go::versions::Version;
use tiphys_helm_values::{self as values, HelmVersion};

use crate::{Chart, Dependency, LoadError, LoadLimits, Metadata};

/// A chart under a name.
#[derive(Clone, Debug)]
pub struct PlacedChart<'a> {
    /// Key of its values in the parent: its name or an alias.
    pub name: &'a str,
    /// The directory in the names of its templates and CRDs.
    pub(crate) path: String,
    /// The chart.
    pub chart: &'a Chart,
    /// Its subcharts: those without an entry in its list, then those of each entry.
    pub subcharts: Vec<PlacedChart<'a>>,
    /// Its dependencies without a chart.
    pub missing: Vec<&'a Dependency>,
    /// Its dependencies that are enabled, under the keys of their values. `None` without a list.
    pub(crate) dependencies: Option<Vec<(&'a str, &'a Dependency)>>,
    /// Whether Helm reads its dependencies.
    pub(crate) lists: Lists,
}

/// Whether Helm reads the dependencies of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    Read,
    /// A parent chart has no list.
    Ignored,
}

/// The path of a chart, and the one that it would have without aliases.
struct ChartPath {
    path: String,
    original: String,
}

/// The placed charts so far.
struct Placed {
    limits: LoadLimits,
    rules: HelmVersion,
    charts: usize,
    values_bytes: usize,
}

impl Placed {
    fn count(&mut self, chart: &Chart) -> Result<(), LoadError> {
        self.charts += 1;
        self.values_bytes += chart.values_yaml.len() + chart.schema.as_ref().map_or(0, |schema| schema.len());
        let LoadLimits { charts, values_bytes, .. } = self.limits;
        if self.charts > charts {
            return Err(LoadError::TooManyCharts { max: charts });
        }
        if self.values_bytes > values_bytes {
            return Err(LoadError::ValuesTooLarge { max: values_bytes });
        }
        Ok(())
    }

    /// Returns the path of a subchart. Helm 3 copies a chart for an alias, and updates its subcharts only if it has a list.
    fn path(&self, parent: &ChartPath, lists: Lists, name: &str, subchart: &Chart) -> ChartPath {
        let directory = match (self.rules, lists) {
            (HelmVersion::V3, Lists::Ignored) => &parent.original,
            (HelmVersion::V3, Lists::Read) | (HelmVersion::V4, _) => &parent.path,
        };
        ChartPath {
            path: format!("{directory}/charts/{name}"),
            original: format!("{}/charts/{}", parent.original, subchart.metadata.name),
        }
    }
}

impl<'a> PlacedChart<'a> {
    /// Places a chart and all its subcharts. The number of placed charts and the bytes of their values and schemas are limited.
    pub fn new(chart: &'a Chart, limits: LoadLimits, rules: HelmVersion) -> Result<Self, LoadError> {
        let mut placed = Placed { limits, rules, charts: 0, values_bytes: 0 };
        let name = chart.metadata.name.as_str();
        let path = ChartPath { path: name.to_owned(), original: name.to_owned() };
        Self::place(chart, name, path, Lists::Read, &mut placed)
    }

    fn place(
        chart: &'a Chart,
        name: &'a str,
        path: ChartPath,
        lists: Lists,
        placed: &mut Placed,
    ) -> Result<Self, LoadError> {
        placed.count(chart)?;
        let (listed, lists) = match &chart.metadata.dependencies {
            Some(listed) if lists == Lists::Read => (listed.as_slice(), Lists::Read),
            _ => (&[] as &[_], Lists::Ignored),
        };
        let is_meant = |subchart: &Chart| listed.iter().any(|one| subchart.is_selected_by(one));
        let unlisted = chart.subcharts.iter().filter(|subchart| !is_meant(subchart));
        let unlisted = unlisted.map(|subchart| (subchart.metadata.name.as_str(), subchart));
        let listed = listed.iter().filter_map(|one| {
            let meant = chart.subcharts.iter().find(|subchart| subchart.is_selected_by(one))?;
            Some((one.known_as(), meant))
        });
        let subcharts = unlisted.chain(listed);
        let subcharts = subcharts.map(|(name, subchart)| {
            let path = placed.path(&path, lists, name, subchart);
            Self::place(subchart, name, path, lists, placed)
        });
        let subcharts = subcharts.collect::<Result<_, _>>()?;
        let missing = match lists {
            Lists::Read => chart.missing_dependencies().collect(),
            Lists::Ignored => Vec::new(),
        };
        let key = |one: &'a Dependency| if lists == Lists::Read { one.known_as() } else { &*one.name };
        let dependencies = chart.metadata.dependencies.as_ref();
        let dependencies = dependencies.map(|list| list.iter().map(|one| (key(one), one)).collect());
        Ok(Self { name, path: path.path, chart, subcharts, missing, dependencies, lists })
    }

    /// Returns the chart as input of the merge of values.
    pub fn as_values(&self) -> values::Chart {
        let dependency = |(name, one): &(&str, &Dependency)| values::Dependency {
            name: (*name).to_owned(),
            condition: one.condition.clone(),
            tags: one.tags.clone(),
            imports: one.imports.clone(),
        };
        values::Chart {
            name: self.name.to_owned(),
            values: self.chart.values.clone(),
            subcharts: self.subcharts.iter().map(Self::as_values).collect(),
            dependencies: self.dependencies.as_ref().map(|list| list.iter().map(dependency).collect()),
        }
    }

    /// Returns the subcharts whose values have this key. There may be several: the selected one, and those with another version.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.subcharts.iter().filter(move |subchart| subchart.name == name)
    }

    /// Whether a subchart with a list of dependencies has two names. Helm 3 changes the list for the first name, which the other one shares.
    pub(crate) fn has_shared_lists(&self) -> bool {
        let is_shared =
            |one: &Self| self.subcharts.iter().filter(|other| ptr::eq(other.chart, one.chart)).count() > 1;
        self.subcharts.iter().any(|one| one.has_lists() && is_shared(one) || one.has_shared_lists())
    }

    fn has_lists(&self) -> bool {
        self.chart.metadata.dependencies.is_some() || self.subcharts.iter().any(Self::has_lists)
    }

    /// Whether a chart imports two tables under one key. Helm merges the later one into the values of the subchart of the first one, too.
    pub(crate) fn has_overlapping_imports(&self) -> bool {
        let dependencies = self.dependencies.iter().flatten();
        let imports = dependencies.flat_map(|(name, one)| one.imports.iter().map(|import| (*name, import)));
        let mut keys: Vec<&str> =
            imports.flat_map(|(name, import)| self.imported_tables(name, import)).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
            || self.subcharts.iter().any(Self::has_overlapping_imports)
    }

    /// Returns the keys of the tables that an import from a subchart adds.
    fn imported_tables<'b>(&'b self, subchart: &'b str, import: &'b values::Import) -> BTreeSet<&'b str> {
        if import.parent != "." {
            return import.parent.split('.').take(1).collect();
        }
        let of_chart = self.named(subchart).map(|found| &found.chart.values);
        let of_parent = self.chart.values.get(subchart).and_then(values::Value::as_map);
        let table = |values: &'b values::Map| {
            let mut path = import.child.split('.');
            path.try_fold(values, |table, key| table.get(key).and_then(values::Value::as_map))
        };
        let entries = of_chart.chain(of_parent).filter_map(table).flatten();
        entries.filter(|(_, value)| value.as_map().is_some()).map(|(key, _)| key.as_str()).collect()
    }

    /// Removes the subcharts that `enabled` does not have. Helm disables by name, so subcharts of one name are disabled together.
    pub fn keep(&mut self, enabled: &values::Chart) {
        let is_kept = |name: &str| enabled.subcharts.iter().any(|kept| kept.name == name);
        self.subcharts.retain(|subchart| is_kept(subchart.name));
        if let Some(dependencies) = &mut self.dependencies {
            let kept = enabled.dependencies.as_deref().unwrap_or_default();
            dependencies.retain(|(name, _)| kept.iter().any(|one| one.name == *name));
        }
        for (subchart, kept) in self.subcharts.iter_mut().zip(&enabled.subcharts) {
            subchart.keep(kept);
        }
    }
}

impl Chart {
    /// Whether Helm takes this chart for a dependency of its parent.
    pub fn is_selected_by(&self, dependency: &Dependency) -> bool {
        let Metadata { name, version, .. } = &self.metadata;
        *name == dependency.name && dependency.takes(name, Version::parse(version).ok().as_ref())
    }
}
