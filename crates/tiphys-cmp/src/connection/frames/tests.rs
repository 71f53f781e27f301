use tiphys_testkit::http2::write as frame;

use super::*;

const REFUSED: &[u8] = b"\x41\x03a%b";
const ACCEPTED: &[u8] = b"\x41\x03a-b";

fn after_preface(frames: &[Vec<u8>]) -> Vec<u8> {
    [PREFACE.to_vec(), frames.concat()].concat()
}

/// Returns the bytes passed at once and the number of held bytes.
fn released(sent: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = sent.to_vec();
    let count = Frames::new().release(&mut bytes);
    let held = bytes.len() - count;
    bytes.truncate(count);
    (bytes, held)
}

fn headers(flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, 1, payload)
}

fn continuation(flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(CONTINUATION, flags, 1, payload)
}

/// The frames of a block.
type Form = fn(&[u8]) -> Vec<Vec<u8>>;

#[test]
fn block_is_rewritten_in_any_frames() {
    let forms: [Form; 6] = [
        |block| vec![headers(END_HEADERS, block)],
        |block| vec![headers(END_HEADERS | PADDED, &[&[3], block, b"%%%"].concat())],
        |block| vec![headers(END_HEADERS | PRIORITY, &[b"\0\0\0\0\x10", block].concat())],
        |block| vec![headers(END_HEADERS | PADDED | PRIORITY, &[b"\x01\0\0\0\0\x10", block, b"%"].concat())],
        |block| {
            vec![
                headers(0, &block[..3]),
                continuation(0, &block[3..4]),
                continuation(END_HEADERS, &block[4..]),
            ]
        },
        |block| vec![headers(PADDED, b"\0"), continuation(0, block), continuation(END_HEADERS, b"")],
    ];
    for form in forms {
        let (sent, expected) = (after_preface(&form(REFUSED)), after_preface(&form(ACCEPTED)));
        assert_eq!(released(&sent), (expected, 0), "{}", sent.escape_ascii());
    }
}

#[test]
fn frames_without_a_block_pass_unchanged() {
    let others: Vec<Vec<u8>> = [0x0, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, CONTINUATION, 0xfe]
        .iter()
        .map(|&kind| frame(kind, 0xff, 1, REFUSED))
        .collect();
    let sent = after_preface(&others);
    assert_eq!(released(&sent), (sent.clone(), 0));
}

#[test]
fn blocks_after_other_frames_are_found() {
    let frames = |block: &[u8]| {
        after_preface(&[
            frame(0x4, 0, 0, b"\0\x03\0\0\0\x64"),
            headers(END_HEADERS, block),
            frame(0x0, 0, 1, &[b'%'; 1024]),
            frame(0x6, 0, 0, b"12345678"),
            frame(HEADERS, END_HEADERS, 0x8000_0003, block),
        ])
    };
    assert_eq!(released(&frames(REFUSED)), (frames(ACCEPTED), 0));
}

#[test]
fn only_incomplete_blocks_and_headers_are_held() {
    let begun = headers(0, b"\x41\x03a");
    let cases = [
        (PREFACE[..10].to_vec(), 0),
        (after_preface(&[frame(0, 0, 1, b"abc")[..8].to_vec()]), 8),
        (after_preface(&[frame(0, 0, 1, b"abc")[..9].to_vec()]), 0),
        (after_preface(&[frame(0, 0, 1, b"abc")[..10].to_vec()]), 0),
        (after_preface(&[headers(END_HEADERS, REFUSED)[..13].to_vec()]), 13),
        (after_preface(std::slice::from_ref(&begun)), begun.len()),
        (after_preface(&[begun.clone(), continuation(END_HEADERS, b"%b")[..10].to_vec()]), begun.len() + 10),
    ];
    for (sent, held) in cases {
        assert_eq!(released(&sent).1, held, "{}", sent.escape_ascii());
    }
}

#[test]
fn broken_block_passes_unchanged() {
    let cases = [
        // Padding longer than the frame; priority that is cut off; padding without its length.
        vec![headers(END_HEADERS | PADDED, &[&[6], REFUSED].concat())],
        vec![headers(END_HEADERS | PRIORITY, b"\0\0\0")],
        vec![headers(END_HEADERS | PADDED, b"")],
        // Another frame, or another stream's continuation, in the middle of a block.
        vec![headers(0, REFUSED), frame(0, 0, 1, b"data")],
        vec![headers(0, REFUSED), frame(CONTINUATION, END_HEADERS, 3, b"")],
    ];
    for frames in cases {
        let sent = after_preface(&frames);
        assert_eq!(released(&sent), (sent.clone(), 0), "{}", sent.escape_ascii());
    }
}

#[test]
fn block_above_the_size_limit_is_not_held() {
    let space = BLOCK_BYTES_MAX - FRAME_HEADER_BYTES;
    let block = |first: &[u8], bytes: usize| {
        // An indexed field follows the authority, again and again.
        after_preface(&[headers(END_HEADERS, &[first, &vec![0x82; bytes - first.len()]].concat())])
    };
    let whole = block(REFUSED, space);
    assert_eq!(released(&whole), (block(ACCEPTED, space), 0));
    let cut = &whole[..whole.len() - 1];
    assert_eq!(released(cut).1, BLOCK_BYTES_MAX - 1);
    let larger = block(REFUSED, space + 1);
    assert_eq!(released(&larger[..100]), (larger[..100].to_vec(), 0));
    assert_eq!(released(&larger), (larger.clone(), 0));
}

#[test]
fn block_of_too_many_frames_is_not_held() {
    let block = |first: &[u8], continuations: usize| {
        let mut frames = vec![headers(0, first)];
        frames.resize(1 + continuations, continuation(0, b""));
        frames
    };
    let ended =
        |first: &[u8]| [block(first, CONTINUATIONS_MAX - 1), vec![continuation(END_HEADERS, b"")]].concat();
    assert_eq!(released(&after_preface(&ended(REFUSED))), (after_preface(&ended(ACCEPTED)), 0));
    let more = after_preface(&block(REFUSED, CONTINUATIONS_MAX + 1));
    assert_eq!(released(&more), (more.clone(), 0));
}

#[test]
fn non_http2_bytes_pass_unchanged() {
    let sent = [b"GET / HTTP/1.1\r\n\r\n".to_vec(), headers(END_HEADERS, REFUSED)].concat();
    assert_eq!(released(&sent), (sent.clone(), 0));
}
