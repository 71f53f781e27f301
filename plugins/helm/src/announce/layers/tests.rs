use tiphys_helm_values::parse_name;

use super::below_parent;

#[test]
fn path_below_an_import_is_relative_to_its_parent() {
    let path = parse_name("a.b.c").expect("a name");
    assert_eq!(below_parent(&path, "."), Some(path.as_slice()));
    assert_eq!(below_parent(&path, "a.b"), Some(&path[2..]));
    assert_eq!(below_parent(&path, "b"), None);
}
