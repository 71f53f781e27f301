use super::{LoopbackAddress, NotLoopback};

#[test]
fn only_loopback_addresses_are_accepted() {
    let cases = [
        ("8080", Ok("127.0.0.1:8080")),
        ("0", Ok("127.0.0.1:0")),
        ("127.0.0.1:80", Ok("127.0.0.1:80")),
        ("127.1.2.3:80", Ok("127.1.2.3:80")),
        ("[::1]:80", Ok("[::1]:80")),
        ("localhost:80", Ok("127.0.0.1:80")),
        ("0.0.0.0:80", Err("reachable")),
        ("192.168.1.1:80", Err("reachable")),
        ("192.168.1.1", Err("reachable")),
        ("[::]:80", Err("reachable")),
        ("[::ffff:10.0.0.1]:80", Err("reachable")),
        ("127.0.0.1", Err("syntax")),
        ("::1", Err("syntax")),
        ("example.org:80", Err("syntax")),
        ("localhost", Err("syntax")),
        ("70000", Err("syntax")),
        ("./plugins/page", Err("syntax")),
        ("", Err("syntax")),
    ];
    for (text, expected) in cases {
        let read = text.parse::<LoopbackAddress>().map(|address| address.to_string());
        let read = read.map_err(|error| match error {
            NotLoopback::Reachable(_) => "reachable",
            NotLoopback::Syntax => "syntax",
        });
        assert_eq!(read, expected.map(str::to_owned), "{text:?}");
    }
    assert_eq!(LoopbackAddress::default().to_string(), "127.0.0.1:0");
}
