//! The JSON Schema of a plugin's file, for editors. It is stricter than [`super::read`]: what is read and has no effect is refused.

/// The schema, draft 7, which the YAML support of common editors knows.
pub const SCHEMA: &str = include_str!("plugin.schema.json");

/// Name of the schema's file beside a plugin's file.
pub const SCHEMA_FILE: &str = "plugin.schema.json";

#[cfg(test)]
mod tests;
