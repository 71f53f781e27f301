//! The access to git repositories for a program that knows only while it runs which ones it needs, such as kustomize with remote bases.

use serde::{Deserialize, Serialize};

use crate::access::{ContextProject, RepositoryAccess};
use crate::project_rules::permits_source;

/// Environment variable with the absolute path of a file with [`ProjectGitAccess`] as JSON.
pub const GIT_ACCESS_VARIABLE: &str = "TIPHYS_GIT_ACCESS_FILE";

/// The git repositories that a project has credentials and connection settings for.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ProjectGitAccess {
    /// The permitted repositories: Argo CD's patterns, where a leading `!` denies.
    pub source_repos: Vec<String>,
    /// Repositories with complete addresses, those of the project itself first.
    pub repositories: Vec<GitVariables>,
    /// All repositories whose address has a prefix.
    pub templates: Vec<GitVariables>,
}

/// Environment variables for git. They contain secrets and apply to one call for one repository.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct GitVariables {
    /// The address of the repository, or a prefix.
    pub url: String,
    /// Whether it belongs to the project, which may use it whatever `source_repos` permits.
    pub is_own: bool,
    /// Names and values.
    pub variables: Vec<(String, String)>,
}

impl ProjectGitAccess {
    /// Returns the variables of a repository, by the rules of [`source_access`](crate::project_rules::source_access). Empty for an unknown
    /// repository, and for one that the project may not use.
    pub fn variables(&self, address: &str) -> &[(String, String)] {
        let access =
            |one: &GitVariables| RepositoryAccess { url: one.url.clone(), ..RepositoryAccess::default() };
        let exact = self.repositories.iter().find(|one| access(one).is_at(address));
        let project = ContextProject { name: String::new(), source_repos: self.source_repos.clone() };
        if !exact.is_some_and(|one| one.is_own) && !permits_source(&project, address) {
            return &[];
        }
        let template = || {
            let prefixes: Vec<RepositoryAccess> = self.templates.iter().map(access).collect();
            let longest = RepositoryAccess::template_of(&prefixes, "", address)?;
            self.templates.iter().find(|one| one.url == longest.url)
        };
        exact.or_else(template).map_or(&[], |found| &found.variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permitted_repositories_have_variables() {
        let of = |url: &str, is_own| GitVariables {
            url: url.to_owned(),
            is_own,
            variables: vec![("A".to_owned(), url.to_owned())],
        };
        let access = ProjectGitAccess {
            source_repos: vec!["https://git.example.org/shop/*".to_owned()],
            repositories: vec![
                of("https://git.example.org/shop/app", false),
                of("https://own.example.org/base.git", true),
                of("https://other.example.org/base", false),
            ],
            templates: vec![
                of("https://git.example.org", false),
                of("https://git.example.org/shop/te", false),
            ],
        };
        for (address, expected) in [
            ("https://git.example.org/shop/app.git", Some("https://git.example.org/shop/app")),
            ("https://git.example.org/shop/web", Some("https://git.example.org")),
            ("https://git.example.org/shop/team", Some("https://git.example.org/shop/te")),
            ("https://own.example.org/base", Some("https://own.example.org/base.git")),
            ("https://git.example.org/bank/web", None),
            ("https://git.example.org/shop/../bank/web", None),
            ("https://git.example.org.evil.org/shop/web", None),
            ("https://other.example.org/base", None),
        ] {
            let found = access.variables(address).first().map(|(_, value)| value.as_str());
            assert_eq!(found, expected, "{address}");
        }
    }
}
