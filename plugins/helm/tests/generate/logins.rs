//! Logins to registries that helm and docker have left on the machine.

use serde_json::json;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::registry::{Registry, RegistryAccess};

use crate::dependencies::umbrella;
use crate::remotes::{chart, with_dep};
use crate::world::{Helm, World};

/// A registry that wants a login, `user` with `pass`, and its authority.
struct Protected {
    registry: Registry,
    authority: Authority,
}

impl Protected {
    fn start() -> Self {
        let authority = Authority::new();
        let registry =
            Registry::start(RegistryAccess::Basic, Transport::Tls(&authority.server()), &authority);
        registry.push("charts", &chart("dep", "1.0.0"));
        Self { registry, authority }
    }

    /// A chart with a dependency of the registry.
    fn world(&self) -> World {
        let world = with_dep("1.0.0", &format!("oci://{}/charts", self.registry.host()))
            .file("../ca.pem", self.authority.pem());
        let ca = world.beside("ca.pem");
        world.variable("SSL_CERT_FILE", &ca)
    }
}

impl World {
    /// A path beside the repository.
    fn beside(&self, name: &str) -> String {
        self.root().parent().expect("it is in a folder").join(name).display().to_string()
    }

    /// What docker has written.
    fn docker(self, config: &serde_json::Value) -> Self {
        let folder = self.beside("docker");
        self.file("../docker/config.json", &config.to_string()).variable("DOCKER_CONFIG", &folder)
    }
}

const EXPECTED: [&str; 2] = ["ConfigMap/dep-1.0.0", "ConfigMap/app-0.1.0"];

#[test]
fn what_a_login_has_opened_is_not_given_to_whom_it_may_not_serve() {
    let protected = Protected::start();
    let config = json!({ "auths": { protected.registry.host(): { "auth": "dXNlcjpwYXNz" } } });
    for helm in Helm::ALL {
        let person = protected
            .world()
            .docker(&config)
            .cached()
            .context(&json!({ "version": 1, "mountedCredentials": "use" }));
        assert_eq!(person.generate(helm).names(), EXPECTED);
        let server = person.context(&json!({ "version": 1 }));
        let refused = server.generate(helm);
        assert!(refused.error().contains("credential"), "{helm:?}: {}", refused.error());
    }
}

#[test]
fn mounted_files_that_a_chart_does_not_need_are_not_in_its_way() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &[chart("dep", "1.0.0")]);
    let url = format!("{}/stable", server.url());
    let entry =
        |name: &str, url: &str| format!("- {{name: {name}, url: '{url}', caFile: /nowhere/{name}.pem}}\n");
    let stale =
        format!("repositories:\n- {{name: open, url: '{url}'}}\n{}", entry("stale", "https://a.invalid"));
    for helm in Helm::ALL {
        let with = |world: World, repositories: &str| {
            let folder = world.beside("helm");
            world
                .file("../helm/repositories.yaml", repositories)
                .file("../docker/config.json", "- [")
                .variable("HELM_CONFIG_HOME", &folder)
        };
        let local = umbrella("{name: dep, version: 1.0.0, repository: 'file://../dep'}").chart_files(
            "charts/dep",
            "dep",
            "1.0.0",
            "",
        );
        let local = with(local, "- [");
        let docker = local.beside("docker");
        assert_eq!(local.variable("DOCKER_CONFIG", &docker).generate(helm).names(), EXPECTED);
        let fetched = with(with_dep("1.0.0", &url), &stale);
        let docker = fetched.beside("docker");
        assert_eq!(fetched.variable("DOCKER_CONFIG", &docker).generate(helm).names(), EXPECTED);
        let needed = with(with_dep("1.0.0", &url), &format!("repositories:\n{}", entry("stale", &url)));
        let answer = needed.generate(helm);
        assert_eq!(
            answer.error(),
            "error building helm chart dependencies: cannot read /nowhere/stale.pem: entity not found"
        );
    }
}
