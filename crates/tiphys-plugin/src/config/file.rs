//! The fields of a plugin's file as decoded by Go, with defaults. Only the types are checked.

use serde_json::{Map, Value, json};
use tiphys_model::params::AnnouncementEntry;
use tiphys_yaml::{Data, DecodeError, Node, Object};

use crate::plugin::InputRule;

use super::{
    AnnouncementRule, Command, ConfigError, Discover, ExplanationRule, KIND, Metadata, PluginConfig,
};

/// The annotation by which a plugin declares what its output depends on.
const INPUTS: &str = "tiphys/inputs";

/// The annotation by which a plugin declares for which applications an answer of its dynamic command counts.
const ANNOUNCEMENTS: &str = "tiphys/announcements";

/// The annotation by which a plugin declares which parameters a run of its explaining command explains.
const EXPLANATIONS: &str = "tiphys/explanations";

/// How parameters are passed that do not fit into the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeParameters {
    /// The request is refused.
    #[default]
    Refuse,
    /// In files (`spec.largeParameters: file`), which always exist; the variables exist if they fit.
    File,
}

/// `command` and `args` as written; `None` if absent or `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFields {
    /// `command`.
    pub command: Option<Vec<String>>,
    /// `args`.
    pub args: Option<Vec<String>>,
}

/// A plugin's file with valid types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of its name; `PluginConfig` describes them")]
pub struct PluginFile {
    pub api_version: String,
    pub kind: String,
    pub metadata: Metadata,
    pub version: String,
    pub init: CommandFields,
    pub generate: CommandFields,
    pub discover_file_name: String,
    pub discover_find_glob: String,
    pub discover_find: CommandFields,
    /// `None` if the list is absent or `null`.
    pub parameters_static: Option<Vec<AnnouncementEntry>>,
    pub parameters_dynamic: CommandFields,
    pub parameters_explain: CommandFields,
    pub preserve_file_mode: bool,
    pub provide_git_creds: bool,
    pub run_context: bool,
    pub large_parameters: LargeParameters,
    /// Keys without an effect.
    pub(super) ignored: Vec<Ignored>,
}

/// A key of the file's objects (not of announcements) without an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    /// The key is unknown.
    Unknown { key: tiphys_yaml::Key, path: String, known: Vec<&'static str> },
    /// The field occurs again in another letter case; Go decodes it over the first one.
    Repeated { key: tiphys_yaml::Key, path: String },
    /// A key of tiphys has an invalid value, so it is treated as absent.
    Unusable(DecodeError),
}

impl PluginFile {
    /// Reads the first document; an empty document is an empty file.
    pub fn read(text: &[u8]) -> Result<Self, ConfigError> {
        match tiphys_yaml::read_document(text)? {
            Some(node) => Ok(Self::decode(&node.deduplicated())?),
            None => Ok(Self::default()),
        }
    }

    /// Decodes a document that went through [`Node::deduplicated`].
    pub(super) fn decode(node: &Node) -> Result<Self, DecodeError> {
        Self::decode_document(&mut Object::new(node, "")?)
    }

    fn decode_document(top: &mut Object<'_>) -> Result<Self, DecodeError> {
        let mut file =
            Self { api_version: text(top, "apiVersion")?, kind: text(top, "kind")?, ..Self::default() };
        if let Some(mut metadata) = top.object("metadata")? {
            file.metadata = Metadata::decode(&mut metadata)?;
        }
        if let Some(mut spec) = top.object("spec")? {
            file.decode_spec(&mut spec)?;
        }
        file.note_ignored(top);
        Ok(file)
    }

    /// Validates the file like Argo CD, in the same order.
    pub fn into_config(self) -> Result<PluginConfig, ConfigError> {
        if self.metadata.name.is_empty() {
            return Err(ConfigError::NoName);
        }
        if self.kind != KIND {
            return Err(ConfigError::Kind { found: self.kind });
        }
        let (inputs, announcement_rule) = (self.inputs(), self.announcement_rule());
        let explanation_rule = self.explanation_rule();
        let Some(generate) = self.generate.into_command() else { return Err(ConfigError::NoGenerate) };
        Ok(PluginConfig {
            name: self.metadata.name,
            version: self.version,
            init: self.init.into_command(),
            generate,
            discover: Discover {
                file_name: self.discover_file_name,
                find_glob: self.discover_find_glob,
                find_command: self.discover_find.into_command(),
            },
            static_announcements: self.parameters_static.unwrap_or_default(),
            dynamic: self.parameters_dynamic.into_command(),
            explain: self.parameters_explain.into_command(),
            preserve_file_mode: self.preserve_file_mode,
            provide_git_creds: self.provide_git_creds,
            run_context: self.run_context,
            large_parameters: self.large_parameters,
            inputs,
            announcement_rule,
            explanation_rule,
        })
    }

