use std::sync::atomic::AtomicU64;

use tiphys_tree::DirectoryEntry;

use super::{Room, content_of};

#[test]
fn contents_are_kept_as_long_as_there_is_room() {
    let room = Room(AtomicU64::new(10));
    let content = |bytes: &[u8], bytes_max| {
        let entry =
            DirectoryEntry::File { executable: false, bytes: bytes.len() as u64, content: &mut &*bytes };
        content_of(entry, bytes_max, &room).expect("it can be read")
    };
    assert_eq!(content(b"123456", 6), Some(b"123456".to_vec()));
    assert_eq!(content(b"1234567", 6), None, "too large");
    assert_eq!(content(b"12345", 6), None, "together with the first");
    assert_eq!(content(b"1234", 6), Some(b"1234".to_vec()));
}
