//! The content of a server, its required credentials and its failures.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{Access, Failure, IDENTITY_TOKEN, basic};
use crate::canned_server::{Canned, Pace};
use crate::chart::{Image, digest};
use crate::http::Request;

/// The path of the token service.
const TOKEN_PATH: &str = "/token";
/// The only token.
const TOKEN: &str = "a-token-of-a-test";

#[derive(Debug, Default)]
pub(super) struct Site {
    /// The URL of the token service.
    token_server: String,
    answers: BTreeMap<String, Canned>,
    tags: BTreeMap<String, BTreeSet<String>>,
    accesses: BTreeMap<String, Access>,
    failures: BTreeMap<String, Failure>,
}

impl Site {
    pub(super) fn put(&mut self, path: &str, response: Canned) {
        self.answers.insert(path.to_owned(), response);
    }

    /// Adds the paths of an image in the distribution protocol, and returns its digest.
    pub(super) fn put_image(&mut self, name: &str, tag: &str, image: &Image) -> String {
        let image_digest = digest(&image.manifest);
        let manifest = Canned::new(200, image.manifest.clone())
            .with("Content-Type", image.media_type)
            .with("Docker-Content-Digest", &image_digest);
        for reference in [tag, &image_digest] {
            self.put(&format!("/v2/{name}/manifests/{reference}"), manifest.clone());
        }
        for blob in &image.blobs {
            let blob_digest = digest(blob);
            let response = Canned::new(200, blob.clone())
                .with("Content-Type", "application/octet-stream")
                .with("Docker-Content-Digest", &blob_digest);
            self.put(&format!("/v2/{name}/blobs/{blob_digest}"), response);
        }
        let tags = self.tags.entry(name.to_owned()).or_default();
        tags.insert(tag.to_owned());
        let list = json!({"name": name, "tags": tags}).to_string();
        self.put(&format!("/v2/{name}/tags/list"), json_answer(&list));
        image_digest
    }

    pub(super) fn protect(&mut self, prefix: &str, access: Access) {
        self.accesses.insert(prefix.to_owned(), access);
    }

    pub(super) fn tokens_of(&mut self, url: &str) {
        url.clone_into(&mut self.token_server);
    }

    pub(super) fn fail(&mut self, prefix: &str, failure: Option<Failure>) {
        match failure {
            Some(failure) => self.failures.insert(prefix.to_owned(), failure),
            None => self.failures.remove(prefix),
        };
    }

    /// Returns the answer to a request, with the failure of its path.
    pub(super) fn answer(&self, request: &Request) -> Canned {
        let answer = self.success(request);
        match longest(&self.failures, &request.path) {
            None => answer,
            Some(Failure::Status(status)) => Canned::new(status, "this fails on demand\n"),
            Some(Failure::Hang) => answer.at(Pace::Hang),
            Some(Failure::Late(time)) => answer.at(Pace::Late(time)),
            Some(Failure::HangInBody) => answer.at(Pace::HangInBody),
            Some(Failure::HalfOfABody) => answer.at(Pace::HalfOfABody),
        }
    }

    fn success(&self, request: &Request) -> Canned {
        if request.place() == TOKEN_PATH {
            return self.token(request);
        }
        let access = longest(&self.accesses, request.place()).unwrap_or(Access::Open);
        if !is_met(access, request) {
            return self.refusal(access);
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            return Canned::new(405, "this server is read-only\n");
        }
        let answer = self.answers.get(&request.path).or_else(|| self.answers.get(request.place()));
        answer.cloned().unwrap_or_else(|| Canned::new(404, "not found\n"))
    }

    /// Returns the token, unless credentials are required and neither they nor the identity token were sent.
    fn token(&self, request: &Request) -> Canned {
        if request.method == "POST" {
            let is_known = request.body.contains("grant_type=refresh_token&")
                && request.body.split('&').any(|field| field == format!("refresh_token={IDENTITY_TOKEN}"));
            let token = json_answer(&json!({"access_token": TOKEN}).to_string());
            return if is_known { token } else { Canned::new(401, "authentication required\n") };
        }
        let is_for_all = !self.accesses.values().any(|access| *access == Access::Token);
        if is_for_all || is_met(Access::Basic, request) {
            return json_answer(&json!({"token": TOKEN, "access_token": TOKEN}).to_string());
        }
        self.refusal(Access::Basic)
    }

    /// Returns 401 with a challenge.
    fn refusal(&self, access: Access) -> Canned {
        let challenge = match access {
            Access::Open | Access::Basic => "Basic realm=\"charts\"".to_owned(),
            Access::AnonymousToken | Access::Token => {
                format!("Bearer realm=\"{}{TOKEN_PATH}\",service=\"charts\"", self.token_server)
            }
        };
        Canned::new(401, "authentication required\n").with("WWW-Authenticate", &challenge)
    }
}

pub(super) fn json_answer(json: &str) -> Canned {
    Canned::new(200, json).with("Content-Type", "application/json")
}

fn longest<T: Copy>(rules: &BTreeMap<String, T>, path: &str) -> Option<T> {
    let fitting = rules.iter().filter(|(prefix, _)| path.starts_with(prefix.as_str()));
    fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, rule)| *rule)
}

fn is_met(access: Access, request: &Request) -> bool {
    let expected = match access {
        Access::Open => return true,
        Access::Basic => basic(),
        Access::AnonymousToken | Access::Token => format!("Bearer {TOKEN}"),
    };
    request.header("Authorization") == Some(&expected)
}
