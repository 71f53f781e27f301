use super::make_authority_acceptable;
use crate::connection::tests::hex;

fn made_acceptable(block: &[u8]) -> Vec<u8> {
    let mut block = block.to_vec();
    make_authority_acceptable(&mut block);
    block
}

#[test]
fn only_the_authority_of_a_grpc_go_block_changes() {
    let rest = "838645ad62ba2d98d52f78f54a69b40ea1cc5a4b5275d16cc6ab716cee62158bd3949d75d16cc6aaf1ea94d35b60d263d541";
    let after = "5f8b1d75d0620d263d4c4d656440899acac8b24d494f6a7f023953";
    let sent = format!("{rest}909cf49551611d931c922a2c35ae8393af{after}");
    let expected = format!("{rest}909cf49561611d931c922c2c35ae8393af{after}");
    assert_eq!(made_acceptable(&hex(&sent)), hex(&expected));
}

#[test]
fn authority_is_found_in_every_literal_form() {
    let cases: [(&[u8], &[u8]); 7] = [
        (b"\x41\x03a%b", b"\x41\x03a-b"),
        (b"\x01\x03a%b", b"\x01\x03a-b"),
        (b"\x11\x03a%b", b"\x11\x03a-b"),
        (b"\x40\x0a:authority\x03a%b", b"\x40\x0a:authority\x03a-b"),
        (
            b"\x00\x88\xb8\x3b\x53\x39\xec\x32\x7d\x7f\x03a%b",
            b"\x00\x88\xb8\x3b\x53\x39\xec\x32\x7d\x7f\x03a-b",
        ),
        // After a table size update to 4,096, an indexed field of two octets, and a field whose name is in the dynamic table.
        (b"\x3f\xe1\x1f\xff\x00\x7f\x00\x01c\x41\x03a%b", b"\x3f\xe1\x1f\xff\x00\x7f\x00\x01c\x41\x03a-b"),
        // Twice: the reader rejects that in any case.
        (b"\x41\x03a%b\x41\x03c%d", b"\x41\x03a-b\x41\x03c-d"),
    ];
    for (sent, expected) in cases {
        assert_eq!(made_acceptable(sent), expected, "{}", sent.escape_ascii());
    }
}

#[test]
fn other_fields_and_malformed_blocks_do_not_change() {
    let cases: [&[u8]; 9] = [
        b"",
        b"\x81\x84",
        b"\x44\x03/%b",
        b"\x40\x04host\x03a%b",
        b"\x40\x0a:Authority\x03a%b",
        // A truncated value, a truncated length, a length that is too large, an index that is too large.
        b"\x41\x04a%b",
        b"\x41\x7f\xff",
        b"\x41\x7f\xff\xff\xff\xff\xff\x0fa%b",
        b"\xff\xff\xff\xff\xff\x0f\x41\x03a%b",
    ];
    for sent in cases {
        assert_eq!(made_acceptable(sent), sent, "{}", sent.escape_ascii());
    }
}

#[test]
fn length_of_several_octets_is_read() {
    let sent = [b"\x41\x7f\x49".as_slice(), &[b'%'; 200]].concat();
    let expected = [b"\x41\x7f\x49".as_slice(), &[b'-'; 200]].concat();
    assert_eq!(made_acceptable(&sent), expected);
}
