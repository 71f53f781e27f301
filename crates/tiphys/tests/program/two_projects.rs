//! Applications of two projects, each with its own Secrets for one repository.

use std::sync::mpsc::Receiver;

use crate::refused_access::server;
use crate::world::World;

/// A Secret of the store. Its user is `name`, its password `name` with `-pw`.
fn secret(kind: &str, url: &str, name: &str, project: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, labels: {{argocd.argoproj.io/secret-type: {kind}}}}}\n\
         stringData: {{url: '{url}', project: '{project}', username: {name}, password: {name}-pw}}\n"
    )
}

fn application(project: &str, url: &str) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: of-{project}}}\nspec:\n  project: {project}\n  \
         source: {{repoURL: '{url}', path: plain}}\n  destination: {{namespace: shop}}\n"
    )
}

/// The received credentials, without those of git's first anonymous requests.
fn sent(authorizations: &Receiver<String>) -> Vec<String> {
    let mut sent: Vec<String> = authorizations.try_iter().collect();
    sent.dedup();
    sent
}

#[test]
fn secret_is_sent_for_applications_of_its_project_only() {
    // `NAME:NAME-pw` in base64.
    const ONE: &str = "Basic b25lOm9uZS1wdw==";
    const TWO: &str = "Basic dHdvOnR3by1wdw==";
    const ALL: &str = "Basic YWxsOmFsbC1wdw==";
    let (address, authorizations) = server();
    let (url, host) = (format!("http://{address}/team/apps.git"), format!("http://{address}"));
    let of = |projects: &[&str]| -> String {
        projects.iter().map(|project| secret("repository", &url, project, project)).collect()
    };
    let everybodys = secret("repository", &url, "all", "");
    let template = secret("repo-creds", &host, "all", "");
    let restricted = "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: two}\nspec: {sourceRepos: [https://git.example.org/*]}\n";
    for (store, of_one, of_two) in [
        (of(&["one", "two"]), Some(ONE), Some(TWO)),
        (of(&["two", "one"]), Some(ONE), Some(TWO)),
        (of(&["one"]), Some(ONE), None),
        (format!("{everybodys}{}", of(&["two"])), Some(ALL), Some(TWO)),
        (format!("{}{template}", of(&["one"])), Some(ONE), Some(ALL)),
        (format!("{everybodys}{restricted}"), Some(ALL), None),
        (format!("{}{restricted}", of(&["two"])), None, Some(TWO)),
    ] {
        let world = World::empty();
        world.write("store/secrets.yaml", &store);
        world.write("store/apps.yaml", &format!("{}{}", application("one", &url), application("two", &url)));
        for (name, expected) in [("of-one", of_one), ("of-two", of_two)] {
            let output = world.run(&["render", name, "--store=store", "--config=projectRules=warn"]);
            assert_eq!((output.code, output.stdout.as_str()), (3, ""), "{}", output.stderr);
            let expected: Vec<String> = expected.map(str::to_owned).into_iter().collect();
            assert_eq!(sent(&authorizations), expected, "{name} of {store}");
        }
    }
}
