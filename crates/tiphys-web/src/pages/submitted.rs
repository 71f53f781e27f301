//! A posted form of an application's parameters.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::StatusCode;
use axum::response::Response;
use tiphys_service::params::WriteTo;

use super::parameters::source_of;
use super::{Named, Page, message, path_of};
use crate::form::{Filter, Form};
use crate::posted::{self, Posted};
use crate::site::{ApplicationParameters, Change, Site};

/// A posted form with its token.
pub(super) struct Submitted {
    pub(super) request: Page,
    pub(super) application: String,
    pub(super) posted: Posted,
}

/// The form of the present parameters with the posted values.
pub(super) struct Filled {
    pub(super) found: Arc<ApplicationParameters>,
    /// The position of the source.
    pub(super) source: usize,
    pub(super) form: Form,
}

impl FromRequest<Arc<Site>> for Submitted {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let request = Page::from_request_parts(&mut parts, site).await?;
        let Named(application) = Named::from_request_parts(&mut parts, site).await?;
        let posted = posted::read(&site.access, &parts.headers, body, &path_of(&application)).await?;
        Ok(Self { request, application, posted })
    }
}

impl Submitted {
    /// Fills the form. The error is the response, for instance if the application has the posted source no more.
    pub(super) async fn fill(&self, filter: Filter) -> Result<Filled, Response> {
        let found = self.request.parameters(&self.application).await?;
        let source = source_of(&found, &self.posted);
        if let Some(named) = self.posted.get("source").filter(|named| *named != source.to_string()) {
            let text = format!("The Application has no source {named} any more. Nothing was saved.");
            let back = path_of(&self.application);
            return Err(message(StatusCode::CONFLICT, "The sources changed", &text, Some(&back)));
        }
        let form = Form::new(&found, source, filter, Some(&self.posted));
        Ok(Filled { found, source, form })
    }

    /// Returns the requested change.
    pub(super) fn change(&self, Filled { source, form, .. }: &Filled) -> Change {
        Change {
            application: self.application.clone(),
            source: u32::try_from(*source).ok(),
            edits: form.edits.clone(),
            write_to: self.posted.get("write-to").and_then(WriteTo::named),
        }
    }
}
