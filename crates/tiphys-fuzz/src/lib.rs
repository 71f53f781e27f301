//! Properties of the readers of untrusted bytes: the bodies of the fuzz targets.
//!
//! A body is a function that takes bytes and panics if a property is violated. The test `seeds` runs each on the stable toolchain, over
//! the seeds in `fuzz/corpus` and over changed ones; the targets below `fuzz` do so guided by coverage, see `cargo xtask fuzz`. A crate
//! of its own, since `tiphys-testkit`, which nearly all crates depend on for their tests, would bring all crates into each.

mod archive;
mod charts;
mod charts_in_memory;
mod connection;
mod edit;
mod glob;
mod go_template;
mod helm_set;
mod jq;
mod json_reader;
mod jsonpath;
mod lines;
mod parameters;
mod plugin_file;
mod repo_path;
mod split_output;
mod version_range;
mod yaml_reader;

/// One fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of its file in `fuzz/fuzz_targets` and of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Panics if something does not hold for these bytes.
    pub body: fn(&[u8]),
    /// How many changed seeds the gate tries: about a second's worth in a debug build.
    pub gate_inputs: usize,
}

/// All targets, by name.
pub const TARGETS: [Target; 24] = [
    Target { name: "chart_address", body: charts::address_body, gate_inputs: 20_000 },
    Target { name: "chart_archive", body: charts_in_memory::archive_body, gate_inputs: 400 },
    Target { name: "chart_index", body: charts::index_body, gate_inputs: 5_000 },
    Target { name: "chart_template", body: charts_in_memory::template_body, gate_inputs: 500 },
    Target { name: "connection", body: connection::body, gate_inputs: 20_000 },
    Target { name: "edit", body: edit::body, gate_inputs: 3_000 },
    Target { name: "glob", body: glob::body, gate_inputs: 2_000 },
    Target { name: "go_template", body: go_template::body, gate_inputs: 10_000 },
    Target { name: "gzip", body: archive::gzip_body, gate_inputs: 300 },
    Target { name: "helm_set", body: helm_set::body, gate_inputs: 20_000 },
    Target { name: "jq", body: jq::body, gate_inputs: 2_000 },
    Target { name: "json_reader", body: json_reader::body, gate_inputs: 10_000 },
    Target { name: "jsonpath", body: jsonpath::body, gate_inputs: 20_000 },
    Target { name: "parameters", body: parameters::body, gate_inputs: 10_000 },
    Target {
        name: "plugin_answer",
        body: tiphys_generators::exposed::fuzz_plugin_answer,
        gate_inputs: 20_000,
    },
    Target { name: "plugin_file", body: plugin_file::body, gate_inputs: 2_000 },
    Target { name: "registry_address", body: charts::registry_body, gate_inputs: 20_000 },
    Target { name: "registry_challenge", body: charts::challenge_body, gate_inputs: 20_000 },
    Target { name: "repo_path", body: repo_path::body, gate_inputs: 10_000 },
    Target { name: "repo_url", body: tiphys_model::access::fuzz_repo_url, gate_inputs: 20_000 },
    Target { name: "split_output", body: split_output::body, gate_inputs: 5_000 },
    Target { name: "tar", body: archive::tar_body, gate_inputs: 300 },
    Target { name: "version_range", body: version_range::body, gate_inputs: 10_000 },
    Target { name: "yaml_reader", body: yaml_reader::body, gate_inputs: 5_000 },
];

/// Runs the body of a target.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    (target.body)(bytes);
}
