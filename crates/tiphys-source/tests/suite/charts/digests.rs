//! Digests of charts in an index, compared with helm's handling.

use std::process::Command;

use sha2::{Digest as _, Sha256, Sha512};
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::tools;

use crate::charts::workbench::{Workbench, chart, failure, fetch, pair, web};

fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Whether helm takes the chart, called as Argo CD calls it.
fn helm_takes(helm: &str, repository: &str) -> bool {
    let home = tempfile::tempdir().expect("a temporary folder");
    #[expect(clippy::disallowed_methods, reason = "tests only")]
    let mut command = Command::new(tools::program(helm));
    let homes = ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"];
    command.envs(homes.map(|name| (name, home.path().join(name))));
    command.args(["pull", "--repo", repository, "web", "--version", "1.0.0", "--destination"]);
    let output = command.arg(home.path()).output().expect("helm starts");
    output.status.success() && home.path().join("web.tgz").is_file()
}

#[tokio::test]
async fn a_sha_256_is_compared_in_all_writings_and_other_kinds_are_passed_over_as_helm_does() {
    let (server, archive) = (ChartServer::start(Transport::Plain), web("1.0.0").pack());
    let (right, wrong) = (hexadecimal(Sha256::digest(&archive)), hexadecimal(Sha256::digest(b"other")));
    server.file("/web.tgz", archive.clone());
    let cases = [
        (String::new(), true),
        (right.clone(), true),
        (right.to_uppercase(), true),
        (format!("sha256:{right}"), true),
        (format!("SHA256:{}", right.to_uppercase()), true),
        (wrong.clone(), false),
        (format!("sha256:{wrong}"), false),
        (format!("SHA256:{}", wrong.to_uppercase()), false),
        (format!("sha512:{}", hexadecimal(Sha512::digest(&archive))), true),
        (format!("sha512:{wrong}"), true),
        (right[..40].to_owned(), true),
        ("nonsense".to_owned(), true),
    ];
    for (number, (digest, is_taken)) in cases.iter().enumerate() {
        let path = format!("/{number}");
        let index = format!(
            "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.0.0, digest: '{digest}', urls: ['{}/web.tgz']}}\n",
            server.url()
        );
        server.file(&format!("{path}/index.yaml"), index);
        let source = chart(&(server.url() + &path), "web", "1.0.0");
        let bench = Workbench::new();
        let sources = bench.sources();
        if *is_taken {
            assert_eq!(fetch(&sources, &source).await.expect(digest), pair("1.0.0", "1.0.0"), "{digest:?}");
        } else {
            let text = failure(&sources, &source).await;
            assert!(text.contains("has the digest sha256:"), "{digest:?}: {text}");
        }
    }
    // Helm takes all of them: `--repo` compares nothing.
    for helm in ["helm", "helm3"] {
        for (number, (digest, _)) in cases.iter().enumerate() {
            let repository = format!("{}/{number}", server.url());
            assert!(helm_takes(helm, &repository), "{helm}: {digest:?}");
        }
    }
}
