//! The evaluation, after `util/jsonpath/jsonpath.go` of client-go without `AllowMissingKeys`.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Filter, FindProblem, Operand, Operator, PATH_VISITS_MAX, Select, Step};

/// Returns what the steps select.
pub(super) fn find<'a>(steps: &[Step], object: &'a Value) -> Result<Vec<&'a Value>, FindProblem> {
    Evaluation { visits_left: PATH_VISITS_MAX }.path(steps, vec![object])
}

struct Evaluation {
    visits_left: usize,
}

impl Evaluation {
    fn visit(&mut self, values: usize) -> Result<(), FindProblem> {
        self.visits_left = self.visits_left.checked_sub(values).ok_or(FindProblem::TooManyVisits)?;
        Ok(())
    }

    /// Applies steps in turn. Each maps all values of the one before.
    fn path<'a>(
        &mut self,
        steps: &[Step],
        mut values: Vec<&'a Value>,
    ) -> Result<Vec<&'a Value>, FindProblem> {
        for step in steps {
            self.visit(values.len())?;
            values = self.step(step, &values)?;
        }
        Ok(values)
    }

    fn step<'a>(&mut self, step: &Step, input: &[&'a Value]) -> Result<Vec<&'a Value>, FindProblem> {
        let written = || step.written.clone();
        let mut found = Vec::new();
        match &step.select {
            Select::Field(name) => {
                found.extend(input.iter().filter_map(|value| value.as_object()?.get(name)));
                if found.is_empty() && !input.is_empty() {
                    return Err(FindProblem::Missing(written()));
                }
            }
            Select::Wildcard => {
                for value in input {
                    self.visit(children(value).count())?;
                    found.extend(children(value));
                }
            }
            Select::Recursive => {
                for value in input {
                    self.descendants(value, &mut found)?;
                }
            }
            Select::Index(index) => {
                for items in lists(input, true) {
                    let items = items.ok_or_else(|| FindProblem::NotAList(written()))?;
                    let at = usize::try_from(from_start(*index, items.len())).ok();
                    let item = at.and_then(|at| items.get(at));
                    found.push(item.ok_or_else(|| FindProblem::OutOfRange(written()))?);
                }
            }
            Select::Range { start, end, step } => {
                for items in lists(input, true) {
                    let items = items.ok_or_else(|| FindProblem::NotAList(written()))?;
                    let start = start.map_or(0, |start| from_start(start, items.len()));
                    let end = end.map_or(signed(items.len()), |end| from_start(end, items.len()));
                    if start == end {
                        // kubectl ends the step here, even if other lists follow.
                        break;
                    }
                    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
                    let part = range.and_then(|(start, end)| items.get(start..end));
                    let part = part.ok_or_else(|| FindProblem::OutOfRange(written()))?;
                    self.visit(part.len())?;
                    found.extend(part.iter().step_by(*step));
                }
            }
            Select::Union(paths) => {
                for path in paths {
                    self.visit(input.len())?;
                    found.extend(self.path(path, input.to_vec())?);
                }
            }
            Select::Filter(filter) => {
                for items in lists(input, false) {
                    for item in items.ok_or_else(|| FindProblem::NotAList(written()))? {
                        if self.passes(filter, item, &step.written)? {
                            found.push(item);
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Adds the value and its descendants that have content, each before its own.
    fn descendants<'a>(&mut self, value: &'a Value, found: &mut Vec<&'a Value>) -> Result<(), FindProblem> {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            self.visit(1)?;
            let before = pending.len();
            pending.extend(children(value));
            pending[before..].reverse();
            if pending.len() > before || value.as_str().is_some_and(|text| !text.is_empty()) {
                found.push(value);
            }
        }
        Ok(())
    }

    fn passes(&mut self, filter: &Filter, item: &Value, written: &str) -> Result<bool, FindProblem> {
        self.visit(1)?;
        let (left, operator, right) = match filter {
            Filter::Exists(path) => {
                return match self.path(path, vec![item]) {
                    Ok(values) => Ok(!values.is_empty()),
                    Err(FindProblem::Missing(_)) => Ok(false),
                    Err(problem) => Err(problem),
                };
            }
            Filter::Compare(left, operator, right) => (left, *operator, right),
        };
        let Some(left) = self.operand(left, item, written)? else { return Ok(false) };
        let Some(right) = self.operand(right, item, written)? else { return Ok(false) };
        compare(left, operator, right).ok_or_else(|| FindProblem::IncompatibleTypes(written.to_owned()))
    }

    fn operand<'a>(
        &mut self,
        operand: &'a Operand,
        item: &'a Value,
        written: &str,
    ) -> Result<Option<&'a Value>, FindProblem> {
        match operand {
            Operand::Literal(value) => Ok(Some(value)),
            Operand::Path(path) => match self.path(path, vec![item])?[..] {
                [] => Ok(None),
                [value] => Ok(Some(value)),
                _ => Err(FindProblem::SeveralOperands(written.to_owned())),
            },
        }
    }
}

/// The values of a map or list. Other values have none.
fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let map = value.as_object().into_iter().flat_map(|map| map.values());
    map.chain(value.as_array().into_iter().flatten())
}

/// The lists among the values, and none for what is not a list. Null is left out on request.
fn lists<'a>(values: &[&'a Value], without_null: bool) -> impl Iterator<Item = Option<&'a Vec<Value>>> {
    values.iter().filter(move |value| !(without_null && value.is_null())).map(|value| value.as_array())
}

/// Returns the index from the start of a list. It may be negative or too large.
fn from_start(index: i64, length: usize) -> i64 {
    if index < 0 { index.saturating_add(signed(length)) } else { index }
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Compares like Go's templates. None if the types differ, are unordered, or are not scalar.
fn compare(left: &Value, operator: Operator, right: &Value) -> Option<bool> {
    let has_order = !matches!(operator, Operator::Equal | Operator::NotEqual);
    let order = match (left, right) {
        (Value::Bool(_), Value::Bool(_)) if has_order => return None,
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
            _ => return None,
        },
        _ => return None,
    };
    Some(match operator {
        Operator::Equal => order == Ordering::Equal,
        Operator::NotEqual => order != Ordering::Equal,
        Operator::Less => order == Ordering::Less,
        Operator::LessOrEqual => order != Ordering::Greater,
        Operator::Greater => order == Ordering::Greater,
        Operator::GreaterOrEqual => order != Ordering::Less,
    })
}
