//! Recorded answers of Argo CD about Applications of directories, Jsonnet files and kustomizations: the same Applications give the same
//! objects in the same order, and fail where those fail. The words of errors are not compared.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tiphys_engine::TrackingMethod;
use tiphys_model::resources::{Application, KustomizeSettings, KustomizeVersion};
use tiphys_render::RenderSettings;
use tiphys_source::SourceRequest;
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::{oracle, tools};

use crate::helm_native::answer::Answer;
use crate::helm_native::case::{self, REPOSITORY};
use crate::world::{Kustomize, World, copy, settings};

/// The flag with the maximum size of all manifests of a directory.
const SIZE_FLAG: &str = "--max-combined-directory-manifests-size";

/// Cases that are rendered at once.
const AT_ONCE: usize = 4;

/// Whether a case is about what tiphys has: not about other flags of Argo CD's server, or source types that no setting disables.
fn is_of_tiphys(case: &Value) -> bool {
    let enabled = &case["enabled_source_types"];
    // The files of a case are in a folder, which has no revisions.
    case["source"]["targetRevision"] == "HEAD"
        && case["server"]["flags"][0] != "--allow-oob-symlinks"
        && case["server"]["kustomize"] != false
        // That program prints its arguments and its folder, which differ from run to run.
        && case["source"]["kustomize"]["version"] != "show"
        && enabled["Plugin"].is_null()
        && enabled["Directory"].is_null()
}

/// Compares the answers of all cases that have manifests or an error. Others are about descriptions of sources.
fn check(oracle: &str, plugins: &[&str], kustomize: Kustomize) -> Answers {
    let (answers, _) = answers(oracle, plugins, kustomize);
    oracle::check(oracle, |case| Some(answers.get(case["id"].as_str()?)?.check_output(case)));
    answers
}

type Answers = BTreeMap<String, Answer>;

/// Returns the answers of cases, and how many of them the native program has.
fn answers(oracle: &str, plugins: &[&str], kustomize: Kustomize) -> (Answers, usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let cases: Vec<Value> = oracle::cases(oracle)
        .into_iter()
        .filter(|case| !case["output"].is_null() && is_of_tiphys(case))
        .collect();
    runtime.block_on(async {
        let world = World::with_kustomize(plugins, AT_ONCE, None, kustomize);
        let one =
            async |case: Value| (case["id"].as_str().expect("an id").to_owned(), render(&world, &case).await);
        let answers = futures_util::stream::iter(cases).map(one).buffer_unordered(AT_ONCE).collect().await;
        world.end().await;
        (answers, world.native_answers())
    })
}

async fn render(world: &World, case: &Value) -> Answer {
    let folder = world.path("cases").join(case["id"].as_str().expect("an id"));
    let repository = folder.join("main");
    std::fs::create_dir_all(&repository).expect("a folder for the repository");
    case::write_files(case["files"].as_object().expect("files"), &repository);
    let programs = folder.join("programs");
    write_programs(case, &programs);
    let application = match application(case) {
        Ok(application) => application,
        Err(error) => return Answer::Failed(error),
    };
    let request = SourceRequest { copies: vec![copy(REPOSITORY, &repository)], ..SourceRequest::default() };
    let renderer =
        world.renderer(world.sources_in(&folder).request(request), render_settings(case, &programs));
    Answer::of(renderer.render(&application).await, &folder)
}

fn application(case: &Value) -> Result<Application, String> {
    let app = &case["app"];
    let mut source = case["source"].clone();
    source["repoURL"] = REPOSITORY.into();
    let document = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": app["name"], "namespace": "argocd"},
        "spec": {"project": app["project"], "destination": {"namespace": app["namespace"]}, "source": source},
    });
    let node = tiphys_yaml::read_json(document.to_string().as_bytes()).map_err(|error| error.to_string())?;
    Application::decode(&node).map(|decoded| decoded.value).map_err(|error| error.to_string())
}

fn render_settings(case: &Value, programs: &Path) -> RenderSettings {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut settings = RenderSettings {
        destinations: case::destinations(case),
        source_types: case::source_types(case),
        kustomize: kustomize_settings(&case["kustomize_options"], programs),
        ..settings()
    };
    if let Some(tracking) = case.get("tracking") {
        // As in Argo CD, an unknown method is the annotation.
        settings.tracking = text(&tracking["method"]).parse().unwrap_or(TrackingMethod::Annotation);
        settings.label_key = text(&tracking["label_key"]);
        settings.installation_id = text(&tracking["installation_id"]);
    }
    let flags: Vec<&str> =
        case["server"]["flags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let [SIZE_FLAG, size] = flags[..] {
        settings.directory_bytes_max = size.parse().expect("a number");
        // There, zero means unlimited.
        if settings.directory_bytes_max == 0 {
            settings.directory_bytes_max = u64::MAX;
        }
    }
    settings
}

/// Writes the programs of a case, which stand for kustomize.
fn write_programs(case: &Value, folder: &Path) {
    for (name, content) in case["programs"].as_object().into_iter().flatten() {
        std::fs::create_dir_all(folder).expect("a folder for the programs");
        let content = content
            .as_str()
            .or(content["text"].as_str())
            .expect("a script")
            .replace("<kustomize>", &kustomize_program());
        std::fs::write(folder.join(name), content).expect("a program");
        make_executable(&folder.join(name));
    }
}

fn kustomize_program() -> String {
    tools::program("kustomize").display().to_string()
}

fn kustomize_settings(options: &Value, programs: &Path) -> KustomizeSettings {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let path = |value: &Value| {
        let path = value.as_str()?.replace("<kustomize>", &kustomize_program());
        Some(path.replace("<programs>", &programs.display().to_string()))
    };
    let versions = options["versions"].as_array().into_iter().flatten().map(|version| {
        let (program, build_options) = (path(&version["path"]), text(&version["buildOptions"]));
        (version["name"].as_str().expect("a name").to_owned(), KustomizeVersion { program, build_options })
    });
    KustomizeSettings { build_options: text(&options["buildOptions"]), versions: versions.collect() }
}

#[test]
fn kustomizations_give_the_objects_that_argo_cd_gives() {
    for oracle in ["kustomize-native", "kustomize-native-2"] {
        let by_program = check(oracle, &["plugins/kustomize"], Kustomize::Program);
        let (by_native, count) = answers(oracle, &["plugins/kustomize"], Kustomize::Native);
        for (id, answer) in by_program {
            let (Answer::Objects(expected), Some(Answer::Objects(found))) = (&answer, by_native.get(&id))
            else {
                let both_fail =
                    matches!((&answer, by_native.get(&id)), (Answer::Failed(_), Some(Answer::Failed(_))));
                assert!(both_fail, "{id}: {answer:?} and {:?}", by_native.get(&id));
                continue;
            };
            assert_eq!(found, expected, "{id}");
        }
        let successes = by_native.values().filter(|answer| matches!(answer, Answer::Objects(_))).count();
        assert!(count * 2 > successes, "{oracle}: tiphys-native has {count} of {successes} results");
    }
}

#[test]
fn jsonnet_files_give_the_objects_that_argo_cd_gives() {
    check("jsonnet-native", &["plugins/kustomize"], Kustomize::Native);
}

#[test]
fn directories_give_the_objects_that_argo_cd_gives() {
    check("directory-native", &["plugins/helm", "plugins/kustomize"], Kustomize::Native);
}
