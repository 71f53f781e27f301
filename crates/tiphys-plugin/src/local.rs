//! A plugin whose commands run as children of this process.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tiphys_model::params::{APP_PARAMETERS, EnvVar, Parameters, ValueRedactor};
use tiphys_process::{CommandSpec, Ended, ExecLimits, Outcome, RunError};
use tiphys_tree::glob::{FindCache, Folder, Listing};
use tiphys_tree::{ContainmentError, Entries, Modes, RepoPath, Tree, resolve};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::active_run::{ActiveRun, PendingRun};
use crate::announcement::Strictness;
use crate::config::{self, AnnouncementRule, ExplanationRule, LargeParameters, PluginConfig};
use crate::context::GivenContext;
use crate::discovery::Pattern;
use crate::environment::BaseEnvironment;
use crate::environment::passing::{self, Passing};
use crate::error::{CommandFailure, Phase, PluginError};
use crate::explanation::{self, Explanation, Explanations, PARAMETER_VARIABLE};
use crate::native::{NATIVE_VARIABLE, NativeCall, NativeError, NativeProgram};
use crate::observer::CommandEnd;
use crate::plugin::{Announced, Configuration, Discovery, Generated, InputRule, Match, Plugin, warnings_in};
use crate::quote::quote_command;
use crate::request::Request;
use crate::settings::RunSettings;
use crate::{announcement, discovery, many};

/// The variable with all parameters.
const PARAMETERS: &str = APP_PARAMETERS;

/// Target of the log events about commands that succeeded, in the words of Argo CD's plugin server. Callers that report results themselves
/// filter it out.
pub const COMMAND_LOG: &str = "tiphys_plugin::command";

/// Why a program of the source cannot be started if the plugin does not preserve modes.
const MODE_LOST: &str = "permission denied: the plugin gets files without their executable bits; set `preserveFileMode: true` in its spec";

/// A plugin in process.
#[derive(Debug)]
pub struct LocalPlugin {
    config: PluginConfig,
    name: String,
    folder: Option<PathBuf>,
    base: BaseEnvironment,
    settings: Arc<RunSettings>,
    /// The compiled pattern of its discovery rule.
    compiled: FindCache,
}

impl LocalPlugin {
    /// Creates a plugin. `folder` is the directory of its files, which is appended to the `PATH` of its commands.
    pub fn new(
        config: PluginConfig,
        folder: Option<PathBuf>,
        base: BaseEnvironment,
        settings: Arc<RunSettings>,
    ) -> Self {
        let name = config.display_name();
        Self { config, name, folder, base, settings, compiled: FindCache::default() }
    }

    /// Returns the plugin's configuration.
    pub fn config(&self) -> &PluginConfig {
        &self.config
    }

    /// Returns the command lines, those of discovery first.
    pub fn command_lines(&self) -> Vec<(Phase, Vec<String>)> {
        let config = &self.config;
        let find = match discovery::rule(config) {
            Some(discovery::Rule::Command(command)) => Some((Phase::Find, command)),
            _ => None,
        };
        let init = config.init.as_ref().map(|command| (Phase::Init, command));
        let dynamic = config.dynamic.as_ref().map(|command| (Phase::Announce, command));
        let explain = config.explain.as_ref().map(|command| (Phase::Explain, command));
        [find, init, Some((Phase::Generate, &config.generate)), dynamic, explain]
            .into_iter()
            .flatten()
            .map(|(phase, command)| (phase, self.argv(command)))
            .collect()
    }

    /// Returns the output of the dynamic command without the final newline; `None` if there is no such command. For reports of all its
    /// mistakes; [`Plugin::announce`] stops at the first one.
    pub async fn announcement_output(&self, request: &Request) -> Result<Option<Vec<u8>>, PluginError> {
        let Some(command) = &self.config.dynamic else { return Ok(None) };
        Ok(Some(self.output(request, Phase::Announce, command).await?.stdout))
    }

