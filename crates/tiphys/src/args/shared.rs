//! The options that several commands share. The argument struct of a command names the set of them that it uses; the options of settings are
//! made from the table of `tiphys-service`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::EnumValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};
use tiphys_service::{GivenSettings, ProjectFileChoice, Setting, Warning};

use crate::error::ServiceError;
use crate::settings::Process;

/// The heading of shared options in the help.
pub(crate) const HEADING: &str = "Shared options";

const CONFIG: &str = "config";
const OUTPUT: &str = "output";
const VERBOSE: &str = "verbose";

/// The value of `--config` that uses no project file.
const NO_FILE: &str = "none";

/// The value of `--config` that uses the project file of a comparison's base.
const FILE_OF_BASE: &str = "base";

/// The values of shared options.
#[derive(Clone, Debug)]
pub(crate) struct SharedOptions {
    pub(crate) output: Option<OutputFormat>,
    pub(crate) verbose: u8,
    pub(crate) project_file: ProjectFileChoice,
    /// The settings that have a value.
    pub(crate) given: GivenSettings,
    /// Warnings about the project file of a comparison.
    pub(crate) warnings: Vec<Warning>,
}

/// Output formats. Each command supports some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Yaml,
    Json,
    Table,
    Wide,
    Name,
    // Only for commands that compare.
    Diff,
    Markdown,
    Html,
}

