//! What applications are made from.

use std::sync::Arc;

use tiphys_render::SourceInputs;
use tiphys_store::StoredApplication;

use crate::error::ServiceError;
use crate::workspace::Workspace;

/// An application and the files that its result depends on.
#[derive(Debug)]
pub struct ApplicationInputs {
    /// Its full name.
    pub application: String,
    /// What each source uses of each repository, in the order of the sources.
    pub sources: Vec<SourceInputs>,
}

/// Returns what applications are made from. Nothing is rendered.
pub async fn inputs(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> Result<Vec<ApplicationInputs>, ServiceError> {
    let collecting = async {
        let mut all = Vec::new();
        for stored in applications {
            // Boxed because it is a large future.
            let sources = Box::pin(workspace.renderer.inputs(&stored.application)).await;
            let sources = sources.map_err(|error| ServiceError::application(stored, &error))?;
            all.push(ApplicationInputs { application: stored.full_name(), sources });
        }
        Ok(all)
    };
    workspace.drained(collecting).await
}
