//! Plugins in process, with real commands under a real launcher.

mod abandoned;
mod announcing;
mod choosing;
mod discovery;
mod fixture;
mod generating;
mod large_parameters;
mod run_context;
