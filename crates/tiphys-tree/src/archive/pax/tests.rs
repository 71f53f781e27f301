//! Records as writers of archives make them, and texts that are none.

use super::{Malformed, Records};

#[test]
fn length_of_a_pax_record_decides_its_end() {
    type Case = (&'static [u8], &'static [(&'static str, &'static [u8])]);
    let cases: [Case; 4] = [
        (b"", &[]),
        (b"12 path=ab\xe9\n", &[("path", b"ab\xe9")]),
        (b"18 path=a=\n7 b=c\xc3\n9 mtime=\n", &[("path", b"a=\n7 b=c\xc3"), ("mtime", b"")]),
        (b"9 path=a\n14 linkpath=b\n", &[("path", b"a"), ("linkpath", b"b")]),
    ];
    for (text, expected) in cases {
        let read: Result<Vec<_>, _> = Records(text).collect();
        let expected: Vec<_> = expected.iter().map(|(key, value)| (key.as_bytes(), *value)).collect();
        assert_eq!(read, Ok(expected), "{}", text.escape_ascii());
    }
}

#[test]
fn malformed_record_is_reported_once() {
    let texts: [&[u8]; 7] = [
        b"path=a\n",
        b"9 path=a",
        b"99 path=a\n",
        b"9 path:a\n",
        b"1 path=a\n",
        b"x path=a\n",
        b"+9 path=a\n9 path=b\n",
    ];
    for text in texts {
        let read: Vec<_> = Records(text).collect();
        assert_eq!(read, [Err(Malformed)], "{}", text.escape_ascii());
    }
}
