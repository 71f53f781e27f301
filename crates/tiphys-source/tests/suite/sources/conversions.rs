//! Files that git converts when it checks them out. What is expected is what the real git checks out.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tiphys_source::{BasePoint, BaseRevision, ResolvedRevision, Sources, TreeScope, WorkTreePath};
use tiphys_testkit::git::{self, Repository};
use tiphys_tree::{Modes, TreeLimits};

use crate::sources::workbench::{Workbench, narrowed, path, render, source, whole};

const URL: &str = "https://git.example.org/team/apps.git";

/// Files of a commit, whose content is not converted when it is added.
type Files<'a> = &'a [(&'a str, &'a [u8])];

/// Text in all forms, and binary content.
const CONTENTS: Files<'static> = &[
    ("app/a.txt", b"one\ntwo\n"),
    ("app/crlf.txt", b"one\r\ntwo\r\n"),
    ("app/mixed.txt", b"one\r\ntwo\n"),
    ("app/binary.txt", b"one\n\0two\n"),
    ("app/lone.txt", b"one\rtwo\n"),
    ("app/empty.txt", b""),
    ("app/sub/b.txt", b"b\n"),
    ("app/sub/c.yaml", b"c: $Id$\nd: $Id: 0011 $\ne: $Id: file.c,v 1.2 2026/01/02 $\nf: $Id:$\n"),
    ("lib/latin.txt", "h\u{e9}\n".as_bytes()),
    ("lib/not-utf8.txt", b"h\xe9\n"),
    ("lib/\u{e4} \\ \"quoted\"\n.txt", b"name\n"),
    ("run.sh", b"#!/bin/sh\n"),
];

/// Attributes, as the files that contain them.
const ATTRIBUTES: [(&str, Files<'static>); 14] = [
    ("nothing", &[]),
    ("end of lines", &[(".gitattributes", b"*.txt text eol=crlf\n")]),
    ("of any file, its own too", &[(".gitattributes", b"* eol=crlf\n")]),
    ("of text that git finds", &[(".gitattributes", b"* text=auto\n*.sh eol=lf\n")]),
    ("of text that git finds, CRLF", &[(".gitattributes", b"* text=auto eol=crlf\n")]),
    ("not text", &[(".gitattributes", b"*.txt text eol=crlf\na.txt -text\nlone.txt binary\n")]),
    ("a macro", &[(".gitattributes", b"[attr]windows text eol=crlf\n*.txt windows\ncrlf.txt -windows\n")]),
    ("in a subdirectory", &[("app/sub/.gitattributes", b"*.txt text eol=crlf\n")]),
    (
        "of two directories",
        &[
            (".gitattributes", b"[attr]windows eol=crlf\n*.txt text\n/app/* -text\n"),
            ("app/.gitattributes", b"[attr]other eol=crlf\n*.txt other\nsub/** windows\n"),
        ],
    ),
    ("identifiers", &[(".gitattributes", b"*.yaml ident\n")]),
    (
        "encodings",
        &[(
            ".gitattributes",
            b"a.txt working-tree-encoding=UTF-16LE-BOM\nb.txt working-tree-encoding=UTF-16\n\
              lone.txt working-tree-encoding=UTF-16BE eol=crlf\nempty.txt working-tree-encoding=UTF-16\n\
              latin.txt working-tree-encoding=latin-1\nnot-utf8.txt working-tree-encoding=UTF-16\n\
              c.yaml working-tree-encoding=none-such\nrun.sh working-tree-encoding=UTF-8\n",
        )],
    ),
    ("all at once", &[(".gitattributes", b"*.yaml ident eol=crlf working-tree-encoding=UTF-32\n")]),
    ("a filter", &[(".gitattributes", b"*.txt filter=shout eol=crlf\n*.yaml filter=shout\n")]),
    ("quoted names", &[(".gitattributes", b"\"lib/\\303\\244*\" eol=crlf\n\"*.sh\" text eol=crlf\n")]),
];

fn commit(repository: &Repository, files: &[Files<'_>]) {
    repository.git(&["read-tree", "--empty"]);
    for (name, content) in files.iter().copied().flatten() {
        let mut object = tempfile::NamedTempFile::new().expect("a temporary file");
        object.write_all(content).expect("the file can be written");
        let object = object.path().display().to_string();
        let id = repository.git(&["hash-object", "-w", "--no-filters", &object]);
        repository.git(&["update-index", "--add", "--cacheinfo", "100644", &id, name]);
    }
    repository.git(&["commit", "--quiet", "--allow-empty", "-m", "files"]);
}

/// The files below a directory, without those of git.
fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("the directory can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() && !path.ends_with(".git") {
                waiting.push(path);
            } else if !path.ends_with(".git") {
                let name = path.strip_prefix(root).expect("below the root").to_str().expect("UTF-8");
                files.insert(name.to_owned(), fs::read(&path).expect("the file can be read"));
            }
        }
    }
    files
}

