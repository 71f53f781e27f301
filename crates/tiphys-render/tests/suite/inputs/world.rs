//! Both sides of a comparison.

use std::path::Path;

use tiphys_render::Renderer;
use tiphys_source::{BasePoint, BaseRevision, ChartFolders, SourceRequest};
use tiphys_testkit::git::Repository;

use crate::inputs::application::{CHARTS, REPOSITORY, VALUES};
use crate::inputs::repository::PACKAGES;
pub(crate) use crate::world::World;
use crate::world::{copy, settings};

/// The tag of the base in both repositories.
pub(crate) const BASE: &str = "base";

impl World {
    /// Returns a renderer of the commits that are tagged as the base, and one of the files in the work trees, as a comparison has them.
    /// `packages` is the folder of charts at the base.
    pub(crate) async fn sides(
        &self,
        [first, second]: &[Repository; 2],
        packages: &Path,
    ) -> (Renderer, Renderer) {
        let folder = first.dir().join(PACKAGES);
        let copies = [(REPOSITORY, first.dir()), (VALUES, second.dir()), (CHARTS, &folder)];
        let copies = copies.map(|(url, dir)| copy(url, dir)).to_vec();
        let head = self.sources.request(SourceRequest { copies, ..SourceRequest::default() });
        let base = BaseRevision { name: BASE.to_owned(), point: BasePoint::Revision };
        let base = head.at(&base).await.expect("the tag exists in both");
        let folders = ChartFolders::from([(folder, Some(packages.to_path_buf()))]);
        (self.renderer(base.with_chart_folders(&folders), settings()), self.renderer(head, settings()))
    }
}
