//! Joining static and dynamic announcements.

use crate::Announcement;

/// Static entries first, in file order, then dynamic ones; one name in both is one entry, at its first place, the dynamic one's
/// fields winning where they are set (proposal, "How will the UI know what parameters may be set").
pub fn merge_announcements(fixed: Vec<Announcement>, dynamic: Vec<Announcement>) -> Vec<Announcement> {
    todo!("{fixed:?} {dynamic:?}")
}
