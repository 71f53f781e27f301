//! Options of `kustomize build` that a rendered repository may set.

/// Returns the first option that a repository must not set. Harmless options run no program of the repository's choice and read no file
/// outside of the kustomization.
///
/// `text` is a list of words separated by blanks, as in Argo CD's `kustomize.buildOptions`.
pub(super) fn widening_option(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let is_harmless = match name {
            "--enable-helm" | "--as-current-user" => value.is_none_or(is_boolean),
            "--reorder" => {
                value.or_else(|| words.next()).is_some_and(|order| matches!(order, "none" | "legacy"))
            }
            "--load-restrictor" => value.or_else(|| words.next()) == Some("LoadRestrictionsRootOnly"),
            _ => false,
        };
        if !is_harmless {
            return Some(word);
        }
    }
    None
}

fn is_boolean(value: &str) -> bool {
    matches!(value, "true" | "false")
}

#[cfg(test)]
mod tests {
    use super::widening_option;

    #[test]
    fn only_options_that_widen_are_named() {
        let cases = [
            ("", None),
            ("--enable-helm", None),
            ("--enable-helm=true --as-current-user", None),
            ("--load-restrictor LoadRestrictionsRootOnly --reorder=legacy", None),
            ("--reorder none  --enable-helm", None),
            ("--load-restrictor LoadRestrictionsNone", Some("--load-restrictor")),
            ("--load-restrictor=LoadRestrictionsNone", Some("--load-restrictor=LoadRestrictionsNone")),
            ("--load-restrictor", Some("--load-restrictor")),
            ("--enable-helm --helm-command ./x", Some("--helm-command")),
            ("--enable-alpha-plugins --enable-exec", Some("--enable-alpha-plugins")),
            ("--reorder --enable-exec", Some("--reorder")),
            ("--enable-helm=./x", Some("--enable-helm=./x")),
            ("--network", Some("--network")),
            ("-e X=Y", Some("-e")),
            ("../other", Some("../other")),
        ];
        for (text, expected) in cases {
            assert_eq!(widening_option(text), expected, "{text}");
        }
    }
}
