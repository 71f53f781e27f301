//! An OCI registry: charts and other artefacts over the OCI distribution protocol.

mod challenge;
mod fuzz;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tiphys_http::{Base, CredentialScope, Credentials, HttpError, HttpUrl, Response};
use tiphys_logins::Login;
use tiphys_model::access::RepoUrl;
use tokio::sync::OnceCell;

use tiphys_model::limits::Limit;

use super::artefact::{Artefact, Contents, Digest, Packing};
use super::cache::ArchiveCache;
use super::client::{Client, Parameters, RequestFailure};
use super::error_context::{ErrorContext, Operation};
use super::opened::{Helped, Opened};
use super::{ChartError, ChartSource, Charts, LookupKey};
use crate::options::{Progress, SourceOptions};
use crate::{Secret, SourceError};
use challenge::Challenge;
pub use fuzz::{fuzz_challenge, fuzz_registry};

/// Maximum number of layers of an artefact; the limit of Argo CD.
const LAYERS_MAX: usize = 10;

/// Supported media types of manifests.
const MANIFESTS: &str =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

/// The media type of a chart's configuration.
const HELM_CONFIGURATION: &str = "application/vnd.cncf.helm.config.v1+json";

/// Media types of the layers that are unpacked; the list of Argo CD.
const LAYERS: [(&str, Packing); 3] = [
    ("application/vnd.oci.image.layer.v1.tar", Packing::Tar),
    ("application/vnd.oci.image.layer.v1.tar+gzip", Packing::TarGzip),
    (HELM_LAYER, Packing::TarGzip),
];
const HELM_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// `client_id` of token requests with an identity token.
const CLIENT_ID: &str = "tiphys";

/// The name of Docker Hub in image references, and the host of its registry.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

pub(super) struct Registry<'a> {
    opened: &'a Opened,
    charts: &'a Charts,
    source: &'a ChartSource,
    options: &'a SourceOptions,
    /// `https://HOST/v2/NAME`
    root: HttpUrl,
    /// The repository's name in the registry.
    name: String,
    client: Client<'a>,
    login: Option<Login>,
    /// The helper's answer.
    helped: OnceCell<Helped>,
    /// The credentials that the registry accepted last.
    credentials: Mutex<Option<Credentials>>,
    errors: ErrorContext,
}

/// The repository that a registry's address and a chart's name refer to.
struct Root {
    /// `https://HOST/v2/NAME`
    url: HttpUrl,
    /// The repository's name in the registry.
    name: String,
    /// The user and password in the address.
    login: Option<(String, Secret)>,
}

/// A layer of an artefact.
struct Layer {
    media_type: String,
    digest: Digest,
}

impl<'a> Registry<'a> {
    pub(super) fn new(opened: &'a Opened, charts: &'a Charts) -> Result<Self, SourceError> {
        let options = &*charts.options;
        let Opened { source, identity, identity_token, helper, unusable, .. } = opened;
        let access = &source.access;
        let wrong = || {
            SourceError::from(ChartError::Address {
                repository: source.shown(),
                reason: "write a registry as HOST/PATH or oci://HOST/PATH, in lower case",
            })
        };
        let scheme = if access.insecure_oci_force_http { "http" } else { "https" };
        let Root { url: root, name, login: in_url } =
            Root::read(&source.repo_url, &source.chart, scheme).ok_or_else(wrong)?;
        let mut errors = ErrorContext::new(opened, root.clone(), in_url.is_some(), options);
        if let Some(helper) = helper {
            errors.tried = format!("what docker-credential-{} knows", helper.name);
        } else if identity_token.is_some() {
            "the identity token of the registry's login".clone_into(&mut errors.tried);
        } else if let Some(unusable) = unusable {
            errors.tried = format!("no credentials: {unusable}");
        }
        let login =
            access.has_password().then(|| (access.username.clone(), access.password.clone())).or(in_url);
        let login = login.map(|(username, password)| Login::Password { username, password });
        let login = login.or_else(|| identity_token.clone().map(Login::Token));
        let client = Client::new(&charts.clients, (source, identity), options, root.clone());
        Ok(Self {
            opened,
            charts,
            source,
            options,
            root,
            name,
            client,
            login,
            helped: OnceCell::new(),
            credentials: Mutex::default(),
            errors,
        })
    }

