//! `tiphys serve`: the web page.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tiphys_model::limits::Limit;
use tiphys_process::Attached;
use tiphys_service::{Host, Service};
use tiphys_source::{Progress, ProgressSink};
use tiphys_web::{Application, SiteOptions, bind, enter_stage};
use tokio_util::sync::CancellationToken;

use crate::args::{ServeArgs, SharedOptions};
use crate::commands::cmp_server::runs_max;
use crate::error::{self, ServiceError};
use crate::lifecycle::{self, SideTask, Signals};
use crate::options::service_options;
use crate::output;
use crate::settings::Process;

/// The program that opens an address in the browser of a desktop.
const OPENER: &str = "xdg-open";

/// Serves the page until a signal arrives.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &ServeArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let mut options = service_options(shared, host)?;
    // Plugins may wait for servers, and others use the page meanwhile.
    if options.limits.given(Limit::JOBS).is_none() {
        options.limits.set(Limit::JOBS, runs_max(host.processors) as u64);
    }
    options.fetch_progress = options.fetch_progress.map(with_stages);
    let service = Service::open(options, Host::clone(host))?;
    let mut signals = Signals::install()?;
    let bound = bind(args.listen).await.map_err(|error| {
        ServiceError::invalid_input(format!("--listen: cannot listen on {}: {error}", args.listen))
    })?;
    let stop = CancellationToken::new();
    let arguments = shared_arguments(host.arguments().iter().skip(1).map(|one| one.to_string_lossy().into()));
    let options = SiteOptions { read_only: args.read_only, hint: error::hint, arguments };
    let page = Application::new(service, options, bound, &stop)?;
    let url = page.first_url();
    output::status(&format!("the page is at {url} until ^C"));
    let serving = async {
        page.serve().await;
        Ok(())
    };
    let opening = if args.open { vec![Box::pin(open(url, host)) as SideTask<'_>] } else { Vec::new() };
    lifecycle::serve(&mut signals, &stop, lifecycle::SHUTDOWN_MAX, serving, opening).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the arguments of the process without those of this command alone.
fn shared_arguments(all: impl Iterator<Item = String>) -> Vec<String> {
    let (mut shared, mut all) = (Vec::new(), all);
    while let Some(argument) = all.next() {
        match argument.as_str() {
            "--listen" => drop(all.next()),
            "serve" | "--open" | "--read-only" => {}
            other if other.starts_with("--listen=") => {}
            _ => shared.push(argument),
        }
    }
    shared
}

/// Reports fetches as stages of requests, too.
fn with_stages(next: ProgressSink) -> ProgressSink {
    Arc::new(move |progress| {
        if let Progress::Fetching { repository, revision } = progress {
            enter_stage(&format!("fetching {revision} of {repository}"));
        }
        next(progress);
    })
}

/// Opens an address in the browser of the desktop. The page is served with or without it.
async fn open(url: String, host: &Process) -> String {
    let opener = Attached {
        program: OPENER.into(),
        args: vec![url.into()],
        env: host.variables().map(|(name, value)| (name.into(), value.into())).collect(),
        input: None,
    };
    let problem = match opener.run(Path::new("/")).await {
        Ok(Some(0)) => None,
        Ok(code) => Some(code.map_or("it was killed".to_owned(), |code| format!("exit status {code}"))),
        Err(error) => Some(error::chain(&error)),
    };
    if let Some(problem) = problem {
        output::status(&format!("--open: {OPENER}: {problem}; open the address yourself"));
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::shared_arguments;

    #[test]
    fn commands_get_the_options_that_they_know() {
        let cases = [
            ("serve --listen 9000 --open", ""),
            (
                "--store apps serve --listen=9000 --plugins plugins --read-only -v",
                "--store apps --plugins plugins -v",
            ),
        ];
        for (all, expected) in cases {
            assert_eq!(shared_arguments(all.split(' ').map(str::to_owned)).join(" "), expected, "{all}");
        }
    }
}