    /// Runs one command about parameters. Its standard output has no final newline.
    async fn output(
        &self,
        request: &Request,
        phase: Phase,
        command: &config::Command,
    ) -> Result<CommandOutput, PluginError> {
        check_kustomization(request).await?;
        let mut finished = self.run(request, &[(phase, command)]).await?;
        TreeCheck::start(self.trees(request)).require_complete().await?;
        let mut output = finished.pop().unwrap_or_default();
        output.stdout.truncate(without_newline(&output.stdout).len());
        Ok(output)
    }

    /// Returns the context of a request if this plugin gets it.
    fn context<'a>(&self, request: &'a Request) -> Option<&'a Arc<GivenContext>> {
        request.context.as_ref().filter(|_| self.config.run_context)
    }

    /// Returns all trees that a run of this request sees.
    fn trees(&self, request: &Request) -> Vec<Tree> {
        let others = self.context(request).map(|context| context.other_trees(&request.tree));
        [request.tree.clone()].into_iter().chain(others.unwrap_or_default()).collect()
    }

    /// Runs commands one after another in one private view. Returns their outputs in order.
    async fn run(
        &self,
        request: &Request,
        commands: &[(Phase, &config::Command)],
    ) -> Result<Vec<CommandOutput>, PluginError> {
        let commands: Vec<(Phase, Vec<String>)> =
            commands.iter().map(|(phase, command)| (*phase, self.argv(command))).collect();
        let Passing { mut env, files } = self.pass(request, &commands)?;
        let settings = &self.settings;
        let slot = settings.slots.take(request.deadline, &request.cancel, settings.observer.as_ref()).await?;
        let context = self.context(request).cloned();
        let beginning = PendingRun::new(settings, &self.name, request, context, slot)?;
        let (phase, first) = commands
            .first()
            .map_or((Phase::Generate, String::new()), |(phase, argv)| (*phase, quote_command(argv)));
        // The caller does not wait for remaining processes: dropping this ends them in the background.
        let (mut ongoing, variables) = beginning.begin(request, phase, first, files).await?;
        env.extend(variables);
        if let Some(native) = commands.iter().find_map(|(_, argv)| self.native_for(argv))
            && let Some(program) = native.usable().await.and_then(Path::to_str)
        {
            env.push((NATIVE_VARIABLE.to_owned(), program.to_owned()));
        }
        self.run_in(&mut ongoing, request, commands, env).await
    }

    /// Returns the output of `generate` that this process has for it; `None` if the command must run.
    async fn in_process(&self, request: &Request) -> Result<Option<CommandOutput>, PluginError> {
        let settings = &self.settings;
        let argv = self.argv(&self.config.generate);
        let own = settings.in_process.iter().find(|own| argv == [own.program, "generate"]);
        let Some(own) = own.filter(|own| !self.needs_run(request) && !self.has_program(own.program)) else {
            return Ok(None);
        };
        let slot = settings.slots.take(request.deadline, &request.cancel, settings.observer.as_ref()).await?;
        let (env, request, generate) = (self.environment(request), request.clone(), own.generate);
        let began = Instant::now();
        let (deadline, cancel) = (request.deadline.from(began), request.cancel.clone());
        let output = spawn_blocking(move || {
            let _slot = slot;
            let call = NativeCall { env: &env, tree: &request.tree, app_path: &request.app_path };
            generate(&call)
        });
        // A command that does not end in time goes on until one of its own limits ends it.
        let output = tokio::select! {
            output = timeout_at(deadline, output) => output,
            () = cancel.cancelled() => return Err(PluginError::Cancelled),
        };
        let Ok(output) = output else {
            settings.observer.command_ended(Phase::Generate, began.elapsed(), CommandEnd::DeadlineExceeded);
            let (phase, command) = (Phase::Generate, quote_command(&argv));
            return Err(PluginError::DeadlineExceeded { phase, command, stderr: String::new() });
        };
        let output = match output {
            Ok(Ok(output)) => output,
            Ok(Err(reason)) => {
                tracing::info!(command = quote_command(&argv), "The command runs as a process: {reason}");
                return Ok(None);
            }
            // The command has its own process.
            Err(panic) => {
                tracing::warn!(command = quote_command(&argv), "The command runs as a process: {panic}");
                return Ok(None);
            }
        };
        let duration = began.elapsed();
        settings.observer.command_ended(Phase::Generate, duration, CommandEnd::Succeeded);
        let (stdout, stderr) = (output.output.into_bytes(), output.warnings);
        let bytes_max = settings.limits.stdout_bytes_max;
        if stdout.len() > bytes_max {
            let command = quote_command(&argv);
            return Err(PluginError::OutputTooLarge { phase: Phase::Generate, command, bytes_max });
        }
        Ok(Some(CommandOutput { stdout, stderr, duration }))
    }

    /// Whether `generate` needs a private copy of the tree, or values from a cluster, which a command redacts.
    fn needs_run(&self, request: &Request) -> bool {
        self.config.init.is_some() || self.settings.keep_workdirs.is_some() || !request.resolved.is_empty()
    }

    /// Returns the output of `generate` that the native program has for it. `None` if the command must run: it is not known to that program,
    /// or fails there, and is to report the cause itself.
    async fn by_native_program(&self, request: &Request) -> Result<Option<CommandOutput>, PluginError> {
        let settings = &self.settings;
        let argv = self.argv(&self.config.generate);
        let native = self.native_for(&argv).filter(|_| !self.needs_run(request));
        let Some(native) = native else { return Ok(None) };
        let env = self.environment(request);
        let call = NativeCall { env: &env, tree: &request.tree, app_path: &request.app_path };
        let Some(message) = native.request(&argv, &call) else { return Ok(None) };
        let _slot =
            settings.slots.take(request.deadline, &request.cancel, settings.observer.as_ref()).await?;
        let began = Instant::now();
        let answer = native.ask(&message, request.deadline, &request.cancel).await;
        let (phase, command, duration) = (Phase::Generate, quote_command(&argv), began.elapsed());
        match answer {
            Ok(answer) => {
                settings.observer.command_ended(phase, duration, CommandEnd::Succeeded);
                let stdout = answer.output.into_bytes();
                Ok(Some(CommandOutput { stdout, stderr: answer.warnings.trim().to_owned(), duration }))
            }
            Err(NativeError::DeadlineExceeded(_)) => {
                settings.observer.command_ended(phase, duration, CommandEnd::DeadlineExceeded);
                Err(PluginError::DeadlineExceeded { phase, command, stderr: String::new() })
            }
            Err(NativeError::Cancelled) => Err(PluginError::Cancelled),
            // The error may have values of the repository, and the command reports it again.
            Err(_) => {
                tracing::debug!(command, "The command runs as a process of its own");
                Ok(None)
            }
        }
    }

    /// Matches a pattern in a directory of a tree.
    fn match_pattern(
        &self,
        pattern: &Pattern<'_>,
        tree: &dyn Listing,
        base: &Path,
        stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError> {
        let variable = |name: &str| self.base.get(name).map(str::to_owned);
        let found = pattern.found(tree, base, &variable, &self.compiled, stop)?;
        Ok(if found { Match::Supported } else { Match::NotSupported })
    }

    /// Decides how the environment is passed; an error, before anything runs, if it is too large.
    fn pass(&self, request: &Request, commands: &[(Phase, Vec<String>)]) -> Result<Passing, PluginError> {
        let argvs: Vec<&[String]> = commands.iter().map(|(_, argv)| argv.as_slice()).collect();
        let large = self.config.large_parameters;
        let env = match large {
            LargeParameters::File => self.environment(request),
            LargeParameters::Refuse => {
                self.base.with_request(self.folder.as_deref(), &request.env_with_resolved()?)
            }
        };
        let mut passing = passing::pass(env, &argvs, large, ExecLimits::current())?;
        if large == LargeParameters::File {
            passing.add_to_file(&request.resolved);
        }
        Ok(passing)
    }

    async fn run_in(
        &self,
        ongoing: &mut ActiveRun,
        request: &Request,
        commands: Vec<(Phase, Vec<String>)>,
        env: Vec<(String, String)>,
    ) -> Result<Vec<CommandOutput>, PluginError> {
        let deadline = request.deadline.from(Instant::now());
        let redactor = request.redactor();
        let mut finished = Vec::with_capacity(commands.len());
        for (phase, argv) in commands {
            let spec = CommandSpec {
                argv: self.with_own_program(&argv),
                env: env.clone(),
                dir: PathBuf::from(request.app_path.as_str()),
            };
            let started = Instant::now();
            // Only the program: arguments may be secret.
            let span = tracing::info_span!("plugin.runCommand", command = argv.first().map(String::as_str));
            let outcome = ongoing.run()?.execute(spec, Some(deadline), &request.cancel);
            let outcome = outcome.instrument(span).await;
            let end = match &outcome {
                Ok(outcome) => outcome.ended.into(),
                Err(RunError::Start { .. }) => CommandEnd::NotStarted,
                Err(RunError::Launcher { .. }) => CommandEnd::Failed,
            };
            self.settings.observer.command_ended(phase, started.elapsed(), end);
            let outcome = outcome
                .map_err(|source| PluginError::Run { phase, source: self.with_lost_mode(source, request) })?;
            finished.push(self.evaluate(phase, &argv, ongoing.root(), &redactor, outcome)?);
        }
        Ok(finished)
    }

    /// Names the setting of the plugin that helps if the program of a command is a file of the source whose mode is not preserved.
    fn with_lost_mode(&self, error: RunError, request: &Request) -> RunError {
        let RunError::Start { program, source } = error else { return error };
        let is_of_source = self.modes() == Modes::Plain
            && source.kind() == ErrorKind::PermissionDenied
            && program.contains('/')
            && !program.starts_with('/')
            && request
                .app_path
                .join(&program)
                .is_ok_and(|path| request.tree.root().join(path.as_str()).is_file());
        let source = if is_of_source { io::Error::new(source.kind(), MODE_LOST) } else { source };
        RunError::Start { program, source }
    }

    /// Returns the command line. In process, an absolute program that does not exist is looked up in the plugin's directory, so that one
    /// `plugin.yaml` works here and in a sidecar.
    fn argv(&self, command: &config::Command) -> Vec<String> {
        let mut argv = command.argv();
        if let (Some(folder), Some(program)) = (&self.folder, argv.first_mut()) {
            let path = Path::new(program.as_str());
            let beside = path.file_name().map(|name| folder.join(name));
            if path.is_absolute()
                && !path.exists()
                && let Some(beside) = beside.filter(|beside| beside.exists())
            {
                *program = beside.to_string_lossy().into_owned();
            }
        }
        argv
    }

    /// Returns the native program if it knows the program of a command, and the plugin's directory has none of that name.
    fn native_for(&self, argv: &[String]) -> Option<&NativeProgram> {
        let program = argv.first().filter(|program| !self.has_program(program))?;
        self.settings.native.as_deref().filter(|native| native.knows(program))
    }

    /// Whether the plugin's directory has a program of this name.
    fn has_program(&self, program: &str) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.join(program).is_file())
    }

    /// Returns the command line of the process: that of a program that is part of this one begins with this one.
    fn with_own_program(&self, argv: &[String]) -> Vec<String> {
        let is_own = |program: &String| {
            self.settings.programs.contains(&program.as_str()) && !self.has_program(program)
        };
        let own = argv.first().filter(|program| is_own(program));
        let own = own.map(|_| self.settings.launcher.executable().to_string_lossy().into_owned());
        own.into_iter().chain(argv.iter().cloned()).collect()
    }

    fn evaluate(
        &self,
        phase: Phase,
        argv: &[String],
        root: &Path,
        redactor: &ValueRedactor,
        outcome: Outcome,
    ) -> Result<CommandOutput, PluginError> {
        let command = quote_command(argv);
        let stderr = without_root(&redactor.redact(outcome.stderr.trim()), root);
        match outcome.ended {
            Ended::Exited(0) => {
                if outcome.stdout.is_empty() {
                    tracing::warn!(target: COMMAND_LOG, command, stderr, "Plugin command returned zero output");
                } else {
                    tracing::info!(target: COMMAND_LOG, command, stderr, "Plugin command successful");
                }
                Ok(CommandOutput { stdout: outcome.stdout, stderr, duration: outcome.duration })
            }
            Ended::Exited(code) => {
                Err(PluginError::Command { phase, command, how: CommandFailure::Exited(code), stderr })
            }
            Ended::Signalled(signal) => {
                Err(PluginError::Command { phase, command, how: CommandFailure::Signalled(signal), stderr })
            }
            Ended::DeadlineExceeded => Err(PluginError::DeadlineExceeded { phase, command, stderr }),
            Ended::Cancelled => Err(PluginError::Cancelled),
            Ended::OutputTooLarge => Err(PluginError::OutputTooLarge {
                phase,
                command,
                bytes_max: self.settings.limits.stdout_bytes_max,
            }),
        }
    }
}

