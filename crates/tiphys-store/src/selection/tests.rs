use crate::{ApplicationRef, Filter, SelectError, Selection, Selector, Store, StoreInput};

fn app(name: &str, namespace: &str, labels: &str, project: &str) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: '{namespace}', labels: {{{labels}}}}}\nspec: {{project: '{project}', source: {{repoURL: x}}}}\n"
    )
}

fn store(text: &str) -> Store {
    Store::load(&[StoreInput::StandardInput(text.as_bytes().to_vec())]).expect("valid input")
}

fn sample() -> Store {
    store(
        &[
            app("web", "", "team: blue", ""),
            app("web", "team", "team: red", "shop"),
            app("db", "argocd", "team: blue", "shop"),
            app("cache", "team", "", "default"),
            app("twice", "team", "", ""),
            app("twice", "team", "", ""),
        ]
        .concat(),
    )
}

fn outcome(selection: &Selection) -> (Vec<String>, Vec<String>) {
    (
        selection.applications.iter().map(|stored| stored.full_name()).collect(),
        selection.errors.iter().map(ToString::to_string).collect(),
    )
}

fn select(store: &Store, arguments: &[&str]) -> (Vec<String>, Vec<String>) {
    let arguments: Vec<ApplicationRef> = arguments.iter().map(|text| ApplicationRef::parse(text)).collect();
    outcome(&store.select(&arguments, &Filter::default(), "argocd"))
}

#[test]
fn argument_is_parsed_as_name_or_path() {
    let name = |namespace: Option<&str>, name: &str| ApplicationRef::Name {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    };
    let cases = [
        ("web", name(None, "web")),
        ("team/web", name(Some("team"), "web")),
        ("web.yaml.bak", name(None, "web.yaml.bak")),
        ("./web", ApplicationRef::Path("./web".into())),
        ("..", ApplicationRef::Path("..".into())),
        ("/a/b", ApplicationRef::Path("/a/b".into())),
        ("apps/web.yaml", ApplicationRef::Path("apps/web.yaml".into())),
        ("web.yml", ApplicationRef::Path("web.yml".into())),
        ("web.json", ApplicationRef::Path("web.json".into())),
    ];
    for (text, expected) in cases {
        assert_eq!(ApplicationRef::parse(text), expected, "{text}");
    }
}

#[test]
fn name_is_found_with_or_without_namespace() {
    let store = sample();
    let cases = [
        ("db", "argocd/db"),
        ("argocd/db", "argocd/db"),
        ("argocd/web", "web"),
        ("team/web", "team/web"),
        ("cache", "team/cache"),
    ];
    for (name, expected) in cases {
        assert_eq!(select(&store, &[name]), (vec![expected.to_owned()], vec![]), "{name}");
    }
}

#[test]
fn unknown_name_is_reported_with_suggestions() {
    let (_, errors) = select(&sample(), &["cahce", "team/chache", "nothing-like-it"]);
    assert_eq!(
        errors,
        [
            "application \"cahce\" not found in the store; did you mean cache?",
            "application \"team/chache\" not found in the store; did you mean team/cache?",
            "application \"nothing-like-it\" not found in the store",
        ]
    );
}

#[test]
fn ambiguous_name_is_rejected() {
    let (_, errors) = select(&sample(), &["web"]);
    assert_eq!(errors, ["application \"web\" exists in several namespaces; add one: argocd/web, team/web"]);
}

#[test]
fn duplicate_application_fails_only_if_selected() {
    let store = sample();
    assert_eq!(select(&store, &["db"]).1, Vec::<String>::new());
    let expected =
        "application \"team/twice\" is defined more than once: standard input:22:1, standard input:27:1";
    assert_eq!(select(&store, &["twice"]).1, [expected]);
    let (found, errors) = select(&store, &[]);
    assert_eq!(found, ["web", "team/web", "argocd/db", "team/cache"]);
    assert_eq!(errors, [expected]);
}

/// Selector, project, arguments, selected applications.
type Case = (&'static str, Option<&'static str>, &'static [&'static str], &'static [&'static str]);

#[test]
fn filters_apply_to_store_and_arguments() {
    let store = sample();
    let cases: [Case; 5] = [
        ("team=blue", None, &[], &["web", "argocd/db"]),
        ("", Some("shop"), &[], &["team/web", "argocd/db"]),
        ("", Some("default"), &[], &["web", "team/cache"]),
        ("team=blue", Some("shop"), &[], &["argocd/db"]),
        ("team=red", None, &["db", "team/web"], &["team/web"]),
    ];
    for (selector, project, arguments, expected) in cases {
        let filter = Filter {
            selector: Selector::parse(selector).expect("valid selector"),
            project: project.map(str::to_owned),
        };
        let arguments: Vec<ApplicationRef> =
            arguments.iter().map(|text| ApplicationRef::parse(text)).collect();
        let (found, _) = outcome(&store.select(&arguments, &filter, "argocd"));
        assert_eq!(found, expected, "{selector} {project:?}");
    }
}

#[test]
fn application_named_twice_is_selected_once() {
    assert_eq!(select(&sample(), &["db", "argocd/db"]), (vec!["argocd/db".to_owned()], vec![]));
}

#[test]
fn path_selects_the_applications_in_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("one.yaml");
    std::fs::write(&file, [app("x", "", "", ""), app("z", "", "", "")].concat()).expect("a file");
    let empty = dir.path().join("none.yaml");
    std::fs::write(&empty, "a: 1\n").expect("a file");
    let store = sample();
    let file = file.to_str().expect("UTF-8");
    assert_eq!(select(&store, &[file]), (vec!["x".to_owned(), "z".to_owned()], vec![]));
    let empty = empty.to_str().expect("UTF-8");
    assert_eq!(select(&store, &[empty]).1, [format!("{empty} has no application")]);
    assert_eq!(select(&store, &["/nonexistent.yaml"]).1, ["cannot open /nonexistent.yaml"]);
}

#[test]
fn selecting_a_skipped_document_reports_the_reason() {
    let store =
        store("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {}\n");
    assert_eq!(
        select(&store, &["web"]).1,
        [
            "application \"web\" not found in the store; standard input:1:1 was left out as only a part of an object: it names no repository"
        ]
    );
    assert_eq!(select(&store, &[]), (vec![], vec![]));
}

#[test]
fn broken_document_fails_if_selected_or_possibly_meant() {
    let broken = app("bad", "", "", "").replace("repoURL: x", "repoURL: 5");
    let store = store(&[app("good", "", "", ""), broken].concat());
    assert_eq!(select(&store, &["good"]), (vec!["good".to_owned()], vec![]));
    let expected = "standard input:10:39: Application bad: spec.source.repoURL: expected a string";
    let (found, errors) = select(&store, &[]);
    assert_eq!(found, ["good"]);
    assert!(errors.len() == 1 && errors[0].starts_with(expected), "{errors:?}");
    let (_, errors) = select(&store, &["bad"]);
    assert!(errors.len() == 1 && errors[0].starts_with(expected), "{errors:?}");
    let (_, errors) = select(&store, &["other"]);
    assert_eq!(errors, ["application \"other\" not found in the store"]);
}

#[test]
fn unparsable_file_may_contain_the_application() {
    let store = store("# argoproj.io/\na: [\n");
    let selection = store.select(&[ApplicationRef::parse("web")], &Filter::default(), "argocd");
    assert!(matches!(&selection.errors[..], [SelectError::Broken(_)]), "{:?}", selection.errors);
}
