//! The budget of one run of an expression, and the functions that draw on it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jaq_core::box_iter::box_once;
use jaq_core::data::HasLut;
use jaq_core::native::{Filter, Fun, run, v};
use jaq_core::{Ctx, DataT, Error, Exn, Lut, Native, RunPtr};
use jaq_json::{Val, read};
use jaq_std::ValT as _;

/// Maximum values that the parts of an expression yield for one object. They take seconds, so that the time limit usually ends a run first;
/// this limit applies if the clock does not.
const STEPS_MAX: usize = 1 << 22;

/// Maximum size of all values that an expression builds for one object: nodes, and bytes of strings. The memory in use is a multiple, because
/// a node takes tens of bytes, and a function that splits or escapes a string builds its result before that is counted.
const CELLS_MAX: usize = 1 << 22;

/// Maximum depth of JSON in a string, as in Go. Deeper values would exhaust the stack.
const JSON_DEPTH_MAX: usize = 10_000;

/// Maximum digits of a number of JSON in a string. Arithmetic on long numbers takes quadratic time.
const DIGITS_MAX: usize = 1000;

/// Comparisons of two cells that count as one step.
const COMPARISONS_PER_STEP: usize = 64;

/// The function that counts a value.
pub(crate) const STEP: &str = "!step";

/// The function that counts a value and its size.
pub(crate) const BUILT: &str = "!built";

/// The function that counts a value and its items, which are copied while they are visited.
pub(crate) const ITEMS: &str = "!items";

/// The function that counts the search for a list in a list (`.[LIST]`), which takes quadratic time.
pub(crate) const INDEX: &str = "!index";

/// The remaining budget of one run.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<usize>,
    cells: Cell<usize>,
    is_exceeded: Cell<bool>,
    is_abandoned: Arc<AtomicBool>,
}

/// Data of a run for natives and metered terms.
#[derive(Clone, Copy)]
pub(crate) struct RunData<'a> {
    pub(crate) lut: &'a Lut<Metered>,
    pub(crate) budget: &'a Budget,
}

/// Filters on JSON with a budget.
pub(crate) struct Metered;

impl DataT for Metered {
    type V<'a> = Val;
    type Data<'a> = RunData<'a>;
}

impl<'a> HasLut<'a, Metered> for RunData<'a> {
    fn lut(&self) -> &'a Lut<Metered> {
        self.lut
    }
}

impl Budget {
    /// Creates the budget of a run. The run ends at the next value after `is_abandoned` is set.
    pub(crate) fn new(is_abandoned: Arc<AtomicBool>) -> Self {
        let (steps, cells) = (Cell::new(STEPS_MAX), Cell::new(CELLS_MAX));
        Self { steps, cells, is_exceeded: Cell::new(false), is_abandoned }
    }

    /// Returns whether a run did not end because of the budget.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }

    /// Draws steps. Returns whether there were enough; after that, never again.
    pub(crate) fn draw_steps(&self, steps: usize) -> bool {
        self.draw(&self.steps, steps) && !(self.is_abandoned.load(Ordering::Relaxed) && self.exceed())
    }

    /// Draws the size of a value.
    fn draw_value(&self, value: &Val) -> bool {
        match value {
            Val::Null | Val::Bool(_) | Val::Num(_) => self.draw_cells(1),
            Val::BStr(bytes) | Val::TStr(bytes) => self.draw_cells(1 + bytes.len()),
            Val::Arr(items) => self.draw_cells(1) && items.iter().all(|item| self.draw_value(item)),
            Val::Obj(fields) => {
                let draw_field = |(key, value)| self.draw_value(key) && self.draw_value(value);
                self.draw_cells(1) && fields.iter().all(draw_field)
            }
        }
    }

    fn draw_cells(&self, cells: usize) -> bool {
        self.draw(&self.cells, cells)
    }

    fn draw(&self, left: &Cell<usize>, amount: usize) -> bool {
        match left.get().checked_sub(amount) {
            Some(rest) if !self.is_exceeded() => {
                left.set(rest);
                true
            }
            _ => !self.exceed(),
        }
    }