/// Returns the files that git checks out, with a configuration of the clone.
fn check_out(
    bench: &Workbench,
    repository: &Repository,
    configuration: &[&str],
) -> BTreeMap<String, Vec<u8>> {
    let _gone: std::io::Result<()> = fs::remove_dir_all(bench.path("clone"));
    let url = repository.url();
    let clone = ["clone", "--quiet", "--recurse-submodules", "--template="];
    let settings: Vec<&str> = configuration.iter().flat_map(|setting| ["-c", *setting]).collect();
    git::git(&bench.path(""), &[&settings[..], &clone, &settings, &[&url, "clone"]].concat());
    contents(&bench.path("clone"))
}

/// The same sources, with the commit of what is checked out instead of its files.
async fn at_head(sources: &Sources) -> Sources {
    let base = BaseRevision { name: "HEAD".to_owned(), point: BasePoint::Revision };
    sources.at(&base).await.expect("there is a commit")
}

async fn tree(sources: &Sources, url: &str) -> BTreeMap<String, Vec<u8>> {
    let (_, tree) = render(sources, url, "HEAD", &whole()).await.expect("the revision has a tree");
    contents(tree.root())
}

/// All that is known of a revision without a tree.
async fn known(sources: &Sources, revision: &ResolvedRevision) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let files = sources.files(revision, None).await.expect("the files can be listed");
    let read = sources.read_files(revision, None, |_| true, 1 << 20).await.expect("the files can be read");
    let index = sources.index(revision, |_| true, 1 << 20).await.expect("the files can be read");
    let indexed = files.iter().map(|file| index.content(&file.path).expect("it is not large").to_vec());
    let indexed = indexed.collect();
    for file in &files {
        assert_eq!(index.file(&file.path), Some(file));
    }
    let identities = files.iter().map(tiphys_source::RevisionFile::identity).collect();
    (identities, read.into_iter().map(|(_, content)| content).collect(), indexed)
}

/// Asserts that a clean checkout and its commit are equal for every reader.
async fn assert_clean_checkout_is_equal(bench: &Workbench, what: &str) {
    let now = bench.with_copies(&[&format!("{URL}=clone")]);
    let then = at_head(&now).await;
    let on_disk = contents(&bench.path("clone"));
    assert_eq!(tree(&then, URL).await, on_disk, "{what}: the tree of the commit");
    let source = source(URL, "HEAD");
    let (files, commit) =
        (now.resolve(&source).await.expect("there"), then.resolve(&source).await.expect("there"));
    assert_eq!(known(&now, &files).await, known(&then, &commit).await, "{what}");
    assert_eq!(known(&then, &commit).await.1, on_disk.into_values().collect::<Vec<_>>(), "{what}: contents");
    for scope in [TreeScope::Whole, TreeScope::Only(vec![path("app/sub")])] {
        let part = (&scope, &path("lib"));
        let now = now.identity(&source, part).await.expect("there is an identity");
        assert_eq!(
            now,
            then.identity(&source, part).await.expect("there is an identity"),
            "{what}: {scope:?}"
        );
    }
    let top = WorkTreePath::find(&bench.path("clone")).expect("UTF-8").pop().expect("a work tree");
    let base = BaseRevision { name: "HEAD".to_owned(), point: BasePoint::Revision };
    let past = now.past_files(&top, &base, (&TreeScope::Whole, Modes::Plain)).await.expect("there are files");
    assert_eq!(contents(&past.place().expect("it exists")), contents(&bench.path("clone")), "{what}");
}

#[tokio::test]
async fn commits_have_the_content_that_git_checks_out() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let mut converted = 0;
    for (what, attributes) in ATTRIBUTES {
        commit(&repository, &[CONTENTS, attributes]);
        let expected = check_out(&bench, &repository, &[]);
        let raw = |(name, content): &(&str, &[u8])| expected.get(*name).is_some_and(|found| found == content);
        converted += usize::from(!CONTENTS.iter().all(raw));
        assert_eq!(tree(&bench.sources(), &repository.url()).await, expected, "{what}: remote");
        assert_clean_checkout_is_equal(&bench, what).await;
    }
    assert_eq!(converted, ATTRIBUTES.len() - 2, "text=auto converts nothing on Linux");
}

