use super::*;
use crate::connection::tests::{hex, huffman};

/// All octets that grpc-go does not escape in an authority. It writes any other octet as `%` and two digits.
const GRPC_GO: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~!$&'()*+,;=:[]@%";

#[test]
fn octets_of_grpc_go_have_codes() {
    for octet in GRPC_GO {
        assert!(code_of(*octet).is_some(), "{}", char::from(*octet));
    }
}

#[test]
fn codes_match_the_standard() {
    // RFC 7541 appendix B.
    let cases = [
        (b'0', 0x0, 5),
        (b't', 0x9, 5),
        (b' ', 0x14, 6),
        (b'%', 0x15, 6),
        (b'u', 0x2d, 6),
        (b':', 0x5c, 7),
        (b'z', 0x7b, 7),
        (b'&', 0xf8, 8),
        (b'Z', 0xfd, 8),
        (b'!', 0x3f8, 10),
        (b'?', 0x3fc, 10),
        (b'\'', 0x7fa, 11),
        (b'|', 0x7fc, 11),
        (b'#', 0xffa, 12),
        (b'\0', 0x1ff8, 13),
        (b'@', 0x1ffa, 13),
        (b'~', 0x1ffd, 13),
    ];
    for (octet, code, bits) in cases {
        assert_eq!(code_of(octet), Some((code, bits)), "{}", char::from(octet));
    }
    assert_eq!(code_of(b'^'), None, "14 bits");
}

#[test]
fn replacement_is_as_long_in_both_codings() {
    for (refused, instead) in SUBSTITUTES {
        let bits = |octet| code_of(octet).map(|(_, bits)| bits);
        assert_eq!(bits(refused), bits(instead), "{}", char::from(refused));
    }
}

#[test]
fn every_path_becomes_acceptable() {
    let cases = [
        (
            "home%2Fargocd%2Fcmp-server%2Fplugins%2Fhelm-v1.0.sock",
            "home-2Fargocd-2Fcmp-server-2Fplugins-2Fhelm-v1.0.sock",
        ),
        ("a%2Fb:c:d.sock", "a-2Fbxcxd.sock"),
        ("a%2F@[b.sock", "a-2F~~b.sock"),
        ("a%20!$&'()*+,;=~_%C3%A9]", "a-20!$&'()*+,;=~_-C3-A9~"),
    ];
    for (sent, expected) in cases {
        let mut plain = sent.as_bytes().to_vec();
        make_acceptable(&mut plain, Coding::Plain);
        assert_eq!(String::from_utf8_lossy(&plain), expected);
        let mut coded = huffman(sent.as_bytes());
        make_acceptable(&mut coded, Coding::Huffman);
        assert_eq!(coded, huffman(expected.as_bytes()), "{sent}");
    }
}

#[test]
fn coded_string_matches_that_of_go() {
    let mut coded = hex("9cf49551611d931c922a2c35ae8393af");
    assert_eq!(coded, huffman(b"home%2Fargocd%2Fp.sock"), "the test's own encoder");
    make_acceptable(&mut coded, Coding::Huffman);
    assert_eq!(coded, hex("9cf49561611d931c922c2c35ae8393af"), "home-2Fargocd-2Fp.sock");
}

#[test]
fn acceptable_and_unfixable_values_do_not_change() {
    let texts =
        ["localhost", "localhost:8080", "[::1]:80", "user@host", "", "a/b%2F", "a%2F b", "a%2F\u{e9}"];
    for text in texts {
        let mut plain = text.as_bytes().to_vec();
        make_acceptable(&mut plain, Coding::Plain);
        assert_eq!(plain, text.as_bytes(), "{text}");
    }
    // Not ended by ones; ended by a whole octet of ones; with a code of 14 bits and more.
    for coded in ["9cf495516100", "9cf4955fff", "9cf4955161fffdffff", ""] {
        let mut value = hex(coded);
        make_acceptable(&mut value, Coding::Huffman);
        assert_eq!(value, hex(coded));
    }
}
