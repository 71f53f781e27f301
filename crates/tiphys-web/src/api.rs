//! The API: the content of the pages as JSON.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tiphys_service::documents::DifferenceDocument;
use tiphys_service::params::{EditedValue, ParameterEdit, WriteTo};
use utoipa::{OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::pages::{error_text, status_of};
use crate::posted::{FORM_BYTES_MAX, read_body};
use crate::site::{
    ApplicationList, ApplicationParameters, Change, DEFAULT_BASE, Failure, RenderedManifests, ReviewDocument,
    Site,
};

/// The header with the token of writes. Each response has it.
pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");

#[derive(OpenApi)]
#[openapi(info(
    title = "tiphys",
    description = "Applications, their parameters and manifests. Requests need the cookie of the page, and writes the header `X-CSRF-Token`, \
                   which each response has."
))]
struct Document;

/// Returns the routes of the API, and the document that describes them.
pub(crate) fn router() -> (axum::Router<Arc<Site>>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(applications))
        .routes(routes!(parameters))
        .routes(routes!(manifests))
        .routes(routes!(difference))
        .routes(routes!(review))
        .routes(routes!(save))
        .split_for_parts()
}

/// A failed request.
#[derive(Serialize, ToSchema)]
struct ErrorDocument {
    /// The problem, and its remedy.
    error: String,
}

/// A requested change.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeRequest {
    /// The position of the source, from 1. Needed if several sources have parameters.
    #[serde(default)]
    source: Option<u32>,
    /// `effective`, `application`, `values` or `override`. Without it, each value is written where it is in effect, or all into an
    /// override file if something else owns the Application.
    #[serde(default)]
    write_to: Option<String>,
    /// The changed parameters.
    edits: Vec<EditRequest>,
    /// The digest of the review, if the change is to be saved.
    #[serde(default)]
    digest: String,
}

/// A changed parameter.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EditRequest {
    /// The name.
    name: String,
    /// The change.
    change: ValueRequest,
}

/// The change of a parameter.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum ValueRequest {
    /// Sets a string.
    Text(String),
    /// Sets a JSON value.
    Json(Value),
    /// Removes the value, so that the layer below is effective.
    Reset,
}

/// The files that were written.
#[derive(Serialize, ToSchema)]
struct SavedDocument {
    files: Vec<String>,
}

/// The query of a comparison.
#[derive(Deserialize)]
struct BaseQuery {
    #[serde(default)]
    base: Option<String>,
}

impl ChangeRequest {
    fn into_change(self, application: String) -> Result<(Change, String), String> {
        let write_to = match &self.write_to {
            None => None,
            Some(name) => Some(WriteTo::named(name).ok_or_else(|| {
                format!("writeTo: expected effective, application, values or override, found {name:?}")
            })?),
        };
        let edit = |EditRequest { name, change }| {
            let value = match change {
                ValueRequest::Text(text) => Some(EditedValue::Text(text)),
                ValueRequest::Json(value) => Some(EditedValue::Json(value)),
                ValueRequest::Reset => None,
            };
            ParameterEdit { name, value }
        };
        let edits = self.edits.into_iter().map(edit).collect();
        Ok((Change { application, source: self.source, edits, write_to }, self.digest))
    }
}

fn answer<T: Serialize>(site: &Site, result: Result<T, Failure>) -> Response {
    match result {
        Ok(value) => ([(TOKEN_HEADER, site.access.form_token().to_owned())], Json(value)).into_response(),
        Err(failure) => refused(status_of(&failure), error_text(site, &failure)),
    }
}

fn refused(status: StatusCode, error: String) -> Response {
    (status, Json(ErrorDocument { error })).into_response()
}

/// The application of a path.
struct Application(String);

impl FromRequestParts<Arc<Site>> for Application {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let path = Path::<(String, String)>::from_request_parts(parts, site).await;
        let Path((namespace, name)) = path.map_err(IntoResponse::into_response)?;
        crate::pages::full_name(&namespace, &name)
            .map(Self)
            .ok_or_else(|| refused(StatusCode::NOT_FOUND, "there is no such Application".to_owned()))
    }
}

