//! The rules of `plugin check`. Their names are part of the interface: none is removed or renamed.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It fails, when the plugin starts or when it is used.
    Error,
    /// It works differently from how it reads.
    Warning,
    /// It has no effect yet.
    Note,
}

/// The rule of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const ALL: [Self; 38] = [
        Self::InvalidYaml,
        Self::WrongType,
        Self::MissingName,
        Self::WrongKind,
        Self::MissingGenerate,
        Self::UnusableName,
        Self::SocketPathTooLong,
        Self::NullAnnouncement,
        Self::AnnouncementWithoutName,
        Self::UnknownCollectionType,
        Self::GlobSyntax,
        Self::WrongApiVersion,
        Self::UnknownKey,
        Self::DeprecatedKey,
        Self::DuplicateKey,
        Self::SeveralDocuments,
        Self::UnusableValue,
        Self::ArgsWithoutCommand,
        Self::SeveralDiscoveryRules,
        Self::NoDiscovery,
        Self::FileNamePattern,
        Self::LiteralGlob,
        Self::EmbeddedScript,
        Self::EvalInScript,
        Self::XargsInScript,
        Self::ProgramNotFound,
        Self::ProgramNotExecutable,
        Self::DuplicateAnnouncement,
        Self::IgnoredDefault,
        Self::UnknownItemType,
        Self::InvalidChoices,
        Self::DefaultNotInChoices,
        Self::DefaultNotOfItemType,
        Self::VariableCollision,
        Self::RequiredWithDefault,
        Self::CollectionTypeDiffers,
        Self::AnnouncementFailed,
        Self::AnnouncementOutput,
    ];

    /// Returns the rule's name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidYaml => "invalid-yaml",
            Self::WrongType => "wrong-type",
            Self::MissingName => "missing-name",
            Self::WrongKind => "wrong-kind",
            Self::MissingGenerate => "missing-generate",
            Self::UnusableName => "unusable-name",
            Self::SocketPathTooLong => "socket-path-too-long",
            Self::NullAnnouncement => "null-announcement",
            Self::AnnouncementWithoutName => "announcement-without-name",
            Self::UnknownCollectionType => "unknown-collection-type",
            Self::GlobSyntax => "glob-syntax",
            Self::WrongApiVersion => "wrong-api-version",
            Self::UnknownKey => "unknown-key",
            Self::DeprecatedKey => "deprecated-key",
            Self::DuplicateKey => "duplicate-key",
            Self::SeveralDocuments => "several-documents",
            Self::UnusableValue => "unusable-value",
            Self::ArgsWithoutCommand => "args-without-command",
            Self::SeveralDiscoveryRules => "several-discovery-rules",
            Self::NoDiscovery => "no-discovery-rule",
            Self::FileNamePattern => "file-name-pattern",
            Self::LiteralGlob => "literal-glob",
            Self::EmbeddedScript => "embedded-script",
            Self::EvalInScript => "eval-in-script",
            Self::XargsInScript => "xargs-in-script",
            Self::ProgramNotFound => "program-not-found",
            Self::ProgramNotExecutable => "program-not-executable",
            Self::DuplicateAnnouncement => "duplicate-announcement",
            Self::IgnoredDefault => "ignored-default",
            Self::UnknownItemType => "unknown-item-type",
            Self::InvalidChoices => "invalid-choices",
            Self::DefaultNotInChoices => "default-not-in-choices",
            Self::DefaultNotOfItemType => "default-not-of-item-type",
            Self::VariableCollision => "variable-collision",
            Self::RequiredWithDefault => "required-with-default",
            Self::CollectionTypeDiffers => "collection-type-differs",
            Self::AnnouncementFailed => "announcement-failed",
            Self::AnnouncementOutput => "announcement-output",
        }
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
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}