    /// Returns the key of a look-up in this repository with these credentials.
    fn lookup_key(&self, reference: &str) -> LookupKey {
        let owner = self.opened.helper.as_ref().map(|helper| helper.logins.clone());
        (self.opened.identity.clone(), owner, format!("{} {reference}", self.root))
    }

    /// Returns the versions of all tags. Requests share the look-up.
    pub(super) async fn tags(&self) -> Result<Arc<Vec<String>>, SourceError> {
        let look_up = || async {
            let tags = self.look_up_tags().await?;
            let bytes = tags.iter().map(|tag| size_of::<String>() + tag.len()).sum();
            Ok((tags, bytes))
        };
        let tags = &self.charts.lookups.tags;
        tags.get(&self.lookup_key(""), self.charts.lookup_age, look_up).await
    }

    /// Tags have `_` instead of `+`.
    async fn look_up_tags(&self) -> Result<Vec<String>, SourceError> {
        const WHAT: &str = "the list of its tags";
        self.options.report(&Progress::LookingUp { repository: &self.errors.repository });
        let mut next = self.below("tags/list");
        let mut tags: Vec<String> = Vec::new();
        let (mut pages, pages_max) = (0, self.options.chart_limits.tag_pages_max);
        while let Some(url) = next.take() {
            if pages == pages_max {
                return Err(self.errors.too_large(WHAT, (pages, "pages"), Limit::REGISTRY_TAG_PAGES_MAX));
            }
            pages += 1;
            let operation = self.lookup(WHAT);
            let response = self.get(&url, "", operation).await?;
            if response.status() != 200 {
                let missing = || self.missing(&self.source.target_revision);
                return Err(self.refused(operation, &response, missing));
            }
            next = response.next_page().map_err(|error| {
                let target = Box::new(response.target().clone());
                self.errors.failed(operation, &RequestFailure { target, error })
            })?;
            if let Some(other) = next.as_ref().filter(|next| !next.is_same_origin(&self.root)) {
                let problem = format!("its next page is on another server, {other}");
                return Err(self.errors.invalid(WHAT, problem));
            }
            let page = self.json(response, operation).await?;
            let found = page["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
            tags.extend(found.map(|tag| tag.replace('_', "+")));
            let max = self.options.chart_limits.tags_max;
            if u64::try_from(tags.len()).unwrap_or(u64::MAX) > max {
                return Err(self.errors.too_large(WHAT, (max, "tags"), Limit::REGISTRY_TAGS_MAX));
            }
        }
        Ok(tags)
    }

    /// Returns the digest of a tag. If the tag does not exist and `revision` is a range, returns the digest of the version that `choose`
    /// selects among all tags. Requests share the look-up.
    pub(super) async fn digest_of(
        &self,
        revision: &str,
        choose: impl FnOnce(&[String]) -> Result<String, SourceError>,
    ) -> Result<String, SourceError> {
        let look_up = || async {
            let digest = self.look_up_digest(revision, choose).await?;
            let bytes = digest.len();
            Ok((digest, bytes))
        };
        let digests = &self.charts.lookups.digests;
        let digest = digests.get(&self.lookup_key(revision), self.charts.lookup_age, look_up).await?;
        Ok((*digest).clone())
    }

    async fn look_up_digest(
        &self,
        revision: &str,
        choose: impl FnOnce(&[String]) -> Result<String, SourceError>,
    ) -> Result<String, SourceError> {
        self.options.report(&Progress::LookingUp { repository: &self.errors.repository });
        if is_tag(revision)
            && let Some((_, digest)) = self.manifest(revision).await?
        {
            return Ok(digest.to_string());
        }
        let is_range = tiphys_go::versions::Version::parse(revision).is_err()
            && tiphys_go::versions::VersionRange::parse(revision).is_ok();
        if !is_range {
            return Err(self.missing(revision));
        }
        let version = choose(&self.tags().await?)?;
        let found = self.manifest(&tag(&version)).await?;
        found.map(|(_, digest)| digest.to_string()).ok_or_else(|| self.missing(&version))
    }

    /// Downloads a version of a chart, or the artefact with a digest.
    pub(super) async fn fetch(&self, revision: &str, cache: &ArchiveCache) -> Result<Artefact, SourceError> {
        let (manifest, _) = self.manifest(&tag(revision)).await?.ok_or_else(|| self.missing(revision))?;
        let (layer, packing, contents) = self.content(&manifest)?;
        // A cached archive with the layer's digest is not used: a manifest can name the digest of a layer that its repository does not
        // have, and that this user may not read.
        self.download(&layer, revision, cache).await?;
        Ok(Artefact { revision: revision.to_owned(), digest: layer.digest, packing, contents })
    }

    async fn download(&self, layer: &Layer, revision: &str, cache: &ArchiveCache) -> Result<(), SourceError> {
        let what = format!("{} {revision}", self.name);
        let deadline = self.client.deadline();
        let operation = Operation { what: &what, action: "fetching a chart of", deadline };
        let url = self.below(&format!("blobs/{}", layer.digest));
        let url = url.ok_or_else(|| self.missing(revision))?;
        let response = self.get(&url, "", operation).await?;
        if response.status() != 200 {
            return Err(self.refused(operation, &response, || self.missing(revision)));
        }
        let target = response.target().clone();
        let stored = cache.store(response, Some(&layer.digest)).await;
        stored.map(drop).map_err(|error| self.errors.not_stored(operation, target, error))
    }

    /// The manifest of a tag or a digest, and its digest; none if it does not exist.
    async fn manifest(&self, reference: &str) -> Result<Option<(Value, Digest)>, SourceError> {
        let what = format!("the manifest of {}:{reference}", self.name);
        let operation = self.lookup(&what);
        let Some(url) = self.below(&format!("manifests/{reference}")) else { return Ok(None) };
        let response = self.get(&url, MANIFESTS, operation).await?;
        if response.status() == 404 {
            return Ok(None);
        }
        if response.status() != 200 {
            return Err(self.refused(operation, &response, || self.missing(reference)));
        }
        let bytes = self.bytes(response, operation).await?;
        let digest = Digest::of_bytes(&bytes);
        if let Some(expected) = Digest::parse(reference).filter(|expected| *expected != digest) {
            return Err(self.errors.other_digest(&what, &digest, &expected));
        }
        let manifest =
            serde_json::from_slice(&bytes).map_err(|_| self.errors.invalid(&what, "it is not JSON"))?;
        Ok(Some((manifest, digest)))
    }

    /// The only layer with files, by Argo CD's rules.
    fn content(&self, manifest: &Value) -> Result<(Layer, Packing, Contents), SourceError> {
        let invalid =
            |problem: String| self.errors.invalid(&format!("the manifest of {}", self.name), problem);
        let is_chart = manifest["config"]["mediaType"] == HELM_CONFIGURATION;
        if !is_chart && !self.source.chart.is_empty() {
            return Err(invalid("it is not a chart".to_owned()));
        }
        let layers = manifest["layers"].as_array().map(Vec::as_slice).unwrap_or_default();
        if layers.len() > LAYERS_MAX {
            return Err(invalid(format!(
                "expected no more than {LAYERS_MAX} oci layers, got {}",
                layers.len()
            )));
        }
        let mut found = Vec::new();
        for layer in layers {
            let media_type = layer["mediaType"].as_str().unwrap_or_default();
            let has_files = ["tar+gzip", "tar.gzip", "tar"].iter().any(|end| media_type.ends_with(end));
            if is_chart && media_type != HELM_LAYER || !has_files {
                continue;
            }
            let known = LAYERS.iter().find(|(name, _)| *name == media_type);
            let (_, packing) = known.ok_or_else(|| {
                invalid(format!(
                    "oci layer media type {media_type} is not in the list of allowed media types"
                ))
            })?;
            let digest = layer["digest"].as_str().and_then(Digest::parse);
            let digest = digest.ok_or_else(|| invalid("a layer has no SHA-256 digest".to_owned()))?;
            found.push((Layer { media_type: media_type.to_owned(), digest }, *packing));
        }
        let count = found.len();
        let (Some((layer, packing)), 1) = (found.pop(), count) else {
            return Err(invalid(format!("expected only a single oci content layer, got {count}")));
        };
        let contents = match (
            self.source.chart.rsplit('/').next().unwrap_or_default(),
            layer.media_type == HELM_LAYER,
        ) {
            ("", true) => Contents::OnlyFolder,
            ("", false) => Contents::Everything,
            (name, _) => Contents::Folder(name.to_owned()),
        };
        Ok((layer, packing, contents))
    }

    /// Sends a GET request; sends it again with the credentials that the registry demands.
    async fn get(
        &self,
        url: &HttpUrl,
        accept: &str,
        operation: Operation<'_>,
    ) -> Result<Response, SourceError> {
        let failed = |failure| self.request_failed(operation, &failure);
        let deadline = operation.deadline;
        let known = self.credentials.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let parameters = Parameters { accept, credentials: known.as_ref(), deadline };
        let response = self.client.get(url, parameters).await.map_err(failed)?;
        if response.status() != 401 || !response.target().url.is_same_origin(&self.root) {
            return Ok(response);
        }
        let challenge = response.headers("www-authenticate").find_map(Challenge::read);
        let Some(credentials) = self.credentials_for(challenge, operation).await? else {
            return Ok(response);
        };
        drop(response);
        let parameters = Parameters { accept, credentials: Some(&credentials), deadline };
        let response = self.client.get(url, parameters).await;
        *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = Some(credentials);
        response.map_err(failed)
    }

    /// The credentials that satisfy a challenge; none if there are none.
    async fn credentials_for(
        &self,
        challenge: Option<Challenge>,
        operation: Operation<'_>,
    ) -> Result<Option<Credentials>, SourceError> {
        let scope = CredentialScope::Origin(self.root.clone());
        match challenge {
            None => Ok(None),
            Some(Challenge::Basic) => Ok(self.login().await?.and_then(|login| basic(login, scope))),
            Some(Challenge::Bearer { realm, service, scope: token_scope }) => {
                let token_scope = token_scope.unwrap_or_else(|| format!("repository:{}:pull", self.name));
                let token = self.token(&realm, service.as_deref(), &token_scope, operation).await?;
                Ok(Some(Credentials::bearer(&token, scope)))
            }
        }
    }

    /// Requests a token from the registry's token server, with the user and password. They are not sent from an https registry to an http
    /// token server. An identity token is sent as the form of the distribution's `token/oauth` specification.
    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        scope: &str,
        operation: Operation<'_>,
    ) -> Result<Secret, SourceError> {
        const WHAT: &str = "the registry's token";
        let operation = Operation { what: WHAT, ..operation };
        let realm = self.root.resolve(realm, Base::File);
        let mut realm =
            realm.ok_or_else(|| self.errors.invalid(WHAT, "its server is not an http or https URL"))?;
        if self.root.is_https() && !realm.is_https() {
            return Err(self.errors.invalid(WHAT, format!("its server {realm} has no TLS")));
        }
        let (accept, deadline) = ("application/json", operation.deadline);
        let login = self.login().await?;
        let response = if let Some(Login::Token(token)) = login {
            let form = [
                ("grant_type", "refresh_token"),
                ("client_id", CLIENT_ID),
                ("service", service.unwrap_or_default()),
                ("scope", scope),
                ("refresh_token", token.expose()),
            ];
            let parameters = Parameters { accept, credentials: None, deadline };
            self.client.post_form(&realm, &form, parameters).await
        } else {
            if let Some(service) = service {
                realm = realm.with_query("service", service);
            }
            let realm = realm.with_query("scope", scope);
            let login = login.and_then(|login| basic(login, CredentialScope::Origin(realm.clone())));
            self.client.get(&realm, Parameters { accept, credentials: login.as_ref(), deadline }).await
        };
        let response = response.map_err(|failure| self.request_failed(operation, &failure))?;
        if response.status() != 200 {
            return Err(self.refused(operation, &response, || self.errors.missing(operation, &response)));
        }
        let answer = self.json(response, operation).await?;
        let token = ["token", "access_token"].iter().find_map(|field| answer[field].as_str());
        let token = token.filter(|token| !token.is_empty());
        token.map(Secret::new).ok_or_else(|| self.errors.invalid(WHAT, "the answer has none"))
    }

