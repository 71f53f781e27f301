//! Rendering for many requests.

use std::sync::Arc;

use tiphys_api::{Application, ApplicationSource};
use tiphys_plugin::Catalogue;
use tiphys_source::{SourceRequest, SourceService, Sources};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::RenderError;
use crate::renderer::{RenderSettings, Renderer};
use crate::report::{AnnouncedSource, RenderedApplication};
use crate::values::ValueResolver;

/// Renders Applications for a command, a server or a controller. It owns the state that outlives a request: content store, clones and
/// look-ups ([`SourceService`]), and plugins with their concurrency slots. Cheap to clone; concurrent requests share look-ups and fetches.
#[derive(Clone, Debug)]
pub struct RenderService {
    sources: SourceService,
    catalogue: Catalogue,
}

/// The settings of one request.
#[derive(Clone, Debug)]
pub struct RenderRequest {
    /// Tracking, destination versions, limits and the rules of projects.
    pub settings: RenderSettings,
    /// Reads the values of dynamic parameters.
    pub values: Arc<dyn ValueResolver>,
    /// Credentials, local copies of repositories, freshness and network.
    pub sources: SourceRequest,
    /// The deadline of the request, if it has one.
    pub deadline: Option<Instant>,
    /// Cancels the request.
    pub cancel: CancellationToken,
}

impl RenderService {
    /// Returns a service with these plugins.
    pub fn new(sources: SourceService, catalogue: Catalogue) -> Self {
        Self { sources, catalogue }
    }

    /// Renders an Application.
    pub async fn render(
        &self,
        application: &Application,
        request: RenderRequest,
    ) -> Result<RenderedApplication, RenderError> {
        let renderer = self.renderer(&request);
        within(&request, renderer.cancellation(), renderer.render(application)).await
    }

    /// Returns what the plugins of the chosen sources announce. `choose` gets a source's position, from 1, and the source.
    pub async fn announce(
        &self,
        application: &Application,
        request: RenderRequest,
        choose: impl Fn(usize, &ApplicationSource) -> bool,
    ) -> Result<Vec<AnnouncedSource>, RenderError> {
        let renderer = self.renderer(&request);
        within(&request, renderer.cancellation(), renderer.announce(application, choose)).await
    }

    /// Returns a renderer for several Applications of one request. A branch stands for one commit in all of them. The caller keeps to the
    /// deadline.
    pub fn renderer(&self, request: &RenderRequest) -> Renderer {
        let sources = self.sources.request(request.sources.clone());
        self.renderer_on(
            sources.into(),
            request.settings.clone(),
            Arc::clone(&request.values),
            &request.cancel,
        )
    }

    /// Returns a renderer on sources that this service's [`SourceService`] has made. Renderers on the same sources see the same commits.
    pub fn renderer_on(
        &self,
        sources: Arc<Sources>,
        settings: RenderSettings,
        values: Arc<dyn ValueResolver>,
        cancel: &CancellationToken,
    ) -> Renderer {
        Renderer::new(sources, self.catalogue.clone(), settings, values, cancel.child_token())
    }
}

/// Runs work until the deadline of the request, then cancels it and waits for its end.
async fn within<T>(
    request: &RenderRequest,
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, RenderError>>,
) -> Result<T, RenderError> {
    let Some(deadline) = request.deadline else { return work.await };
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => done,
        () = sleep_until(deadline) => {
            cancel.cancel();
            work.await.map_err(|_| RenderError::DeadlineExceeded)
        }
    }
}
