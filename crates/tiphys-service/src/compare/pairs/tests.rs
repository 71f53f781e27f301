//! Which applications belong together.

use std::fmt::Write as _;

use tiphys_store::{ApplicationRef, Filter, Selector, Store, StoreInput};

use super::{Pair, Pairs, SideStore, pair};

/// A store of Applications `namespace/name path`, one a line; `!` stands for a text that cannot be read.
fn side(lines: &str) -> SideStore {
    let mut text = String::new();
    let mut inputs = Vec::new();
    for line in lines.lines() {
        if let Some((name, path)) = line.split_once(' ') {
            let (namespace, name) = name.split_once('/').unwrap_or(("", name));
            write!(
                text,
                "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: '{namespace}'\n  \
                 labels: {{path: '{path}'}}\nspec:\n  source:\n    repoURL: https://x.example/a.git\n    path: {path}\n"
            )
            .expect("writing to a string does not fail");
        } else {
            inputs.push(StoreInput::StandardInput(b"a: [argoproj.io/".to_vec()));
        }
    }
    inputs.push(StoreInput::StandardInput(text.into_bytes()));
    let store = Store::load(&inputs).expect("texts can always be loaded");
    SideStore {
        store,
        control_plane: "argocd".to_owned(),
        paths: Vec::new(),
        unknown_sets: std::collections::BTreeSet::new(),
        followed: crate::context::follow::FollowReport::default(),
    }
}

/// `=` both, `+` added, `-` removed, each with the name on the side that decides; `?` in doubt, `!` an error of an argument or of the head,
/// `~` one of the base alone.
fn shown(pairs: &Pairs) -> Vec<String> {
    let pair = |pair: &Pair| match pair {
        Pair::Both { head, .. } => format!("= {}", head.full_name()),
        Pair::Added(stored) => format!("+ {}", stored.full_name()),
        Pair::Removed(stored) => format!("- {}", stored.full_name()),
    };
    let doubtful = pairs.doubtful.iter().map(|stored| format!("? {}", stored.full_name()));
    let of_head = pairs.unusable.iter().map(|unusable| &unusable.error);
    let errors = pairs.errors.iter().chain(of_head).map(|error| format!("! {error}"));
    let of_base = pairs.repaired.iter().map(|unusable| format!("~ {}", unusable.error));
    pairs.joined.iter().map(pair).chain(doubtful).chain(errors).chain(of_base).collect()
}

fn paired(base: &str, head: &str, asked: &[&str]) -> Vec<String> {
    let arguments: Vec<ApplicationRef> = asked.iter().map(|name| ApplicationRef::parse(name)).collect();
    shown(&pair(&side(base), &side(head), &arguments, &Filter::default()))
}

#[test]
fn applications_of_one_name_are_a_pair_and_others_are_added_or_removed() {
    for (base, head, expected) in [
        ("", "", &[][..]),
        ("a p", "a p", &["= a"]),
        ("a p\nb p\nc p", "d p\nc p\na p", &["+ d", "= c", "= a", "- b"]),
        ("n/a p", "m/a p", &["+ m/a", "- n/a"]),
        // No namespace is the control plane's.
        ("a p", "argocd/a p", &["= argocd/a"]),
    ] {
        assert_eq!(paired(base, head, &[]), expected, "{base:?} {head:?}");
    }
}

#[test]
fn what_head_cannot_read_is_not_removed() {
    let twice = |mark: &str, line: usize| {
        format!(
            "{mark} application \"a\" is defined more than once: standard input:2:1, standard input:{line}:1"
        )
    };
    let broken = |mark: &str| {
        format!("{mark} standard input:1:17: expected `,` or `]` of the list that begins at 1:4")
    };
    let wrong =
        "! standard input:11:11: Application a: spec.source.path: expected a string, found a list".to_owned();
    for (base, head, expected) in [
        ("a p", "a p\na q\nb p", vec!["+ b".to_owned(), twice("!", 13)]),
        ("a p\na q", "a p\nb p", vec!["+ a".to_owned(), "+ b".to_owned(), twice("~", 13)]),
        ("a p\na q", "a p\na q", vec![twice("!", 13)]),
        ("a p\nb p", "b p\n!", vec!["= b".to_owned(), "? a".to_owned(), broken("!")]),
        ("b p\n!", "a p\nb p", vec!["+ a".to_owned(), "= b".to_owned(), broken("~")]),
        ("a p\nb p", "a []", vec!["- b".to_owned(), wrong]),
    ] {
        assert_eq!(paired(base, head, &[]), expected, "{base:?} {head:?}");
    }
}

#[test]
fn what_was_asked_for_must_be_on_one_side_at_least() {
    let unknown = |name: &str, hint: &str| format!("! application {name:?} not found in the store{hint}");
    let several = "! application \"web\" exists in several namespaces; add one: m/web, n/web";
    for (base, head, asked, expected) in [
        ("web p\nb p", "web p\nc p", &["web"][..], vec!["= web".to_owned()]),
        ("web p\nb p", "web p\nc p", &["b", "c"], vec!["+ c".to_owned(), "- b".to_owned()]),
        ("web p", "web p", &["other"], vec![unknown("other", "")]),
        // The intended application may exist only at the base.
        ("worker p", "web p", &["worked"], vec![unknown("worked", "; did you mean worker?")]),
        ("n/web p\nm/web p", "n/web p", &["web"], vec![several.to_owned()]),
        ("n/web p\nm/web p", "n/web p", &["n/web"], vec!["= n/web".to_owned()]),
    ] {
        assert_eq!(paired(base, head, asked), expected, "{base:?} {head:?} {asked:?}");
    }
}

#[test]
fn one_side_that_fits_the_filter_is_enough() {
    let selector = Selector::parse("path=p").expect("a selector");
    let filter = Filter { selector, project: None };
    let pairs = pair(&side("a p\nb q\nc q\nd p"), &side("a q\nb p\nc q"), &[], &filter);
    assert_eq!(shown(&pairs), ["= a", "= b", "- d"]);
}

#[test]
fn an_added_one_with_the_spec_of_a_removed_one_may_be_the_same() {
    for (base, head, expected) in [
        ("old p\ngone q\nkept p2", "new p\nkept p2", &[("old", "new")][..]),
        ("a p\nb q\nc r", "u q\nv p", &[("a", "v"), ("b", "u")]),
        // Several fit on one of the sides.
        ("a p\nb p", "u p", &[]),
        ("a p", "u p\nv p", &[]),
        ("a p\nb p", "u p\nv p", &[]),
        // One that has its name on both sides fits, too, on the side on which it has the spec.
        ("a p\nkept p", "u p\nkept p", &[]),
        ("a p\nkept p", "u p\nkept q", &[]),
        ("a p\nkept q", "u p\nkept p", &[]),
    ] {
        let pairs = pair(&side(base), &side(head), &[], &Filter::default());
        let renamed = pairs.renamed();
        let renamed: Vec<_> = renamed.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        assert_eq!(renamed, expected, "{base:?} {head:?}");
    }
}
