use super::{Event, PREFACE, connecting, data, end_of_data, frame, grpc_status, request, settings_seen};

#[test]
fn call_starts_with_preface_settings_window_and_literal_headers() {
    let expected: &[&[u8]] = &[
        PREFACE,
        b"\x00\x00\x0c\x04\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x04\x7f\xff\xff\xff",
        b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x7f\xff\x00\x00",
        b"\x00\x00\x06\x01\x04\x00\x00\x00\x01\x00\x02te\x01x",
    ];
    assert_eq!([connecting(), request(&[("te", "x")])].concat(), expected.concat());
}

#[test]
fn long_header_has_a_length_of_several_bytes() {
    let value = "v".repeat(300);
    let opening = request(&[("a", &value)]);
    let end = &opening[opening.len() - 300 - 6..opening.len() - 300];
    assert_eq!(end, b"\x00\x01a\x7f\xad\x01");
}

#[test]
fn incomplete_frames_are_not_returned() {
    let bytes = [data(b"abc"), end_of_data()].concat();
    for length in 0..12 {
        assert_eq!(frame(&bytes[..length]), None, "{length} bytes");
    }
    let (first, length) = frame(&bytes).expect("a frame");
    assert_eq!((first.event(), length), (Some(Event::Data { bytes: b"abc", ends: false }), 12));
    let (second, length) = frame(&bytes[12..]).expect("a frame");
    assert_eq!((second.event(), length), (Some(Event::Data { bytes: b"", ends: true }), 9));
}

#[test]
fn frames_of_the_server_become_events() {
    let cases: &[(&[u8], Option<Event<'_>>)] = &[
        (b"\0\0\x06\x00\x09\0\0\0\x01\x02abc\0\0", Some(Event::Data { bytes: b"abc", ends: true })),
        (b"\0\0\x02\x00\x08\0\0\0\x01\x02a", None),
        (
            b"\0\0\x07\x01\x25\0\0\0\x01\0\0\0\0\x10hi",
            Some(Event::Headers { block: b"hi", whole: true, ends: true }),
        ),
        (b"\0\0\x02\x09\x04\0\0\0\x01hi", Some(Event::Headers { block: b"hi", whole: true, ends: false })),
        (b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x01", Some(Event::Reset(1))),
        (b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\x10\0\0", Some(Event::InitialWindow(1 << 20))),
        (b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64", Some(Event::Settings)),
        (b"\0\0\0\x04\x01\0\0\0\0", Some(Event::Other)),
        (b"\0\0\x08\x06\0\0\0\0\0pingpong", Some(Event::Ping(b"pingpong"))),
        (b"\0\0\x08\x06\x01\0\0\0\0pingpong", Some(Event::Other)),
        (b"\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\x0b", Some(Event::GoAway(11))),
        (b"\0\0\x04\x08\0\0\0\0\x01\0\0\x01\0", Some(Event::Window { stream: 1, bytes: 256 })),
    ];
    for (bytes, expected) in cases {
        let (frame, length) = frame(bytes).expect("a frame");
        assert_eq!((frame.event(), length), (*expected, bytes.len()), "{bytes:?}");
    }
    assert_eq!(settings_seen(), b"\0\0\0\x04\x01\0\0\0\0");
}

#[test]
fn status_is_found_in_every_encoding() {
    let cases: &[(&[u8], Option<u32>)] = &[
        // A literal, as grpc-go writes it.
        (b"\x40\x0bgrpc-status\x010", Some(0)),
        (b"\x00\x0bgrpc-status\x0213", Some(13)),
        // Huffman codes, as h2 writes them: 0, 2, 4, 13, 16.
        (b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x81\x07", Some(0)),
        (b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x81\x17", Some(2)),
        (b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x81\x6b", Some(4)),
        (b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x82\x0b\x3f", Some(13)),
        (b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x82\x0b\x9f", Some(16)),
        // After a table size update: an indexed field, and one with an indexed name.
        (b"\x20\x88\x5f\x10application/grpc\x40\x0bgrpc-status\x015", Some(5)),
        // Another name, an invalid status, a truncated block.
        (b"\x88\x40\x0cgrpc-message\x010", None),
        (b"\x40\x0bgrpc-status\x01x", None),
        (b"\x40\x0bgrpc-status", None),
        (b"", None),
    ];
    for (block, expected) in cases {
        assert_eq!(grpc_status(block), *expected, "{block:?}");
    }
}
