//! Logins that the person who runs the program has on this machine: in the files that helm and docker write, and with docker's credential
//! helpers. Whether they may be used is for the caller to say: a server that renders for many must not.
//!
//! What the files mean, and which of it is for which address, is [`tiphys_access::KnownRepositories`]'s to know.

mod entry;
mod files;
mod helper;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

pub use entry::{EntryError, entry_login};
pub use files::{FileError, Needs, read_certificates};
pub use helper::HelperError;

use tiphys_access::Secret;

/// The logins of the person to whom an environment belongs. Nothing is read or asked before it is needed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OwnLogins {
    /// The person's environment: it names files, and helpers get the whole of it.
    variables: BTreeMap<String, String>,
    bound: HelperBound,
}

/// How long a credential helper may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HelperBound {
    /// The time.
    pub timeout: Duration,
    /// What gives it more, if anything does.
    pub option: Option<&'static str>,
}

/// What opens a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// User and password.
    Password {
        /// The user.
        username: String,
        /// The password.
        password: Secret,
    },
    /// A token that the registry's server for tokens takes in their stead (`identitytoken`).
    Token(Secret),
}

impl OwnLogins {
    /// The logins that a person with this environment has.
    pub fn new(environment: impl IntoIterator<Item = (String, String)>, bound: HelperBound) -> Self {
        Self { variables: environment.into_iter().collect(), bound }
    }

    /// A variable that is there and not empty.
    fn set(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Values of variables may be secret.
impl fmt::Debug for OwnLogins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_struct("OwnLogins").field("variables", &names).field("bound", &self.bound).finish()
    }
}
