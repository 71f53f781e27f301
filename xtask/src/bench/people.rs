//! Interactive commands: setting a parameter, and completing a word.

use std::ffi::OsString;

use super::cases::FILES;
use super::content::application_name;
use super::data::{Extent, Revision};
use super::figures::{Sheet, Target};
use super::sample::User;
use super::world::World;
use crate::Failure;

/// Applications of the store, each in its own file.
const APPLICATIONS: usize = 1_000;

/// Measures `params set`. Each run sets another value, so that it writes.
pub(super) fn set(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let cache = world.cache(&FILES.to_string(), User::Own)?;
    for (revision, named) in [(Revision::Commit, "commit"), (Revision::Branch, "branch")] {
        let store = world.store(FILES, APPLICATIONS, "nothing", (revision, Extent::Whole))?;
        let samples = world.repeated(|run| {
            let value = format!("suffix=run-{run}");
            let arguments = ["params", "set", &application_name(APPLICATIONS / 2), &value];
            world.starter.sample(&world.line(&arguments, &store, &cache), User::Own)
        })?;
        let what = format!("{APPLICATIONS} Applications in as many files, {named}, whole process");
        sheet.processes(what, &samples, Target::AtMost(150.0));
    }
    Ok(())
}

/// Measures the answers to the completion script of a shell.
pub(super) fn completion(world: &World, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let store = world.store(FILES, APPLICATIONS, "nothing", (Revision::Commit, Extent::Whole))?;
    let application = application_name(APPLICATIONS / 2);
    let typed: [(&str, &[&str]); 3] = [
        ("applications", &["params", "set", ""]),
        ("parameters", &["params", "set", &application, ""]),
        ("options", &["render", "--"]),
    ];
    for (what, words) in typed {
        let mut line = vec![world.tiphys.clone().into_os_string()];
        line.extend(["__complete", "zsh", "tiphys", "--store"].map(OsString::from));
        line.extend([store.clone().into_os_string(), "--plugins".into(), world.plugins.clone().into()]);
        line.extend(words.iter().map(OsString::from));
        let samples = world.repeated(|_| world.starter.sample(&line, User::Own))?;
        let what = format!("{what}, {APPLICATIONS} Applications in as many files, whole process");
        sheet.processes(what, &samples, Target::AtMost(50.0));
    }
    Ok(())
}
