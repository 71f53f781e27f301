//! `tiphys params diff`: what unsaved values would change in the manifests. Nothing is written.

use std::process::ExitCode;

use tiphys_api::{Application, ApplicationSource};
use tiphys_engine::diff::compare;

use super::change::{Subject, Wanted};
use crate::args::{CommonArgs, ParamsDiffArgs};
use crate::commands::diff::output::{self, ApplicationDiff, Presence, Sides};
use crate::failure::Failure;
use crate::settings::Host;

/// Renders the application as it is and as it would be, and prints the difference.
pub(super) async fn run(
    common: &CommonArgs,
    args: &ParamsDiffArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let form = output::form(common, host)?;
    super::require_one_standard_input(common, &args.values)?;
    let wanted = Wanted::values(&args.values, &args.unset, host)?;
    let place = super::workplace(common, host, &args.application.app)?;
    let stored = super::only_application(&place, &args.application.app)?;
    let subject = Subject::find(&place, stored.clone(), &args.source, args.allow_unannounced).await?;
    let change = subject.change(&wanted, subject.source(), host)?;
    for warning in &change.applied.warnings {
        tracing::warn!("{}: {warning}", stored.full_name());
    }
    for change in &change.applied.changes {
        crate::output::note(&change.to_string());
    }
    let unsaved = with_source(&stored.application, subject.position, change.after);
    let rendering = async {
        let before = place.renderer.render(&stored.application);
        let after = place.renderer.render(&unsaved);
        tokio::join!(Box::pin(before), Box::pin(after))
    };
    let (before, after) = place.run(rendering).await?;
    let compared = before.and_then(|before| Ok((before, after?))).map(|(before, after)| {
        let new = after.warnings.iter().filter(|warning| !before.warnings.contains(warning));
        for warning in before.warnings.iter().chain(new) {
            tracing::warn!("{}: {warning}", stored.full_name());
        }
        compare(&before.manifests, &after.manifests)
    });
    let metadata = &stored.application.metadata;
    let diff = ApplicationDiff {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        presence: Presence::Both,
        result: compared.map_err(|error| Failure::of_application(&stored, &error)),
    };
    let sides = Sides { before: "saved".to_owned(), after: "unsaved".to_owned() };
    output::finish(&[diff], &sides, &form, &args.shown, None, host).await
}

/// The application with another source at this place, from 1.
fn with_source(application: &Application, position: usize, source: ApplicationSource) -> Application {
    let mut changed = application.clone();
    let place = changed.spec.sources.get_mut(position - 1).or(changed.spec.source.as_mut());
    if let Some(place) = place {
        *place = source;
    }
    changed
}
