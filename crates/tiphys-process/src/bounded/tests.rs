use super::*;

fn kept(bytes_max: usize, pieces: &[&str]) -> String {
    let mut text = HeadAndTail::new(bytes_max);
    for piece in pieces {
        text.write(piece.as_bytes());
    }
    String::from_utf8(text.into_bytes()).expect("UTF-8")
}

#[test]
fn first_and_last_half_are_kept_and_the_rest_counted() {
    let cases: &[(usize, &[&str], &str)] = &[
        (10, &[], ""),
        (10, &["0123456789"], "0123456789"),
        (10, &["01234", "56789"], "0123456789"),
        (10, &["0123456789a"], "01234\n[… 1 bytes left out …]\n6789a"),
        (10, &["0123", "4567", "89ab", "cdef"], "01234\n[… 6 bytes left out …]\nbcdef"),
        (10, &["0123\n", "xxxxxxxxxx", "6789\n"], "0123\n[… 10 bytes left out …]\n6789\n"),
        (3, &["a", "b", "c", "d"], "a\n[… 1 bytes left out …]\ncd"),
        (1, &["a", "b"], "[… 1 bytes left out …]\nb"),
        (0, &["abc"], "[… 3 bytes left out …]\n"),
    ];
    for (bytes_max, pieces, expected) in cases {
        assert_eq!(&kept(*bytes_max, pieces), expected, "{bytes_max} {pieces:?}");
    }
}
