//! Prompts, redaction, and a server that does not answer. The rest is tested with the program.

use std::time::Duration;

use tokio::net::UnixListener;

use super::{AskpassError, Credential, CredentialPart, CredentialsRequest, CredentialsResponse, ask};

#[test]
fn prompt_names_the_requested_part() {
    let cases = [
        ("Username for 'https://git.example.org': ", Some(CredentialPart::Username)),
        ("Password for 'https://u@git.example.org': ", Some(CredentialPart::Password)),
        ("Username", Some(CredentialPart::Username)),
        ("Enter passphrase for key '/k': ", None),
        ("password", None),
        ("", None),
    ];
    for (prompt, part) in cases {
        assert_eq!(CredentialPart::from_prompt(prompt), part, "{prompt:?}");
    }
}

#[test]
fn secrets_are_redacted() {
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
async fn request_to_a_hanging_server_times_out() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let socket = dir.path().join("ask-pass.sock");
    // Connections enter its backlog and are never accepted.
    let _listener = UnixListener::bind(&socket).expect("the socket can be made");
    let timeout = Duration::from_millis(20);
    let refused = ask(&socket, "nonce", CredentialPart::Password, timeout).await;
    let expected = format!(
        "no credentials: the repository server on socket {} has not answered for 0.02 s",
        socket.display()
    );
    assert_eq!(refused.as_ref().map_err(ToString::to_string), Err(expected));
    assert!(matches!(refused, Err(AskpassError::Silent { .. })));
}
