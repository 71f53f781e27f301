//! A render service on a temporary folder, and repositories with plain manifests.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use tiphys_access::{KnownRepositories, RepositoryAccess, Secret};
use tiphys_plugin::Catalogue;
use tiphys_render::{RenderError, RenderRequest, RenderService};
use tiphys_source::{SourceOptions, SourceService};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::git::{self, Repository};
use tiphys_tree::{Store, StoreOptions, TreeLimits};

use crate::request::application;

/// Calls the real git. It logs its arguments, and waits for a writer of the pipe `gate`, if there is one, before it contacts a repository.
const GIT: &str = "#!/bin/sh\n\
    printf '%s\\n' \"$*\" >> \"$(dirname \"$0\")/git.log\"\n\
    case \"$*\" in *ls-remote*) if [ -p \"$(dirname \"$0\")/gate\" ]; then read -r _ < \"$(dirname \"$0\")/gate\"; fi;; esac\n\
    exec git \"$@\"\n";

pub(crate) struct World {
    dir: TempDir,
    pub(crate) service: RenderService,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits::DEFAULT,
        });
        let program = dir.path().join("git");
        fs::write(&program, GIT).expect("the script can be written");
        make_executable(&program);
        let mut options = SourceOptions::new(dir.path().join("cache"), git::environment(dir.path()));
        options.git_program = program;
        let sources = SourceService::new(Arc::new(store.expect("the store opens")), options);
        Self { service: RenderService::new(sources, Catalogue::default()), dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A repository with one ConfigMap of this value on the branch `main`.
    pub(crate) fn repository(&self, value: &str) -> Repository {
        let repository = Repository::init(self.path("repository"));
        push(&repository, value);
        repository
    }

    /// Number of calls of git with this command.
    pub(crate) fn calls(&self, command: &str) -> usize {
        let log = fs::read_to_string(self.path("git.log")).unwrap_or_default();
        log.lines().filter(|line| line.split(' ').any(|word| word == command)).count()
    }

    /// Renders and returns the ConfigMap's value.
    pub(crate) async fn render(
        &self,
        repository: &Repository,
        request: RenderRequest,
    ) -> Result<String, RenderError> {
        let rendered = self.service.render(&application(&repository.url()), request).await?;
        let [manifest] = rendered.manifests.as_slice() else {
            panic!("{} objects", rendered.manifests.len())
        };
        let value = manifest.object()["data"]["value"].as_str().expect("the value");
        Ok(value.to_owned())
    }
}

/// Commits another value.
pub(crate) fn push(repository: &Repository, value: &str) {
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"value": value}});
    repository.write("app/map.json", &object.to_string()).commit(value);
}

/// The same request with a repository Secret for all `file://` repositories.
pub(crate) fn with_password(mut request: RenderRequest, url: &str, password: &str) -> RenderRequest {
    let access = RepositoryAccess {
        url: url.to_owned(),
        username: "robot".to_owned(),
        password: Secret::new(password),
        ..RepositoryAccess::default()
    };
    request.sources.known = KnownRepositories { repositories: vec![access], ..KnownRepositories::default() };
    request
}
