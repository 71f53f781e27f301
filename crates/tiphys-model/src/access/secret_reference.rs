//! References to values of Secrets.

/// A value of a Secret, as the `ConfigMap` of a plugin service names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretReference<'a> {
    /// Name of the Secret.
    pub secret: &'a str,
    /// Key of the value.
    pub key: &'a str,
}

impl<'a> SecretReference<'a> {
    /// The Secret of a reference that names none.
    const DEFAULT_SECRET: &'static str = "argocd-secret";

    /// Parses `$KEY` or `$SECRET:KEY`. As in Argo CD, a second colon ends the key.
    pub fn parse(text: &'a str) -> Option<Self> {
        let reference = text.strip_prefix('$')?;
        let mut parts = reference.split(':');
        Some(match (parts.next(), parts.next()) {
            (Some(secret), Some(key)) => Self { secret, key },
            _ => Self { secret: Self::DEFAULT_SECRET, key: reference },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_and_key_are_separated_by_the_first_colon() {
        let parsed = |text| SecretReference::parse(text).map(|SecretReference { secret, key }| (secret, key));
        assert_eq!(parsed("$token"), Some(("argocd-secret", "token")));
        assert_eq!(parsed("$mine:token"), Some(("mine", "token")));
        assert_eq!(parsed("$mine:token:more"), Some(("mine", "token")));
        assert_eq!(parsed("$:token"), Some(("", "token")));
        assert_eq!(parsed("token"), None);
    }
}
