//! Registry credentials from credential helpers. Helm runs in a private home, where a helper finds nothing. So each helper is called
//! before, and helm gets the result.

use std::collections::BTreeMap;

use serde_json::json;
use tiphys_logins::{EntryError, HelperError, Login, OwnLogins, entry_login};
use tiphys_model::access::{RegistryEntry, RegistryLogin, Secret};

use super::remote::RemoteRepository;

/// Replaces helpers by their credentials. Each helper is called once per registry.
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

/// Removes and returns invalid credentials. Helm reads them only if the registry requires authentication, and would then print them.
pub(crate) fn take_unusable(remotes: &mut [RemoteRepository]) -> Vec<EntryError> {
    let mut unusable = Vec::new();
    for remote in remotes {
        if let RegistryLogin::Entry(entry) = &remote.login
            && let Err(error) = entry_login(entry, remote.login_name())
        {
            remote.login = RegistryLogin::None;
            unusable.push(error);
        }
    }
    unusable.dedup();
    unusable
}

fn open(remote: &mut RemoteRepository, login: Option<Login>) {
    let asked = std::mem::take(&mut remote.login);
    match login {
        Some(Login::Password { username, password }) => {
            remote.access.username = username;
            remote.access.password = password;
        }
        Some(Login::Token(token)) => {
            let json = Secret::new(json!({ "identitytoken": token.expose() }).to_string());
            remote.login = RegistryLogin::Entry(RegistryEntry { json, file: String::new() });
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
