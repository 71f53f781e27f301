//! The rules of `plugin check`. Their names are part of the interface: none is removed or renamed.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// It fails, when the plugin starts or when it is used.
    Error,
    /// It works differently from how it reads.
    Warning,
    /// It has no effect yet.
    Note,
}

/// The rule of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Rule {
    /// Invalid YAML for Kubernetes' reader.
    InvalidYaml,
    /// A field has the wrong type.
    WrongType,
    /// `metadata.name` is missing.
    MissingName,
    /// `kind` is wrong.
    WrongKind,
    /// `spec.generate.command` is missing.
    MissingGenerate,
    /// The name or version cannot be part of a file name.
    UnusableName,
    /// The socket's path is longer than the system allows.
    SocketPathTooLong,
    /// An announcement is `null`.
    NullAnnouncement,
    /// An announcement has no name.
    AnnouncementWithoutName,
    /// An announcement has an unknown `collectionType`.
    UnknownCollectionType,
    /// A discovery pattern is invalid.
    GlobSyntax,
    /// `apiVersion` is wrong.
    WrongApiVersion,
    /// An unknown key.
    UnknownKey,
    /// A key of the plugins of Argo CD before 2.8.
    DeprecatedKey,
    /// A key that is given twice.
    DuplicateKey,
    /// More than one document.
    SeveralDocuments,
    /// A key of tiphys has an invalid value.
    UnusableValue,
    /// `args` without `command`.
    ArgsWithoutCommand,
    /// More than one discovery rule.
    SeveralDiscoveryRules,
    /// No discovery rule.
    #[strum(serialize = "no-discovery-rule")]
    NoDiscovery,
    /// A `fileName` that looks like a pattern of `find.glob`.
    FileNamePattern,
    /// A `find.glob` without `*` or `{`, which fails if nothing is found.
    LiteralGlob,
    /// A script of several lines in the file.
    EmbeddedScript,
    /// A script in the file runs strings as commands.
    EvalInScript,
    /// A script in the file splits strings into words by `xargs`.
    XargsInScript,
    /// The program of a command is not on this machine.
    ProgramNotFound,
    /// The file of a command's program is not executable.
    ProgramNotExecutable,
    /// Two announcements of one list have the same name.
    DuplicateAnnouncement,
    /// A default in a field that the collection type does not use.
    IgnoredDefault,
    /// An `itemType` that is treated as string.
    UnknownItemType,
    /// `choices` is not a list of strings.
    InvalidChoices,
    /// A default is not among the choices.
    DefaultNotInChoices,
    /// A default does not match its `itemType`.
    DefaultNotOfItemType,
    /// Two announced names result in the same environment variable.
    VariableCollision,
    /// An announcement is `required` and has a default, which satisfies that.
    RequiredWithDefault,
    /// The static and the dynamic announcement of one name have different collection types.
    CollectionTypeDiffers,
    /// The dynamic command failed.
    AnnouncementFailed,
    /// The dynamic command did not print a JSON list.
    AnnouncementOutput,
}

impl Rule {
    /// All rules.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the rule's name in the output.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the severity.
    pub fn level(self) -> Level {
        match self {
            Self::InvalidYaml
            | Self::WrongType
            | Self::MissingName
            | Self::WrongKind
            | Self::MissingGenerate
            | Self::UnusableName
            | Self::SocketPathTooLong
            | Self::NullAnnouncement
            | Self::AnnouncementWithoutName
            | Self::UnknownCollectionType
            | Self::GlobSyntax
            | Self::ProgramNotExecutable
            | Self::AnnouncementFailed
            | Self::AnnouncementOutput => Level::Error,
            _ => Level::Warning,
        }
    }

    /// Returns the page and heading of the documentation of the rule.
    pub fn page(self) -> String {
        format!("docs/plugin-rules.md#{}", self.name())
    }
}

impl Level {
    /// Returns the level's name in the output.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
