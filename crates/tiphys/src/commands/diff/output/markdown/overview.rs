//! The top of a comment: what happens to the applications, as a headline, sentences and the rows of a table. What a reviewer must know comes
//! first.

use std::collections::{HashMap, HashSet};

use tiphys_engine::Deletion;
use tiphys_engine::appset::RESOURCES_FINALIZER;
use tiphys_engine::diff::Counts;

use super::html;
use crate::commands::diff::output::{ApplicationDiff, ChangedSetting, Presence, Sides, counts};

/// The changes of applications. Equal ones have no row.
pub(super) struct Overview {
    /// The rows, in the order of [`Outcome`].
    pub(super) rows: Vec<Row>,
    /// Number of application sets that are not compared. They have rows, too.
    sets: usize,
}

/// An application, or an application set that is not compared.
pub(super) struct Row {
    /// The name for messages.
    pub(super) name: String,
    /// The name as HTML; of a renamed application both.
    shown: String,
    outcome: Outcome,
    /// The objects; `None` if they are not known.
    counts: Option<Counts>,
    /// The fate of the objects of a deleted application, as a sentence.
    pub(super) sentence: Option<String>,
}

/// The change of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Outcome {
    Deleted,
    /// Its set does not generate it any more, and may not delete it.
    Kept,
    Renamed,
    NotCompared,
    Created,
    Changed,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Kept => "kept by its set",
            Self::Renamed => "renamed",
            Self::NotCompared => "not compared",
            Self::Created => "created",
            Self::Changed => "changed",
        }
    }

    fn of(application: &ApplicationDiff) -> Option<Self> {
        match application.presence {
            _ if application.result.is_err() => Some(Self::NotCompared),
            Presence::Removed if application.deletion == Deletion::NotPermitted => Some(Self::Kept),
            Presence::Removed => Some(Self::Deleted),
            Presence::Added => Some(Self::Created),
            Presence::Both => application.differs().then_some(Self::Changed),
        }
    }
}

impl Overview {
    /// Finds out what happens to each application. A renamed one is one row.
    pub(super) fn new(applications: &[ApplicationDiff], sides: &Sides) -> Self {
        let mut by_name: HashMap<(Outcome, String), &ApplicationDiff> = HashMap::new();
        if !sides.renamed.is_empty() {
            let named =
                applications.iter().filter_map(|one| Some(((Outcome::of(one)?, one.full_name()), one)));
            by_name.extend(named);
        }
        let mut rows = Vec::new();
        let mut paired = HashSet::new();
        for (old, new) in &sides.renamed {
            let keys = [(Outcome::Deleted, old.clone()), (Outcome::Created, new.clone())];
            if let [Some(old), Some(new)] = keys.each_ref().map(|key| by_name.get(key)) {
                rows.push(Row::renamed(old, new));
                paired.extend(keys);
            }
        }
        rows.extend(applications.iter().filter_map(Row::new).filter(|row| !paired.contains(&row.key())));
        let sets = sides.sets.not_compared.iter().map(|unknown| Row::of_set(&unknown.set.to_string()));
        rows.extend(sets);
        rows.sort_by_key(|row| row.outcome);
        Self { rows, sets: sides.sets.not_compared.len() }
    }

    /// Returns the headline: `**1 application deleted**, 2 created, 1 application set not compared`.
    pub(super) fn headline(&self) -> String {
        use Outcome::{Changed, Created, Deleted, Kept, NotCompared, Renamed};
        let mut parts: Vec<String> = Vec::new();
        for outcome in [Deleted, Kept, Created, Changed, Renamed, NotCompared] {
            let rows = self.rows.iter().filter(|row| row.outcome == outcome).count();
            let count = if outcome == NotCompared { rows - self.sets } else { rows };
            let noun = match (parts.is_empty(), count) {
                (_, 0) => continue,
                (false, _) => "",
                (true, 1) => " application",
                (true, _) => " applications",
            };
            let part = format!("{count}{noun} {}", outcome.word());
            parts.push(if outcome == Deleted { format!("**{part}**") } else { part });
        }
        match self.sets {
            0 => {}
            1 => parts.push("1 application set not compared".to_owned()),
            sets => parts.push(format!("{sets} application sets not compared")),
        }
        if parts.is_empty() {
            return "no differences".to_owned();
        }
        let nothing_else = self.rows.iter().all(|row| row.outcome == NotCompared);
        parts.join(", ") + if nothing_else { ", nothing else differs" } else { "" }
    }
}

