//! Isolation of the repository, the request and helm.

use std::path::Path;

use serde_json::json;
use tiphys_testkit::executable::make_executable;

use crate::generate::world::{Helm, World};

#[test]
fn path_outside_has_the_error_of_argo_cd() {
    let cases = [
        ("../../../x.yaml", "file '../../../x.yaml' resolved to outside repository root"),
        ("/../x.yaml", "file '/../x.yaml' resolved to outside repository root"),
        ("/", "internal error: failed to resolve path. Check logs for more details"),
        ("file:///etc/hostname", "the URL scheme 'file' is not allowed"),
    ];
    for (path, expected) in cases {
        let answer = World::probe().array("value-files", &[path]).generate(Helm::Four);
        assert_eq!(
            answer.error(),
            format!("error resolving helm value files: error resolving value file path: {expected}")
        );
        let answer = World::probe().text("set-file.f", path).generate(Helm::Four);
        assert_eq!(answer.error(), format!("error resolving helm value file path: {expected}"));
    }
}

/// `--values` is a list for helm, and `--set-file` has special characters: each could name a second file.
#[test]
fn paths_and_names_cannot_add_a_second_file() {
    let outside = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(outside.path(), "from: outside\n").expect("file written");
    let outside = outside.path().to_str().expect("UTF-8");
    for helm in Helm::ALL {
        let world = || World::probe().file("charts/probe/a.yaml", "from: inside\n");
        for list in [format!("a.yaml,{outside}"), format!("{outside},a.yaml"), format!("a.yaml\",{outside}")]
        {
            let answer = world().array("value-files", &[&list]).generate(helm);
            let error = answer.error();
            assert!(error.ends_with(": no such file or directory"), "{helm:?} {list}: {error}");
            assert!(error.contains("Error: open <path to cached source>/"), "{helm:?} {list}: {error}");
        }
        let url = format!("http://127.0.0.1:9/v.yaml,{outside}");
        let answer = world().array("value-files", &[&url]).generate(helm);
        assert!(answer.error().contains("127.0.0.1:9"), "{helm:?}: {}", answer.error());

        let name = format!("set-file.b={outside},f");
        let answer = world().text(&name, "a.yaml").generate(helm);
        let expected = format!(
            "the name of the parameter set-file.b={outside},f sets more than one value; write `\\,` for a comma and `\\=` for an equals \
             sign that is part of it, and one parameter for each value"
        );
        assert_eq!(answer.error(), expected, "{helm:?}");
        let path = format!(r"x\\,from={outside}");
        let answer = world().text("set-file.f", &path).generate(helm);
        assert!(answer.error().contains("no such file or directory"), "{helm:?}: {}", answer.error());
    }
}

#[test]
fn comma_or_quote_in_a_file_name_is_escaped() {
    for helm in Helm::ALL {
        for name in ["comma,file.yaml", "quo\"te.yaml"] {
            let world = World::probe().file(&format!("charts/probe/{name}"), "from: it\n");
            assert_eq!(world.array("value-files", &[name]).values(helm)["from"], "it", "{helm:?} {name}");
        }
    }
}

#[test]
fn absolute_path_starts_at_the_repository_root() {
    for helm in Helm::ALL {
        let world =
            World::probe().file("values/a.yaml", "from: root\n").array("value-files", &["/values/a.yaml"]);
        assert_eq!(world.values(helm)["from"], "root");
    }
}

#[test]
fn link_to_a_value_file_is_followed_in_the_repository() {
    for helm in Helm::ALL {
        let world = World::probe()
            .file("values/a.yaml", "from: linked\n")
            .link("charts/probe/link.yaml", "../../values/a.yaml")
            .array("value-files", &["link.yaml"]);
        assert_eq!(world.values(helm)["from"], "linked");
    }
}

#[test]
fn link_out_of_the_repository_is_rejected_before_helm_runs() {
    let world = World::probe().link("charts/probe/host", "/etc/hostname").variable("PATH", "/nowhere");
    let answer = world.variable("TIPHYS_HELM", "helm").generate(Helm::Four);
    assert_eq!(answer.error(), "repository contains out-of-bounds symlinks. file: charts/probe/host");
}

