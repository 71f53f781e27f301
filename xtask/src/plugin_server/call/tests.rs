use std::path::Path;

use super::authority;

#[test]
fn the_authority_is_the_sockets_path_as_grpc_go_writes_it() {
    let cases = [
        ("/home/argocd/plugins/my-plugin-v1.0.sock", "home%2Fargocd%2Fplugins%2Fmy-plugin-v1.0.sock"),
        ("/a b/é@[x].sock", "a%20b%2F%C3%A9@[x].sock"),
    ];
    for (path, expected) in cases {
        assert_eq!(authority(Path::new(path)), expected);
    }
}
