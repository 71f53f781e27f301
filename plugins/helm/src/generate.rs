//! `generate`: the order of steps, and the error messages of Argo CD's native support.

use std::path::Path;

use crate::announce::ignored_text_of_request;
use crate::builtin::{self, BuiltinError, Engine, RULES};
use crate::cause::cause;
use crate::chart::{Chart, ChartError};
use crate::compare::{self, Difference};
use crate::dependencies::{self, BuiltCharts, DependencyError};
use crate::exact_value;
use crate::failure::{Failure, chain, warn};
use crate::helm::{Helm, HelmError, KnownHelm};
use crate::home::{Home, HomeError, WriteFile};
use crate::kube_version::{self, KubeVersionError};
use crate::kustomize::{self, KustomizeError};
use crate::options::{AssignmentKind, InlineValues};
use crate::redaction::{without_api_versions, without_placeholder};
use crate::request::Request;
use crate::template::{Call, Template, TooLarge};
use crate::value_files::{RefError, SetFileError, ValueFileError};

use tiphys_helm_values::HelmVersion;
use tiphys_process::{ExecLimits, FailureCause};
use tiphys_tree::{ContainmentError, check_links};

/// Helm's messages for a missing dependency, by API version of the chart. Argo CD checks for the same strings.
const MISSING_DEPENDENCY: [&str; 2] = [
    "found in Chart.yaml, but missing in charts/ directory",
    "found in requirements.yaml, but missing in charts/ directory",
];

