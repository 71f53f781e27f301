//! Repositories over SSH, with a stand-in for OpenSSH that runs the command on this machine.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tiphys_model::access::{ContextProject, RepositoryAccess};
use tiphys_model::project_rules::ProjectGitAccess;
use tiphys_source::{Secret, SourceOptions, UserSettings};

use crate::sources::workbench::{Workbench, files};

/// The stand-in comes first on `PATH`.
fn with_ssh(options: &mut SourceOptions) {
    let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ssh-stand-in");
    for (_, value) in options.environment.iter_mut().filter(|(name, _)| name == "PATH") {
        let mut path = OsString::from(&stand_in);
        path.push(":");
        path.push(&value);
        *value = path;
    }
}

fn remote(bench: &Workbench) -> String {
    let repository = bench.repository("remote");
    repository.write("a.yaml", "over ssh").commit("first");
    repository.dir().display().to_string()
}

#[tokio::test]
async fn a_repository_is_fetched_over_ssh_and_nothing_prompts() {
    let bench = Workbench::new();
    let dir = remote(&bench);
    for url in [format!("ssh://git@git.example.org{dir}"), format!("git@git.example.org:{dir}")] {
        let sources = bench.sources_with(|options, _| with_ssh(options));
        assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over ssh"], "{url}");
    }
    let log = fs::read_to_string(bench.path("home/ssh.log")).expect("ssh was called");
    for line in log.lines() {
        assert!(line.starts_with("<-o><BatchMode=yes>"), "{line}");
    }
}

#[tokio::test]
async fn a_password_in_the_url_does_not_reach_ssh() {
    let bench = Workbench::new();
    let url = format!("ssh://git:hunter2@git.example.org{}", remote(&bench));
    let sources = bench.sources_with(|options, _| with_ssh(options));
    assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over ssh"]);
    let log = fs::read_to_string(bench.path("home/ssh.log")).expect("ssh was called");
    assert!(log.contains("<git@git.example.org>") && !log.contains("hunter2"), "{log}");
}

#[tokio::test]
async fn the_users_own_ssh_command_is_kept() {
    let bench = Workbench::new();
    let dir = remote(&bench);
    let sources = bench.sources_with(|options, _| with_ssh(options));
    fs::write(bench.path("home/.gitconfig"), "[core]\n\tsshCommand = ssh -o Compression=yes\n")
        .expect("the file can be written");
    files(&sources, &format!("git@git.example.org:{dir}"), "main").await;
    let log = fs::read_to_string(bench.path("home/ssh.log")).expect("ssh was called");
    assert!(log.starts_with("<-o><Compression=yes><-o><BatchMode=yes>"), "{log}");
}

#[tokio::test]
async fn a_secrets_key_is_given_by_a_private_file_that_goes_away() {
    let bench = Workbench::new();
    let dir = remote(&bench);
    let url = format!("git@git.example.org:{dir}");
    let sources = bench.sources_with(|options, request| {
        with_ssh(options);
        options.user_settings = UserSettings::Ignored;
        // A template does not say that a server need not prove who it is.
        request.known.repositories =
            vec![RepositoryAccess { url: url.clone(), insecure: true, ..RepositoryAccess::default() }];
        request.known.templates = vec![RepositoryAccess {
            url: "git@git.example.org".to_owned(),
            ssh_private_key: Secret::new("the key"),
            ..RepositoryAccess::default()
        }];
    });
    assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over ssh"]);
    let home = bench.path("home");
    let log = fs::read_to_string(home.join("ssh.log")).expect("ssh was called");
    for option in
        ["<IdentitiesOnly=yes>", "<StrictHostKeyChecking=no>", "<-F></dev/null>", "<IdentityAgent=none>"]
    {
        assert!(log.contains(option), "{option} in {log}");
    }
    assert!(!log.contains("the key"), "{log}");
    let key = fs::read_to_string(home.join("ssh.key")).expect("the key was read");
    assert!(key.starts_with("the key\n"), "{key}");
    assert!(fs::read_to_string(home.join("ssh.mode")).expect("the mode was read").starts_with("600\n"));
    drop(sources);
    let left: Vec<_> = fs::read_dir(&home)
        .expect("the folder can be read")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("tiphys-secret"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn key_of_a_template_is_in_the_file_for_other_programs() {
    let bench = Workbench::new();
    let sources = bench.sources_with(|options, request| {
        with_ssh(options);
        options.user_settings = UserSettings::Ignored;
        request.known.templates = vec![RepositoryAccess {
            url: "git@git.example.org:team".to_owned(),
            ssh_private_key: Secret::new("the key"),
            ..RepositoryAccess::default()
        }];
    });
    let project = Arc::new(ContextProject { name: "default".to_owned(), source_repos: vec!["*".to_owned()] });
    let file = sources.git_access_file(&project).await.expect("it is written").expect("a Secret applies");
    let access: ProjectGitAccess =
        serde_json::from_slice(&fs::read(&file).expect("the file exists")).expect("it is JSON");
    let of = |url| access.variables(url).iter().find(|(name, _)| name == "GIT_SSH_COMMAND");
    let (_, command) = of("git@git.example.org:team/base.git").expect("the template applies");
    let key = command.split(' ').skip_while(|word| *word != "-i").nth(1).expect("it names a key");
    assert!(fs::read_to_string(key).expect("the key exists").starts_with("the key\n"), "{command}");
    assert_eq!(of("git@git.example.org:other/base.git"), None);
    drop(sources);
    assert!(!file.exists() && !Path::new(key).exists());
}

#[tokio::test]
async fn a_refusal_says_what_was_tried_and_what_to_set() {
    let bench = Workbench::new();
    let sources = bench.sources_with(|options, _| with_ssh(options));
    let remedy = "load a key that the server knows into ssh-agent, trust the server's host key with ssh-keyscan, or add a \
                  Secret labelled argocd.argoproj.io/secret-type: repository to the store";
    for (host, said) in [
        ("refuse.example.org", "git@refuse.example.org: Permission denied (publickey)."),
        ("unknown.example.org", "Host key verification failed."),
    ] {
        let refusal = bench.refusal(&sources, &format!("git@{host}:team/apps"), "main").await;
        let expected = format!(
            "repository git@{host}:team/apps refused access; tried the ssh agent and keys of this user; {remedy}: {said}"
        );
        assert!(refusal.starts_with(&expected), "{refusal}");
    }
}