#[tokio::test]
async fn configuration_of_a_local_repository_converts_its_commits() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let attributes: Files<'_> = &[(".gitattributes", b"*.yaml text\nlone.txt -text\n")];
    let settings = ["TRUE", "input", "00"].map(|value| format!("core.autocrlf={value}"));
    let ends = ["lf", "crlf", "native"].map(|value| format!("core.eol={value}"));
    for (auto_crlf, eol) in settings.iter().flat_map(|setting| ends.iter().map(move |end| (setting, end))) {
        for attributes in [&[][..], attributes] {
            commit(&repository, &[CONTENTS, attributes]);
            check_out(&bench, &repository, &[auto_crlf, eol]);
            assert_clean_checkout_is_equal(&bench, &format!("{auto_crlf} {eol}")).await;
        }
    }
    check_out(&bench, &repository, &[]);
    let clone = bench.path("clone");
    fs::create_dir_all(clone.join(".git/info")).expect("the directory can be made");
    fs::write(clone.join(".git/info/attributes"), "*.txt eol=crlf").expect("the file can be written");
    check_out_again(&clone);
    assert_eq!(fs::read(clone.join("app/a.txt")).expect("the file exists"), b"one\r\ntwo\r\n");
    assert_clean_checkout_is_equal(&bench, "info/attributes").await;
}

/// Checks out all files of a clone, with what is configured now.
fn check_out_again(clone: &Path) {
    git::git(clone, &["rm", "--quiet", "--cached", "-r", "."]);
    git::git(clone, &["reset", "--quiet", "--hard"]);
}

#[tokio::test]
async fn attributes_of_the_user_convert_commits_of_a_local_repository() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let file = bench.path("home/.config/git/attributes");
    fs::create_dir_all(file.parent().expect("it has one")).expect("the directory can be made");
    fs::write(&file, "*.txt eol=crlf\n*.yaml ident\n").expect("the file can be written");
    // Those of a commit override them.
    commit(&repository, &[CONTENTS, &[(".gitattributes", b"lone.txt -text\nb.txt eol=lf\n")]]);
    let raw = check_out(&bench, &repository, &[]);
    let clone = bench.path("clone");
    git::git(&clone, &["config", "core.attributesFile", &file.display().to_string()]);
    check_out_again(&clone);
    assert_ne!(contents(&clone), raw);
    assert_clean_checkout_is_equal(&bench, "core.attributesFile").await;
    git::git(&clone, &["config", "core.attributesFile", "~/.config/git/attributes"]);
    assert_clean_checkout_is_equal(&bench, "in the home folder").await;
    git::git(&clone, &["config", "--unset", "core.attributesFile"]);
    assert_clean_checkout_is_equal(&bench, "the default").await;
    assert_eq!(tree(&bench.sources(), &repository.url()).await, raw, "a remote repository has no user");
}

#[tokio::test]
async fn a_link_has_no_attributes() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.write("attributes", "*.txt eol=crlf\n").write("app/sub/a.txt", "a\n");
    repository.link("app/.gitattributes", "../attributes").commit("first");
    let expected = check_out(&bench, &repository, &[]);
    assert_eq!(tree(&bench.sources(), &repository.url()).await, expected);
    let want = narrowed("app/sub", &[]);
    let (_, tree) = render(&bench.sources(), &repository.url(), "HEAD", &want).await.expect("there");
    assert_eq!(contents(&tree.root().join("app/sub"))["a.txt"], expected["app/sub/a.txt"]);
    assert_eq!(expected["app/sub/a.txt"], b"a\n");
}

#[tokio::test]
async fn each_repository_has_its_own_attributes() {
    let bench = Workbench::new();
    let library = bench.repository("library");
    library
        .write(".gitattributes", "[attr]id ident\n*.yaml id\n")
        .write("a.yaml", "$Id$\n")
        .write("a.txt", "a\n");
    library.commit("first");
    let repository = bench.repository("remote");
    repository.git(&["submodule", "--quiet", "add", &library.url(), "vendor"]);
    repository.write(".gitattributes", "*.txt eol=crlf\n").write("b.txt", "b\n").write("b.yaml", "$Id$\n");
    repository.commit("first");
    for setting in ["core.autocrlf=false", "core.autocrlf=true"] {
        let expected = check_out(&bench, &repository, &[setting]);
        if setting == "core.autocrlf=false" {
            assert_eq!(tree(&bench.sources(), &repository.url()).await, expected);
        }
        git::git(
            &bench.path("clone/vendor"),
            &["config", "core.autocrlf", setting.trim_start_matches("core.autocrlf=")],
        );
        assert_clean_checkout_is_equal(&bench, setting).await;
    }
}

