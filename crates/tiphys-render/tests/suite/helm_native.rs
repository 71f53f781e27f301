//! Recorded answers of Argo CD's native Helm support: the same Applications, rendered through the same code as `tiphys render` with the
//! plugin `helm` and the real helm, give the same objects in the same order, and fail where native fails.
//!
//! Two parts of the decisions: `helm-native.output` (objects, success or failure) and `helm-native.error` (the texts of failures). The
//! servers on loopback that the answers name run here.

pub(crate) mod answer;
pub(crate) mod case;
mod random;
mod world;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use futures_util::StreamExt as _;
use serde_json::Value;
use tiphys_testkit::oracle;
use tiphys_testkit::recorded_servers::RecordedServers;

use answer::Answer;
use world::World;

/// Cases that are rendered at once for each processor: helm waits for nothing, but starting it does.
const PER_PROCESSOR: usize = 2;

/// Returns the answer of each case by its id. Both tests use the same runs.
fn answers() -> &'static BTreeMap<String, Answer> {
    static ANSWERS: OnceLock<BTreeMap<String, Answer>> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(render_all())
    })
}

/// Cases that are rendered at once.
fn at_once() -> usize {
    PER_PROCESSOR * std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

async fn render_all() -> BTreeMap<String, Answer> {
    let servers = RecordedServers::start();
    let world = World::new(&["plugins/helm"], at_once(), Some(servers.certificate_file()));
    let world = &world;
    let cases: Vec<Value> = oracle::cases("helm-native").into_iter().filter(is_run).collect();
    let answers = futures_util::stream::iter(cases)
        .map(|case| async move { (id_of(&case).to_owned(), world.render(&case).await) })
        .buffer_unordered(at_once())
        .collect()
        .await;
    world.end().await;
    answers
}

/// Whether a case is about manifests.
fn is_run(case: &Value) -> bool {
    case.get("output").is_some()
}

fn id_of(case: &Value) -> &str {
    case["id"].as_str().expect("every case has an id")
}

#[test]
fn native_helm_applications_give_the_objects_that_argo_cd_gives() {
    let answers = answers();
    oracle::check("helm-native.output", |case| is_run(case).then(|| answers[id_of(case)].check_output(case)));
}

#[test]
fn native_helm_applications_that_fail_say_what_argo_cd_says() {
    let answers = answers();
    oracle::check("helm-native.error", |case| {
        if is_run(case) { answers[id_of(case)].check_error(case) } else { None }
    });
}