/// A check of a run's trees after its commands ended, on a thread of its own. A file that was removed from a tree meanwhile would silently
/// be missing in the answer.
struct TreeCheck(JoinHandle<bool>);

impl TreeCheck {
    fn start(trees: Vec<Tree>) -> Self {
        Self(spawn_blocking(move || trees.iter().all(Tree::has_its_entries)))
    }

    async fn require_complete(self) -> Result<(), PluginError> {
        match self.0.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(PluginError::TreeChanged),
            // The task is only dropped when the runtime shuts down.
            Err(_) => Err(PluginError::Cancelled),
        }
    }
}

/// The output of a command that succeeded.
#[derive(Default)]
struct CommandOutput {
    stdout: Vec<u8>,
    stderr: String,
    duration: Duration,
}

impl CommandOutput {
    fn warnings(&self) -> Vec<String> {
        warnings_in(&self.stderr)
    }
}

#[async_trait::async_trait]
impl Plugin for LocalPlugin {
    fn name(&self) -> &str {
        &self.name
    }

    fn modes(&self) -> Modes {
        if self.config.preserve_file_mode { Modes::Preserved } else { Modes::Plain }
    }

    fn environment(&self, request: &Request) -> Vec<(String, String)> {
        self.base.with_request(self.folder.as_deref(), &request.env)
    }

