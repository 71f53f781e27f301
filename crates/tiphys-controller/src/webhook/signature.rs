//! Signatures of webhooks.

use ring::hmac::{self, HMAC_SHA256};

/// A forge that sends webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forge {
    GitHub,
    GitLab,
    Gitea,
}

/// Finds a header.
pub(super) type Header<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

impl Forge {
    /// Returns the forge by its header. Gitea also sends those of GitHub.
    pub(super) fn of_call(header: &Header<'_>) -> Option<Self> {
        [Self::Gitea, Self::GitLab, Self::GitHub]
            .into_iter()
            .find(|forge| header(forge.event_header()).is_some())
    }

    /// Returns the header with the name of the event.
    pub(super) fn event_header(self) -> &'static str {
        match self {
            Self::GitHub => "X-GitHub-Event",
            Self::GitLab => "X-Gitlab-Event",
            Self::Gitea => "X-Gitea-Event",
        }
    }

    /// Returns the key of the secret that users share with the forge, as in Argo CD.
    pub(super) fn secret_key(self) -> &'static str {
        match self {
            Self::GitHub => "webhook.github.secret",
            Self::GitLab => "webhook.gitlab.secret",
            Self::Gitea => "webhook.gogs.secret",
        }
    }

    /// Whether the forge signed a body with the secret. GitLab sends the secret itself.
    pub(super) fn is_signed(self, header: &Header<'_>, body: &[u8], secret: &str) -> bool {
        let signature = match self {
            Self::GitLab => {
                return header("X-Gitlab-Token")
                    .is_some_and(|token| is_equal(token.as_bytes(), secret.as_bytes()));
            }
            Self::GitHub => header("X-Hub-Signature-256").and_then(|value| value.strip_prefix("sha256=")),
            Self::Gitea => header("X-Gitea-Signature"),
        };
        let key = hmac::Key::new(HMAC_SHA256, secret.as_bytes());
        signature.and_then(decode_hex).is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
    }
}

/// Whether two secrets are equal, in a time that does not depend on where they differ.
pub(super) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    // Of equal keys, the tags are equal.
    let key = hmac::Key::new(HMAC_SHA256, other);
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, one), b"equal");
    hmac::verify(&key, b"equal", tag.as_ref()).is_ok()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '{"a":1}' | openssl dgst -sha256 -hmac s3cret`
    const SIGNATURE: &str = "5910e62016ef5034272c926c27071992a465c2335cecf41851bda071577f4f6d";

    #[test]
    fn only_the_secret_signs() {
        let github = format!("sha256={SIGNATURE}");
        let other = SIGNATURE.replace(&SIGNATURE[..1], "0");
        let cases: &[(Forge, &str, &str, bool)] = &[
            (Forge::GitHub, "X-Hub-Signature-256", &github, true),
            (Forge::GitHub, "X-Hub-Signature-256", SIGNATURE, false),
            (Forge::GitHub, "X-Hub-Signature", &github, false),
            (Forge::GitHub, "X-Hub-Signature-256", "sha256=", false),
            (Forge::GitHub, "X-Hub-Signature-256", "sha256=zz", false),
            (Forge::Gitea, "X-Gitea-Signature", SIGNATURE, true),
            (Forge::Gitea, "X-Gitea-Signature", &other, false),
            (Forge::GitLab, "X-Gitlab-Token", "s3cret", true),
            (Forge::GitLab, "X-Gitlab-Token", "s3cre", false),
            (Forge::GitLab, "X-Gitlab-Token", "", false),
        ];
        for (forge, name, value, expected) in cases {
            let header = |asked: &str| (asked == *name).then_some(*value);
            assert_eq!(
                forge.is_signed(&header, b"{\"a\":1}", "s3cret"),
                *expected,
                "{forge:?} {name} {value}"
            );
            assert!(!forge.is_signed(&header, b"{\"a\":1}", "other"), "{forge:?} {name} {value}");
        }
    }

    #[test]
    fn gitea_is_not_taken_for_github() {
        let header = |name: &str| ["X-GitHub-Event", "X-Gitea-Event"].contains(&name).then_some("push");
        assert_eq!(Forge::of_call(&header), Some(Forge::Gitea));
        assert_eq!(Forge::of_call(&|_| None), None);
    }
}
