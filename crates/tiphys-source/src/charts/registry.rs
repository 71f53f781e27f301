//! A registry: charts and artefacts by the distribution protocol of OCI.

mod challenge;
mod fuzz;

use std::cell::{OnceCell, RefCell};

use serde_json::Value;
use tiphys_logins::Login;

use super::artefact::{Artefact, Contents, Digest, Packing};
use super::cache::ArchiveCache;
use super::client::{Client, Unanswered};
use super::limits::{ANSWER_BYTES_OPTION, TAG_PAGES_OPTION, TAGS_OPTION};
use super::opened::{Helped, Helper, LearnedLogins, Opened};
use super::place::{Asked, Place};
use super::{ChartError, ChartSource, Shared};
use crate::options::{Progress, SourceOptions};
use crate::web::{Address, Answer, Ask, Authorization, Base, Reach, Scheme, TLS, WebError};
use crate::{Secret, SourceError};
use challenge::Challenge;
pub use fuzz::{fuzz_challenge, fuzz_registry};

/// Layers of an artefact, as Argo CD has it.
const LAYERS_MAX: usize = 10;

/// Manifests that are understood.
const MANIFESTS: &str =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

/// The configuration of an artefact that is a chart.
const HELM_CONFIGURATION: &str = "application/vnd.cncf.helm.config.v1+json";

/// The layers that are unpacked, as Argo CD has it.
const LAYERS: [(&str, Packing); 3] = [
    ("application/vnd.oci.image.layer.v1.tar", Packing::Tar),
    ("application/vnd.oci.image.layer.v1.tar+gzip", Packing::TarGzip),
    (HELM_LAYER, Packing::TarGzip),
];
const HELM_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// Who asks for tokens with an identity token.
const CLIENT_ID: &str = "tiphys";

/// Docker's registry has one name for people and another one for programs.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

pub(super) struct Registry<'a> {
    source: &'a ChartSource,
    options: &'a SourceOptions,
    /// `https://HOST/v2/PATH`
    root: Address,
    /// The path on the server.
    name: String,
    client: Client<'a>,
    login: Option<Login>,
    /// What may know a login where there is none.
    helper: Option<&'a Helper>,
    logins: &'a LearnedLogins,
    /// What it has answered.
    helped: OnceCell<Helped>,
    /// What the server took last.
    authorization: RefCell<Option<Authorization>>,
    place: Place,
}

/// What a registry's address and a chart's name say.
struct Root {
    /// `https://HOST/v2/PATH`
    address: Address,
    /// The path on the server.
    name: String,
    /// The user and password in the address.
    login: Option<(String, Secret)>,
}

/// One part of an artefact.
struct Layer {
    media_type: String,
    digest: Digest,
}

impl<'a> Registry<'a> {
    pub(super) fn new(
        opened: &'a Opened,
        options: &'a SourceOptions,
        shared: &'a Shared,
    ) -> Result<Self, SourceError> {
        let Opened { source, identity, identity_token, helper, unusable } = opened;
        let access = &source.access;
        let wrong = || {
            SourceError::from(ChartError::Address {
                repository: source.shown(),
                reason: "write a registry as HOST/PATH or oci://HOST/PATH, in lower case",
            })
        };
        let scheme = if access.insecure_oci_force_http { Scheme::Http } else { Scheme::Https };
        let Root { address: root, name, login: in_url } =
            Root::read(&source.repo_url, &source.chart, scheme).ok_or_else(wrong)?;
        let mut place = Place::new(source.shown(), root.clone(), access, in_url.is_some(), options);
        if let Some(helper) = helper {
            place.tried = format!("what docker-credential-{} knows", helper.name);
        } else if identity_token.is_some() {
            "the identity token of the registry's login".clone_into(&mut place.tried);
        } else if let Some(unusable) = unusable {
            place.tried = format!("no credentials: {unusable}");
        }
        let login =
            access.has_password().then(|| (access.username.clone(), access.password.clone())).or(in_url);
        let login = login.map(|(username, password)| Login::Password { username, password });
        let login = login.or_else(|| identity_token.clone().map(Login::Token));
        let client = Client::new(&shared.clients, (source, identity), options, root.clone());
        let authorization = RefCell::default();
        let (helper, helped) = (helper.as_ref(), OnceCell::new());
        let logins = &shared.logins;
        Ok(Self { source, options, root, name, client, login, helper, logins, helped, authorization, place })
    }

