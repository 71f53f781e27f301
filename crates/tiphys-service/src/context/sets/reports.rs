//! Reports about the sets of use cases that are about Applications.

use std::collections::BTreeSet;

use tiphys_store::SetId;

use crate::error::ServiceError;
use crate::warning::Warning;

/// Reports about sets.
#[derive(Clone, Debug, Default)]
pub struct SetReports {
    sets: Vec<SetReport>,
    /// Warnings about all sets.
    common: Vec<Warning>,
}

/// Report about a set.
#[derive(Clone, Debug)]
pub(crate) struct SetReport {
    pub(crate) set: SetId,
    /// Why the set failed.
    pub(crate) errors: Vec<ServiceError>,
    pub(crate) warnings: Vec<Warning>,
    /// Why the set is left out.
    pub(crate) left_out: Option<LeftOut>,
}

/// Why a set is left out.
#[derive(Clone, Debug)]
pub(crate) enum LeftOut {
    /// The caller selected no sets.
    NotSelected,
    /// Its generators cannot be answered.
    NotAnswered(String),
}

/// A set whose Applications are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSet {
    /// The set.
    pub set: SetId,
    /// The errors of the set, or why it is left out.
    pub reason: String,
}

impl SetReports {
    /// Returns the errors of sets.
    pub fn errors(&self) -> impl Iterator<Item = &ServiceError> {
        self.sets.iter().flat_map(|report| &report.errors)
    }

    /// Returns the warnings about sets, also about those that are left out.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.sets.iter().flat_map(|report| &report.warnings).chain(&self.common)
    }

    /// Returns the sets whose Applications are not known, because they failed or are left out.
    pub fn unknown(&self) -> Vec<UnknownSet> {
        self.sets.iter().filter_map(SetReport::unknown).collect()
    }

    /// Returns the unknown sets that the caller selected: their Applications are not compared.
    pub fn not_compared(&self) -> Vec<UnknownSet> {
        let selected =
            self.sets.iter().filter(|report| !matches!(report.left_out, Some(LeftOut::NotSelected)));
        selected.filter_map(SetReport::unknown).collect()
    }

    /// Adds the report about a set.
    pub(crate) fn add(&mut self, report: SetReport) {
        self.sets.push(report);
    }

    /// Adds a warning about a set, else about all sets.
    pub(crate) fn warn(&mut self, set: Option<&SetId>, warning: Warning) {
        let report = self.sets.iter_mut().find(|report| Some(&report.set) == set);
        report.map_or(&mut self.common, |report| &mut report.warnings).push(warning);
    }

    /// Leaves only the reports about some sets.
    pub(crate) fn retain(&mut self, is_concerned: impl Fn(&SetId) -> bool) {
        self.sets.retain(|report| is_concerned(&report.set));
        if self.sets.is_empty() {
            self.common.clear();
        }
    }

    /// Adds the reports about the new side of a comparison. That a set was unknown only at the base is a warning if its Applications are
    /// shown: if it is among those that generate some at the head.
    pub(crate) fn join_head(&mut self, head: Self, generating: &BTreeSet<SetId>) {
        for report in &mut self.sets {
            let is_known = |of_head: &SetReport| of_head.set == report.set && of_head.unknown().is_none();
            if let Some(UnknownSet { set, reason }) = report.unknown()
                && generating.contains(&set)
                && head.sets.iter().any(is_known)
            {
                let (errors, left_out) = (Vec::new(), None);
                let warnings = vec![Warning::new(format!("application set {set}: at the base: {reason}"))];
                *report = SetReport { set, errors, warnings, left_out };
            }
        }
        self.join(head);
    }

    /// Adds other reports. What both have is reported once.
    pub(crate) fn join(&mut self, other: Self) {
        for report in other.sets {
            match self.sets.iter_mut().find(|one| one.set == report.set) {
                Some(known) => known.join(report),
                None => self.sets.push(report),
            }
        }
        add_new_warnings(&mut self.common, other.common);
    }
}

impl SetReport {
    /// Creates an empty report.
    pub(crate) fn new(set: SetId) -> Self {
        Self { set, errors: Vec::new(), warnings: Vec::new(), left_out: None }
    }

    fn unknown(&self) -> Option<UnknownSet> {
        let set = self.set.clone();
        if !self.errors.is_empty() {
            return Some(UnknownSet::failed(set, &self.errors));
        }
        let reason = match self.left_out.as_ref()? {
            LeftOut::NotSelected => "no set takes part",
            LeftOut::NotAnswered(reason) => reason,
        };
        Some(UnknownSet { set, reason: format!("left out: {reason}") })
    }

    fn join(&mut self, other: Self) {
        let is_new = |error: &ServiceError| self.errors.iter().all(|one| one.message() != error.message());
        let errors: Vec<ServiceError> = other.errors.into_iter().filter(is_new).collect();
        self.errors.extend(errors);
        add_new_warnings(&mut self.warnings, other.warnings);
        self.left_out = self.left_out.take().or(other.left_out);
    }
}

impl UnknownSet {
    pub(crate) fn failed(set: SetId, errors: &[ServiceError]) -> Self {
        let messages: Vec<String> = errors.iter().map(ServiceError::message).collect();
        Self { set, reason: messages.join("; ") }
    }
}

fn add_new_warnings(warnings: &mut Vec<Warning>, others: Vec<Warning>) {
    let is_new = |other: &Warning| warnings.iter().all(|one| one.message() != other.message());
    let others: Vec<Warning> = others.into_iter().filter(is_new).collect();
    warnings.extend(others);
}
