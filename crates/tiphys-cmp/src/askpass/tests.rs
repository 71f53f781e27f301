//! Questions, what is printed of secrets, and a server that hangs. The rest is tested with the program.

use std::time::Duration;

use tokio::net::UnixListener;

use super::{AskpassError, Credential, CredentialsRequest, CredentialsResponse, Wanted, ask};

#[test]
fn the_beginning_of_the_question_says_what_git_wants() {
    let cases = [
        ("Username for 'https://git.example.org': ", Some(Wanted::Username)),
        ("Password for 'https://u@git.example.org': ", Some(Wanted::Password)),
        ("Username", Some(Wanted::Username)),
        ("Enter passphrase for key '/k': ", None),
        ("password", None),
        ("", None),
    ];
    for (question, wanted) in cases {
        assert_eq!(Wanted::of_question(question), wanted, "{question:?}");
    }
}

#[test]
fn secrets_have_no_form_for_logs() {
    let secret = || "s3cr3t".to_owned();
    let forms = [
        format!("{:?}", Credential(secret())),
        format!("{:?}", CredentialsRequest { nonce: secret() }),
        format!("{:#?}", CredentialsResponse { username: secret(), password: secret() }),
    ];
    assert_eq!(
        forms,
        ["Credential(redacted)", "CredentialsRequest(redacted)", "CredentialsResponse(redacted)"]
    );
}

#[tokio::test]
async fn a_repository_server_that_hangs_is_not_waited_for_longer_than_the_caller_has_patience() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let socket = folder.path().join("ask-pass.sock");
    // Callers get into its backlog, and nobody takes them.
    let _listener = UnixListener::bind(&socket).expect("the socket can be made");
    let patience = Duration::from_millis(20);
    let refused = ask(&socket, "nonce", Wanted::Password, patience).await;
    let expected = format!(
        "no credentials: the repository server on socket {} has not answered for 0.02 s",
        socket.display()
    );
    assert_eq!(refused.as_ref().map_err(ToString::to_string), Err(expected));
    assert!(matches!(refused, Err(AskpassError::Silent { .. })));
}
