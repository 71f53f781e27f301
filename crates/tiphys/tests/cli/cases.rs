//! The cases of `testdata/cli`, topic by topic.

use crate::case::{check_all, check_all_in};
use crate::world::World;

macro_rules! topics {
    ($($name:ident: $topic:literal,)+) => {$(
        #[test]
        fn $name() {
            check_all($topic);
        }
    )+};
}

topics! {
    paths_and_repositories_that_do_not_hold_are_refused: "sources",
    bounds_have_options_and_are_kept: "bounds",
    plugins_that_misbehave_are_told: "plugins",
    documents_that_do_not_hold_are_told_with_file_and_line: "documents",
    render_prints_what_it_is_asked_for: "render",
    parameters_are_listed_with_their_origin: "params",
    two_revisions_are_compared: "diff-base",
    parameters_are_listed_with_all_that_is_known_of_them: "params-list",
    parameters_are_set_in_place: "params-set",
    parameters_are_taken_away_in_place: "params-unset",
    unsaved_parameters_are_compared: "params-diff",
    parameters_are_written_into_override_files: "params-override",
    manifests_are_compared_with_what_is_live: "diff",
    completion_offers_what_may_follow: "completion",
    plugin_authors_see_what_their_plugin_does: "authors",
    settings_of_a_rendered_repository_do_not_widen: "trust",
    helm_blocks_are_rendered_and_changed: "helm",
}

#[test]
fn charts_go_through_all_that_argo_cd_does_around_helm() {
    check_all_in("charts", World::with_helm);
}
