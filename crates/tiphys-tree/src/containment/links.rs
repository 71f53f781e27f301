//! Checks the links of one tree together, in memory.

use std::collections::BTreeMap;

use super::LINKS_FOLLOWED_MAX;
use crate::path::{is_slash, parent, shown};

/// Maximum number of components that one check of all links resolves. Normal trees need a few per link; more is an attack.
const STEPS_MAX: usize = 2_000_000;

/// Returns the first link, in byte order, for which a tree with all these links is rejected. Each has a clean path relative to the root, and a
/// target, which need not exist.
pub fn first_link_out<'l>(links: impl IntoIterator<Item = (&'l [u8], &'l [u8])>) -> Option<String> {
    let mut set = LinkSet::default();
    for (path, target) in links {
        set.add(path, target);
    }
    set.check().err()
}

/// Links with their targets, by path. Paths and targets are bytes.
#[derive(Debug, Default)]
pub(crate) struct LinkSet {
    links: BTreeMap<Box<[u8]>, Box<[u8]>>,
}

impl LinkSet {
    /// Adds a link. Its path is relative to the root and clean.
    pub(crate) fn add(&mut self, path: &[u8], target: &[u8]) {
        self.links.insert(path.into(), target.into());
    }

    /// Returns the paths of the links in byte order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.links.keys().map(|path| &**path)
    }

    /// Returns the first link, in byte order, that leaves the root. Any path that is not a link of the set is treated as an existing
    /// directory, so that no entry that is created later makes a valid link leave the tree.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut steps = STEPS_MAX;
        for (path, target) in &self.links {
            if stays_inside_as_written(path, target) && self.stays_inside(path, target, &mut steps) {
                continue;
            }
            return Err(shown(path).into_owned());
        }
        Ok(())
    }

    /// Resolves a link like the system: all links on its path are followed. A loop leads nowhere, so it stays inside.
    fn stays_inside(&self, path: &[u8], target: &[u8], steps: &mut usize) -> bool {
        let mut here = parent(path).to_vec();
        let mut ahead: Vec<&[u8]> = target.rsplit(is_slash).collect();
        let mut followed = 1;
        while let Some(name) = ahead.pop() {
            let Some(left) = steps.checked_sub(1) else { return false };
            *steps = left;
            match name {
                b"" | b"." => continue,
                b".." if here.is_empty() => return false,
                b".." => {
                    here.truncate(parent(&here).len());
                    continue;
                }
                _ => {}
            }
            let directory = here.len();
            if directory > 0 {
                here.push(b'/');
            }
            here.extend_from_slice(name);
            if let Some(next) = self.links.get(here.as_slice()) {
                followed += 1;
                if followed > LINKS_FOLLOWED_MAX {
                    return true;
                }
                if next.starts_with(b"/") {
                    return false;
                }
                here.truncate(directory);
                ahead.extend(next.rsplit(is_slash));
            }
        }
        true
    }
}

/// Whether a link's target, joined lexically to the directory of the link, never leaves the root.
pub(crate) fn stays_inside_as_written(path: &[u8], target: &[u8]) -> bool {
    if target.starts_with(b"/") {
        return false;
    }
    let mut depth = path.split(is_slash).count() - 1;
    for name in target.split(is_slash) {
        match name {
            b"" | b"." => {}
            b".." if depth == 0 => return false,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    true
}
