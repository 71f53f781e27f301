use super::platform;

#[test]
fn platforms_have_their_go_names() {
    let cases = [
        (("linux", "x86_64"), "linux/amd64"),
        (("linux", "aarch64"), "linux/arm64"),
        (("linux", "s390x"), "linux/s390x"),
        (("macos", "aarch64"), "darwin/arm64"),
    ];
    for ((system, processor), expected) in cases {
        assert_eq!(platform(system, processor), expected);
    }
}
