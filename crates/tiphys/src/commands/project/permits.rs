//! `tiphys project permits`.

use std::process::ExitCode;

use serde_json::json;
use tiphys_service::documents::RuleDocument;
use tiphys_service::{ErrorKind, ObjectRequest, ProjectFiles, ProjectQuestion, ProjectRule, project_permits};

use crate::args::{OutputFormat, ProjectPermitsArgs, SharedOptions};
use crate::error::{ServiceError, exit_code_of};
use crate::output;

/// Prints whether a project permits something.
pub(super) fn run(shared: &SharedOptions, args: &ProjectPermitsArgs) -> Result<ExitCode, ServiceError> {
    let is_json = match shared.output {
        None => false,
        Some(OutputFormat::Json) => true,
        Some(_) => {
            return Err(ServiceError::invalid_input("`project permits` prints text or, with -o json, JSON"));
        }
    };
    let files = ProjectFiles {
        project: args.project.clone(),
        globals: args.global.clone(),
        clusters: args.clusters.clone(),
    };
    let answer = project_permits(&files, &question(args)?)?;
    let rule = answer.rule.as_ref();
    output::print(&if is_json {
        output::json(&json!({
            "permitted": answer.refusal.is_none(),
            "reason": answer.refusal,
            "rule": rule.map(RuleDocument::from),
        }))
    } else {
        output::lines([match (&answer.refusal, rule) {
            (Some(refusal), _) => refusal.clone(),
            (None, Some(rule)) => format!("permitted by {}", rule_text(rule)),
            (None, None) => "permitted".to_owned(),
        }])
    })?;
    Ok(exit_code_of(answer.refusal.map(|_| ErrorKind::Forbidden)))
}

fn question(args: &ProjectPermitsArgs) -> Result<ProjectQuestion, ServiceError> {
    let cluster = args.destination.clone();
    match (&args.url[..], &args.kind, cluster, &args.namespace) {
        ([url], None, None, None) => Ok(ProjectQuestion::Repository { url: url.clone() }),
        ([], Some(kind), cluster, namespace) => {
            let object = ObjectRequest {
                group: args.group.clone().unwrap_or_default(),
                kind: kind.clone(),
                namespace: namespace.clone().filter(|namespace| !namespace.is_empty()),
                name: args.name.clone().unwrap_or_default(),
            };
            Ok(match cluster {
                Some(cluster) if args.look_up => ProjectQuestion::LookUp { object, cluster },
                cluster => ProjectQuestion::Object { object, cluster },
            })
        }
        ([], None, Some(cluster), Some(namespace)) => {
            Ok(ProjectQuestion::Destination { cluster, namespace: namespace.clone() })
        }
        _ => Err(ServiceError::invalid_input(
            "ask one question: --repo URL; --destination and --namespace; or --kind, also with --destination",
        )),
    }
}

/// Returns the rule in words.
pub(crate) fn rule_text(ProjectRule { project, list, index }: &ProjectRule) -> String {
    match index {
        Some(index) => format!("{list}[{index}] of project {project}"),
        None => format!("project {project}, which has no {list}"),
    }
}
