use super::{Metadata, chunk, content, empty};

#[test]
fn metadata_has_the_fields_of_the_protocol() {
    let metadata = Metadata { app_path: "app", checksum: "c0", size: 300, env: &[("A", "b")] };
    let expected: &[&[u8]] = &[
        b"\0\0\0\0\x1d\x0a\x1b",
        b"\x0a\x05bench",
        b"\x12\x03app",
        b"\x1a\x02c0",
        b"\x20\xac\x02",
        b"\x2a\x06\x0a\x01A\x12\x01b",
    ];
    assert_eq!(metadata.message(), expected.concat());
}

#[test]
fn a_piece_of_the_archive_is_a_file_with_a_chunk() {
    assert_eq!(chunk(b"xy"), b"\0\0\0\0\x06\x12\x04\x0a\x02xy");
    let long = chunk(&[7; 1024]);
    assert_eq!(long[..11], *b"\0\0\0\x04\x06\x12\x83\x08\x0a\x80\x08");
    assert_eq!(long.len(), 11 + 1024);
}

#[test]
fn only_a_whole_message_has_content() {
    assert_eq!(content(b"\0\0\0\0\x02xy"), Some(&b"xy"[..]));
    assert_eq!(content(&empty()), Some(&b""[..]));
    for broken in [&b""[..], b"\0\0\0\0", b"\0\0\0\0\x02x", b"\0\0\0\0\x02xyz"] {
        assert_eq!(content(broken), None, "{broken:?}");
    }
}
