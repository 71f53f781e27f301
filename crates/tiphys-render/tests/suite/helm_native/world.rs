//! Where the cases are rendered: a repository for each case.

use serde_json::Value;
use tiphys_render::RenderSettings;
use tiphys_source::SourceRequest;
use tiphys_testkit::git::Repository;

use crate::helm_native::answer::Answer;
use crate::helm_native::case;
pub(crate) use crate::world::World;
use crate::world::{copy, settings};

impl World {
    /// Renders the Application of a case.
    pub(crate) async fn render(&self, case: &Value) -> Answer {
        let id = case["id"].as_str().expect("an id");
        let folder = self.path("cases").join(id);
        let main = folder.join("main");
        case::write_repository(case, &main);
        let mut copies = vec![copy(case::REPOSITORY, &main)];
        for other in case::referred(case) {
            let Some(files) = &other.files else { continue };
            let place = folder.join(format!("ref-{}", other.name));
            if other.target_revision.is_some() {
                let repository = Repository::init(&place);
                repository.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
                repository.git(&["tag", "old"]);
                case::write_files(files, &place);
                repository.commit("files");
            } else {
                case::write_files(files, &place);
            }
            copies.push(copy(&case::ref_url(&other.name), &place));
        }
        let request = SourceRequest { known: case::known(case), copies, ..SourceRequest::default() };
        let settings = RenderSettings {
            destinations: case::destinations(case),
            source_types: case::source_types(case),
            context: case::context(case),
            manifests_max: 100_000,
            ..settings()
        };
        let renderer = self.renderer(self.sources_in(&folder).request(request), settings);
        Answer::of(renderer.render(&case::application(case)).await, &folder)
    }
}