    /// The versions that the tags stand for: a tag has `_` where a version has `+`.
    pub(super) fn tags(&self) -> Result<Vec<String>, SourceError> {
        const WHAT: &str = "the list of its tags";
        self.options.report(&Progress::LookingUp { repository: &self.place.shown });
        let mut next = self.at("tags/list");
        let mut tags: Vec<String> = Vec::new();
        let (mut pages, pages_max) = (0, self.options.chart_limits.tag_pages_max);
        while let Some(address) = next.take() {
            if pages == pages_max {
                let problem = format!("it does not end after {pages} pages; see {TAG_PAGES_OPTION}");
                return Err(self.place.odd(WHAT, problem));
            }
            pages += 1;
            let asked = self.asked(WHAT);
            let answer = self.get(&address, "", asked)?;
            if answer.status != 200 {
                return Err(self.refused(asked, &answer, || self.missing(&self.source.target_revision)));
            }
            next = following(&answer);
            if let Some(other) = next.as_ref().filter(|next| !next.is_on_same_server(&self.root)) {
                return Err(self
                    .place
                    .odd(asked.what, format!("its next page is on another server, {other}")));
            }
            let page = self.json(answer, asked)?;
            let found = page["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
            tags.extend(found.map(|tag| tag.replace('_', "+")));
            let max = self.options.chart_limits.tags_max;
            if u64::try_from(tags.len()).unwrap_or(u64::MAX) > max {
                let problem = format!("there are more than {max} tags; see {TAGS_OPTION}");
                return Err(self.place.odd(asked.what, problem));
            }
        }
        Ok(tags)
    }

    /// The digest of a tag, or of the newest that `choose` finds among all if there is no such tag, and the text is a range.
    pub(super) fn digest_of(
        &self,
        revision: &str,
        choose: impl FnOnce(&[String]) -> Result<String, SourceError>,
    ) -> Result<String, SourceError> {
        self.options.report(&Progress::LookingUp { repository: &self.place.shown });
        if is_tag(revision)
            && let Some((_, digest)) = self.manifest(revision)?
        {
            return Ok(digest.to_string());
        }
        let is_range = tiphys_versions::Version::parse(revision).is_err()
            && tiphys_versions::VersionRange::parse(revision).is_ok();
        if !is_range {
            return Err(self.missing(revision));
        }
        let version = choose(&self.tags()?)?;
        let found = self.manifest(&tag(&version))?;
        found.map(|(_, digest)| digest.to_string()).ok_or_else(|| self.missing(&version))
    }

    /// Fetches a version of a chart, or the artefact of a digest.
    pub(super) fn fetch(&self, revision: &str, cache: &ArchiveCache) -> Result<Artefact, SourceError> {
        let (manifest, _) = self.manifest(&tag(revision))?.ok_or_else(|| self.missing(revision))?;
        let (layer, packing, contents) = self.content(&manifest)?;
        // An archive that others have fetched is not taken for it: a manifest may name any digest, without having the archive.
        self.download(&layer, revision, cache)?;
        Ok(Artefact { revision: revision.to_owned(), digest: layer.digest, packing, contents })
    }

    fn download(&self, layer: &Layer, revision: &str, cache: &ArchiveCache) -> Result<(), SourceError> {
        let what = format!("{} {revision}", self.name);
        let asked = Asked { what: &what, action: "fetching a chart of", deadline: self.client.deadline() };
        let address = self.at(&format!("blobs/{}", layer.digest));
        let address = address.ok_or_else(|| self.missing(revision))?;
        let answer = self.get(&address, "", asked)?;
        if answer.status != 200 {
            return Err(self.refused(asked, &answer, || self.missing(revision)));
        }
        let (max, expected) = (self.options.chart_limits.archive_bytes_max, Some(&layer.digest));
        let hop = answer.hop.clone();
        let taken = cache.take_in(&mut answer.into_reader(), max, expected);
        taken.map(drop).map_err(|error| self.place.not_taken_in(asked, hop, error, expected, max))
    }

    /// The manifest of a tag or a digest, and its digest; `None` if there is none.
    fn manifest(&self, reference: &str) -> Result<Option<(Value, Digest)>, SourceError> {
        let what = format!("the manifest of {}:{reference}", self.name);
        let asked = self.asked(&what);
        let Some(address) = self.at(&format!("manifests/{reference}")) else { return Ok(None) };
        let answer = self.get(&address, MANIFESTS, asked)?;
        if answer.status == 404 {
            return Ok(None);
        }
        if answer.status != 200 {
            return Err(self.refused(asked, &answer, || self.missing(reference)));
        }
        let bytes = self.bytes(answer, asked)?;
        let digest = Digest::of_bytes(&bytes);
        if let Some(expected) = Digest::parse(reference).filter(|expected| *expected != digest) {
            return Err(ChartError::Digest {
                what,
                repository: self.place.shown.clone(),
                found: digest.to_string(),
                expected: expected.to_string(),
            }
            .into());
        }
        let manifest = serde_json::from_slice(&bytes).map_err(|_| self.place.odd(&what, "it is no JSON"))?;
        Ok(Some((manifest, digest)))
    }

    /// The one layer with the files, by Argo CD's rules.
    fn content(&self, manifest: &Value) -> Result<(Layer, Packing, Contents), SourceError> {
        let odd = |problem: String| self.place.odd(&format!("the manifest of {}", self.name), problem);
        let is_chart = manifest["config"]["mediaType"] == HELM_CONFIGURATION;
        if !is_chart && !self.source.chart.is_empty() {
            return Err(odd("it is no chart".to_owned()));
        }
        let layers = manifest["layers"].as_array().map(Vec::as_slice).unwrap_or_default();
        if layers.len() > LAYERS_MAX {
            return Err(odd(format!("expected no more than {LAYERS_MAX} oci layers, got {}", layers.len())));
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
                odd(format!("oci layer media type {media_type} is not in the list of allowed media types"))
            })?;
            let digest = layer["digest"].as_str().and_then(Digest::parse);
            let digest = digest.ok_or_else(|| odd("a layer has no SHA-256 digest".to_owned()))?;
            found.push((Layer { media_type: media_type.to_owned(), digest }, *packing));
        }
        let count = found.len();
        let (Some((layer, packing)), 1) = (found.pop(), count) else {
            return Err(odd(format!("expected only a single oci content layer, got {count}")));
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

    /// Asks, and asks again with what the server wants to see.
    fn get(&self, address: &Address, accept: &str, asked: Asked<'_>) -> Result<Answer, SourceError> {
        let ask = Ask { accept, deadline: asked.deadline };
        let known = self.authorization.borrow().clone();
        let answer = self.client.get(address, known.as_ref(), ask);
        let answer = answer.map_err(|error| self.unreachable(asked, &error))?;
        if answer.status != 401 || !answer.hop.address.is_on_same_server(&self.root) {
            return Ok(answer);
        }
        let Some(authorization) = self.authorize(&answer, asked)? else { return Ok(answer) };
        let answer = self.client.get(address, Some(&authorization), ask);
        *self.authorization.borrow_mut() = Some(authorization);
        answer.map_err(|error| self.unreachable(asked, &error))
    }

    /// What a server wants to see; `None` if we do not have it.
    fn authorize(&self, refusal: &Answer, asked: Asked<'_>) -> Result<Option<Authorization>, SourceError> {
        let reach = Reach::Server(self.root.clone());
        let challenge = refusal.headers("www-authenticate").find_map(Challenge::read);
        match challenge {
            None => Ok(None),
            Some(Challenge::Basic) => Ok(self.login()?.and_then(|login| basic(login, reach))),
            Some(Challenge::Bearer { realm, service, scope }) => {
                let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", self.name));
                let token = self.token(&realm, service.as_deref(), &scope, asked)?;
                let value = Secret::new(format!("Bearer {}", token.expose()));
                Ok(Some(Authorization { value, reach }))
            }
        }
    }

    /// A token of the server that the registry names for that. User and password go there, but not from TLS to none. An identity token is
    /// sent as OAuth 2 has it (the distribution's `token/oauth`).
    fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        scope: &str,
        asked: Asked<'_>,
    ) -> Result<Secret, SourceError> {
        const WHAT: &str = "the registry's token";
        let asked = Asked { what: WHAT, ..asked };
        let realm = self.root.resolve(realm, Base::File);
        let mut realm = realm.ok_or_else(|| self.place.odd(WHAT, "its server is no http or https URL"))?;
        if self.root.scheme == Scheme::Https && realm.scheme == Scheme::Http {
            return Err(self.place.odd(WHAT, format!("its server {realm} has no TLS")));
        }
        let ask = Ask { accept: "application/json", deadline: asked.deadline };
        let login = self.login()?;
        let answer = if let Some(Login::Token(token)) = login {
            let form = [
                ("grant_type", "refresh_token"),
                ("client_id", CLIENT_ID),
                ("service", service.unwrap_or_default()),
                ("scope", scope),
                ("refresh_token", token.expose()),
            ];
            self.client.post_form(&realm, &form, ask)
        } else {
            if let Some(service) = service {
                realm = realm.with_query("service", service);
            }
            let realm = realm.with_query("scope", scope);
            let login = login.and_then(|login| basic(login, Reach::Server(realm.clone())));
            self.client.get(&realm, login.as_ref(), ask)
        };
        let answer = answer.map_err(|error| self.unreachable(asked, &error))?;
        if answer.status != 200 {
            return Err(self.refused(asked, &answer, || self.place.missing(asked, &answer)));
        }
        let answer = self.json(answer, asked)?;
        let token = ["token", "access_token"].iter().find_map(|field| answer[field].as_str());
        let token = token.filter(|token| !token.is_empty());
        token.map(Secret::new).ok_or_else(|| self.place.odd(WHAT, "the answer has none"))
    }

