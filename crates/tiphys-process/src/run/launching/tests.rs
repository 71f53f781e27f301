use std::path::PathBuf;

use super::{PrivateView, Shielded, View, by_tree};

#[test]
fn a_tree_is_seen_where_the_launcher_made_it_and_another_number_of_places_is_none() {
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
    for (view, places) in
        [(&private, ["/run/0"].as_slice()), (&private, &["/0", "/1", "/2"]), (&direct, &["/0"])]
    {
        assert_eq!(by_tree(view, paths(places)), None, "{places:?}");
    }
}
