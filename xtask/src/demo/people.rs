//! What people do with parameters, and what a plugin's author does: commands on a copy of the example store, with their answers.

use std::fs;
use std::path::Path;

use super::program::{Answer, Program};
use super::{PLACE, STORE, repository};
use crate::Failure;

/// The copy of the example store, below the workspace's root.
const EDITED_STORE: &str = "target/demo/store";

/// The plugin that its author begins with.
const NEW_PLUGIN: &str = "greeting";

/// What a change of the store's files has to be: the file, lines that go, lines that come.
const EDITS: [(&str, &[&str], &[&str]); 2] = [
    ("guestbook-staging.yaml", &["          string: staging-"], &["          string: demo-"]),
    (
        "shop.yaml",
        &["            - values-large.yaml", "            image.tag: 3.2.1"],
        &["            - values.yaml", "            image.tag: 3.3.0"],
    ),
];

/// Sets a text, an item of a list and a key of a map; fails if anything else changes in the files.
pub(super) fn set_parameters(root: &Path, program: &Program) -> Result<(), Failure> {
    let copy = root.join(EDITED_STORE);
    repository::remove(&copy)?;
    fs::create_dir_all(&copy).map_err(|error| Failure::at(&copy, error))?;
    repository::copy(&root.join(STORE), &copy)?;
    let program = program.with_store(EDITED_STORE);

    show(&program, 1, &["params", "diff", "shop", "helm-parameters[image.tag]=3.3.0", "-U1"])?;
    show(&program, 0, &["params", "set", "guestbook-staging", "name-prefix=demo-"])?;
    let both = ["values-files[0]=values.yaml", "helm-parameters[image.tag]=3.3.0"];
    show(&program, 0, &[&["params", "set", "shop"], &both[..], &["--dry-run"]].concat())?;
    show(&program, 0, &[&["params", "set", "shop"], &both[..]].concat())?;
    let unknown = show(&program, 2, &["params", "set", "shop", "values-file=x"])?;
    if !unknown.stderr.contains("did you mean values-files?") {
        return Err(Failure::new("a name that nobody announces is refused without a suggestion"));
    }

    for (file, gone, come) in EDITS {
        let read = |folder: &Path| {
            let path = folder.join(file);
            fs::read_to_string(&path).map_err(|error| Failure::at(&path, error))
        };
        let wanted = gone.iter().zip(come).fold(read(&root.join(STORE))?, |text, (gone, come)| {
            text.replacen(&format!("{gone}\n"), &format!("{come}\n"), 1)
        });
        if read(&copy)? != wanted {
            return Err(Failure::new(format!(
                "{EDITED_STORE}/{file}: something else than the values has changed"
            )));
        }
    }
    Ok(())
}

/// Makes a plugin, checks it, runs its cases, and asks it for its form and its manifests.
pub(super) fn write_a_plugin(root: &Path, program: &Program) -> Result<(), Failure> {
    let folder = format!("{PLACE}/{NEW_PLUGIN}");
    repository::remove(&root.join(&folder))?;
    let program = program.without_store();
    show(&program, 0, &["plugin", "create", NEW_PLUGIN, "--dir", PLACE])?;
    show(&program, 0, &["plugin", "check", &folder])?;
    show(&program, 0, &["plugin", "test", &folder])?;
    Ok(())
}

/// Runs a command and prints it with its answer, as a person would see both.
pub(super) fn show(program: &Program, code: i32, arguments: &[&str]) -> Result<Answer, Failure> {
    let answer = program.ask(arguments)?;
    println!("$ tiphys {}", arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" "));
    print!("{}{}", answer.stdout, answer.stderr);
    if answer.code == Some(code) {
        Ok(answer)
    } else {
        Err(Failure::new(format!("the command before ended with {:?}, not with {code}", answer.code)))
    }
}

/// An argument as a person would type it.
pub(super) fn quoted(argument: &str) -> String {
    if argument.contains(['[', ' ', '{', '"', '\\']) { format!("'{argument}'") } else { argument.to_owned() }
}
