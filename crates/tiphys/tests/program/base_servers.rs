//! Which Secrets are sent when two revisions are compared.

use tiphys_testkit::git::Repository;

use crate::refused_access::server;
use crate::world::World;

/// `base:pw` and `change:pw` in base64.
const BASE: &str = "Basic YmFzZTpwdw==";
const CHANGE: &str = "Basic Y2hhbmdlOnB3";

fn secret(kind: &str, url: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: {kind}}}}}\n\
         stringData: {{url: '{url}', {more}}}\n"
    )
}

/// The project of the Applications as an additional document of a Secret.
fn project(source_repos: &str) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: default}}\n\
         spec: {{sourceRepos: [{source_repos}]}}\n"
    )
}

#[test]
fn secrets_of_the_base_are_sent_and_none_of_the_head() {
    let (address, authorizations) = server();
    let other = server();
    let host = format!("http://{address}");
    let elsewhere = format!("http://{}", other.0);
    // An Application's source, the path of its Secret's URL, and its type.
    let sources = [
        (format!("repoURL: '{host}/team/apps.git', path: plain"), "/team/apps.git", "git"),
        (format!("repoURL: '{host}/charts', chart: web, targetRevision: 1.0.0"), "/charts", "helm"),
    ];
    for (source, path, of_type) in &sources {
        let repository = format!("{host}{path}");
        let of = |user: &str| format!("type: {of_type}, username: {user}, password: pw");
        let redirected = format!("{}, proxy: '{elsewhere}'", of("change"));
        let own = secret("repository", &repository, &of("base"));
        let renamed =
            secret("repository", &repository, &of("change")).replace("name: s,", r#"name: "s\n::error::x","#);
        let secrets = "repository Secrets of the store (s)";
        for (at_base, of_change, from, expected, unused) in [
            (
                secret("repository", &repository, &of("base")),
                secret("repository", &repository, &of("change")),
                "base",
                Some(BASE),
                secrets,
            ),
            (
                secret("repository", &repository, &of("base")),
                secret("repository", &repository, &redirected),
                "base",
                Some(BASE),
                secrets,
            ),
            (
                secret("repo-creds", &host, &of("base")),
                secret("repository", &repository, &redirected),
                "base",
                Some(BASE),
                secrets,
            ),
            (
                secret("repo-creds", &host, &of("base")),
                secret("repo-creds", &repository, &of("change")),
                "base",
                Some(BASE),
                secrets,
            ),
            (String::new(), secret("repository", &repository, &of("change")), "base", None, secrets),
            (String::new(), renamed, "base", None, r"repository Secrets of the store (s\n::error::x)"),
            (
                own.clone() + &project("'https://other.example.com/*'"),
                own.clone() + &project("'*'"),
                "base",
                None,
                "the rules of projects of the store (default)",
            ),
            (
                own.clone() + &project("'*'"),
                own.clone() + &project(""),
                "base",
                Some(BASE),
                "the rules of projects of the store (default)",
            ),
            (
                secret("repository", &repository, &of("base")),
                secret("repository", &repository, &of("change")),
                "head",
                Some(CHANGE),
                secrets,
            ),
        ] {
            let world = World::empty();
            let application = format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source: {{{source}}}\n  destination: {{namespace: shop}}\n"
            );
            world.write("config/apps/web.yaml", &application).write("config/apps/s.yaml", &at_base);
            let checkout = Repository::init(world.path("config"));
            checkout.commit("first");
            let changed = application.replace("{name: web}", "{name: more}");
            world.write("config/apps/more.yaml", &changed).write("config/apps/s.yaml", &of_change);
            let compared = format!(
                "diff --base=main --store=config/apps --config=projectRules=warn --config=trustRepositorySettings=/ --plugins-from {from}"
            );
            let output = world.run(&compared.split(' ').collect::<Vec<_>>());
            assert_eq!(output.code, 5, "{}", output.stderr);
            let mut sent: Vec<String> = authorizations.try_iter().collect();
            sent.dedup();
            // Each side has its own Secret for charts if the head is trusted.
            sent.retain(|one| from == "base" || one != BASE);
            assert_eq!(
                sent,
                expected.map(str::to_owned).into_iter().collect::<Vec<_>>(),
                "{at_base}{of_change}{from}"
            );
            assert!(other.1.try_recv().is_err(), "the head's server was called: {of_change}");
            let told = output.stderr.contains(&format!("warning: {unused} are not those of main, which "));
            assert_eq!(told, from == "base", "{}", output.stderr);
        }
    }
}
