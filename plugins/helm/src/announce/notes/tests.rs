//! Comments and the order of keys.

use std::time::{Duration, Instant};

use tiphys_helm_values::PathItem;

use super::{COMMENT_CHARS_MAX, Notes};

const NODES_MAX: usize = 1_000;

fn comment(text: &str, key: &str) -> String {
    let mut notes = Notes::default();
    notes.add(&[], text.as_bytes(), NODES_MAX);
    let keys = key.split('.').map(|key| match key.parse() {
        Ok(index) => PathItem::Index(index),
        Err(_) => PathItem::Key(key.to_owned()),
    });
    let mut found = &notes;
    for key in keys {
        found = found.of(&key).expect("the key exists");
    }
    found.comment().to_owned()
}

#[test]
fn comment_is_in_the_lines_directly_above_its_key() {
    let cases = [
        ("# replicas of the web server\nweb: 1\n", "web", "replicas of the web server"),
        ("## one\n# two\nweb: 1\n", "web", "one\ntwo"),
        ("# far away\n\nweb: 1\n", "web", ""),
        ("a: 1 # behind\nweb: 1\n", "web", ""),
        ("a:\n  # inside\n  web: 1\n", "a.web", "inside"),
        ("a: {}\n  # cpu: 100m\nweb: 1\n", "web", ""),
        ("a:\n  b: 1\n# of web\nweb: 1\n", "web", "of web"),
        ("l:\n  # of an item\n- web: 1\n  # of its key\n  x: 2\n", "l.0.x", "of its key"),
        ("# not its own\n{web: 1}\n", "web", ""),
        ("---\n# second line\nweb: 1\n---\n# again\nweb: 2\n", "web", "second line"),
        ("# Grüße ☃\r\nweb: 1\r\n", "web", "Grüße ☃"),
    ];
    for (text, key, expected) in cases {
        assert_eq!(comment(text, key), expected, "{text}");
    }
}

#[test]
fn tool_annotations_are_removed_from_comments() {
    let cases = [
        ("# -- Replicas\n# @default -- 3\nweb: 1\n", "Replicas"),
        ("# @schema\n# type: integer\n# @schema\nweb: 1\n", "type: integer"),
        ("## @section Global\n## Words\nweb: 1\n", "Words"),
    ];
    for (text, expected) in cases {
        assert_eq!(comment(text, "web"), expected, "{text}");
    }
}

#[test]
fn param_descriptions_are_found_anywhere_in_the_file() {
    let text = "## @param image.tag [string, nullable] Tag of the image\n## @param debug Talk more\n## @param none\nimage: {tag: x}\n";
    let mut notes = Notes::default();
    notes.add(&["sub"], text.as_bytes(), NODES_MAX);
    assert_eq!(notes.elsewhere("sub.image.tag"), Some("Tag of the image"));
    assert_eq!(notes.elsewhere("sub.debug"), Some("Talk more"));
    assert_eq!((notes.elsewhere("sub.none"), notes.elsewhere("debug")), (None, None));
}

#[test]
fn long_comment_is_truncated() {
    let text = format!("# {}\nweb: 1\n", "☃".repeat(COMMENT_CHARS_MAX + 1));
    assert_eq!(comment(&text, "web"), format!("{}…", "☃".repeat(COMMENT_CHARS_MAX)));
}

#[test]
fn keys_are_ranked_by_first_occurrence() {
    let mut notes = Notes::default();
    notes.add(&[], b"z: 1\nsub: {s: 1}\na: 1\n", NODES_MAX);
    notes.add(&["sub"], b"x: 1\ns: 2\nglobal: {g: 1}\n", NODES_MAX);
    notes.add(&[], b"m: 1\nz: 2\n", NODES_MAX);
    let rank = |keys: &[&str]| {
        let keys = keys.iter().map(|key| PathItem::Key((*key).to_owned()));
        keys.fold(&notes, |notes, key| notes.of(&key).expect("the key exists")).rank()
    };
    let order = [&["z"][..], &["sub"], &["sub", "s"], &["a"], &["sub", "x"], &["global", "g"], &["m"]];
    let ranks: Vec<usize> = order.iter().map(|keys| rank(keys)).collect();
    assert!(ranks.is_sorted_by(|one, other| one < other), "{ranks:?}");
}

#[test]
fn invalid_yaml_has_no_notes() {
    let mut notes = Notes::default();
    notes.add(&[], b"# a\na: 1\nb: [\n", NODES_MAX);
    assert!(notes.of(&PathItem::Key("a".to_owned())).is_none());
}

/// Reading the whole comment for each alias would take minutes.
#[test]
fn comment_of_aliased_key_is_read_once() {
    let (lines, aliases) = (50_000, 50_000);
    let comment = "# x\n".repeat(lines);
    let text = format!("base: &a\n{comment}  # of k\n  k: 1\nlist: [{}]\n", "*a, ".repeat(aliases));
    let text = text.replace("# x", "  # x");
    let began = Instant::now();
    let mut notes = Notes::default();
    notes.add(&[], text.as_bytes(), 5 * aliases);
    let path =
        [PathItem::Key("list".to_owned()), PathItem::Index(aliases - 1), PathItem::Key("k".to_owned())];
    let last = path.iter().fold(&notes, |notes, item| notes.of(item).expect("the item exists"));
    assert!(last.comment().starts_with("x\nx\n"));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
