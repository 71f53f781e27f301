//! `tiphys version`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_process::Tool;

use crate::args::{CommonArgs, OutputFormat, VersionArgs};
use crate::build;
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// Tools that tiphys or the plugins of this repository use, with the arguments that print their version.
const TOOLS: &[(&str, &[&str])] = &[
    ("git", &["--version"]),
    ("helm", &["version", "--short"]),
    ("kustomize", &["version"]),
    ("yq", &["--version"]),
    ("jq", &["--version"]),
];

/// Limit for one tool.
const TOOL_TIMEOUT: Duration = Duration::from_secs(10);

/// Prints the version of tiphys and, if requested, those of the tools on `PATH`.
pub(crate) async fn run(
    common: &CommonArgs,
    args: &VersionArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let mut tools = Vec::new();
    if args.tools {
        for (name, arguments) in TOOLS {
            tools.push((*name, tool_version(host, name, arguments).await));
        }
    }
    let (version, commit) = (build::VERSION, build::COMMIT);
    let text = match common.output {
        None => {
            let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
            let mut text = format!("tiphys {version}{commit}\n");
            for (name, found) in &tools {
                let found = found.as_deref().unwrap_or("not found in PATH");
                // Writing to a string does not fail.
                let _ = writeln!(text, "{name}: {found}");
            }
            text
        }
        Some(OutputFormat::Json) => {
            let mut all = json!({"version": version, "commit": commit});
            if args.tools {
                let tools = tools.into_iter().map(|(name, found)| (name.to_owned(), json!(found)));
                all["tools"] = Value::Object(tools.collect());
            }
            output::json(&all)
        }
        Some(_) => return Err(ServiceError::invalid_input("`version` prints text or, with -o json, JSON")),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn tool_version(host: &Process, name: &str, args: &[&str]) -> Option<String> {
    let env = ["PATH", "HOME"]
        .iter()
        .filter_map(|&name| Some((OsString::from(name), OsString::from(host.variable(name)?))));
    let tool = Tool {
        program: PathBuf::from(name),
        env: env.collect(),
        timeout: TOOL_TIMEOUT,
        stdout_bytes_max: 64 * 1024,
    };
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let output = tool.run(&args, Path::new("/"), None).await.ok().filter(|output| output.code == Some(0))?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(|line| line.trim().to_owned())
}