/// Declares sets of shared options. Each is flattened into the arguments of commands.
macro_rules! sets {
    ($($(#[$about:meta])* $set:ident: [$($option:expr),*];)*) => {
        $(
            $(#[$about])*
            #[derive(Debug)]
            pub(crate) struct $set;

            impl Args for $set {
                fn augment_args(command: Command) -> Command {
                    command.args([$($option),*].map(|arg: Arg| arg.help_heading(HEADING)))
                }

                fn augment_args_for_update(command: Command) -> Command {
                    Self::augment_args(command)
                }
            }

            impl FromArgMatches for $set {
                fn from_arg_matches(_: &ArgMatches) -> Result<Self, Error> {
                    Ok(Self)
                }

                fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
                    Ok(())
                }
            }
        )*
    };
}

sets! {
    /// Commands about the applications of a store: all shared options.
    Workspace: [
        of_setting(Setting::STORE), of_setting(Setting::REPO), of_setting(Setting::PLUGINS), of_setting(Setting::HELM_ENGINE), of_setting(Setting::CLUSTER_STATE),
        of_setting(Setting::CONTEXT), config(), of_setting(Setting::LIMITS), of_setting(Setting::STRICT), of_setting(Setting::OFFLINE),
        of_setting(Setting::REFRESH), output(), verbose()
    ];
    /// Commands that run one plugin.
    Trial: [
        config(), of_setting(Setting::LIMITS), of_setting(Setting::OFFLINE), of_setting(Setting::REFRESH), output(), verbose()
    ];
    /// Commands about the cluster of Argo CD.
    Cluster: [of_setting(Setting::CLUSTER_STATE), of_setting(Setting::CONTEXT), config(), of_setting(Setting::LIMITS), output(), verbose()];
    /// Commands that use settings, but no applications.
    Tool: [config(), of_setting(Setting::LIMITS), output(), verbose()];
    /// Servers, which print no data.
    Server: [config(), of_setting(Setting::LIMITS), verbose()];
    /// Commands that only print data.
    Printer: [output(), verbose()];
}

/// Shared options before the name of the command. Each command accepts those that it uses.
#[derive(Debug)]
pub(crate) struct BeforeCommand;

impl Args for BeforeCommand {
    fn augment_args(command: Command) -> Command {
        let all = Workspace::augment_args(Command::new(""));
        command.args(all.get_arguments().cloned().map(|arg| arg.hide(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for BeforeCommand {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
        Ok(())
    }
}

fn config() -> Arg {
    Arg::new(CONFIG)
        .long("config")
        .value_name("FILE|KEY=VALUE")
        .action(ArgAction::Append)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Project file, `none`, or a setting (`tiphys help options`)")
}

fn output() -> Arg {
    Arg::new(OUTPUT)
        .long("output")
        .short('o')
        .value_name("FORMAT")
        .value_parser(EnumValueParser::<OutputFormat>::new())
        .hide_possible_values(true)
        .help("Output format: yaml, json, table, wide, name, diff, markdown, html")
}

fn verbose() -> Arg {
    Arg::new(VERBOSE)
        .long("verbose")
        .short('v')
        .action(ArgAction::Count)
        .help("Print notes and more details on stderr; repeat for more")
}

fn of_setting(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.key).long(setting.option.unwrap_or(setting.key)).help(setting.summary);
    if setting.is_switch() {
        return arg.action(ArgAction::SetTrue);
    }
    let action = if setting.is_list() { ArgAction::Append } else { ArgAction::Set };
    arg.value_name(setting.value_name).action(action).value_parser(clap::value_parser!(OsString))
}

impl SharedOptions {
    /// Reads the values of the options before and after the name of a command.
    pub(crate) fn read(matches: &ArgMatches, host: &Process) -> Result<Self, ServiceError> {
        let mut shared = Self {
            output: None,
            verbose: 0,
            project_file: ProjectFileChoice::default(),
            given: GivenSettings::of_variables(host)?,
            warnings: Vec::new(),
        };
        let mut levels = vec![matches];
        while let Some((_, below)) = levels.last().and_then(|matches| matches.subcommand()) {
            levels.push(below);
        }
        let mut config = Vec::new();
        for setting in Setting::ALL.iter().copied() {
            shared.add(setting, &levels)?;
        }
        for level in &levels {
            if let Ok(Some(output)) = level.try_get_one(OUTPUT) {
                shared.output = Some(*output);
            }
            if let Ok(Some(verbose)) = level.try_get_one::<u8>(VERBOSE) {
                shared.verbose = shared.verbose.saturating_add(*verbose);
            }
            config.extend(level.try_get_many::<PathBuf>(CONFIG).ok().flatten().into_iter().flatten());
        }
        let (choice, settings) = project_file_choice(config.into_iter().map(PathBuf::as_path))?;
        shared.project_file = choice;
        shared.given.set_arguments(settings.iter().map(String::as_str))?;
        refuse_unused(matches, levels.last().copied().unwrap_or(matches))?;
        Ok(shared)
    }

    /// Adds the values of a setting's option, before and after the name of the command.
    fn add(&mut self, setting: &'static Setting, levels: &[&ArgMatches]) -> Result<(), ServiceError> {
        let given: Vec<&ArgMatches> =
            levels.iter().copied().filter(|matches| is_given(matches, setting.key)).collect();
        if given.is_empty() {
            return Ok(());
        }
        if setting == Setting::ANSWERS {
            // The argument of `appset` commands that replaces the setting.
            self.given.replace(setting);
            return Ok(());
        }
        let values = if setting.is_switch() {
            vec!["true".to_owned()]
        } else {
            let values = given.iter().filter_map(|matches| matches.get_raw(setting.key)).flatten();
            values.map(|value| text(value, &setting.argument())).collect::<Result<_, _>>()?
        };
        self.given.set_option(setting, values)
    }
}

/// Refuses options before the name of a command that the command does not use.
fn refuse_unused(before: &ArgMatches, command: &ArgMatches) -> Result<(), ServiceError> {
    let settings = Setting::ALL.iter().map(|setting| (setting.key, setting.argument()));
    let mut options = settings.chain([CONFIG, OUTPUT, VERBOSE].map(|id| (id, format!("--{id}"))));
    match options.find(|(id, _)| is_given(before, id) && command.try_contains_id(id).is_err()) {
        Some((_, option)) => Err(ServiceError::invalid_input(format!("this command does not use {option}"))),
        None => Ok(()),
    }
}

/// Whether the command line gives the argument `id`; `false` for one that the command does not define.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.try_contains_id(id).is_ok_and(|has_value| has_value)
        && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// Splits the values of `--config`: the project file that they choose, and settings `KEY=VALUE`.
pub(crate) fn project_file_choice<'a>(
    values: impl Iterator<Item = &'a Path>,
) -> Result<(ProjectFileChoice, Vec<String>), ServiceError> {
    let (settings, files): (Vec<&Path>, Vec<&Path>) = values.partition(|value| is_setting(value));
    let settings = settings.into_iter().map(|value| text(value.as_os_str(), "--config"));
    let choice = match files.as_slice() {
        [] => ProjectFileChoice::Search,
        [file] if file.as_os_str() == NO_FILE => ProjectFileChoice::None,
        [file] if file.as_os_str() == FILE_OF_BASE => ProjectFileChoice::Base,
        [file] => match file.to_str().and_then(Setting::named) {
            Some(Setting { key, .. }) => {
                let message = format!("--config {key}: expected {key}=VALUE; a file of this name is ./{key}");
                return Err(ServiceError::invalid_input(message));
            }
            None => ProjectFileChoice::Named(file.to_path_buf()),
        },
        _ => return Err(ServiceError::invalid_input("--config names several project files; name one")),
    };
    Ok((choice, settings.collect::<Result<_, _>>()?))
}

/// Whether a value of `--config` is `KEY=VALUE`: no slash precedes the first `=`. A misspelt key must not name a file.
fn is_setting(value: &Path) -> bool {
    value.to_string_lossy().split_once('=').is_some_and(|(key, _)| !key.contains('/'))
}

fn text(value: &OsStr, option: &str) -> Result<String, ServiceError> {
    let text = value.to_str().map(str::to_owned);
    text.ok_or_else(|| ServiceError::invalid_input(format!("{option}: {} is not UTF-8", value.display())))
}
