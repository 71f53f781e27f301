use super::base_of_api;

#[test]
fn addresses_of_apis_are_completed_as_in_argo_cd() {
    for (forge, api, base) in [
        ("github", "", "https://api.github.com"),
        ("github", "https://git.example.org", "https://git.example.org/api/v3"),
        ("github", "https://git.example.org/a/", "https://git.example.org/a/api/v3"),
        ("github", "https://git.example.org/api/v3/", "https://git.example.org/api/v3"),
        ("github", "https://api.github.com/", "https://api.github.com"),
        ("github", "https://a.api.example.org", "https://a.api.example.org"),
        ("github", "https://git-api.example.org", "https://git-api.example.org/api/v3"),
        ("gitlab", "", "https://gitlab.com/api/v4"),
        ("gitlab", "https://git.example.org/", "https://git.example.org/api/v4"),
        ("gitlab", "https://git.example.org/gitlab/api/v4", "https://git.example.org/gitlab/api/v4"),
        ("gitea", "https://git.example.org/", "https://git.example.org/api/v1"),
    ] {
        assert_eq!(base_of_api(forge, api), base, "{forge} {api}");
    }
}
