//! Generators of generators: `matrix` and `merge`.

use serde_json::Value;
use tiphys_model::resources::{APPLICATION_SET_GENERATOR, GeneratorEntry, MergeGenerator, map_strings};
use tiphys_yaml::Step;

use super::{Run, Sets, Stop};
use crate::appset::{Engine as _, ParameterSet, TemplateMode, combine_matrix, combine_merge};

/// Errors of Go templates by which a string of `values` refers to a parameter that is not known yet.
const MISSING: [&str; 2] = ["map has no entry for key", "can't evaluate field"];

impl Run<'_> {
    /// Returns the products of the sets of two generators. The second generator is interpolated with each set of the first one.
    pub(super) fn matrix(&self, children: &[GeneratorEntry]) -> Sets {
        let [first, second] = children else {
            let count = if children.len() < 2 { "less" } else { "more" };
            return Err(Stop::failed(format!("found {count} than two generators, Matrix support only two")));
        };
        let of_first = "error failed to get params for first generator in matrix generator: ";
        let of_second = "failed to get params for second generator in the matrix generator: ";
        let sets = self.child(first, None).map_err(|stop| stop.wrapped(of_first))?;
        let (mut products, mut questions) = (Vec::new(), Vec::new());
        // Without templates, the second generator is the same for each set that has parameters.
        let is_constant = !second.value.to_string().contains("{{");
        let mut constant: Option<Vec<ParameterSet>> = None;
        for set in &sets {
            let others = match constant.take().filter(|_| !set.values.is_empty()) {
                Some(others) => Ok(others),
                None => self.child(second, Some(set)),
            };
            match others {
                Ok(others) => {
                    self.check_count(products.len() + others.len())?;
                    for other in &others {
                        let product = combine_matrix(self.mode, set, other);
                        products.push(product.map_err(|error| Stop::failed(error.to_string()))?);
                    }
                    constant = Some(others).filter(|_| is_constant && !set.values.is_empty());
                }
                Err(Stop::Ask(more)) => questions.extend(more),
                Err(failed) if questions.is_empty() => return Err(failed.wrapped(of_second)),
                // An earlier set may fail, too, once it has an answer.
                Err(Stop::Failed(_)) => break,
            }
        }
        if questions.is_empty() { Ok(products) } else { Err(Stop::Ask(questions)) }
    }

    /// Returns the sets of the first generator, overridden by those of the others with the same values of the merge keys.
    pub(super) fn merge(&self, merge: &MergeGenerator) -> Sets {
        let count = merge.generators.len();
        if count < 2 {
            return Err(Stop::failed("found less than two generators, Merge requires two or more"));
        }
        let (mut all, mut questions) = (Vec::new(), Vec::new());
        for (index, entry) in merge.generators.iter().enumerate() {
            match self.child(entry, None) {
                Ok(sets) => all.push(sets),
                Err(Stop::Ask(more)) => questions.extend(more),
                Err(failed) if questions.is_empty() => {
                    let number = index + 1;
                    return Err(failed.wrapped(&format!(
                        "error getting param sets from generators: error getting params from generator {number} of {count}: "
                    )));
                }
                Err(Stop::Failed(_)) => break,
            }
        }
        if !questions.is_empty() {
            return Err(Stop::Ask(questions));
        }
        combine_merge(self.mode, &merge.merge_keys, all).map_err(|error| Stop::failed(error.to_string()))
    }

    /// Returns the sets of a nested entry, which has one generator. Its selector is not interpolated.
    fn child(&self, entry: &GeneratorEntry, interpolated_with: Option<&ParameterSet>) -> Sets {
        let returned = "child generator returned an error on parameter generation: ";
        let nothing = "child generator generated no parameters";
        if let Some(unknown) = entry.unknown.first() {
            return Err(Stop::failed(format!("{nothing}: {} is not a generator here", unknown.path)));
        }
        if entry.generators.len() > 1 {
            return Err(Stop::failed("found more than one generator in matrix.Generators"));
        }
        let interpolated = match interpolated_with.filter(|set| !set.values.is_empty()) {
            None => None,
            Some(set) => Some(self.interpolated(entry, set).map_err(|stop| {
                stop.wrapped("failed to replace parameters in generator: ").wrapped(returned)
            })?),
        };
        let run = Run { is_interpolated: self.is_interpolated || interpolated.is_some(), ..*self };
        let generators = &interpolated.as_ref().unwrap_or(entry).generators;
        let [generator] = &generators[..] else {
            return Err(Stop::failed(nothing));
        };
        run.selected(entry, generator).map_err(|stop| stop.wrapped(returned))
    }

    fn interpolated(&self, entry: &GeneratorEntry, set: &ParameterSet) -> Result<GeneratorEntry, Stop> {
        let engine = self.templates.engine(set);
        let strict = self.templates.engine(set).strict();
        let mut value: Value = entry.value.clone();
        map_strings(&APPLICATION_SET_GENERATOR, &mut value, &mut |site| match site.path {
            [Step::Key(_), Step::Key(values), Step::Key(key)]
                if values == "values" && self.mode == TemplateMode::Go =>
            {
                if site.is_key {
                    return Ok(site.text.to_owned());
                }
                match strict.render(site.text) {
                    // It is rendered with the generator's own parameters later.
                    Err(error) if MISSING.iter().any(|missing| error.contains(missing)) => {
                        Ok(site.text.to_owned())
                    }
                    rendered => rendered
                        .map_err(|error| format!("failed to pre-resolve Values key \"{key}\": {error}")),
                }
            }
            _ => engine.render(site.text),
        })
        .map_err(|error| {
            let prefix =
                if error.is_in_free_json { "failed to deeply replace JSON field contents: " } else { "" };
            Stop::failed(format!("{prefix}{}", error.source))
        })?;
        self.set.generator_entry(entry.path.clone(), value).map_err(|error| Stop::failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
