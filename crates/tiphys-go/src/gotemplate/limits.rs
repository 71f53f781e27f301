//! Limits on the resources of one template.

/// Limits on one template and its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of an execution: evaluated nodes, iterations, and items or every 16 bytes that functions create or read. They also limit the
    /// memory of new values, to some 16 bytes for each step.
    pub steps: u64,
    /// Bytes of the output, and of each string that a function creates.
    pub output_bytes: usize,
    /// Levels of nested blocks, parentheses, calls of templates, and values.
    pub depth: usize,
}

impl Limits {
    /// The default limits: one million steps, 4 MiB and 100 levels.
    pub const DEFAULT: Self = Self { steps: 1_000_000, output_bytes: 4 << 20, depth: 100 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// More than [`Limits::steps`].
    #[error("needs more than {0} steps; shorten its loops and lists")]
    Steps(u64),
    /// More than [`Limits::output_bytes`].
    #[error("creates a string of more than {0} bytes; shorten it")]
    Bytes(usize),
    /// More than [`Limits::depth`].
    #[error("is nested deeper than {0} levels; nest blocks, parentheses, templates and values less deeply")]
    Depth(usize),
}

/// Bytes that count as one step.
const BYTES_PER_STEP: usize = 16;

/// Steps for a new map: it takes some 500 bytes, however few entries it has.
const STEPS_PER_MAP: usize = 32;

/// Steps for an item of a new list.
const STEPS_PER_ITEM: usize = 2;

/// The remaining part of the limits of one execution.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    steps: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, steps: limits.steps }
    }

    /// Takes steps.
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), LimitError> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(LimitError::Steps(self.limits.steps))?;
        Ok(())
    }

    /// Takes the steps for a new map.
    pub(crate) fn take_map(&mut self) -> Result<(), LimitError> {
        self.take(STEPS_PER_MAP)
    }

    /// Takes the steps for a new list of `length` items.
    pub(crate) fn take_items(&mut self, length: usize) -> Result<(), LimitError> {
        self.take(length.saturating_mul(STEPS_PER_ITEM))
    }

    /// Takes the steps for a string of `bytes` bytes, and checks its length.
    pub(crate) fn take_bytes(&mut self, bytes: usize) -> Result<(), LimitError> {
        self.check_bytes(bytes)?;
        self.take(1 + bytes / BYTES_PER_STEP)
    }

    /// Checks the length of a string.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<(), LimitError> {
        let limit = self.limits.output_bytes;
        if bytes > limit { Err(LimitError::Bytes(limit)) } else { Ok(()) }
    }

    /// Returns the limits of a YAML document.
    pub(crate) fn yaml_limits(&self) -> tiphys_yaml::Limits {
        tiphys_yaml::Limits {
            depth_max: self.limits.depth,
            nodes_max: usize::try_from(self.steps).unwrap_or(usize::MAX),
            alias_bytes_max: self.limits.output_bytes,
        }
    }

    /// Checks that `level` levels are permitted.
    pub(crate) fn check_depth(&self, level: usize) -> Result<(), LimitError> {
        if level > self.limits.depth { Err(LimitError::Depth(self.limits.depth)) } else { Ok(()) }
    }
}
