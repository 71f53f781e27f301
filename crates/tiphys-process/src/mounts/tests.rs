use std::path::PathBuf;

use super::mount_point;

#[test]
fn escapes_of_mount_points_are_decoded() {
    for (line, expected) in [
        ("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw", Some("/mnt2")),
        (r"36 35 98:0 /a\040b /c\040d\011e\012f\134g rw - ext3 x rw", Some("/c d\te\nf\\g")),
        (r"36 35 98:0 / /c\04 rw - ext3 x rw", Some(r"/c\04")),
        ("36 35 98:0 /", None),
        ("", None),
    ] {
        assert_eq!(mount_point(line.as_bytes()), expected.map(PathBuf::from), "{line}");
    }
}
