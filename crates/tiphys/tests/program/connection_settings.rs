//! Credentials stay with their connection settings: a Secret does not send the credentials of another source, or the caller's own, through
//! its proxy.

use tiphys_testkit::git::Repository;

use crate::refused_access::server;
use crate::world::World;

/// A server that is only reachable through the proxy.
const TRUSTED: &str = "http://git.trusted.invalid";

/// `robot:pw` and `me:own` in base64.
const TEMPLATE: &str = "Basic cm9ib3Q6cHc=";
const OWN: &str = "Basic bWU6b3du";

fn secret(kind: &str, url: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: {kind}}}}}\n\
         stringData: {{url: '{url}', {more}}}\n"
    )
}

#[test]
fn proxy_gets_credentials_of_its_own_secret_or_with_consent() {
    let (proxy, authorizations) = server();
    let (git, charts) = (format!("{TRUSTED}/team/apps.git"), format!("{TRUSTED}/charts"));
    let of_git = format!("repoURL: '{git}', path: plain");
    let of_charts = format!("repoURL: '{charts}', chart: web, targetRevision: 1.0.0");
    let via_proxy = |url: &str, more: &str| {
        secret("repository", url, &format!("proxy: 'http://{proxy}', insecure: 'true', {more}"))
    };
    let only_proxy = |url: &str| secret("repository", url, &format!("proxy: 'http://{proxy}'"));
    let template = secret("repo-creds", TRUSTED, "username: robot, password: pw");
    let none = String::new;
    // The source, the Secrets of the rendered repository, those of the caller, an option, and what the proxy receives.
    let cases = [
        (&of_git, via_proxy(&git, ""), template.clone(), "--limit=jobs=1", None),
        (&of_git, via_proxy(&git, "project: default"), template.clone(), "--limit=jobs=1", None),
        (&of_charts, via_proxy(&charts, "type: helm"), template.clone(), "--limit=jobs=1", None),
        (&of_git, via_proxy(&git, ""), none(), "--limit=jobs=1", None),
        (&of_git, none(), via_proxy(&git, "") + &template, "--limit=jobs=1", Some(TEMPLATE)),
        (
            &of_git,
            via_proxy(&git, ""),
            template.clone(),
            "--config=trustRepositorySettings=/",
            Some(TEMPLATE),
        ),
        (&of_git, none(), only_proxy(&git), "--limit=jobs=1", None),
        (&of_git, none(), only_proxy(&git), "--config=ownCredentialsViaProxy=true", Some(OWN)),
        (&of_git, none(), via_proxy(&git, ""), "--config=ownCredentialsViaProxy=true", None),
    ];
    for (source, of_repository, of_caller, option, expected) in cases {
        let world = World::empty();
        world
            .write(
                "repo/app.yaml",
                &format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source: {{{source}}}\n  destination: {{namespace: shop}}\n"
                ),
            )
            .write("repo/secret.yaml", &of_repository)
            .write("own/secret.yaml", &of_caller)
            .write("home/.gitconfig", "[credential]\n\thelper = \"!f() { echo username=me; echo password=own; }; f\"\n");
        Repository::init(world.path("repo")).commit("first");
        let output =
            world.run(&["render", "--store=repo", "--store=own", "--limit=connect-timeout=5", option]);
        assert_eq!(output.code, 3, "{}", output.stderr);
        let mut sent: Vec<String> = authorizations.try_iter().collect();
        sent.dedup();
        let expected: Vec<String> = expected.map(str::to_owned).into_iter().collect();
        assert_eq!(sent, expected, "{source} {of_repository} {of_caller} {option}: {}", output.stderr);
    }
}