/// Lists the Applications of the store.
#[utoipa::path(get, path = "/api/v1/applications", responses((status = 200, body = ApplicationList)))]
async fn applications(State(site): State<Arc<Site>>) -> Response {
    let list = site.applications().await;
    answer(&site, list.as_deref().map_err(Clone::clone))
}

/// Returns an Application with its parameters.
#[utoipa::path(get, path = "/api/v1/applications/{namespace}/{name}/parameters", params(("namespace" = String, Path), ("name" = String, Path)), responses((status = 200, body = ApplicationParameters), (status = 404, body = ErrorDocument)))]
async fn parameters(State(site): State<Arc<Site>>, Application(application): Application) -> Response {
    let found = site.parameters(&application).await;
    answer(&site, found.as_deref().map_err(Clone::clone))
}

/// Renders an Application.
#[utoipa::path(get, path = "/api/v1/applications/{namespace}/{name}/manifests", params(("namespace" = String, Path), ("name" = String, Path)), responses((status = 200, body = RenderedManifests), (status = 422, body = ErrorDocument)))]
async fn manifests(State(site): State<Arc<Site>>, Application(application): Application) -> Response {
    answer(&site, site.manifests(&application).await)
}

/// Compares an Application with that of a revision.
#[utoipa::path(get, path = "/api/v1/applications/{namespace}/{name}/difference", params(("namespace" = String, Path), ("name" = String, Path), ("base" = Option<String>, Query, description = "A revision; HEAD if absent")), responses((status = 200, body = DifferenceDocument), (status = 422, body = ErrorDocument)))]
async fn difference(
    State(site): State<Arc<Site>>,
    Application(application): Application,
    Query(BaseQuery { base }): Query<BaseQuery>,
) -> Response {
    let compared = site.difference(&application, base.as_deref().unwrap_or(DEFAULT_BASE)).await;
    answer(&site, compared.map(|compared| compared.difference))
}

/// Plans a change and renders its effect. Nothing is written.
#[utoipa::path(post, path = "/api/v1/applications/{namespace}/{name}/review", params(("namespace" = String, Path), ("name" = String, Path)), request_body = ChangeRequest, responses((status = 200, body = ReviewDocument), (status = 422, body = ErrorDocument)))]
async fn review(State(site): State<Arc<Site>>, Requested { change, .. }: Requested) -> Response {
    answer(&site, site.review(change).await)
}

/// Saves a change that was reviewed. It fails with 409 if a file or the manifests have changed since the review.
#[utoipa::path(post, path = "/api/v1/applications/{namespace}/{name}/save", params(("namespace" = String, Path), ("name" = String, Path)), request_body = ChangeRequest, responses((status = 200, body = SavedDocument), (status = 409, body = ErrorDocument), (status = 422, body = ErrorDocument)))]
async fn save(State(site): State<Arc<Site>>, Requested { change, digest }: Requested) -> Response {
    let saved = site.save(change, digest).await;
    answer(&site, saved.map(|files| SavedDocument { files }))
}

/// The body of a write.
struct Requested {
    change: Change,
    digest: String,
}

impl FromRequest<Arc<Site>> for Requested {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Application(application) = Application::from_request_parts(&mut parts, site).await?;
        let token = parts.headers.get(&TOKEN_HEADER).and_then(|value| value.to_str().ok());
        if !site.access.is_form_token(token) {
            return Err(refused(
                StatusCode::FORBIDDEN,
                "the header X-CSRF-Token is missing or old".to_owned(),
            ));
        }
        let body = read_body(&parts.headers, body).await.ok_or_else(|| {
            refused(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the request has more than {FORM_BYTES_MAX} bytes"),
            )
        })?;
        let request: ChangeRequest = serde_json::from_slice(&body)
            .map_err(|error| refused(StatusCode::BAD_REQUEST, format!("expected a change: {error}")))?;
        let (change, digest) =
            request.into_change(application).map_err(|error| refused(StatusCode::BAD_REQUEST, error))?;
        Ok(Self { change, digest })
    }
}