    /// Returns for which applications an answer counts; for one if the annotation is absent or has another value.
    fn announcement_rule(&self) -> AnnouncementRule {
        match self.metadata.annotations.get(ANNOUNCEMENTS).map(String::as_str) {
            Some("shared") => AnnouncementRule::Shared,
            Some("many") => AnnouncementRule::Many,
            _ => AnnouncementRule::Own,
        }
    }

    /// Returns for which parameters an explanation counts; for one if the annotation is absent or has another value.
    fn explanation_rule(&self) -> ExplanationRule {
        match self.metadata.annotations.get(EXPLANATIONS).map(String::as_str) {
            Some("all") => ExplanationRule::All,
            _ => ExplanationRule::One,
        }
    }

    /// Returns what the output depends on; any file if the annotation is absent or has another value.
    pub(super) fn inputs(&self) -> InputRule {
        match self.metadata.annotations.get(INPUTS).map(String::as_str) {
            Some("chart") => InputRule::Chart,
            Some("kustomization") => InputRule::Kustomization,
            _ => InputRule::Revision,
        }
    }

    /// Returns the configuration as JSON, with all defaults. Keys of tiphys are only included if set.
    pub fn to_json(&self) -> Value {
        let mut spec = json!({
            "version": self.version,
            "init": self.init.to_json(),
            "generate": self.generate.to_json(),
            "discover": {
                "fileName": self.discover_file_name,
                "find": {
                    "glob": self.discover_find_glob,
                    "command": self.discover_find.command,
                    "args": self.discover_find.args,
                },
            },
            "parameters": {
                "static": self.parameters_static.as_ref().map(|entries| entries.iter().map(entry_json).collect::<Vec<_>>()),
                "dynamic": self.parameters_dynamic.to_json(),
            },
            "preserveFileMode": self.preserve_file_mode,
            "provideGitCreds": self.provide_git_creds,
        });
        if self.parameters_explain != CommandFields::default() {
            spec["parameters"]["explain"] = self.parameters_explain.to_json();
        }
        if self.run_context {
            spec["runContext"] = Value::Bool(true);
        }
        if self.large_parameters == LargeParameters::File {
            spec["largeParameters"] = Value::from("file");
        }
        json!({ "apiVersion": self.api_version, "kind": self.kind, "metadata": self.metadata.to_json(), "spec": spec })
    }

    fn decode_spec(&mut self, spec: &mut Object<'_>) -> Result<(), DecodeError> {
        self.version = text(spec, "version")?;
        self.init = self.decode_command(spec, "init")?;
        self.generate = self.decode_command(spec, "generate")?;
        if let Some(mut discover) = spec.object("discover")? {
            self.decode_discover(&mut discover)?;
        }
        if let Some(mut parameters) = spec.object("parameters")? {
            self.decode_parameters(&mut parameters)?;
        }
        self.preserve_file_mode = spec.boolean("preserveFileMode")?.unwrap_or_default();
        self.provide_git_creds = spec.boolean("provideGitCreds")?.unwrap_or_default();
        self.decode_own_keys(spec);
        self.note_ignored(spec);
        Ok(())
    }

    /// A file that works in Argo CD must not be rejected because of keys that Argo CD does not know, so an invalid value is only noted.
    fn decode_own_keys(&mut self, spec: &mut Object<'_>) {
        match spec.boolean("runContext") {
            Ok(value) => self.run_context = value.unwrap_or_default(),
            Err(error) => self.ignored.push(Ignored::Unusable(error)),
        }
        match spec.text("largeParameters") {
            Ok(Some("file")) => self.large_parameters = LargeParameters::File,
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => {
                let position = spec.get("largeParameters").map_or(spec.position(), |value| value.position);
                let path = spec.path_of("largeParameters");
                self.ignored.push(Ignored::Unusable(DecodeError {
                    position,
                    path,
                    message: "expected `file`".to_owned(),
                }));
            }
        }
    }

