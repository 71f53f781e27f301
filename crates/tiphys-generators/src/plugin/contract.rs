//! The forms of requests and answers.

use serde_json::Value;

/// The form of a `plugin` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginForm {
    /// `configMapRef: {name: …}` and `input.parameters`, as in Argo CD.
    Shipped,
    /// `configMapRef: …` and `params`, as in the proposal.
    Proposal,
}

/// Format of requests and responses. The form of the block decides, unless the `ConfigMap` has the key `contract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    /// As in Argo CD.
    Shipped,
    /// As in the proposal: the parameters are sent to another path, and the answer is a list.
    Proposal,
    /// As in Argo CD, but the answer is a list.
    BareList,
}

impl From<PluginForm> for Contract {
    fn from(form: PluginForm) -> Self {
        match form {
            PluginForm::Shipped => Self::Shipped,
            PluginForm::Proposal => Self::Proposal,
        }
    }
}

impl Contract {
    /// Reads the key `contract` of a `ConfigMap`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "shipped" => Some(Self::Shipped),
            "proposal" => Some(Self::Proposal),
            "bare-list" => Some(Self::BareList),
            _ => None,
        }
    }

    /// Returns the path of the method below `baseUrl`.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Shipped | Self::BareList => "api/v1/getparams.execute",
            Self::Proposal => "v1/generator.getParams",
        }
    }

    /// Returns the body of a request. As in Argo CD, no parameters are sent as an empty input.
    pub(super) fn body(self, application_set: &str, parameters: &str) -> String {
        match self {
            Self::Proposal => format!("{parameters}\n"),
            Self::Shipped | Self::BareList => {
                let name = Value::from(application_set);
                let parameters = match parameters {
                    "{}" => String::new(),
                    parameters => format!("\"parameters\":{parameters}"),
                };
                format!("{{\"applicationSetName\":{name},\"input\":{{{parameters}}}}}\n")
            }
        }
    }
}
