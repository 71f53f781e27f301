//! The shown value is helm's value, and the set value becomes helm's value.

use proptest::prelude::*;
use tiphys_helm_values::{Flag, Value, held_value};
use tiphys_model::params::expand;

use super::{Typing, VariableNames, Variables, build_variables};

const NAMES: VariableNames = VariableNames::Build;

fn shown_text(written: &str, typing: Typing) -> String {
    super::shown_text(written, typing, NAMES)
}

fn has_references(written: &str) -> bool {
    super::has_references(written, NAMES)
}

/// Escapes a value, with variables as literal text.
fn written_text(shown: &str, typing: Typing) -> String {
    super::written_text(shown, typing, NAMES, Variables::Literal)
}

#[test]
fn shown_value_is_the_value_in_helm() {
    // Written, shown for plain typing, shown for forced typing.
    let cases = [
        (r"a\b", "ab", "ab"),
        (r"a\\b", r"a\b", r"a\b"),
        ("{x, y}", "{x, y}", r#"["x"," y"]"#),
        (r"\{x}", r"\{x}", "{x}"),
        (r"\\{x}", r"\\{x}", r"\{x}"),
        ("{x", "{x", "{x"),
        ("cost $5", "cost ", "cost "),
        ("cost $$5", "cost $5", "cost $5"),
        ("+5", "5", "+5"),
        ("True", "true", "True"),
        ("2.50", "2.50", "2.50"),
        ("a,b", "a,b", "a,b"),
        (
            "$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION}x",
            "$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION}x",
            "$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION}x",
        ),
        ("$HOME$ARGOCD_APP_OTHER$KUBE_VERSION.", ".", "."),
        (r"c:\\$ARGOCD_APP_NAME", r"c:\$ARGOCD_APP_NAME", r"c:\$ARGOCD_APP_NAME"),
        ("", "", ""),
    ];
    for (written, plain, forced) in cases {
        assert_eq!(shown_text(written, Typing::Plain), plain, "{written}");
        assert_eq!(shown_text(written, Typing::Forced), forced, "{written}");
    }
}

#[test]
fn set_value_is_escaped() {
    // Set, written for plain typing, written for forced typing.
    let cases = [
        (r"a\b", r"a\\b", r"a\\b"),
        (r"a\,b", r"a\\\,b", r"a\\\,b"),
        ("{x,$5}", "{x,$$5}", r"\{x,$$5}"),
        (r"\{x}", r"\{x}", r"\\{x}"),
        (r"\\{x}", r"\\{x}", r"\\\\{x}"),
        ("{x", r"\{x", r"\{x"),
        ("cost $5 $$", "cost $$5 $$$$", "cost $$5 $$$$"),
        ("$ARGOCD_APP_NAME", "$$ARGOCD_APP_NAME", "$$ARGOCD_APP_NAME"),
        ("5", "5", "5"),
        ("a,b", "a,b", "a,b"),
    ];
    for (given, plain, forced) in cases {
        assert_eq!(written_text(given, Typing::Plain), plain, "{given}");
        assert_eq!(written_text(given, Typing::Forced), forced, "{given}");
    }
}

#[test]
fn variables_are_escaped_unless_they_are_replaced() {
    // Set, written with variables that are replaced, and with literal ones.
    let cases = [
        (
            "$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION}-$HOME",
            "$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION}-$$HOME",
            "$$ARGOCD_APP_NAME-$${ARGOCD_APP_REVISION}-$$HOME",
        ),
        ("$$ARGOCD_APP_NAME", "$$$ARGOCD_APP_NAME", "$$$$ARGOCD_APP_NAME"),
        ("$5", "$$5", "$$5"),
    ];
    for (given, replaced, literal) in cases {
        for typing in [Typing::Plain, Typing::Forced] {
            let written = super::written_text(given, typing, NAMES, Variables::Replaced);
            assert_eq!(written, replaced, "{given}");
            assert_eq!(has_references(&written), given.contains("ARGOCD"), "{given}");
            assert_eq!(written_text(given, typing), literal, "{given}");
            assert!(!has_references(literal), "{given}");
        }
    }
}

#[test]
fn references_are_those_that_a_run_replaces() {
    let of = |text| build_variables(text, NAMES).collect::<Vec<_>>();
    assert_eq!(
        of("a $ARGOCD_APP_NAME $X ${ARGOCD_APP_REVISION}$"),
        ["$ARGOCD_APP_NAME", "${ARGOCD_APP_REVISION}"]
    );
    assert_eq!(of("$ARGOCD_APP_NAMES ${ARGOCD_APP_NAME $$ $ARGOCD_ENV_A"), Vec::<&str>::new());
    let of = |text| build_variables(text, VariableNames::BuildAndOwn).collect::<Vec<_>>();
    assert_eq!(of("$ARGOCD_APP_NAME $ARGOCD_ENV_A"), ["$ARGOCD_APP_NAME", "$ARGOCD_ENV_A"]);
}

/// Any string, mostly of characters with a meaning in Argo CD or helm.
fn text() -> impl Strategy<Value = String> {
    let signs = r"[ab0-9.,=\\$(){}\\\\ +\u{e9}]{0,16}";
    let names = "([{}$,\\\\]|ARGOCD_APP_NAME|HOME|\\$\\{ARGOCD_APP_NAME\\}){0,6}";
    prop_oneof![any::<String>(), signs, names]
}

/// Replaces variables as a run does, with a value that has no special characters.
fn run(text: &str) -> String {
    expand(text, |name| (name == "ARGOCD_APP_NAME").then_some("web"))
}

proptest! {
    #[test]
    fn set_value_is_the_value_in_helm(text in text()) {
        let held = held_value(Flag::SetString, &run(&written_text(&text, Typing::Forced)));
        prop_assert_eq!(held, Some(Value::Text(text)));
    }

    #[test]
    fn set_value_is_the_shown_value(text in text()) {
        prop_assert_eq!(shown_text(&written_text(&text, Typing::Forced), Typing::Forced), text.clone());
        let seen = shown_text(&written_text(&text, Typing::Plain), Typing::Plain);
        // Values that are not strings are shown in their usual notation.
        let again = shown_text(&written_text(&seen, Typing::Plain), Typing::Plain);
        prop_assert_eq!(&again, &seen);
        if matches!(super::held(&written_text(&text, Typing::Plain), Typing::Plain, NAMES), Some(Value::Text(_) | Value::List(_))) {
            prop_assert_eq!(seen, text);
        }
    }

    #[test]
    fn shown_string_is_the_value_in_helm(written in text()) {
        if let Some(Value::Text(text)) = held_value(Flag::SetString, &run(&written))
            && !has_references(&written)
        {
            prop_assert_eq!(shown_text(&written, Typing::Forced), text);
        }
    }
}
