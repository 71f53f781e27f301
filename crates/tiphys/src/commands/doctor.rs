//! `tiphys doctor`.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::doctor::{
    CheckedCheckout, CheckedProgram, Diagnosis, MissingHome, diagnose, helm_engine,
};

use crate::args::{OutputFormat, SharedOptions};
use crate::built_in;
use crate::error::{self, ErrorKind, ServiceError};
use crate::options::service_options;
use crate::output::{self, Table};
use crate::settings::Process;

/// Checks what commands use, and prints it.
pub(crate) async fn run(shared: &SharedOptions, host: &Process) -> Result<ExitCode, ServiceError> {
    let choice = &shared.project_file;
    let engine = helm_engine(host, &shared.given, choice);
    let programs = built_in::required_programs(&engine);
    let diagnosis =
        diagnose(host, programs, choice, service_options(shared, host)?.cache_dir.as_deref()).await;
    let text = match shared.output {
        None | Some(OutputFormat::Table) => text(&diagnosis, &engine),
        Some(OutputFormat::Json) => output::json(&to_json(&diagnosis, &engine)),
        Some(_) => return Err(ServiceError::invalid_input("`doctor` prints a table or, with -o json, JSON")),
    };
    output::print(&text)?;
    let code = if diagnosis.is_content() { 0 } else { error::exit_code(ErrorKind::InvalidInput) };
    Ok(ExitCode::from(code))
}

fn text(diagnosis: &Diagnosis, engine: &str) -> String {
    let mut table = Table::new(&["PROGRAM", "VERSION", "NEEDED BY", "PATH"]);
    for program in &diagnosis.programs {
        table.row([
            program.required.name.to_owned(),
            program.version.clone().unwrap_or_else(|| "-".to_owned()),
            program.required.needed_by.to_owned(),
            shown_path(program).unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let mut text = table.render();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\nCheckout:      {}",
        diagnosis.checkout.as_ref().map_or_else(|| "none".to_owned(), shown_checkout)
    );
    let file = diagnosis.project_file.file.as_deref().unwrap_or("none");
    let rules = built_in::helm_rules(engine, &diagnosis.programs);
    let rules = rules.map(|rules| format!(", {rules}")).unwrap_or_default();
    let _ = writeln!(text, "Project file:  {file}\nHelm engine:   {engine}{rules}");
    let (problems, notes) = (problems(diagnosis), notes(diagnosis));
    for (heading, lines) in [("Problems", &problems), ("Notes", &notes)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}:\n  {}", lines.join("\n  "));
        }
    }
    text
}

fn shown_path(program: &CheckedProgram) -> Option<String> {
    program.path.as_ref().map(|path| path.display().to_string())
}

/// Returns the checkout in one line.
fn shown_checkout(checkout: &CheckedCheckout) -> String {
    let mut text = checkout.folder.display().to_string();
    if let Some(branch) = &checkout.branch {
        let _ = write!(text, ", branch {branch}");
    }
    if checkout.is_foreign {
        let _ = write!(text, ", owner {}", checkout.owner);
    }
    for (name, url) in &checkout.remotes {
        let _ = write!(text, ", {name} {url}");
    }
    if let Some(branch) = &checkout.default_branch {
        let _ = write!(text, ", default branch {branch}");
    }
    text
}

/// Returns what is wrong, each with its remedy.
fn problems(diagnosis: &Diagnosis) -> Vec<String> {
    let of_programs = diagnosis
        .programs
        .iter()
        .filter_map(|program| Some(format!("{}: {}", program.required.name, program.problem.as_ref()?)));
    let of_checkout = diagnosis.checkout.iter().flat_map(|checkout| &checkout.problems);
    let of_file = diagnosis.project_file.problem.as_ref();
    of_programs
        .chain(of_checkout.map(|problem| format!("checkout: {problem}")))
        .chain(of_file.map(error::in_one_line))
        .chain(home(diagnosis, MissingHome::Cache))
        .collect()
}

fn notes(diagnosis: &Diagnosis) -> Vec<String> {
    let of_checkout = diagnosis.checkout.iter().flat_map(|checkout| checkout.notes.clone());
    let of_programs = diagnosis.programs.iter().filter_map(|program| {
        let (name, version) = program.required.instead?;
        let is_used = program.path.as_ref().is_some_and(|path| path.ends_with(name));
        let found = format!("no {name} with kustomize {version} was found beside tiphys or in PATH");
        (!is_used).then(|| format!("{found}: Jsonnet files are not rendered, and kustomizations more slowly"))
    });
    let of_optional = diagnosis.programs.iter().filter_map(|program| {
        let required = &program.required;
        Some(format!("{}, for {}: {}", required.name, required.needed_by, program.note.as_ref()?))
    });
    let of_programs = of_optional.chain(of_programs);
    of_programs.chain(of_checkout).chain(home(diagnosis, MissingHome::Settings)).collect()
}

/// Returns the message about `HOME`, if that is missing.
fn home(diagnosis: &Diagnosis, missing: MissingHome) -> Option<String> {
    let message = match missing {
        MissingHome::Settings => "HOME is not set, so git and helm do not find your settings and credentials",
        MissingHome::Cache => {
            "HOME is not set, so git and helm do not find your settings and credentials, and there is no folder for the cache; set HOME, or name a folder with --config cacheDir=DIR"
        }
    };
    (diagnosis.home == Some(missing)).then(|| message.to_owned())
}

fn to_json(diagnosis: &Diagnosis, engine: &str) -> Value {
    let programs = diagnosis.programs.iter().map(|program| {
        json!({
            "name": program.required.name,
            "path": shown_path(program),
            "version": program.version,
            "neededBy": program.required.needed_by,
            "supported": program.required.supported,
            "website": program.required.website,
            "problem": program.problem,
            "note": program.note,
        })
    });
    let checkout = diagnosis.checkout.as_ref().map(|checkout| {
        let remotes = checkout.remotes.iter().map(|(name, url)| json!({"name": name, "url": url}));
        json!({
            "folder": checkout.folder.display().to_string(),
            "branch": checkout.branch,
            "remotes": remotes.collect::<Vec<_>>(),
            "defaultBranch": checkout.default_branch,
            "owner": checkout.owner,
            "problems": checkout.problems,
            "notes": checkout.notes,
        })
    });
    let file = &diagnosis.project_file;
    let of_home = |missing| home(diagnosis, missing);
    json!({
        "home": {"problem": of_home(MissingHome::Cache), "note": of_home(MissingHome::Settings)},
        "programs": programs.collect::<Vec<_>>(),
        "checkout": checkout,
        "helmEngine": engine,
        "projectFile": {"file": file.file, "problem": file.problem.as_ref().map(error::in_one_line)},
    })
}