    fn decode_discover(&mut self, discover: &mut Object<'_>) -> Result<(), DecodeError> {
        self.discover_file_name = text(discover, "fileName")?;
        if let Some(mut find) = discover.object("find")? {
            self.discover_find_glob = text(&mut find, "glob")?;
            self.discover_find = CommandFields::decode(&mut find)?;
            self.note_ignored(&find);
        }
        self.note_ignored(discover);
        Ok(())
    }

    fn decode_parameters(&mut self, parameters: &mut Object<'_>) -> Result<(), DecodeError> {
        if let Some(last) = parameters.list("static")? {
            let path = parameters.path_of("static");
            // If the key occurs in several letter cases (`Static`, `static`), each list is decoded over the ones before it.
            let nodes = parameters.all("static");
            let after_null = nodes.iter().rposition(|node| node.is_null()).map_or(0, |null| null + 1);
            let at_index = |index: usize| {
                let lists = nodes[after_null..].iter();
                lists.filter_map(|list| item(list, index)).collect::<Vec<_>>()
            };
            self.parameters_static = Some(
                (0..last.len())
                    .map(|index| AnnouncementEntry::overlaid(&at_index(index), index, &path))
                    .collect::<Result<_, _>>()?,
            );
        }
        self.parameters_dynamic = self.decode_command(parameters, "dynamic")?;
        // A key of tiphys: an invalid value is only noted.
        match self.decode_command(parameters, "explain") {
            Ok(command) => self.parameters_explain = command,
            Err(error) => self.ignored.push(Ignored::Unusable(error)),
        }
        self.note_ignored(parameters);
        Ok(())
    }

    fn decode_command(
        &mut self,
        parent: &mut Object<'_>,
        key: &'static str,
    ) -> Result<CommandFields, DecodeError> {
        let Some(mut object) = parent.object(key)? else { return Ok(CommandFields::default()) };
        let command = CommandFields::decode(&mut object)?;
        self.note_ignored(&object);
        Ok(command)
    }

    fn note_ignored(&mut self, object: &Object<'_>) {
        let known = object.known();
        self.ignored.extend(object.unknown().into_iter().map(|entry| Ignored::Unknown {
            key: entry.key.clone(),
            path: object.path_of(&entry.key.text),
            known: known.clone(),
        }));
        self.ignored.extend(
            object
                .duplicates()
                .into_iter()
                .map(|key| Ignored::Repeated { key: key.clone(), path: object.path_of(&key.text) }),
        );
    }
}

impl CommandFields {
    fn decode(object: &mut Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self { command: object.texts("command")?, args: object.texts("args")? })
    }

    /// Whether there is a command.
    pub fn is_given(&self) -> bool {
        self.command.as_ref().is_some_and(|words| !words.is_empty())
    }

    fn into_command(self) -> Option<Command> {
        let command = self.command.filter(|words| !words.is_empty())?;
        Some(Command { command, args: self.args.unwrap_or_default() })
    }

    fn to_json(&self) -> Value {
        json!({ "command": self.command, "args": self.args })
    }
}

fn item(list: &Node, index: usize) -> Option<&Node> {
    match &list.data {
        Data::Sequence(items) => items.get(index),
        _ => None,
    }
}

fn text(object: &mut Object<'_>, key: &'static str) -> Result<String, DecodeError> {
    Ok(object.text(key)?.unwrap_or_default().to_owned())
}

/// Returns an announcement with Argo CD's defaults; `choices` only if set.
fn entry_json(entry: &AnnouncementEntry) -> Value {
    let Some(announcement) = &entry.announcement else { return Value::Null };
    let text = |value: &Option<String>| Value::from(value.clone().unwrap_or_default());
    let mut out = Map::new();
    out.insert("name".to_owned(), text(&announcement.name));
    out.insert("title".to_owned(), text(&announcement.title));
    out.insert("tooltip".to_owned(), text(&announcement.tooltip));
    out.insert("required".to_owned(), announcement.required.unwrap_or_default().into());
    out.insert("itemType".to_owned(), text(&announcement.item_type));
    out.insert("collectionType".to_owned(), text(&announcement.collection_type));
    out.insert("string".to_owned(), text(&announcement.string));
    out.insert("array".to_owned(), json!(announcement.array));
    out.insert("map".to_owned(), json!(announcement.map));
    if let Some(choices) = &announcement.choices {
        out.insert("choices".to_owned(), json!(choices));
    }
    Value::Object(out)
}
