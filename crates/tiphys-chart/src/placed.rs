//! A chart with its subcharts at the paths where Helm puts their values.
//!
//! Helm reads a list of dependencies only if all parent charts have one. An entry selects the first subchart with its name and a version in
//! its range. Subcharts without an entry stay, under their own name, even if an entry with an alias has that name.

use tiphys_go::versions::Version;
use tiphys_helm_values as values;

use crate::{Chart, Dependency};

/// A chart under a name.
#[derive(Clone, Debug)]
pub(crate) struct PlacedChart<'a> {
    /// Key of its values in the parent: its name or an alias.
    pub(crate) name: &'a str,
    pub(crate) chart: &'a Chart,
    pub(crate) subcharts: Vec<PlacedChart<'a>>,
    /// Its dependencies that are enabled, under the keys of their values. `None` without a list.
    pub(crate) dependencies: Option<Vec<(&'a str, &'a Dependency)>>,
}

/// Whether Helm reads the dependencies of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    Read,
    /// A parent chart has no list.
    Ignored,
}

impl<'a> PlacedChart<'a> {
    /// Places a chart and all its subcharts.
    pub(crate) fn new(chart: &'a Chart) -> Self {
        Self::place(chart, &chart.metadata.name, Lists::Read)
    }

    fn place(chart: &'a Chart, name: &'a str, lists: Lists) -> Self {
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
        let subcharts = subcharts.map(|(name, subchart)| Self::place(subchart, name, lists)).collect();
        let key = |one: &'a Dependency| if lists == Lists::Read { one.known_as() } else { &*one.name };
        let dependencies = chart.metadata.dependencies.as_ref();
        let dependencies = dependencies.map(|list| list.iter().map(|one| (key(one), one)).collect());
        Self { name, chart, subcharts, dependencies }
    }

    /// Returns the chart as input of the merge of values.
    pub(crate) fn as_values(&self) -> values::Chart {
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

    /// Removes the subcharts that `enabled` does not have. Helm disables by name, so subcharts of one name are disabled together.
    pub(crate) fn keep(&mut self, enabled: &values::Chart) {
        let is_kept = |name: &str| enabled.subcharts.iter().any(|kept| kept.name == name);
        self.subcharts.retain(|subchart| is_kept(subchart.name));
        if let Some(dependencies) = &mut self.dependencies {
            dependencies.retain(|(name, _)| is_kept(name));
        }
        for (subchart, kept) in self.subcharts.iter_mut().zip(&enabled.subcharts) {
            subchart.keep(kept);
        }
    }
}

impl Chart {
    /// Whether Helm takes this chart for a dependency of its parent.
    fn is_selected_by(&self, dependency: &Dependency) -> bool {
        dependency.takes(&self.metadata.name, Version::parse(&self.metadata.version).ok().as_ref())
    }
}
