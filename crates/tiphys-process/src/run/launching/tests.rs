use std::path::PathBuf;

use super::{View, by_tree};
use crate::spec::{PrivateView, Shielded};

#[test]
fn trees_are_mapped_to_their_roots_unless_counts_differ() {
    let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
    let private = View::Private {
        lower: "/tree".into(),
        others: paths(&["/b", "/a"]),
        run_dir: "/run".into(),
        how: PrivateView::Auto,
        shielded: Shielded::default(),
    };
    let direct = View::Direct { dir: "/tree".into() };
    let seen = by_tree(&private, paths(&["/run/0", "/run/1"])).expect("one for each");
    assert_eq!(seen, [("/a".into(), "/run/1".into()), ("/b".into(), "/run/0".into())].into());
    assert_eq!(by_tree(&direct, Vec::new()), Some([].into()));
    for (view, roots) in
        [(&private, ["/run/0"].as_slice()), (&private, &["/0", "/1", "/2"]), (&direct, &["/0"])]
    {
        assert_eq!(by_tree(view, paths(roots)), None, "{roots:?}");
    }
}
