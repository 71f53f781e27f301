//! Plugins in process, with real commands under a real launcher.

mod abandoned;
mod announcing;
mod choosing;
mod config_check;
mod config_oracle;
mod discovery;
mod fixture;
mod generating;
mod large_parameters;
mod native;
mod plugin_schema;
mod rule_pages;
mod run_context;
