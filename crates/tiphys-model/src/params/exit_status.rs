//! Exit statuses by which commands of the plugins of tiphys report why they fail.

/// A command for announcements exceeded a limit: the parameters may be set, but what they accept is unknown.
pub const ABOVE_LIMIT_STATUS: u8 = 3;

/// The Helm plugin rendered a chart with both engines, and the results differ.
pub const ENGINES_DIFFER_STATUS: u8 = 4;

/// The engine of the Helm plugin does not support the chart, which only the `helm` program can render.
pub const ONLY_HELM_STATUS: u8 = 5;
