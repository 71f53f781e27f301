//! Classification of git's error messages, by phrases of git, curl and OpenSSH in English.

/// Kinds of failures with different remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server rejected the credentials, or its certificate or host key is not trusted.
    Credentials,
    /// The repository was not found.
    Repository,
    /// The server does not send the requested commit, but may send a ref that contains it.
    Revision,
    /// The server was not reached.
    Network,
    /// Any other failure.
    Other,
}

const CREDENTIALS: [&str; 16] = [
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "permission denied (",
    "permission denied, please try again",
    "host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "returned error: 407",
    "access denied",
    "invalid username or",
    "support for password authentication was removed",
    "too many authentication failures",
    "load key ",
    "server certificate verification failed",
];

const REPOSITORY: [&str; 8] = [
    "repository not found",
    "does not appear to be a git repository",
    "returned error: 404",
    // A redirect, which is not followed with credentials.
    "returned error: 30",
    "unable to update url base from redirection",
    "project you were looking for could not be found",
    "does not exist",
    "not found",
];

const REVISION: [&str; 8] = [
    "not our ref",
    "unadvertised object",
    "couldn't find remote ref",
    "no such remote ref",
    "dumb http transport does not support",
    "does not support shallow",
    "remote did not send all necessary objects",
    "bad object",
];

const NETWORK: [&str; 12] = [
    "could not resolve host",
    "could not resolve proxy",
    "name or service not known",
    "temporary failure in name resolution",
    "connection refused",
    "connection timed out",
    "operation timed out",
    "network is unreachable",
    "no route to host",
    "connection reset",
    "failed to connect",
    "could not connect to server",
];

/// Classifies git's standard error.
pub(crate) fn classify(stderr: &str) -> Failure {
    let text = stderr.to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if any(&REVISION) {
        Failure::Revision
    } else if any(&CREDENTIALS) {
        Failure::Credentials
    } else if any(&NETWORK) {
        Failure::Network
    } else if any(&REPOSITORY) {
        Failure::Repository
    } else {
        Failure::Other
    }
}
