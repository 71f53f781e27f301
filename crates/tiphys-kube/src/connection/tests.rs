use super::{CaCertificates, KubeConnection, KubeIdentity, Pem, decode_pem};

#[test]
fn service_account_of_a_pod_is_used() {
    let connection = |host: &'static str, port: &'static str| {
        KubeConnection::in_cluster(move |name| {
            let value = if name.ends_with("_HOST") { host } else { port };
            Some(value.to_owned())
        })
    };
    let found = connection("10.0.0.1", "443").expect("a pod");
    assert_eq!(found.server, "https://10.0.0.1:443");
    assert!(
        matches!(&found.ca, CaCertificates::Own(Pem::File(file)) if file.ends_with("serviceaccount/ca.crt"))
    );
    assert!(
        matches!(&found.identity, KubeIdentity::TokenFile(file) if file.ends_with("serviceaccount/token"))
    );
    assert_eq!(connection("fd00::1", "443").expect("a pod").server, "https://[fd00::1]:443");
    assert_eq!(connection("", "443"), None);
    assert_eq!(connection("10.0.0.1", ""), None);
}

#[test]
fn only_pem_in_base64_is_accepted() {
    let cases = [
        ("LS0tLS1CRUdJTiBY\nLS0tLS0=", Ok("-----BEGIN X-----")),
        ("%%%", Err("expected base64")),
        ("AAAA", Err("expected PEM")),
        ("////", Err("expected PEM")),
        ("", Err("expected PEM")),
    ];
    for (data, expected) in cases {
        let decoded = decode_pem(data);
        match (&decoded, expected) {
            (Ok(Pem::Data(pem)), Ok(expected)) => assert_eq!(pem.expose(), expected),
            (Err(problem), Err(expected)) => assert_eq!(*problem, expected, "{data}"),
            _ => panic!("{data}: {decoded:?}"),
        }
    }
}