    /// Notes that the run must end. Returns `true`.
    fn exceed(&self) -> bool {
        self.is_exceeded.set(true);
        true
    }
}

/// Makes a path function that passes values on as long as the budget permits it.
macro_rules! counter {
    ($name:ident, $count:ident) => {{
        let native = Native::<Metered>::new(|cv| box_once($count(&cv.0, &cv.1).map(|()| cv.1)))
            .with_paths(|cv| box_once($count(&cv.0, &cv.1.0).map(|()| cv.1)))
            .with_update(|cv, update| match $count(&cv.0, &cv.1) {
                Ok(()) => update(cv.1),
                Err(halt) => box_once(Err(halt)),
            });
        ($name, v(0), native)
    }};
}
/// Returns the functions that metered terms call, and those whose costs are not linear.
pub(crate) fn funs() -> impl Iterator<Item = Fun<Metered>> {
    let functions: [Filter<RunPtr<Metered>>; 2] = [
        ("charge_product", v(1), |mut cv| {
            let other = cv.0.pop_var();
            let comparisons = cells(&cv.1).saturating_mul(cells(&other));
            let is_within = cv.0.data().budget.draw_steps(comparisons / COMPARISONS_PER_STEP);
            box_once(counted(is_within).map(|()| cv.1))
        }),
        ("fromjson", v(0), |cv| box_once(from_json(&cv.1).map_err(Exn::from))),
    ];
    let counters =
        [counter!(STEP, step), counter!(BUILT, built), counter!(ITEMS, items), counter!(INDEX, index)];
    counters.into_iter().chain(functions.into_iter().map(run::<Metered> as fn(_) -> _))
}

fn step<'a>(context: &Ctx<'a, Metered>, _: &Val) -> Result<(), Exn<'a, Val>> {
    counted(context.data().budget.draw_steps(1))
}

fn built<'a>(context: &Ctx<'a, Metered>, value: &Val) -> Result<(), Exn<'a, Val>> {
    let budget = context.data().budget;
    counted(budget.draw_steps(1) && budget.draw_value(value))
}

fn items<'a>(context: &Ctx<'a, Metered>, value: &Val) -> Result<(), Exn<'a, Val>> {
    let budget = context.data().budget;
    counted(budget.draw_steps(1) && budget.draw_cells(children(value)))
}

fn index<'a>(context: &Ctx<'a, Metered>, value: &Val) -> Result<(), Exn<'a, Val>> {
    let length = if let Val::Arr(items) = value { items.len() } else { 0 };
    counted(context.data().budget.draw_steps(1 + length.saturating_mul(1024)))
}

/// Returns the exception that nothing in an expression catches if the budget is exceeded.
fn counted<'a>(is_within: bool) -> Result<(), Exn<'a, Val>> {
    if is_within { Ok(()) } else { Err(Exn::halt(0)) }
}

fn children(value: &Val) -> usize {
    match value {
        Val::Arr(items) => items.len(),
        Val::Obj(fields) => fields.len(),
        _ => 0,
    }
}

/// Returns the size of a value, at most about [`CELLS_MAX`].
fn cells(value: &Val) -> usize {
    let measure = Budget::new(Arc::default());
    measure.draw_value(value);
    CELLS_MAX - measure.cells.get()
}

/// Parses one JSON value in a string.
fn from_json(value: &Val) -> Result<Val, Error<Val>> {
    let bytes = value.try_as_utf8_bytes()?;
    let (mut depth, mut digits, mut in_string, mut is_escaped) = (0_usize, 0_usize, false, false);
    for byte in bytes {
        digits = if byte.is_ascii_digit() && !in_string { digits + 1 } else { 0 };
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > JSON_DEPTH_MAX || digits > DIGITS_MAX {
            return Err(Error::str("exceeded max depth"));
        }
    }
    read::parse_single(bytes).map_err(Error::str)
}