    /// What opens it. A helper is asked no sooner than the registry asks.
    fn login(&self) -> Result<Option<&Login>, SourceError> {
        let (None, Some(helper)) = (&self.login, self.helper) else { return Ok(self.login.as_ref()) };
        if let Some(known) = self.helped.get() {
            return Ok(known.login.as_ref());
        }
        let failed = |source| ChartError::Helper { repository: self.place.shown.clone(), source };
        let answer = self.logins.of_helper(helper).map_err(failed)?;
        Ok(self.helped.get_or_init(|| answer).login.as_ref())
    }

    /// The error of an answer that is none; `missing` for what is not there. What came behind a helper and is no login is known by now.
    fn refused(
        &self,
        asked: Asked<'_>,
        answer: &Answer,
        missing: impl FnOnce() -> SourceError,
    ) -> SourceError {
        let Some(unusable) = self.helped.get().and_then(|helped| helped.unusable.as_ref()) else {
            return self.place.refused(asked, answer, missing);
        };
        let mut place = self.place.clone();
        place.tried = format!("{}, and no other credentials: {unusable}", place.tried);
        place.refused(asked, answer, missing)
    }

    fn json(&self, answer: Answer, asked: Asked<'_>) -> Result<Value, SourceError> {
        let bytes = self.bytes(answer, asked)?;
        serde_json::from_slice(&bytes).map_err(|_| self.place.odd(asked.what, "it is no JSON"))
    }

