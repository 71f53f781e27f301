//! The plugins that are part of this program, and their programs.
//!
//! A command of a plugin is another process. So this executable runs a plugin's program if its first argument is the program's name, or if
//! it is called by that name, as through a link.

use std::ffi::{OsStr, OsString};
use std::iter;
use std::path::Path;
use std::process::ExitCode;

use tiphys_kustomize::GIT_PROGRAM;
use tiphys_plugin::{InProcessCommand, NATIVE_KUSTOMIZE, NATIVE_PROGRAM, NativeCommand, NativeOutput};
use tiphys_service::doctor::{CheckedProgram, ProgramNeed, RequiredProgram};

/// The files of the plugins.
pub(crate) const PLUGIN_FILES: &[&str] = &[tiphys_helm::PLUGIN_FILE, tiphys_kustomize::PLUGIN_FILE];

/// The names of their programs.
pub(crate) const PROGRAMS: &[&str] =
    &[tiphys_helm::PROGRAM, tiphys_kustomize::PROGRAM, tiphys_kustomize::HELM_PROGRAM];

/// The commands that the program `tiphys-native` can do instead.
pub(crate) const NATIVE_COMMANDS: &[NativeCommand] = &[NativeCommand {
    program: tiphys_kustomize::PROGRAM,
    request: |call| {
        tiphys_kustomize::native_request(call.env, call.tree.root(), call.app_path, NATIVE_KUSTOMIZE)
    },
}];

/// The commands that this process does itself.
pub(crate) const IN_PROCESS_COMMANDS: &[InProcessCommand] = &[InProcessCommand {
    program: tiphys_helm::PROGRAM,
    generate: |call| {
        let (output, warnings) =
            tiphys_helm::generate_in_process(call.env, call.tree, call.app_path.as_str())?;
        Ok(NativeOutput { output, warnings })
    },
}];

/// Returns by which rules this engine renders charts beside the helm that was found, or why all charts are left to it. `None` if another engine
/// was chosen, or no usable helm was found.
pub(crate) fn helm_rules(engine: &str, programs: &[CheckedProgram]) -> Option<String> {
    let helm = programs.iter().find(|program| program.required.name == "helm" && program.note.is_none())?;
    let (path, version) = (helm.path.as_ref()?, helm.version.as_ref()?);
    (engine == "auto").then(|| match tiphys_helm::rules_beside(path, version) {
        Ok(rules) => format!("by the rules of Helm {rules}"),
        Err(reason) => format!("all charts are left to helm: {reason}"),
    })
}

/// Returns the programs that tiphys and its plugins run, if this engine renders charts.
pub(crate) fn required_programs(helm_engine: &str) -> Vec<RequiredProgram> {
    let (needed_by, need) = match helm_engine {
        "builtin" | "builtin-helm3" => ("kustomizations with charts", ProgramNeed::Unused),
        "program" | "compare" => ("charts", ProgramNeed::Required),
        _ => ("charts that the built-in engine leaves to it", ProgramNeed::Optional),
    };
    vec![
        RequiredProgram {
            name: "git",
            variable: None,
            instead: None,
            version_arguments: &["--version"],
            is_supported: tiphys_source::is_supported_git,
            supported: format!("git {} or later", tiphys_source::GIT_VERSION_MIN),
            needed_by: "repositories, comparisons of revisions",
            need: ProgramNeed::Required,
            website: "https://git-scm.com/downloads",
        },
        RequiredProgram {
            name: "helm",
            variable: Some("TIPHYS_HELM"),
            instead: None,
            version_arguments: &["version", "--template", "{{.Version}}"],
            is_supported: tiphys_helm::is_supported_version,
            supported: tiphys_helm::supported_versions(),
            needed_by,
            need,
            website: "https://helm.sh/docs/intro/install",
        },
        RequiredProgram {
            name: "kustomize",
            variable: Some("TIPHYS_KUSTOMIZE"),
            instead: Some((NATIVE_PROGRAM, NATIVE_KUSTOMIZE)),
            version_arguments: &["version"],
            is_supported: tiphys_kustomize::is_supported_version,
            supported: tiphys_kustomize::supported_versions(),
            needed_by: "kustomizations",
            need: ProgramNeed::Required,
            website: "https://kubectl.docs.kubernetes.io/installation/kustomize",
        },
    ]
}

/// A call of a plugin's program.
#[derive(Debug)]
pub(crate) struct PluginCall {
    program: &'static str,
    /// Without the program's name.
    arguments: Vec<OsString>,
}

impl PluginCall {
    /// Returns the call that the arguments of a process stand for, if any.
    pub(crate) fn parse(arguments: &[OsString]) -> Option<Self> {
        let known = |name: &OsStr| PROGRAMS.iter().copied().find(|program| name == *program);
        let (own, rest) = arguments.split_first()?;
        // `git` is a name of the program only through the plugin's link.
        let by_link = |name: &OsStr| known(name).or((name == GIT_PROGRAM).then_some(GIT_PROGRAM));
        if let Some(program) = Path::new(own).file_name().and_then(by_link) {
            return Some(Self { program, arguments: rest.to_vec() });
        }
        let (first, rest) = rest.split_first()?;
        Some(Self { program: known(first)?, arguments: rest.to_vec() })
    }

    /// Runs the program and returns its exit code.
    pub(crate) fn run(self) -> ExitCode {
        let arguments = iter::once(self.program.into()).chain(self.arguments).collect();
        if self.program == tiphys_helm::PROGRAM {
            tiphys_helm::run(arguments)
        } else {
            tiphys_kustomize::run(arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_named_by_the_file_or_the_first_argument() {
        for (arguments, expected) in [
            (&["/bin/tiphys", "tiphys-helm", "generate"][..], Some("tiphys-helm generate")),
            (
                &["/tmp/x/tiphys-kustomize-helm", "template", "tiphys-helm"],
                Some("tiphys-kustomize-helm template tiphys-helm"),
            ),
            (&["tiphys-kustomize"], Some("tiphys-kustomize")),
            (&["git", "fetch"], Some("git fetch")),
            (&["/bin/tiphys", "git", "fetch"], None),
            (&["/bin/tiphys", "render", "tiphys-helm"], None),
            (&["/bin/tiphys"], None),
            (&[], None),
        ] {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            let found = PluginCall::parse(&arguments).map(|call| {
                let words = call.arguments.iter().map(|word| word.to_string_lossy().into_owned());
                iter::once(call.program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn plugins_are_valid() {
        for text in PLUGIN_FILES {
            let plugin = tiphys_plugin::LoadedPlugin::built_in(text).expect("it is valid");
            for command in [
                Some(&plugin.config.generate),
                plugin.config.dynamic.as_ref(),
                plugin.config.explain.as_ref(),
            ] {
                let program = command.and_then(|command| command.command.first());
                assert!(program.is_none_or(|program| PROGRAMS.contains(&program.as_str())), "{program:?}");
            }
        }
    }
}
