//! Inputs of applications.

use std::sync::Arc;

use tiphys_render::{SourceInputs, UnselectedPaths};
use tiphys_store::StoredApplication;

use crate::context::workspace::Workspace;
use crate::error::ServiceError;

/// An application and the files that its result depends on.
#[derive(Debug)]
pub struct ApplicationInputs {
    /// Its full name.
    pub application: String,
    /// The inputs of each source by repository, in the order of the sources.
    pub sources: Vec<SourceInputs>,
    /// The paths that the annotation `manifest-generate-paths` does not select, by source.
    pub unselected: Vec<UnselectedPaths>,
}

/// Returns the inputs of each application, or why they are not known. Nothing is rendered.
pub async fn inputs(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> Vec<Result<ApplicationInputs, ServiceError>> {
    let collecting = async {
        let mut all = Vec::new();
        for stored in applications {
            // Boxed because it is a large future.
            let application = &stored.application;
            let sources = Box::pin(workspace.renderer.inputs(application)).await;
            all.push(match sources {
                Ok(sources) => {
                    let unselected =
                        Box::pin(workspace.renderer.unselected_paths(application, &sources)).await;
                    Ok(ApplicationInputs { application: stored.full_name(), sources, unselected })
                }
                Err(error) => Err(ServiceError::application(stored, error)),
            });
        }
        all
    };
    workspace.drained(collecting).await
}