#[test]
fn url_schemes_are_a_setting_of_the_sidecar() {
    let world = || World::probe().array("value-files", &["https://127.0.0.1:9/v.yaml"]);
    let refused = world().variable("TIPHYS_HELM_VALUES_FILE_SCHEMES", "").generate(Helm::Four);
    let expected = "error resolving helm value files: error resolving value file path: the URL scheme 'https' is not allowed";
    assert_eq!(refused.error(), expected);
    let allowed = world().generate(Helm::Four);
    assert!(allowed.error().contains("--values https://127.0.0.1:9/v.yaml"), "{}", allowed.error());
}

/// Helm accepts them only as arguments.
#[test]
fn credentials_in_value_file_urls_are_redacted() {
    let url = "https://me:s3cr,et@127.0.0.1:9/v.yaml?token=h1dden";
    let masked = "https://me:***@127.0.0.1:9/v.yaml?***";
    for helm in Helm::ALL {
        let worlds = [
            (World::probe().array("value-files", &[url]), format!("--values \"{masked}\"")),
            (World::probe().text("set-file.f", &url.replace(',', "\\,")), "--set-file f=******".to_owned()),
        ];
        for (world, shown) in worlds {
            let (failed, checked) = (world.generate(helm).error().to_owned(), world.run(helm, "check"));
            assert_eq!(checked.code, Some(0), "{checked:?}");
            for text in [&failed, &checked.stdout] {
                assert!(text.contains(&shown), "{helm:?}: {text}");
                assert!(["s3cr", "et@", "h1dden"].iter().all(|secret| !text.contains(secret)), "{text}");
            }
        }
    }
}

#[test]
fn parameter_values_are_redacted_in_messages() {
    let template = "{{ fail (printf \"password %s of %s\" .Values.db.password .Values.db.user) }}";
    for helm in Helm::ALL {
        for kind in ["set", "set-string"] {
            let world = World::chart(template)
                .text(&format!("{kind}.db.password"), "hunter22,x=s3cr3t")
                .text("set.db.user", "bob")
                .text("set-file.token", "hunter22.txt")
                .file("chart/hunter22.txt", "hunter22");
            let (failed, checked) = (world.generate(helm).error().to_owned(), world.run(helm, "check"));
            assert!(failed.contains("password ****** of bob"), "{helm:?} {kind}: {failed}");
            for text in [&failed, &checked.stdout] {
                assert!(text.contains(&format!("--{kind} db.password=******")), "{helm:?} {kind}: {text}");
                assert!(["hunter22", "s3cr3t"].iter().all(|secret| !text.contains(secret)), "{text}");
            }
        }
    }
}

#[test]
fn control_sequences_in_messages_are_escaped() {
    let template = r#"{{ fail "x\n ::error::y\x1b[31m\u202e" }}"#;
    for helm in Helm::ALL {
        let answer = World::chart(template).generate(helm);
        assert!(answer.error().contains(r"\u{3a}:error::y\u{1b}[31m\u{202e}"), "{helm:?}: {answer:?}");
        assert!(!answer.stderr.contains(['\u{1b}', '\u{202e}']), "{helm:?}: {answer:?}");
        assert!(
            !answer.stderr.lines().any(|line| line.trim_start().starts_with("::")),
            "{helm:?}: {answer:?}"
        );
        let answer = World::chart(template).text("set-string.\u{1b}[31m\u{202e}", "x").run(helm, "check");
        assert!(answer.stdout.contains(r"--set-string \u{1b}[31m\u{202e}=******"), "{helm:?}: {answer:?}");
    }
}

/// Redaction must not hide missing dependencies in helm's output from the plugin.
#[test]
fn redaction_does_not_affect_the_build_of_dependencies() {
    for helm in Helm::ALL {
        let world = crate::generate::dependencies::umbrella(
            "{name: dep, version: 0.1.0, repository: 'file://../dep'}",
        )
        .chart_files("charts/dep", "dep", "0.1.0", "")
        .text("set.kind", "missing in charts/");
        let answer = world.generate(helm);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{helm:?}");
    }
}

