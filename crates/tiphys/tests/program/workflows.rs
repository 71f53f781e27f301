//! The workflows of `docs/ci.md`, run as CI services run them: the steps of a job, their conditions and variables, and artifacts.

use std::fs;

use serde_json::Value;
use tiphys_testkit::workspace_root;

use crate::world::{Output, World};

/// Where artifacts of jobs are.
const ARTIFACTS: &str = "artifacts";

/// A workflow of the page.
pub(crate) struct Workflow(Value);

/// Facts of a service about an event: the values of expressions (`github.base_ref`) and of variables (`CI_PROJECT_DIR`).
pub(crate) type Facts<'a> = [(&'a str, &'a str)];

impl Workflow {
    /// Reads a workflow from the page.
    pub(crate) fn read(file: &str) -> Self {
        let page = fs::read_to_string(workspace_root().join("docs/ci.md")).expect("the page can be read");
        let mark = format!("<!-- tested: file {file} -->\n```yaml\n");
        let start = page.find(&mark).expect("the page has the workflow") + mark.len();
        let text = page[start..].split("\n```\n").next().expect("the block ends");
        let document = tiphys_yaml::read_document(text.as_bytes()).expect("YAML").expect("a document");
        Self(document.to_value())
    }

    /// Whether the condition of a job permits it to run.
    pub(crate) fn is_run(&self, job: &str, facts: &Facts<'_>) -> bool {
        let value = |term: &str| match term.strip_prefix('\'') {
            Some(literal) => literal.trim_end_matches('\'').to_owned(),
            None => fact(term, facts).to_owned(),
        };
        let holds = |term: &str| match (term.split_once(" == "), term.split_once(" != ")) {
            (Some((one, other)), _) => value(one) == value(other),
            (_, Some((one, other))) => value(one) != value(other),
            _ => term == "always()",
        };
        self.0["jobs"][job]["if"].as_str().is_none_or(|condition| condition.split(" && ").all(holds))
    }

    /// Runs a job in a directory. A step after a failed one runs only if it always does. Returns the output of the failed step, or that of the
    /// last one.
    pub(crate) fn run(&self, job: &str, world: &World, directory: &str, facts: &Facts<'_>) -> Output {
        let mut result = Output { code: 0, stdout: String::new(), stderr: String::new() };
        // A job of GitLab has a script; its artifacts are those of a last step.
        let script = self.0[job]["script"].as_array().into_iter().flatten();
        let steps = self.0["jobs"][job]["steps"].as_array().into_iter().flatten();
        for step in steps {
            if result.code != 0 && step["if"] != "always()" {
                continue;
            }
            let artifact = step["with"]["name"].as_str().map(|name| format!("{name}.md"));
            match (step["uses"].as_str().and_then(|uses| uses.split('@').next()), artifact) {
                (Some("actions/upload-artifact"), Some(name)) => copy(world, directory, ARTIFACTS, &name),
                (Some("actions/download-artifact"), Some(name)) => copy(world, ARTIFACTS, directory, &name),
                _ => {}
            }
            if let Some(command) = step["run"].as_str() {
                result = shell(world, directory, command, &variables(&step["env"], facts), facts);
            }
        }
        let of_job = variables(&self.0[job]["variables"], facts);
        for command in script.filter_map(Value::as_str) {
            if result.code == 0 {
                result = shell(world, directory, command, &of_job, facts);
            }
        }
        let artifacts = &self.0[job]["artifacts"];
        if result.code == 0 || artifacts["when"] == "always" {
            let paths = artifacts["paths"].as_array().into_iter().flatten();
            paths.filter_map(Value::as_str).for_each(|path| copy(world, directory, ARTIFACTS, path));
        }
        result
    }
}

fn shell(
    world: &World,
    directory: &str,
    command: &str,
    variables: &[(String, String)],
    facts: &Facts<'_>,
) -> Output {
    let mut shell = world.command("sh");
    let of_service = facts.iter().filter(|(name, _)| !name.contains('.'));
    shell
        .args(["-e", "-c", &format!("PATH=\"{}:$PATH\"; {command}", world.path("bin").display())])
        .current_dir(world.path(directory))
        .env("CI", "true")
        .envs(of_service.copied())
        .envs(variables.iter().cloned());
    world.finish(shell)
}

/// Returns the variables of a step or job. Expressions and variables of the service are replaced.
fn variables(written: &Value, facts: &Facts<'_>) -> Vec<(String, String)> {
    let variable = |(name, value): (&String, &Value)| {
        let mut value = value.as_str().expect("a string").to_owned();
        while let Some((before, after)) = value.split_once("${{ ") {
            let (expression, rest) = after.split_once(" }}").expect("the expression ends");
            value = format!("{before}{}{rest}", fact(expression, facts));
        }
        if let Some(rest) = value.strip_prefix('$') {
            let (name, rest) = rest.split_once('.').unwrap_or((rest, ""));
            let separator = if rest.is_empty() { "" } else { "." };
            value = format!("{}{separator}{rest}", fact(name, facts));
        }
        (name.clone(), value)
    };
    written.as_object().into_iter().flatten().map(variable).collect()
}

fn fact<'a>(name: &str, facts: &Facts<'a>) -> &'a str {
    facts.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("unknown: {name}")).1
}

fn copy(world: &World, from: &str, to: &str, name: &str) {
    fs::create_dir_all(world.path(to)).expect("create_dir_all");
    fs::copy(world.path(from).join(name), world.path(to).join(name)).expect("the artifact exists");
}
