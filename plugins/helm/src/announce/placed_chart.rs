//! A chart with its subcharts at the paths where helm puts their values.
//!
//! Helm reads a list of dependencies only if all parent charts have one. An entry selects the first subchart with its name and a version in
//! its range. Subcharts without an entry stay, under their own name, even if an entry with an alias has that name.

use tiphys_helm_values::{Chart, Dependency, HelmVersion, Map, enabled};

use super::loaded_chart::{LoadError, LoadedChart};
use crate::chart::{self, ChartBounds};

#[derive(Clone, Debug)]
pub(super) struct PlacedChart<'a> {
    /// Key of its values in the parent: its name or an alias.
    pub(super) name: &'a str,
    /// The loaded chart.
    pub(super) loaded: &'a LoadedChart,
    subcharts: Vec<PlacedChart<'a>>,
    /// Its dependencies without a chart.
    missing: Vec<&'a chart::Dependency>,
    /// Its dependencies, under the keys of their values; `None` without a list.
    dependencies: Option<Vec<Dependency>>,
}

/// Whether helm reads the dependencies of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    Read,
    /// A parent chart has no list.
    Ignored,
}

/// An exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exceeded {
    Charts,
    Bytes,
}

impl<'a> PlacedChart<'a> {
    /// Places a chart and its subcharts. A subchart counts once for each alias. The number of placed charts and the bytes of their values
    /// are limited.
    pub(super) fn new(chart: &'a LoadedChart, bounds: ChartBounds) -> Result<Self, LoadError> {
        let mut left = bounds;
        Self::place(chart, &chart.name, Lists::Read, &mut left).map_err(|past| match past {
            Exceeded::Charts => LoadError::TooMany { max: bounds.charts },
            Exceeded::Bytes => LoadError::TooLarge { max: bounds.bytes },
        })
    }

    /// Deducts what it places from the remaining limits.
    fn place(
        loaded: &'a LoadedChart,
        name: &'a str,
        lists: Lists,
        left: &mut ChartBounds,
    ) -> Result<Self, Exceeded> {
        left.charts = left.charts.checked_sub(1).ok_or(Exceeded::Charts)?;
        left.bytes = left.bytes.checked_sub(loaded.bytes).ok_or(Exceeded::Bytes)?;
        let (listed, lists) = match &loaded.dependencies {
            Some(listed) if lists == Lists::Read => (listed.as_slice(), Lists::Read),
            _ => (&[] as &[_], Lists::Ignored),
        };
        let is_meant = |subchart: &LoadedChart| listed.iter().any(|one| subchart.is_selected_by(one));
        let unlisted = loaded.subcharts.iter().filter(|subchart| !is_meant(subchart));
        let unlisted = unlisted.map(|subchart| (subchart.name.as_str(), subchart));
        // As in helm, a chart with the name is one, whatever its version.
        let has_chart = |one: &chart::Dependency| {
            loaded.subcharts.iter().any(|subchart| subchart.is_selected_by(one) || subchart.name == one.name)
        };
        let missing = listed.iter().filter(|one| !has_chart(one)).collect();
        let listed = listed.iter().filter_map(|one| {
            let meant = loaded.subcharts.iter().find(|subchart| subchart.is_selected_by(one))?;
            Some((one.known_as(), meant))
        });
        let subcharts = unlisted.chain(listed);
        let subcharts = subcharts.map(|(name, subchart)| Self::place(subchart, name, lists, left));
        let subcharts = subcharts.collect::<Result<_, _>>()?;
        let dependency = |one: &chart::Dependency| Dependency {
            name: if lists == Lists::Read { one.known_as() } else { &one.name }.to_owned(),
            condition: one.condition.clone(),
            tags: one.tags.clone(),
            imports: one.imports.clone(),
        };
        let dependencies = loaded.dependencies.as_ref().map(|list| list.iter().map(dependency).collect());
        Ok(Self { name, loaded, subcharts, missing, dependencies })
    }

    /// Returns the dependencies without a chart that these values enable, each with the names of its parents.
    pub(super) fn missing(
        &self,
        values: &Map,
        version: HelmVersion,
    ) -> Vec<(Vec<&'a str>, &'a chart::Dependency)> {
        let mut found = Vec::new();
        if self.has_missing() {
            // Values that do not match the chart are reported when they are merged.
            let enabled = enabled(&self.with_missing(), values, version).unwrap_or_default();
            self.add_missing(&enabled, &mut Vec::new(), &mut found);
        }
        found
    }

    fn has_missing(&self) -> bool {
        !self.missing.is_empty() || self.subcharts.iter().any(Self::has_missing)
    }

    /// Returns the chart as input of the merge of values, with an empty chart for each missing dependency.
    fn with_missing(&self) -> Chart {
        let empty = |one: &&chart::Dependency| Chart { name: one.known_as().to_owned(), ..Chart::default() };
        let subcharts = self.subcharts.iter().map(Self::with_missing).chain(self.missing.iter().map(empty));
        Chart { subcharts: subcharts.collect(), ..self.own_values() }
    }

    fn add_missing(
        &self,
        enabled: &Chart,
        parents: &mut Vec<&'a str>,
        found: &mut Vec<(Vec<&'a str>, &'a chart::Dependency)>,
    ) {
        let is_enabled = |name: &str| enabled.subcharts.iter().find(|subchart| subchart.name == name);
        let missing = self.missing.iter().filter(|one| is_enabled(one.known_as()).is_some());
        found.extend(missing.map(|one| (parents.clone(), *one)));
        for subchart in &self.subcharts {
            if let Some(enabled) = is_enabled(subchart.name) {
                parents.push(subchart.name);
                subchart.add_missing(enabled, parents, found);
                parents.pop();
            }
        }
    }

    /// Returns the chart as input of the merge of values.
    pub(super) fn as_values(&self) -> Chart {
        Chart { subcharts: self.subcharts.iter().map(Self::as_values).collect(), ..self.own_values() }
    }

    fn own_values(&self) -> Chart {
        Chart {
            name: self.name.to_owned(),
            values: self.loaded.values.clone(),
            subcharts: Vec::new(),
            dependencies: self.dependencies.clone(),
        }
    }

    /// Removes the subcharts that `enabled` does not have.
    pub(super) fn keep(&mut self, enabled: &Chart) {
        // Helm disables by name, so subcharts of one name are disabled together.
        self.subcharts.retain(|subchart| enabled.subcharts.iter().any(|kept| kept.name == subchart.name));
        for (subchart, kept) in self.subcharts.iter_mut().zip(&enabled.subcharts) {
            subchart.keep(kept);
        }
    }

    pub(super) fn subcharts(&self) -> &[Self] {
        &self.subcharts
    }

    /// Returns the subcharts whose values have this key. There may be several: the selected one, and those with another version.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.subcharts.iter().filter(move |subchart| subchart.name == name)
    }
}