    async fn configuration(&self) -> Result<Configuration, PluginError> {
        Ok(Configuration {
            discovery_configured: self.config.discovery_configured(),
            provide_git_creds: self.config.provide_git_creds,
            run_context: self.config.run_context,
        })
    }

    fn looks_only_at_folder(&self) -> bool {
        match discovery::rule(&self.config) {
            None => true,
            Some(discovery::Rule::Pattern(pattern)) => pattern.matches_only_names(),
            Some(discovery::Rule::Command(_)) => false,
        }
    }

    fn shares_announcements(&self) -> bool {
        self.config.announcement_rule != AnnouncementRule::Own
    }

    fn announces_many(&self) -> bool {
        self.config.announcement_rule == AnnouncementRule::Many && self.config.dynamic.is_some()
    }

    fn inputs(&self) -> InputRule {
        self.config.inputs
    }

    fn discovery_rule(&self) -> Option<String> {
        discovery::rule_text(&self.config)
    }

    fn discovery(&self) -> Discovery {
        match discovery::rule(&self.config) {
            None => Discovery::NotConfigured,
            Some(discovery::Rule::Pattern(_)) => Discovery::Entries,
            Some(discovery::Rule::Command(_)) => Discovery::Run,
        }
    }

    fn matches_entries(
        &self,
        entries: &Entries,
        app_path: &RepoPath,
        stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError> {
        let Some(discovery::Rule::Pattern(pattern)) = discovery::rule(&self.config) else {
            return Err(PluginError::NeedsFiles { plugin: self.name.clone() });
        };
        let base = entries.resolve(app_path).map_err(|source| app_path_error(app_path, source))?;
        self.match_pattern(&pattern, entries, &base.below(Path::new("")), stop)
    }

    async fn matches(&self, request: &Request) -> Result<Match, PluginError> {
        match discovery::rule(&self.config) {
            None => Ok(Match::DiscoveryNotConfigured),
            Some(discovery::Rule::Pattern(pattern)) => {
                let (root, path) = (request.tree.root(), &request.app_path);
                let base = resolve(root, path).map_err(|source| app_path_error(path, source))?;
                let base = base.strip_prefix(root).unwrap_or(&base);
                let tree = Folder::new(root, self.settings.store.limits().entries_max);
                self.match_pattern(&pattern, &tree, base, &|| request.cancel.is_cancelled())
            }
            Some(discovery::Rule::Command(command)) => {
                let finished = self.run(request, &[(Phase::Find, command)]).await?;
                TreeCheck::start(self.trees(request)).require_complete().await?;
                let found = finished.iter().any(|one| !without_newline(&one.stdout).is_empty());
                Ok(if found { Match::Supported } else { Match::NotSupported })
            }
        }
    }

    fn check_parameters(&self, request: &Request) -> Result<(), PluginError> {
        let Some(value) = request.env.iter().rfind(|variable| variable.name == PARAMETERS) else {
            return Ok(());
        };
        let checked = tiphys_yaml::read_json(value.value.as_bytes())
            .map_err(|error| error.to_string())
            .and_then(|node| Parameters::decode(&node, "").map_err(|error| error.to_string()))
            .and_then(|parameters| parameters.require_names().map_err(|error| error.to_string()));
        match (checked, self.settings.strictness) {
            (Ok(()), _) => Ok(()),
            (Err(message), Strictness::Refuse) => Err(PluginError::Parameters { message }),
            (Err(message), Strictness::Log) => {
                tracing::warn!(plugin = self.name, "{PARAMETERS}: {message}");
                Ok(())
            }
        }
    }

    async fn generate(&self, request: &Request) -> Result<Generated, PluginError> {
        check_kustomization(request).await?;
        let mut commands = Vec::new();
        commands.extend(self.config.init.as_ref().map(|command| (Phase::Init, command)));
        commands.push((Phase::Generate, &self.config.generate));
        let output = match self.in_process(request).await? {
            None => self.by_native_program(request).await?,
            output => output,
        };
        let finished = match output {
            Some(output) => vec![output],
            None => self.run(request, &commands).await?,
        };
        let check = TreeCheck::start(self.trees(request));
        let stdout = finished.last().map(|one| one.stdout.as_slice()).unwrap_or_default();
        let began = Instant::now();
        let documents = tiphys_yaml::split_output(stdout);
        self.settings.observer.output_parsed(began.elapsed());
        check.require_complete().await?;
        let documents = documents.map_err(|error| PluginError::Output {
            phase: Phase::Generate,
            message: request.redactor().redact(&error.to_string()).into_owned(),
        })?;
        Ok(Generated {
            documents,
            stderr: finished
                .iter()
                .map(|one| one.stderr.as_str())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n"),
            duration: finished.iter().map(|one| one.duration).sum(),
        })
    }

    async fn announce(&self, request: &Request) -> Result<Announced, PluginError> {
        let fixed = announcement::static_announcements(&self.config, self.settings.strictness)?;
        let Some(command) = &self.config.dynamic else {
            return Ok(Announced {
                list: announcement::merged(fixed, Vec::new(), &self.name),
                warnings: Vec::new(),
            });
        };
        let output = self.output(request, Phase::Announce, command).await?;
        let began = Instant::now();
        let dynamic = announcement::dynamic(&output.stdout, &self.name, self.settings.strictness);
        self.settings.observer.output_parsed(began.elapsed());
        Ok(Announced { list: announcement::merged(fixed, dynamic?, &self.name), warnings: output.warnings() })
    }

    async fn announce_many(&self, requests: &[Request]) -> Result<Vec<Option<Announced>>, PluginError> {
        let unknown = vec![None; requests.len()];
        let Some((request, command)) = many::request(requests).zip(self.config.dynamic.as_ref()) else {
            return Ok(unknown);
        };
        let fixed = announcement::static_announcements(&self.config, self.settings.strictness)?;
        let output = self.output(&request, Phase::Announce, command).await?;
        let began = Instant::now();
        let answers = many::answers(&output.stdout, &self.name, requests.len());
        self.settings.observer.output_parsed(began.elapsed());
        let merged = |answer: Announced| Announced {
            list: announcement::merged(fixed.clone(), answer.list, &self.name),
            warnings: answer.warnings,
        };
        Ok(answers?.into_iter().map(|answer| answer.map(merged)).collect())
    }

    async fn explain(&self, request: &Request, name: &str) -> Result<Option<Explanation>, PluginError> {
        let Some(command) = &self.config.explain else { return Ok(None) };
        let mut request = request.clone();
        request.env.push(EnvVar::new(PARAMETER_VARIABLE, name));
        let output = self.output(&request, Phase::Explain, command).await?;
        let layers = explanation::decode(&output.stdout)
            .map_err(|message| PluginError::Output { phase: Phase::Explain, message })?;
        Ok(Some(Explanation { layers, warnings: output.warnings() }))
    }

    async fn explain_all(&self, request: &Request) -> Result<Option<Explanations>, PluginError> {
        let command = self.config.explain.as_ref();
        let explains_all = self.config.explanation_rule == ExplanationRule::All;
        let Some(command) = command.filter(|_| explains_all) else { return Ok(None) };
        let output = self.output(request, Phase::Explain, command).await?;
        let began = Instant::now();
        let layers = explanation::decode_all(&output.stdout)
            .map_err(|message| PluginError::Output { phase: Phase::Explain, message })?;
        self.settings.observer.output_parsed(began.elapsed());
        Ok(Some(Explanations { layers, warnings: output.warnings() }))
    }
}

/// Refuses a kustomization in the application's directory that leads out of the repository: the plugin may pass it to kustomize, which
/// reads files as the user of this process.
async fn check_kustomization(request: &Request) -> Result<(), PluginError> {
    let (tree, path) = (request.tree.clone(), request.app_path.clone());
    match spawn_blocking(move || tiphys_tree::kustomization::check(tree.root(), &path)).await {
        Ok(checked) => Ok(checked?),
        // The task is only dropped when the runtime shuts down.
        Err(_) => Err(PluginError::Cancelled),
    }
}

fn app_path_error(path: &RepoPath, source: ContainmentError) -> PluginError {
    PluginError::AppPath { path: path.clone(), source }
}

/// Removes one final newline, like Argo CD's command runner.
fn without_newline(stdout: &[u8]) -> &[u8] {
    stdout.strip_suffix(b"\n").unwrap_or(stdout)
}

/// Removes the path of the private view, which differs in every run and means nothing to a reader.
fn without_root(text: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    text.replace(&format!("{root}/"), "").replace(root.as_ref(), ".")
}
