//! `version.VersionService`: which program answers at a socket.

use tonic::{Request, Response, Status};

use crate::generated::version::VersionMessage;
use crate::generated::version::version_service_server::{VersionService, VersionServiceServer};

/// What the server says of itself to whoever asks for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from; empty if that is not known.
    pub git_commit: String,
    /// Name of the compiler.
    pub compiler: String,
    /// Operating system and processor in the words of Argo CD, that is, of Go: `linux/amd64`.
    pub platform: String,
}

impl Default for Versions {
    /// What this build knows of itself.
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_commit: String::new(),
            compiler: "rustc".to_owned(),
            platform: platform(std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

fn platform(system: &str, processor: &str) -> String {
    let system = if system == "macos" { "darwin" } else { system };
    let processor = match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}/{processor}")
}

/// The service that gives this answer. Argo CD runs `kustomize` and `helm` to fill two more fields, and puts the error's text there if
/// it cannot; a plugin's image need not have these tools, so these fields are empty here.
pub(crate) fn service(versions: &Versions) -> VersionServiceServer<impl VersionService + use<>> {
    VersionServiceServer::new(Service {
        answer: VersionMessage {
            version: versions.version.clone(),
            git_commit: versions.git_commit.clone(),
            compiler: versions.compiler.clone(),
            platform: versions.platform.clone(),
            ..VersionMessage::default()
        },
    })
}

struct Service {
    answer: VersionMessage,
}

#[tonic::async_trait]
impl VersionService for Service {
    async fn version(&self, _request: Request<()>) -> Result<Response<VersionMessage>, Status> {
        Ok(Response::new(self.answer.clone()))
    }
}

#[cfg(test)]
mod tests;