    /// The login; a credential helper runs only when it is needed, and once.
    async fn login(&self) -> Result<Option<&Login>, SourceError> {
        let (None, Some(helper)) = (&self.login, &self.opened.helper) else { return Ok(self.login.as_ref()) };
        let ask = || async {
            let failed = |source| ChartError::Helper { repository: self.errors.repository.clone(), source };
            self.charts.logins.of_helper(helper).await.map_err(failed)
        };
        Ok(self.helped.get_or_try_init(ask).await?.login.as_ref())
    }

    /// The error of an unsuccessful response; `missing` makes the one of 404 and 410. It names a login that the helper made unusable.
    fn refused(
        &self,
        operation: Operation<'_>,
        response: &Response,
        missing: impl FnOnce() -> SourceError,
    ) -> SourceError {
        let Some(unusable) = self.helped.get().and_then(|helped| helped.unusable.as_ref()) else {
            return self.errors.refused(operation, response, missing);
        };
        let mut errors = self.errors.clone();
        errors.tried = format!("{}, and no other credentials: {unusable}", errors.tried);
        errors.refused(operation, response, missing)
    }

    async fn json(&self, response: Response, operation: Operation<'_>) -> Result<Value, SourceError> {
        let bytes = self.bytes(response, operation).await?;
        serde_json::from_slice(&bytes).map_err(|_| self.errors.invalid(operation.what, "it is not JSON"))
    }

