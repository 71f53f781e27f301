use super::parse_object_address;

#[test]
fn addresses_are_parsed() {
    let cases = [
        ("ConfigMap/infra/dns", ["", "ConfigMap", "infra", "dns"]),
        ("Deployment.apps/shop/web", ["apps", "Deployment", "shop", "web"]),
        ("Gateway.gateway.networking.k8s.io/edge", ["gateway.networking.k8s.io", "Gateway", "", "edge"]),
        ("Node/one", ["", "Node", "", "one"]),
    ];
    for (address, expected) in cases {
        let parsed = parse_object_address(address).expect(address);
        assert_eq!([&*parsed.group, &*parsed.kind, &*parsed.namespace, &*parsed.name], expected, "{address}");
        assert_eq!((parsed.version, parsed.path), (String::new(), String::new()), "{address}");
    }
}

#[test]
fn incomplete_addresses_are_rejected() {
    for address in [
        "",
        "ConfigMap",
        "ConfigMap/",
        "/infra/dns",
        ".apps/web",
        "ConfigMap//dns",
        "a/b/c/d",
        "ConfigMap/infra/",
    ] {
        assert!(parse_object_address(address).is_err(), "{address}");
    }
}
