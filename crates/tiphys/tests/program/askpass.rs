//! The program as git's askpass program: alone, and called by git.

use std::convert::Infallible;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::task::{Context, Poll};

use tiphys_testkit::canned_server::{Canned, CannedServer};
use tonic::codegen::{BoxFuture, Service, http};
use tonic::{Request, Response, Status};

use crate::running::Running;
use crate::world::{Output, URL, World};

const NONCE: &str = "5f9e2c1a-nonce";
const USERNAME: &str = "x-access-token";
const PASSWORD: &str = "correct-horse";

/// Written by hand from Argo CD's `askpass.proto`. The program generates its messages from a proto file of its own.
#[derive(Clone, PartialEq, prost::Message)]
struct CredentialsRequest {
    #[prost(string, tag = "1")]
    nonce: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CredentialsResponse {
    #[prost(string, tag = "1")]
    username: String,
    #[prost(string, tag = "2")]
    password: String,
}

/// The askpass service of Argo CD's repository server.
#[derive(Clone)]
struct RepositoryServer;

impl tonic::server::NamedService for RepositoryServer {
    const NAME: &'static str = "askpass.AskPassService";
}

impl Service<http::Request<tonic::body::Body>> for RepositoryServer {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        Box::pin(async move {
            assert_eq!(request.uri().path(), "/askpass.AskPassService/GetCredentials");
            let codec = tonic_prost::ProstCodec::<CredentialsResponse, CredentialsRequest>::default();
            Ok(tonic::server::Grpc::new(codec).unary(Credentials, request).await)
        })
    }
}

struct Credentials;

impl tonic::server::UnaryService<CredentialsRequest> for Credentials {
    type Response = CredentialsResponse;
    type Future = std::future::Ready<Result<Response<CredentialsResponse>, Status>>;

    fn call(&mut self, request: Request<CredentialsRequest>) -> Self::Future {
        std::future::ready(match request.into_inner().nonce.as_str() {
            NONCE => Ok(Response::new(CredentialsResponse {
                username: USERNAME.to_owned(),
                password: PASSWORD.to_owned(),
            })),
            "locked" => Err(Status::permission_denied(format!("nothing for locked of {USERNAME}"))),
            _ => Err(Status::not_found("unknown nonce")),
        })
    }
}

/// Serves credentials on a socket until the test process ends.
fn serve(world: &World) -> PathBuf {
    let socket = world.path("ask-pass.sock");
    let listener = UnixListener::bind(&socket).expect("the socket can be made");
    listener.set_nonblocking(true).expect("set_nonblocking");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::UnixListener::from_std(listener).expect("from_std");
            let incoming = futures_util::stream::unfold(listener, |listener| async move {
                Some((listener.accept().await.map(|(stream, _)| stream), listener))
            });
            let server = tonic::transport::Server::builder().add_service(RepositoryServer);
            server.serve_with_incoming(incoming).await.expect("serve");
        });
    });
    socket
}