    async fn bytes(&self, response: Response, operation: Operation<'_>) -> Result<Vec<u8>, SourceError> {
        let max = self.options.chart_limits.answer_bytes_max;
        let bytes = self.client.bytes(response, max).await;
        let bytes = bytes.map_err(|failure| self.errors.failed(operation, &failure))?;
        bytes.ok_or_else(|| {
            self.errors.too_large(operation.what, (max, "bytes"), Limit::REGISTRY_ANSWER_BYTES_MAX)
        })
    }

    /// A URL below the repository's root.
    fn below(&self, path: &str) -> Option<HttpUrl> {
        self.root.resolve(path, Base::Directory)
    }

    /// A lookup that starts now.
    fn lookup<'b>(&self, what: &'b str) -> Operation<'b> {
        Operation { what, action: "looking up charts of", deadline: self.client.lookup_deadline() }
    }

    fn request_failed(&self, operation: Operation<'_>, failure: &RequestFailure) -> SourceError {
        let RequestFailure { target, error } = failure;
        match error {
            HttpError::Tls(detail) if target.url.is_same_origin(&self.root) => {
                let hint = "if the registry speaks no TLS, set insecureOCIForceHttp: \"true\" in its Secret";
                let error = HttpError::Tls(format!("{detail}; {hint}"));
                self.errors.failed(operation, &RequestFailure { target: target.clone(), error })
            }
            _ => self.errors.failed(operation, failure),
        }
    }

    fn missing(&self, revision: &str) -> SourceError {
        let (version, repository) = (revision.to_owned(), self.errors.repository.clone());
        if self.source.chart.is_empty() {
            return ChartError::MissingRevision { revision: version, repository }.into();
        }
        let chart = self.source.chart.clone();
        ChartError::Missing { chart, version, repository, hint: String::new() }.into()
    }
}

