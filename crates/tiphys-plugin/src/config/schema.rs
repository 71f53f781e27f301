//! The JSON Schema of a plugin's file, for editors. It is stricter than [`super::read`]: it rejects keys without an effect.

/// The schema, draft 7, which the YAML support of common editors reads.
pub const SCHEMA: &str = include_str!("plugin.schema.json");

/// Name of the schema's file next to a plugin's file.
pub const SCHEMA_FILE: &str = "plugin.schema.json";

#[cfg(test)]
mod tests;
