//! Bases of kustomizations in other repositories, behind git's own HTTP server with a password.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use tiphys_testkit::canned_server::{Canned, CannedServer, Request};
use tiphys_testkit::git::Repository;

use crate::world::{URL, World};

/// `robot:pw`, `crew:pw` in base64.
const ROBOT: &str = "Basic cm9ib3Q6cHc=";
const CREW: &str = "Basic Y3JldzpwdzI=";

/// Serves the repositories below a directory of the world to clients with an `Authorization` header. Returns the received headers.
fn serve(world: &World, directory: &str, required: &'static str) -> (CannedServer, Receiver<String>) {
    let root = world.path(directory);
    let (sender, received) = channel();
    let server = CannedServer::start(None, move |request| {
        let authorization = request.header("Authorization").unwrap_or_default();
        drop(sender.send(authorization.to_owned()));
        if authorization != required {
            return Canned::new(401, "").with("WWW-Authenticate", "Basic realm=\"git\"");
        }
        http_backend(request, &root)
    });
    (server, received)
}

/// Answers a request as `git http-backend` does.
#[expect(clippy::disallowed_methods, reason = "the test runs git")]
fn http_backend(request: &Request, root: &std::path::Path) -> Canned {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", request.header("Content-Type").unwrap_or_default())
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("GIT_PROTOCOL", request.header("Git-Protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git starts");
    backend.stdin.take().expect("it is piped").write_all(request.body.as_bytes()).expect("it reads the body");
    let output = backend.wait_with_output().expect("git ends").stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").expect("headers end");
    let head = String::from_utf8_lossy(&output[..end]);
    let mut answer = Canned::new(200, &output[end + 4..]);
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "Status" => answer.status = value[..3].parse().expect("a status"),
            name => answer = answer.with(name, value),
        }
    }
    answer
}

fn secret(kind: &str, url: &str, login: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: {kind}}}}}\nstringData: {{url: '{url}', {login}}}\n"
    )
}

fn application(project: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  project: {project}\n  \
         source: {{repoURL: '{URL}', path: k}}\n  destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n"
    )
}

fn project(source_repos: &str) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: shop}}\n\
         spec: {{sourceRepos: [{source_repos}], destinations: [{{server: '*', namespace: '*'}}]}}\n"
    )
}

#[test]
fn remote_bases_get_the_credentials_of_their_repository() {
    let world = World::with_kustomize();
    let (near, near_received) = serve(&world, "near", ROBOT);
    let (far, far_received) = serve(&world, "far", CREW);
    let near_url = format!("http://{}/team/base", near.host());
    let far_url = format!("http://{}/team/base.git", far.host());
    Repository::init(world.path("far/team/base.git"))
        .write("kustomization.yaml", "resources: [cm.yaml]\n")
        .write("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\n")
        .commit("first");
    Repository::init(world.path("near/team/base"))
        .write("kustomization.yaml", &format!("resources: ['{far_url}?ref=main']\n"))
        .commit("first");
    world.write("repo/k/kustomization.yaml", &format!("resources: ['git::{near_url}?ref=main']\n"));

    let robot = "username: robot, password: pw";
    let crew = "username: crew, password: pw2";
    let near_secret = secret("repository", &format!("{near_url}.git"), robot);
    let far_template = secret("repo-creds", &format!("http://{}/team", far.host()), crew);
    let own = |project: &str| format!("project: {project}, {crew}");
    let permitted = format!("'{URL}', 'http://{}/team/*'", near.host());
    // The project's repositories, the Secrets, whether the bases are fetched, and which credentials each server received.
    let cases = [
        ("'*'", [near_secret.clone(), far_template.clone()], true, [Some(ROBOT), Some(CREW)]),
        (
            "'*'",
            [near_secret.clone(), secret("repository", &far_url, &own("shop"))],
            true,
            [Some(ROBOT), Some(CREW)],
        ),
        (
            "'*'",
            [near_secret.clone(), secret("repository", &far_url, &own("bank"))],
            false,
            [Some(ROBOT), None],
        ),
        (
            &permitted,
            [near_secret.clone(), secret("repository", &far_url, &own("shop"))],
            true,
            [Some(ROBOT), Some(CREW)],
        ),
        (&permitted, [near_secret.clone(), secret("repository", &far_url, crew)], false, [Some(ROBOT), None]),
        (&permitted, [near_secret, far_template], false, [Some(ROBOT), None]),
        ("'*'", [String::new(), String::new()], false, [None, None]),
    ];
    for (source_repos, secrets, is_fetched, expected) in cases {
        world.write("store/app.yaml", &(application("shop") + &project(source_repos) + &secrets.concat()));
        let output = world.run(&["render", "--store=store", "--repo", &format!("{URL}=repo"), "-vvv"]);
        let case = format!("{source_repos} {secrets:?}: {}", output.stderr);
        assert_eq!(output.code, if is_fetched { 0 } else { 3 }, "{case}");
        assert_eq!(output.stdout.contains("name: far"), is_fetched, "{case}");
        for word in ["pw", &ROBOT[6..], &CREW[6..]] {
            assert!(!output.stderr.contains(word) && !output.stdout.contains(word), "{word}: {case}");
        }
        let sent = [&near_received, &far_received].map(|received| {
            let mut sent: Vec<String> = received.try_iter().filter(|one| !one.is_empty()).collect();
            sent.dedup();
            sent
        });
        let expected = expected.map(|one| one.map(str::to_owned).into_iter().collect::<Vec<_>>());
        assert_eq!(sent, expected, "{case}");
        assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new(), "{case}");
    }
}