/// Runs the program as git's askpass program. `more` sets variables, or removes those without a value.
fn ask(world: &World, questions: &[&str], more: &[(&str, Option<&str>)]) -> Output {
    let mut command = world.command(crate::world::TIPHYS);
    command
        .args(questions)
        .env("ARGOCD_BINARY_NAME", "argocd-git-ask-pass")
        .env("ARGOCD_GIT_ASKPASS_NONCE", NONCE)
        .env("ARGOCD_ASK_PASS_SOCK", world.path("ask-pass.sock"));
    for (name, value) in more {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    world.finish(command)
}

#[test]
fn git_gets_user_name_and_password_of_the_nonce() {
    let world = World::empty();
    serve(&world);
    for (question, answer) in [
        ("Username for 'https://git.example.org': ", USERNAME),
        ("Password for 'https://x-access-token@git.example.org': ", PASSWORD),
    ] {
        let output = ask(&world, &[question], &[]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        assert_eq!(output.stdout, format!("{answer}\n"));
    }
}

#[test]
fn missing_credentials_are_reported_without_a_secret() {
    let world = World::empty();
    serve(&world);
    drop(UnixListener::bind(world.path("dead.sock")).expect("the socket can be made"));
    let dead = world.path("dead.sock");
    let username = &["Username for 'https://git.example.org': "][..];
    let socket = "no credentials: the repository server on socket $WORLD/ask-pass.sock";
    let usage = "as git's askpass program (see ARGOCD_BINARY_NAME) this program expects one argument that begins with `Username` or `Password`";
    let cases = [
        (&[][..], None, 2, format!("{usage}; found 0")),
        (&["Username", "more"], None, 2, format!("{usage}; found 2")),
        (&["Enter passphrase for key: "], None, 2, usage.to_owned()),
        (
            username,
            Some(("ARGOCD_GIT_ASKPASS_NONCE", None)),
            2,
            "no credentials: ARGOCD_GIT_ASKPASS_NONCE is not set; only commands of plugins with `provideGitCreds: true` get it"
                .to_owned(),
        ),
        (
            username,
            Some(("ARGOCD_GIT_ASKPASS_NONCE", Some("another"))),
            3,
            format!("{socket} does not know ARGOCD_GIT_ASKPASS_NONCE; it is valid only while the plugin generates"),
        ),
        (
            username,
            Some(("ARGOCD_GIT_ASKPASS_NONCE", Some("locked"))),
            3,
            format!("{socket} refuses: nothing for *** of {USERNAME}"),
        ),
        (
            username,
            Some(("ARGOCD_ASK_PASS_SOCK", dead.to_str())),
            3,
            "no credentials: cannot reach the repository server on socket $WORLD/dead.sock; mount the directory of its socket, or \
             set ARGOCD_ASK_PASS_SOCK: Connection refused (os error 111)"
                .to_owned(),
        ),
    ];
    for (questions, variable, code, expected) in cases {
        let output = ask(&world, questions, variable.as_slice());
        assert_eq!((output.code, output.stdout.as_str()), (code, ""), "{}", output.stderr);
        assert_eq!(output.stderr, format!("error: {expected}\n"));
        for secret in [NONCE, PASSWORD] {
            assert!(!output.stderr.contains(secret), "{}", output.stderr);
        }
    }
}

/// Serves a repository with one branch over HTTP, which requires the credentials.
fn repository() -> CannedServer {
    // "x-access-token:correct-horse" in base64.
    const AUTHORIZATION: &str = "Basic eC1hY2Nlc3MtdG9rZW46Y29ycmVjdC1ob3JzZQ==";
    CannedServer::start(None, |request| {
        if request.header("Authorization") != Some(AUTHORIZATION) {
            return Canned::new(401, "").with("WWW-Authenticate", "Basic realm=\"git\"");
        }
        let branch = format!("003e{COMMIT} refs/heads/main\0\n");
        let refs = format!("001e# service=git-upload-pack\n0000{branch}0000");
        Canned::new(200, refs).with("Content-Type", "application/x-git-upload-pack-advertisement")
    })
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn git_reads_private_repository_with_the_installed_program() {
    let world = World::empty();
    let (server, socket) = (repository(), serve(&world));
    let url = format!("{}/team/apps.git", server.url());
    let installed = world.run(&["cmp-server", "--install", "shared"]);
    let expected = "installed shared/argocd-cmp-server, and argocd beside it as a link to it\n";
    assert_eq!((installed.code, installed.stdout.as_str(), installed.stderr.as_str()), (0, "", expected));

    let git = |nonce: &str| {
        let mut git = world.command("sh");
        // The variables that Argo CD passes to the commands of a plugin.
        git.args(["-c", "PATH=$PWD/shared:$PATH exec git ls-remote \"$0\"", &url])
            .env("GIT_ASKPASS", "argocd")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("ARGOCD_BINARY_NAME", "argocd-git-ask-pass")
            .env("ARGOCD_GIT_ASKPASS_NONCE", nonce)
            .env("ARGOCD_ASK_PASS_SOCK", &socket);
        world.finish(git)
    };
    let listed = git(NONCE);
    assert_eq!(
        (listed.code, listed.stdout),
        (0, format!("{COMMIT}\trefs/heads/main\n")),
        "{}",
        listed.stderr
    );
    let refused = git("another");
    assert_eq!((refused.code, refused.stdout.as_str()), (128, ""));
    assert!(refused.stderr.contains("does not know ARGOCD_GIT_ASKPASS_NONCE"), "{}", refused.stderr);
}

#[test]
fn plugin_finds_the_installed_askpass_program_on_its_path() {
    let world = World::new();
    let plugin = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: seeking}
spec:
  generate:
    command: [sh, -c]
    args: ['printf \"kind: Found\\napiVersion: v1\\nmetadata: {name: x}\\nat: %s\\n\" \"$(command -v argocd)\"']
";
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  destination: {{namespace: shop}}\n  source: {{repoURL: {URL}, path: \
         plain, plugin: {{name: seeking}}}}\n"
    );
    world.write("plugins/seeking/plugin.yaml", plugin).write("seeking/web.yaml", &application);
    assert_eq!(world.run(&["cmp-server", "--install", "shared"]).code, 0);
    let mut command = world.command(world.path("shared/argocd-cmp-server").to_str().expect("UTF-8"));
    command.args(["--config-dir-path=plugins/seeking", "--plugin-sockets=sockets"]);
    let mut server = Running::of(command);
    let log = server.stderr();
    while !log.line().contains("serving on") {}
    let repo = format!("--repo={URL}=repo");
    let output = world.run(&[
        "render",
        "--store=seeking",
        "--config=pluginSockets=sockets",
        "--config=tracking=none",
        &repo,
    ]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(output.stdout.contains("\nat: $WORLD/shared/argocd\n"), "{}", output.stdout);
}
