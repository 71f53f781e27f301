//! A chart with its subcharts at the places that helm gives them: which subchart a line of a list of dependencies means, and under which
//! name its values stand.
//!
//! Helm reads a list only if all charts above have one, too. A line means the first subchart of its name whose version is in its range. A
//! subchart that no line means is not left out: it keeps its own name, whatever alias the line has that names it.

use tiphys_helm_values::{Chart, Dependency};

use super::loaded_chart::{LoadError, LoadedChart};
use crate::chart::{self, ChartBounds};

/// A chart at its place.
#[derive(Clone, Debug)]
pub(super) struct PlacedChart<'a> {
    /// Its name among the values of the chart that has it: its own one, or an alias.
    pub(super) name: &'a str,
    /// What was read of it.
    pub(super) loaded: &'a LoadedChart,
    subcharts: Vec<PlacedChart<'a>>,
    /// What its list says, under the names that values have; `None` if it has none.
    dependencies: Option<Vec<Dependency>>,
}

/// Whether helm reads the list of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    Read,
    /// It stops at a chart above that has none.
    PassedOver,
}

/// The bound that is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    Charts,
    Bytes,
}

impl<'a> PlacedChart<'a> {
    /// Places a chart and its subcharts: what has several aliases is there once for each, and all that are there are bounded, as is what
    /// they have of values.
    pub(super) fn new(chart: &'a LoadedChart, bounds: ChartBounds) -> Result<Self, LoadError> {
        let mut left = bounds;
        Self::place(chart, &chart.name, Lists::Read, &mut left).map_err(|past| match past {
            Past::Charts => LoadError::TooMany { max: bounds.charts },
            Past::Bytes => LoadError::TooLarge { max: bounds.bytes },
        })
    }

    /// Takes what it places off what is left.
    fn place(
        loaded: &'a LoadedChart,
        name: &'a str,
        lists: Lists,
        left: &mut ChartBounds,
    ) -> Result<Self, Past> {
        left.charts = left.charts.checked_sub(1).ok_or(Past::Charts)?;
        left.bytes = left.bytes.checked_sub(loaded.bytes).ok_or(Past::Bytes)?;
        let (listed, lists) = match &loaded.dependencies {
            Some(listed) if lists == Lists::Read => (listed.as_slice(), Lists::Read),
            _ => (&[] as &[_], Lists::PassedOver),
        };
        let is_meant = |subchart: &LoadedChart| listed.iter().any(|one| subchart.is_meant_by(one));
        let unlisted = loaded.subcharts.iter().filter(|subchart| !is_meant(subchart));
        let unlisted = unlisted.map(|subchart| (subchart.name.as_str(), subchart));
        let listed = listed.iter().filter_map(|one| {
            let meant = loaded.subcharts.iter().find(|subchart| subchart.is_meant_by(one))?;
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
        Ok(Self { name, loaded, subcharts, dependencies })
    }

    /// The chart for the merge of values.
    pub(super) fn as_values(&self) -> Chart {
        Chart {
            name: self.name.to_owned(),
            values: self.loaded.values.clone(),
            subcharts: self.subcharts.iter().map(Self::as_values).collect(),
            dependencies: self.dependencies.clone(),
        }
    }

    /// Leaves out the subcharts that a chart made of this one has not.
    pub(super) fn keep(&mut self, enabled: &Chart) {
        // Helm switches off names, so that of several subcharts with one name all are there or none.
        self.subcharts.retain(|subchart| enabled.subcharts.iter().any(|kept| kept.name == subchart.name));
        for (subchart, kept) in self.subcharts.iter_mut().zip(&enabled.subcharts) {
            subchart.keep(kept);
        }
    }

    /// All subcharts.
    pub(super) fn subcharts(&self) -> &[Self] {
        &self.subcharts
    }

    /// The subcharts whose values stand under a name. There may be several: one that a line means, and those whose version it does not take.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.subcharts.iter().filter(move |subchart| subchart.name == name)
    }
}
