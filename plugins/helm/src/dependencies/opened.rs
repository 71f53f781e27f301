//! Registries whose logins are with credential helpers. Helm runs in a home of its own, where a helper that it starts finds nothing; so each
//! is asked before, and helm gets the login.

use std::collections::BTreeMap;

use serde_json::json;
use tiphys_logins::{HelperError, Login, OwnLogins};
use tiphys_params::context::{RegistryLogin, Secret};

use super::remote::RemoteRepository;

/// Puts logins in the place of helpers. Each helper is asked once for a registry.
pub(crate) async fn ask_helpers(
    remotes: &mut [RemoteRepository],
    logins: &OwnLogins,
) -> Result<(), HelperError> {
    let mut known: BTreeMap<(String, String), Option<Login>> = BTreeMap::new();
    for remote in remotes {
        while let RegistryLogin::Helper { name, .. } = &remote.login {
            let asked = (name.clone(), remote.login_name().to_owned());
            let answer = match known.get(&asked) {
                Some(answer) => answer.clone(),
                None => logins.ask(&asked.0, &asked.1).await?,
            };
            known.insert(asked, answer.clone());
            open(remote, answer);
        }
    }
    Ok(())
}

fn open(remote: &mut RemoteRepository, login: Option<Login>) {
    let asked = std::mem::take(&mut remote.login);
    match login {
        Some(Login::Password { username, password }) => {
            remote.access.username = username;
            remote.access.password = password;
        }
        Some(Login::Token(token)) => {
            let entry = json!({ "identitytoken": token.expose() });
            remote.login = RegistryLogin::Entry(Secret::new(entry.to_string()));
        }
        None => {
            if let RegistryLogin::Helper { otherwise, .. } = asked {
                remote.login = *otherwise;
            }
        }
    }
}

#[cfg(test)]
mod tests;