#[test]
fn environment_of_helm_has_nothing_of_request_or_user() {
    // Templates cannot read helm's environment, so a fake helm prints it.
    let world = World::probe()
        .file("../helm", "#!/bin/sh\n[ \"$1\" = version ] && echo v4.3.1 || { env | cut -d= -f1 | sort | tr '\\n' ' '; echo; echo \"$@\"; }\n")
        .variable("HELM_PLUGINS", "/other-user")
        .variable("HELM_REGISTRY_CONFIG", "/other-user")
        .variable("KUBECONFIG", "/other-user")
        .variable("SECRET", "x")
        .variable("HTTPS_PROXY", "http://127.0.0.1:9")
        .text("values", "password: hidden\n");
    let program = world.root().join("../helm").display().to_string();
    make_executable(Path::new(&program));
    let answer = world.variable("TIPHYS_HELM", &program).generate(Helm::Four);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    let (names, arguments) = answer.stdout.split_once('\n').unwrap();
    let expected = "DOCKER_CONFIG HELM_CACHE_HOME HELM_CONFIG_HOME HELM_DATA_HOME HELM_PLUGINS HOME HTTPS_PROXY PATH PWD TMPDIR \
                    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME ";
    assert_eq!(names.replace("OLDPWD ", "").replace("SHLVL ", "").replace("_ ", ""), expected);
    assert!(!arguments.contains("hidden"), "inline values are in no argument: {arguments}");
}

#[test]
fn helm_plugins_need_the_setting() {
    let world = || {
        let world = World::probe()
            .file(
                "../plugins/own/plugin.yaml",
                "name: own\nversion: 0.1.0\ncommand: 'true'\ndownloaders: [{command: get.sh, protocols: [own]}]\n",
            )
            .file("../plugins/own/get.sh", "#!/bin/sh\necho 'from: plugin'\n")
            .variable("TIPHYS_HELM_VALUES_FILE_SCHEMES", "own")
            .array("value-files", &["own://x/v.yaml"]);
        make_executable(&world.root().with_file_name("plugins").join("own/get.sh"));
        world
    };
    for helm in Helm::ALL {
        let world = world();
        let plugins = world.root().with_file_name("plugins").display().to_string();
        let world = world.variable("HELM_PLUGINS", &plugins);
        let answer = world.generate(helm);
        assert!(
            answer.error().contains("open own://x/v.yaml: no such file or directory"),
            "{}",
            answer.error()
        );
        let world = world.variable("TIPHYS_HELM_PLUGINS", &plugins);
        assert_eq!(world.values(helm)["from"], "plugin");
    }
}

#[test]
fn unknown_parameter_or_wrong_type_is_rejected() {
    let answer = World::probe().text("value-file", "x").generate(Helm::Four);
    assert_eq!(answer.error(), "parameter value-file is unknown; did you mean value-files?");
    let answer = World::probe().text("value-files", "x").generate(Helm::Four);
    assert_eq!(answer.error(), "parameter value-files: expected the value in the field array, found string");
}

#[test]
fn other_sources_are_read_from_the_run_context() {
    let context = |world: &World| {
        let folder = world.root().with_file_name("other");
        json!({
            "version": 1,
            "source": { "kind": "git", "repoURL": "https://git.example.com/apps.git", "chart": "", "multiple": true },
            "refs": { "values": { "path": folder, "repoURL": "https://git.example.com/values.git", "revision": "1" } },
            "refErrors": {}, "project": { "name": "default", "sourceRepos": ["*"] },
            "valuesFileSchemes": ["https"], "repositories": [], "credentialTemplates": []
        })
        .to_string()
    };
    let with = |file: &str| {
        let world =
            World::probe().file("../other/env/prod.yaml", "from: other\n").array("value-files", &[file]);
        let text = context(&world);
        let world = world.file("../context.json", &text);
        let path = world.root().join("../context.json").display().to_string();
        world.variable("TIPHYS_CONTEXT_FILE", &path)
    };
    for helm in Helm::ALL {
        assert_eq!(with("$values/env/prod.yaml").values(helm)["from"], "other");
    }
    let unknown = with("$nope/x.yaml").generate(Helm::Four);
    assert_eq!(
        unknown.error(),
        "source referenced \"$nope\", which is not one of the available sources ($values)"
    );
    let scheme = with("http://example.com/v.yaml").generate(Helm::Four);
    assert!(scheme.error().ends_with("the URL scheme 'http' is not allowed"), "{}", scheme.error());
}