impl Row {
    /// The first lines of the table.
    pub(super) const TABLE: &str =
        "\n| application | what happens | objects added | changed | removed |\n|---|---|---:|---:|---:|\n";

    fn new(application: &ApplicationDiff) -> Option<Self> {
        let outcome = Outcome::of(application)?;
        let name = application.full_name();
        let is_gone = matches!(outcome, Outcome::Deleted | Outcome::Kept);
        let is_known = outcome != Outcome::NotCompared && !(is_gone && application.base_error.is_some());
        let sentence = if is_gone {
            Some(format!("**{} is {}**: {}.", html(&name), outcome.word(), fate(application)))
        } else {
            settings(application)
        };
        let counts = is_known.then(|| counts(application));
        Some(Self { shown: html(&name), name, outcome, counts, sentence })
    }

    fn renamed(old: &ApplicationDiff, new: &ApplicationDiff) -> Self {
        let (before, name) = (old.full_name(), new.full_name());
        let sentence = format!(
            "**{} is renamed to {}**, so Argo CD deletes the first: {}.",
            html(&before),
            html(&name),
            fate(old)
        );
        Self {
            shown: format!("{} → {}", html(&before), html(&name)),
            name,
            outcome: Outcome::Renamed,
            counts: Some(counts(old).plus(counts(new))),
            sentence: Some(sentence),
        }
    }

    fn of_set(set: &str) -> Self {
        let name = format!("ApplicationSet {set}");
        Self { shown: html(&name), name, outcome: Outcome::NotCompared, counts: None, sentence: None }
    }

    fn key(&self) -> (Outcome, String) {
        (self.outcome, self.name.clone())
    }

    /// Whether it is a deletion or a failure, which is omitted last.
    pub(super) fn is_urgent(&self) -> bool {
        self.is_deletion() || self.outcome == Outcome::NotCompared
    }

    /// Whether Argo CD deletes the application, or its set does not generate it any more.
    fn is_deletion(&self) -> bool {
        matches!(self.outcome, Outcome::Deleted | Outcome::Kept | Outcome::Renamed)
    }

    /// Returns the row of the table.
    pub(super) fn line(&self) -> String {
        let what = match self.outcome {
            _ if self.is_deletion() => format!("**{}**", self.outcome.word()),
            outcome => outcome.word().to_owned(),
        };
        let [added, changed, removed] = match self.counts {
            Some(counts) => [counts.added, counts.changed, counts.removed].map(|count| count.to_string()),
            None => ["?"; 3].map(str::to_owned),
        };
        format!("| {} | {what} | {added} | {changed} | {removed} |\n", self.shown)
    }
}

/// Returns the settings of an application that differ, as a sentence.
fn settings(application: &ApplicationDiff) -> Option<String> {
    let value =
        |value: &Option<String>| value.as_ref().map_or_else(|| "nothing".to_owned(), |value| html(value));
    let changes = application.settings.iter().map(|ChangedSetting { field, before, after }| {
        format!("`{field}` from {} to {}", value(before), value(after))
    });
    let changes: Vec<String> = changes.collect();
    let is_compared = application.result.is_ok() && !changes.is_empty();
    is_compared.then(|| format!("**{}** changes {}.", html(&application.full_name()), changes.join(", ")))
}

/// Returns what happens to the objects of an application that is deleted, or kept by its set.
fn fate(application: &ApplicationDiff) -> String {
    if application.base_error.is_some() {
        return "its objects are not known, since it failed at the base".to_owned();
    }
    let all = application.objects().len();
    let (objects, are, stay) = match all {
        0 => return "it has no objects".to_owned(),
        1 => ("its only object".to_owned(), "is", "stays"),
        _ => (format!("its {all} objects"), "are", "stay"),
    };
    match (application.deletion, application.deleted_objects()) {
        (Deletion::Cascading, deleted) if deleted == all => format!("{objects} {are} deleted with it"),
        (Deletion::Cascading, deleted) => {
            let are = if deleted == 1 { "is" } else { "are" };
            format!(
                "{deleted} of {objects} {are} deleted with it; the others are CustomResourceDefinitions, or have an annotation that keeps them"
            )
        }
        (Deletion::NonCascading, _) => {
            format!("{objects} {stay} in the cluster, since it has no finalizer `{RESOURCES_FINALIZER}`")
        }
        (Deletion::NotPermitted, _) => {
            format!(
                "its ApplicationSet does not generate it any more, and has a policy that does not permit to delete it, so {objects} {stay}, too"
            )
        }
        (Deletion::Unknown, _) => format!("it is not known whether {objects} {are} deleted with it"),
    }
}
