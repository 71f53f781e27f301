use tiphys_store::{Store, StoreInput};

use super::known_repositories;

#[test]
fn only_repository_secrets_are_known_repositories() {
    for (secret_type, expected) in [
        ("repository", (1, 0)),
        ("repo-creds", (0, 1)),
        ("repository-write", (0, 0)),
        ("repo-write-creds", (0, 0)),
        ("cluster", (0, 0)),
    ] {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: {secret_type}}}}}\n\
             stringData: {{url: 'https://git.example.org/x'}}\n"
        );
        let store = Store::load(&[StoreInput::StandardInput(text.into_bytes())]).expect("it is a store");
        let mut warnings = Vec::new();
        let known = known_repositories(&store.secrets_by_trust().0, &mut warnings);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!((known.repositories.len(), known.templates.len()), expected, "{secret_type}");
    }
}
