//! `generate`: the order of steps, and what each failure is called in Argo CD's native support.

use crate::chart::{Chart, ChartError};
use crate::dependencies::{self, Built, DependencyError};
use crate::failure::{Failure, chain};
use crate::helm::{Helm, HelmError};
use crate::home::{Home, HomeError};
use crate::kube_version::{self, KubeVersionError};
use crate::kustomize::{self, KustomizeError};
use crate::options::{AssignmentKind, InlineValues};
use crate::request::Request;
use crate::shown::without_api_versions;
use crate::template::{Call, Template, TooLarge};
use crate::value_files::{RefError, SetFileError, ValueFileError};

use tiphys_process::ExecLimits;
use tiphys_tree::{ContainmentError, check_links};

/// What helm says when a dependency of the chart is not there, for charts of both kinds. Argo CD decides by the same words.
const MISSING_DEPENDENCY: [&str; 2] = [
    "found in Chart.yaml, but missing in charts/ directory",
    "found in requirements.yaml, but missing in charts/ directory",
];

/// Why there are no manifests.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenerateError {
    /// A link of the repository.
    #[error(transparent)]
    Links(#[from] ContainmentError),
    /// Another source.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// The version of Kubernetes.
    #[error(transparent)]
    KubeVersion(#[from] KubeVersionError),
    /// A value file.
    #[error("error resolving helm value files")]
    ValueFiles(#[from] ValueFileError),
    /// The path of a `set-file` parameter.
    #[error(transparent)]
    SetFile(#[from] SetFileError),
    /// The chart's own file.
    #[error("error getting helm repos")]
    Chart(#[from] ChartError),
    /// The parameter `version`.
    #[error(
        "error initializing helm app object: failed to create new helm command: helm version '{version}' is not supported"
    )]
    Version {
        /// The parameter.
        version: String,
    },
    /// A parameter that does not pass to a program.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The program.
    #[error(transparent)]
    Helm(#[from] HelmError),
    /// `helm template` failed.
    #[error("failed to execute helm template command: {text}")]
    Template {
        /// The error with its causes, cleaned.
        text: String,
        /// Whether helm misses a dependency of the chart.
        misses_dependency: bool,
    },
    /// Dependencies were missing and could not be built.
    #[error(transparent)]
    Dependencies(#[from] DependencyError),
    /// The parameter `kustomize-dir`.
    #[error(transparent)]
    Kustomize(#[from] KustomizeError),
    /// A file of this program's own.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// The manifests, as helm, or kustomize behind it, printed them.
pub(crate) async fn generate(request: &Request) -> Result<Vec<u8>, Failure> {
    let failed = |error: GenerateError| Failure::of(&error, &request.cleaner());
    check_links(&request.root).map_err(|error| failed(error.into()))?;
    let home = Home::new(&request.settings.temporary_folder, request.settings.timeout)
        .await
        .map_err(|error| failed(error.into()))?;
    generate_in(request, &home)
        .await
        .map_err(|error| Failure::of(&error, &request.cleaner().with_home(&home)))
}

async fn generate_in(request: &Request, home: &Home) -> Result<Vec<u8>, GenerateError> {
    let prepared = prepare(request, home)?;
    let helm = Helm::new(&request.host, &request.settings, home, request.cleaner().with_home(home))?;
    let version = helm.version(home).await?;
    let kept = dependencies::kept(request, &prepared.chart, &version, home);
    let manifests = match template(request, &helm, &prepared.call, kept.as_ref()).await {
        Err(GenerateError::Template { misses_dependency: true, .. }) if kept.is_none() => {
            let built = dependencies::build(request, &helm, &version, home).await?;
            template(request, &helm, &prepared.call, Some(&built)).await
        }
        result => result,
    }?;
    if request.options.kustomize_dir.is_empty() {
        Ok(manifests)
    } else {
        Ok(kustomize::build(request, home, &manifests).await?)
    }
}

/// What is decided before helm runs.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The call of `helm template`.
    pub(crate) call: Call,
    /// The chart's own file.
    chart: Chart,
}

/// Decides everything that does not need helm, in Argo CD's order, so that of several mistakes the same one is told.
pub(crate) fn prepare(request: &Request, home: &Home) -> Result<Prepared, GenerateError> {
    let options = &request.options;
    let places = request.places();
    let of_files = options.assignments.iter().filter(|one| one.kind == AssignmentKind::File);
    let paths = options.value_files.iter().chain(of_files.map(|one| &one.value));
    places.check_refs(paths.map(String::as_str))?;
    let kube_version =
        if options.kube_version.is_empty() { &request.kube_version } else { &options.kube_version };
    let mut template = Template {
        release_name: request.release_name().to_owned(),
        namespace: request.release_namespace().to_owned(),
        kube_version: kube_version::parse(kube_version)?,
        value_files: places.value_files(&options.value_files, options.missing_value_files)?,
        crds: options.crds,
        schema_validation: options.schema_validation,
        tests: options.tests,
        ..Template::default()
    };
    for one in &options.assignments {
        let value = match one.kind {
            AssignmentKind::File => places.set_file(&one.name, &one.value)?,
            AssignmentKind::Value | AssignmentKind::Text => request.environment.substitute(&one.value),
        };
        template.assignments.push((one.kind, one.name.clone(), value));
    }
    let api_versions =
        if options.api_versions.is_empty() { &request.api_versions } else { &options.api_versions };
    template.api_versions.clone_from(api_versions);
    let chart = Chart::read(&request.app_path, request.settings.chart_bounds)?;
    if !matches!(options.version.as_str(), "" | "v3" | "v4") {
        return Err(GenerateError::Version { version: options.version.clone() });
    }
    template.inline_values = match &options.values {
        None => None,
        Some(InlineValues::Yaml(text) | InlineValues::Json(text)) => {
            Some(home.write(Home::INLINE_VALUES, text.as_bytes())?)
        }
    };
    let call = template.call(&ExecLimits::current())?;
    Ok(Prepared { call, chart })
}

/// Runs `helm template` in the application's folder, or in a copy of it that has its dependencies.
async fn template(
    request: &Request,
    helm: &Helm,
    call: &Call,
    built: Option<&Built>,
) -> Result<Vec<u8>, GenerateError> {
    let folder = built.map_or(&request.app_path, |built| &built.chart);
    helm.run(&call.arguments, &call.shown, folder).await.map_err(|mut error| {
        let mut misses_dependency = false;
        if let HelmError::Failed { stderr, .. } = &mut error {
            misses_dependency = MISSING_DEPENDENCY.iter().any(|words| stderr.contains(words));
            *stderr = call.without_values(stderr);
        }
        GenerateError::Template { text: without_api_versions(&chain(&error)), misses_dependency }
    })
}