/// Errors of `generate`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenerateError {
    /// A link in the repository leads out of it.
    #[error(transparent)]
    Links(#[from] ContainmentError),
    /// A value file refers to another source that does not exist.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// The version of Kubernetes is invalid.
    #[error(transparent)]
    KubeVersion(#[from] KubeVersionError),
    /// A value file is invalid.
    #[error("error resolving helm value files")]
    ValueFiles(#[from] ValueFileError),
    /// The path of a `set-file` parameter is invalid.
    #[error(transparent)]
    SetFile(#[from] SetFileError),
    /// `Chart.yaml` is missing or invalid.
    #[error("error getting helm repos")]
    Chart(#[from] ChartError),
    /// The parameter `version` is invalid.
    #[error(
        "error initializing helm app object: failed to create new helm command: helm version '{version}' is not supported"
    )]
    Version { version: String },
    /// A parameter exceeds the system's limit of arguments.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// Helm cannot be used.
    #[error(transparent)]
    Helm(#[from] HelmError),
    #[error("failed to execute helm template command: {text}")]
    Template {
        /// The error with its causes, redacted.
        text: String,
        /// Helm's standard error, if helm failed, redacted.
        stderr: Option<String>,
        /// Whether helm reports a missing dependency.
        misses_dependency: bool,
    },
    /// Building missing dependencies failed.
    #[error(transparent)]
    Dependencies(#[from] DependencyError),
    /// `kustomize-dir` is invalid, or kustomize failed.
    #[error(transparent)]
    Kustomize(#[from] KustomizeError),
    /// A file in the home of this run failed.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Only the `helm` program can render the chart.
    #[error(transparent)]
    Builtin(BuiltinError),
    /// The same, and there is none.
    #[error("{reason}; only helm can render the chart")]
    OnlyHelm {
        reason: String,
        #[source]
        source: HelmError,
    },
    /// The engines differ.
    #[error("the built-in engine and helm differ: {0}; use --helm-engine program, and report it")]
    Different(Difference),
}

/// Returns the manifests, as printed by helm or kustomize.
pub(crate) async fn generate(request: &Request) -> Result<Vec<u8>, Failure> {
    let failed = |error: GenerateError| Failure::of(&error, &request.redactor());
    check_links(&request.root).map_err(|error| failed(error.into()))?;
    let home = Home::new(&request.settings.temporary_folder, request.settings.timeout)
        .await
        .map_err(|error| failed(error.into()))?;
    generate_in(request, &home).await.map_err(|error| {
        let redactor = request.redactor().with_home(&home);
        let failure = Failure::of(&error, &redactor);
        let failure = match cause(&error, request) {
            Some((text, excerpt)) => {
                let shown = |text: String| without_placeholder(&redactor.redact(&text));
                let (text, excerpt) = (shown(text), excerpt.map(shown));
                failure.because(FailureCause { text: &text, excerpt: excerpt.as_deref() })
            }
            None => failure,
        };
        match error {
            GenerateError::Helm(HelmError::NotFound { .. })
            | GenerateError::OnlyHelm { .. }
            | GenerateError::Dependencies(DependencyError::NoHelm(_))
            | GenerateError::Kustomize(KustomizeError::NotFound { .. }) => failure.not_found(),
            GenerateError::Different(_) => failure.engines_differ(),
            GenerateError::Builtin(BuiltinError::Declined(_)) => failure.only_helm(),
            _ => failure,
        }
    })
}

async fn generate_in(request: &Request, home: &Home) -> Result<Vec<u8>, GenerateError> {
    let renderer = Renderer::of(request, home).await?;
    let manifests = match rendered(request, home, renderer, None).await {
        Err(error) if error.misses_dependency() => {
            let built = dependencies::build(request, home).await?;
            rendered(request, home, renderer, Some(&built)).await?
        }
        result => result?,
    };
    if request.options.kustomize_dir.is_empty() {
        Ok(manifests)
    } else {
        Ok(kustomize::build(request, home, &manifests).await?)
    }
}

/// Who renders a chart, and by which rules.
#[derive(Clone, Copy, Debug)]
enum Renderer {
    Builtin(HelmVersion),
    /// The built-in engine, if it can, else the program.
    BuiltinOrProgram(HelmVersion),
    Program,
    Both(HelmVersion),
}

impl Renderer {
    async fn of(request: &Request, home: &Home) -> Result<Self, GenerateError> {
        Ok(match request.settings.engine {
            Engine::Builtin(rules) => Self::Builtin(rules),
            Engine::Program => Self::Program,
            Engine::Auto => {
                let rules = known_helm(request, home).await.builtin_rules();
                rules.map_or(Self::Program, Self::BuiltinOrProgram)
            }
            Engine::Compare => {
                match known_helm(request, home).await {
                    // It may do the same as helm.
                    KnownHelm::Wrapper => Self::Both(RULES),
                    helm => Self::Both(helm.builtin_rules().map_err(|reason| {
                        GenerateError::Builtin(BuiltinError::Declined(reason.to_owned()))
                    })?),
                }
            }
        })
    }
}

/// Renders a chart, possibly with dependencies that are not in its `charts`.
async fn rendered(
    request: &Request,
    home: &Home,
    renderer: Renderer,
    built: Option<&BuiltCharts>,
) -> Result<Vec<u8>, GenerateError> {
    let (rules, may_use_program) = match renderer {
        Renderer::Program => return by_program(request, home, built).await,
        Renderer::Both(rules) => return compared(request, home, built, rules).await,
        Renderer::BuiltinOrProgram(rules) => (rules, true),
        Renderer::Builtin(rules) => (rules, false),
    };
    match builtin::rendered(request, built, rules) {
        Err(BuiltinError::Failed(error)) if error.misses_dependency() => Err(*error),
        // The program reports an error of the chart, if there is one.
        Err(BuiltinError::Failed(error)) if may_use_program => match by_program(request, home, built).await {
            Err(GenerateError::Helm(HelmError::NotFound { .. })) => Err(*error),
            result => result,
        },
        Err(BuiltinError::Failed(error)) => Err(*error),
        Err(BuiltinError::Declined(reason)) if may_use_program => {
            match by_program(request, home, built).await {
                Err(GenerateError::Helm(source @ HelmError::NotFound { .. })) => {
                    Err(GenerateError::OnlyHelm { reason, source })
                }
                result => result,
            }
        }
        Err(error) => Err(GenerateError::Builtin(error)),
        Ok(rendered) => {
            rendered.warnings.iter().for_each(|warning| warn(warning));
            Ok(rendered.manifests.into_bytes())
        }
    }
}

/// Returns the caller's `helm`, which runs if its version is not known yet.
async fn known_helm(request: &Request, home: &Home) -> KnownHelm {
    let mut known = KnownHelm::of(&request.host, &request.settings);
    if known == KnownHelm::New
        && let Ok(helm) =
            Helm::new(&request.host, &request.settings, home, request.redactor().with_home(home))
        && let Ok(version) = helm.version(home).await
    {
        known = KnownHelm::Version(version);
    }
    known
}

/// Returns the manifests that the `helm` program prints.
async fn by_program(
    request: &Request,
    home: &Home,
    built: Option<&BuiltCharts>,
) -> Result<Vec<u8>, GenerateError> {
    let prepared = prepare(request, &mut |name, content| home.write(name, content))?;
    let helm = Helm::new(&request.host, &request.settings, home, request.redactor().with_home(home))?;
    let version = helm.version(home).await?;
    let folder = match built {
        Some(built) => built.copy(request, home)?,
        None => request.app_path.clone(),
    };
    let manifests = template(request, &helm, &prepared.call, &folder).await?;
    for warning in ignored_text_of_request(request, version.rules()) {
        warn(&warning);
    }
    Ok(manifests)
}

/// Renders with both engines. The program reports an error that both have.
async fn compared(
    request: &Request,
    home: &Home,
    built: Option<&BuiltCharts>,
    rules: HelmVersion,
) -> Result<Vec<u8>, GenerateError> {
    let builtin = match builtin::rendered(request, built, rules) {
        Err(error @ BuiltinError::Declined(_)) => return Err(GenerateError::Builtin(error)),
        Err(BuiltinError::Failed(error)) if error.misses_dependency() => return Err(*error),
        builtin => builtin,
    };
    let difference = match (builtin, by_program(request, home, built).await) {
        (Ok(builtin), Ok(manifests)) => {
            let again = || Some(builtin::rendered(request, built, rules).ok()?.manifests);
            match compare::difference(&builtin.manifests, &String::from_utf8_lossy(&manifests), again) {
                None => return Ok(manifests),
                Some(difference) => difference,
            }
        }
        (Ok(_), Err(error @ GenerateError::Template { stderr: Some(_), .. })) => {
            Difference::Chart { engine: compare::BUILTIN, error: short(&error, request) }
        }
        (Err(error), Ok(_)) => {
            let error = match error {
                BuiltinError::Failed(error) => *error,
                error => GenerateError::Builtin(error),
            };
            Difference::Chart { engine: compare::PROGRAM, error: short(&error, request) }
        }
        (_, Err(error)) => return Err(error),
    };
    Err(GenerateError::Different(difference))
}

/// Returns the cause of an error if it is known, else the error.
fn short(error: &GenerateError, request: &Request) -> String {
    cause(error, request).map_or_else(|| chain(error), |(text, _)| text)
}

/// Decisions that are made before helm runs.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) template: Template,
    /// The call of `helm template`.
    pub(crate) call: Call,
}

/// Decides everything that does not need helm, in Argo CD's order, so that the same one of several errors is reported.
pub(crate) fn prepare(request: &Request, write: &mut WriteFile<'_>) -> Result<Prepared, GenerateError> {
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
    Chart::read(&request.app_path, request.settings.chart_bounds)?;
    if !matches!(options.version.as_str(), "" | "v3" | "v4") {
        return Err(GenerateError::Version { version: options.version.clone() });
    }
    template.inline_values = match &options.values {
        None => None,
        Some(InlineValues::Yaml(text) | InlineValues::Json(text)) => {
            Some(write(Home::INLINE_VALUES, text.as_bytes())?)
        }
    };
    let exact = exact_value::hand_over(&options.exact_values, write)?;
    template.assignments.extend(exact.assignments);
    template.exact_values = exact.values_file;
    let call = template.call(&ExecLimits::current())?;
    Ok(Prepared { template, call })
}

/// Runs `helm template` in a chart's directory.
async fn template(
    request: &Request,
    helm: &Helm,
    call: &Call,
    folder: &Path,
) -> Result<Vec<u8>, GenerateError> {
    helm.run(&call.arguments, &call.shown, folder).await.map_err(|mut error| {
        let (mut misses_dependency, mut said) = (false, None);
        if let HelmError::Failed { stderr, .. } = &mut error {
            misses_dependency = MISSING_DEPENDENCY.iter().any(|words| stderr.contains(words));
            *stderr = call.without_values(stderr, &request.options.exact_values);
            said = Some(stderr.clone());
        }
        GenerateError::template(&chain(&error), said, misses_dependency)
    })
}

impl GenerateError {
    /// Whether a dependency is missing in `charts`.
    pub(crate) fn misses_dependency(&self) -> bool {
        matches!(self, Self::Template { misses_dependency: true, .. })
    }

    /// Returns the error of `helm template`: the error with its causes, and what it printed.
    pub(crate) fn template(text: &str, stderr: Option<String>, misses_dependency: bool) -> Self {
        Self::Template { text: without_api_versions(text), stderr, misses_dependency }
    }
}