impl Root {
    fn read(repo_url: &str, chart: &str, scheme: &str) -> Option<Self> {
        let repo_url = RepoUrl::new(repo_url);
        // Argo CD reads an artefact's URL as a reference, which has no other scheme.
        if chart.is_empty() && !repo_url.names_registry() {
            return None;
        }
        let (server, path) = (repo_url.server(), repo_url.path());
        let name: Vec<&str> =
            [path.trim_matches('/'), chart].into_iter().filter(|part| !part.is_empty()).collect();
        let name = name.join("/");
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
        if !name.chars().all(is_name) || name.split('/').any(|part| ["", ".", ".."].contains(&part)) {
            return None;
        }
        let server = if server == DOCKER_HUB.0 { DOCKER_HUB.1 } else { server };
        let user_info = repo_url.user_info().map(|user_info| format!("{user_info}@")).unwrap_or_default();
        let (url, login) = HttpUrl::parse(&format!("{scheme}://{user_info}{server}/v2/{name}"))?;
        Some(Self { url, name, login })
    }
}

/// HTTP Basic authentication with a login; none for an identity token.
fn basic(login: &Login, scope: CredentialScope) -> Option<Credentials> {
    match login {
        Login::Password { username, password } => {
            Some(Credentials::basic(username, password.expose(), scope))
        }
        Login::Token(_) => None,
    }
}

/// The tag of a version: `+` is not allowed in tags.
fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// Whether a string can be a tag or a digest. Ranges have other characters.
fn is_tag(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
    !text.is_empty() && text.chars().all(is_allowed)
}
