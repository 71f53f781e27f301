//! Credentials of the user who runs the program: from files of Helm and Docker, and from Docker's credential helpers. The caller decides
//! whether they may be used: a server that renders for many users must not use them.
//!
//! [`tiphys_model::access::KnownRepositories`] interprets the files and chooses the credentials for an address.

mod entry;
mod files;
mod helper;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

pub use entry::{EntryError, entry_login};
pub use files::{FileError, Needs, read_certificates};
pub use helper::HelperError;

use tiphys_model::access::Secret;

/// The credentials that a user's environment names. Files are read and helpers are run only when needed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OwnLogins {
    /// The user's environment. It names files, and helpers get all of it.
    variables: BTreeMap<String, String>,
    bound: HelperBound,
}

/// The time limit of a credential helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HelperBound {
    /// The time limit.
    pub timeout: Duration,
    /// The option that sets the limit, if there is one.
    pub option: Option<&'static str>,
}

/// Credentials for a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// User name and password.
    Password {
        /// The user name.
        username: String,
        /// The password.
        password: Secret,
    },
    /// An identity token (`identitytoken`) that the registry's token server accepts instead of user name and password.
    Token(Secret),
}

impl OwnLogins {
    /// Returns the credentials that this environment names.
    pub fn new(environment: impl IntoIterator<Item = (String, String)>, bound: HelperBound) -> Self {
        Self { variables: environment.into_iter().collect(), bound }
    }

    /// Returns a variable; `None` if it is unset or empty.
    fn set(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Prints only the names of variables, because values may be secret.
impl fmt::Debug for OwnLogins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_struct("OwnLogins").field("variables", &names).field("bound", &self.bound).finish()
    }
}
