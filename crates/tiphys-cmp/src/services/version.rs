//! `version.VersionService`: the version of the server.

use tonic::{Request, Response, Status};

use crate::generated::version::VersionMessage;
use crate::generated::version::version_service_server::{VersionService, VersionServiceServer};

/// The server's answer to a version request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// Version of the program.
    pub version: String,
    /// Commit of the build; empty if unknown.
    pub git_commit: String,
    /// Name of the compiler.
    pub compiler: String,
    /// Operating system and processor in Go's words: `linux/amd64`.
    pub platform: String,
}

impl Default for Versions {
    /// The values of this build.
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

/// Returns the service with this answer. Argo CD also runs `kustomize` and `helm` for two more fields, or puts an error there. The image of
/// a plugin need not contain these tools, so the fields are empty.
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