#[tokio::test]
async fn unreadable_configuration_of_a_submodule_is_an_error() {
    let bench = Workbench::new();
    bench.repository("library").write("a.txt", "a\n").commit("first");
    let repository = bench.repository("remote");
    repository.git(&["submodule", "--quiet", "add", &bench.repository("library").url(), "vendor"]);
    repository.commit("first");
    check_out(&bench, &repository, &[]);
    let then = at_head(&bench.with_copies(&[&format!("{URL}=clone")])).await;
    fs::write(bench.path("clone/.git/modules/vendor/config"), "]\n").expect("the file can be written");
    assert_eq!(
        bench.refusal(&then, URL, "HEAD").await,
        "submodule vendor of repository $DIR/clone: $DIR/clone/.git/modules/vendor: git cannot read it: \
         fatal: bad config line 1 in file $DIR/clone/.git/modules/vendor/config"
    );
}

#[tokio::test]
async fn too_large_files_are_not_converted() {
    let bench = Workbench::with_limits(TreeLimits { bytes_max: 15_000, ..TreeLimits::DEFAULT });
    let lines = [b'\n'; 1000];
    let names: Vec<String> = (0..16).map(|number| format!("{number}.txt")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &lines[..])).collect();
    files.push((".gitattributes", b"*.txt eol=crlf\n"));
    let repository = bench.repository("remote");
    // Logs each call that writes files.
    let (git, log) = (bench.path("git"), bench.path("log"));
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' checkout-index '*) echo called >>'{}';; esac\nexec git \"$@\"\n",
        log.display()
    );
    fs::write(&git, script).expect("the file can be written");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("the file is the test's own");
    let sources = || bench.sources_with(|options, _| options.git_program.clone_from(&git));
    let expected =
        "tree of repository file://$DIR/remote: the tree has more than 15000 bytes: limit tree-bytes-max";

    commit(&repository, &[&files]);
    assert_eq!(bench.refusal(&sources(), &repository.url(), "HEAD").await, expected);
    assert!(!log.exists(), "git writes no file");

    let library = bench.repository("library");
    commit(&library, &[&files[10..]]);
    commit(&repository, &[&files[10..]]);
    repository.git(&["reset", "--quiet", "--hard"]);
    for name in ["a", "b"] {
        repository.git(&["submodule", "--quiet", "add", &library.url(), name]);
    }
    repository.commit("submodules");
    assert_eq!(bench.refusal(&sources(), &repository.url(), "HEAD").await, expected);
    assert_eq!(fs::read_to_string(&log).expect("it exists"), "called\ncalled\n", "not for the third one");
}

#[tokio::test]
async fn narrowed_trees_have_the_attributes_above_them() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let mut keys = Vec::new();
    for attributes in ["*.txt eol=crlf\n", "*.txt eol=crlf\na.txt -text\n", "*.md linguist-generated\n"] {
        commit(&repository, &[CONTENTS, &[(".gitattributes", attributes.as_bytes())]]);
        let expected = check_out(&bench, &repository, &[]);
        let want = narrowed("app/sub", &["app/a.txt"]);
        let (_, tree) = render(&bench.sources(), &repository.url(), "HEAD", &want).await.expect("there");
        keys.push(tree.key());
        let found = contents(tree.root());
        assert_eq!(found.len(), 3);
        for (name, content) in found {
            assert_eq!(expected[&name], content, "{name}");
        }
    }
    keys.dedup();
    assert_eq!(keys.len(), 3, "{keys:?}");
}

#[tokio::test]
async fn configuration_is_part_of_the_key() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    commit(&repository, &[CONTENTS]);
    let mut keys = Vec::new();
    for setting in ["core.eol=lf", "core.autocrlf=input", "core.autocrlf=true"] {
        check_out(&bench, &repository, &[setting]);
        let then = at_head(&bench.with_copies(&[&format!("{URL}=clone")])).await;
        let (_, tree) = render(&then, URL, "HEAD", &whole()).await.expect("the revision has a tree");
        keys.push(tree.key());
    }
    assert_eq!(keys[0], keys[1], "input converts nothing at checkout");
    assert_ne!(keys[1], keys[2]);
}

#[tokio::test]
async fn no_program_of_a_filter_runs() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    commit(&repository, &[CONTENTS, &[(".gitattributes", b"*.txt filter=shout eol=crlf\n")]]);
    let expected = check_out(&bench, &repository, &[]);
    for (key, value) in [("smudge", "tr a-z A-Z"), ("required", "true")] {
        git::git(&bench.path("clone"), &["config", &format!("filter.shout.{key}"), value]);
    }
    fs::create_dir_all(bench.path("home")).expect("the home folder can be made");
    fs::copy(bench.path("clone/.git/config"), bench.path("home/.gitconfig")).expect("the file can be copied");
    let then = at_head(&bench.with_copies(&[&format!("{URL}=clone")])).await;
    assert_eq!(tree(&then, URL).await, expected);
    assert_eq!(tree(&bench.sources(), &repository.url()).await, expected);
}