    fn bytes(&self, answer: Answer, asked: Asked<'_>) -> Result<Vec<u8>, SourceError> {
        let max = self.options.chart_limits.answer_bytes_max;
        let bytes = self
            .client
            .bytes(answer, max, asked.deadline)
            .map_err(|error| self.place.failed(asked, &error))?;
        bytes.ok_or_else(|| self.place.too_large(asked.what, max, ANSWER_BYTES_OPTION))
    }

    fn at(&self, path: &str) -> Option<Address> {
        self.root.resolve(path, Base::Folder)
    }

    fn asked<'b>(&self, what: &'b str) -> Asked<'b> {
        Asked { what, action: "looking up charts of", deadline: self.client.lookup_deadline() }
    }

    fn unreachable(&self, asked: Asked<'_>, error: &Unanswered) -> SourceError {
        let Unanswered { hop, why } = error;
        match why {
            WebError::Other(detail)
                if detail.starts_with(TLS) && hop.address.is_on_same_server(&self.root) =>
            {
                let hint = "if the registry speaks no TLS, set insecureOCIForceHttp: \"true\" in its Secret";
                let why = WebError::Other(format!("{detail}; {hint}"));
                self.place.failed(asked, &Unanswered { hop: hop.clone(), why })
            }
            _ => self.place.failed(asked, error),
        }
    }

    fn missing(&self, revision: &str) -> SourceError {
        let (chart, version, repository) = match self.source.chart.as_str() {
            "" => (self.name.clone(), revision.to_owned(), self.place.shown.clone()),
            chart => (chart.to_owned(), revision.to_owned(), self.place.shown.clone()),
        };
        ChartError::Missing { chart, version, repository, hint: String::new() }.into()
    }
}

impl Root {
    fn read(repo_url: &str, chart: &str, scheme: Scheme) -> Option<Self> {
        let text = repo_url.trim();
        let text = text.split_once("://").map_or(text, |(_, rest)| rest).trim_matches('/');
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let name: Vec<&str> =
            [path.trim_matches('/'), chart].into_iter().filter(|part| !part.is_empty()).collect();
        let name = name.join("/");
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
        let is_whole = !host.contains(['?', '#']);
        if !is_whole
            || !name.chars().all(is_name)
            || name.split('/').any(|part| ["", ".", ".."].contains(&part))
        {
            return None;
        }
        let host = if host == DOCKER_HUB.0 { DOCKER_HUB.1 } else { host };
        let (address, login) = Address::parse(&format!("{}://{host}/v2/{name}", scheme.text()))?;
        Some(Self { address, name, login })
    }
}

/// User and password as a header has them.
fn basic(login: &Login, reach: Reach) -> Option<Authorization> {
    match login {
        Login::Password { username, password } => {
            Some(Authorization::basic(username, password.expose(), reach))
        }
        Login::Token(_) => None,
    }
}

/// The tag of a version: a tag has no `+`.
fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// Whether a text can be a tag or a digest; a range has other signs.
fn is_tag(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
    !text.is_empty() && text.chars().all(is_sign)
}

/// The page behind this one: `<URL>; rel="next"`.
fn following(answer: &Answer) -> Option<Address> {
    let link =
        answer.headers("link").flat_map(|text| text.split(',')).find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = link.split_once('<')?;
    answer.hop.address.resolve(rest.split('>').next()?, Base::File)
}
