//! Resolves paths in a list of entries like the system does on disk, with the tree's root as the root.

use super::{Entries, EntryKind, Node, Number, ROOT};
use crate::containment::LINKS_FOLLOWED_MAX;
use crate::path::is_slash;
use crate::{ContainmentError, EntryPath};

/// Whether a link at the end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Final {
    /// Followed, as by `stat`.
    Follow,
    /// Not followed, as by `lstat`.
    Keep,
}

/// An error of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The path does not exist.
    Missing,
    /// A component is a file instead of a directory.
    NotADirectory,
    /// A loop of links, or too many of them.
    TooManyLinks,
    /// This link leads out of the tree; `None` if the path itself does.
    Outside(Option<Vec<u8>>),
}

impl Entries {
    /// Returns the real path of an entry with all links followed. Rejects paths that leave the tree at any step, and absolute links.
    pub fn resolve<'p>(
        &self,
        path: impl Into<EntryPath<'p>>,
    ) -> Result<EntryPath<'static>, ContainmentError> {
        let path = path.into();
        let mut walk = Walk::new(self, path.as_bytes());
        match walk.run(Final::Follow) {
            Ok(_) => Ok(EntryPath::from_clean(walk.path())),
            Err(Lost::Missing | Lost::NotADirectory) => {
                Err(ContainmentError::Missing { path: path.to_string() })
            }
            Err(Lost::TooManyLinks) => Err(ContainmentError::TooManyLinks { path: path.to_string() }),
            Err(Lost::Outside(link)) => {
                let link = link.map(EntryPath::from_clean);
                Err(ContainmentError::OutOfBounds { file: link.unwrap_or(path).to_string() })
            }
        }
    }

    /// Returns the kind of an entry. Components are bytes, and may be `.` and `..`.
    pub(crate) fn look_at(&self, path: &[u8], last: Final) -> Result<EntryKind, Lost> {
        Walk::new(self, path).run(last).map(|found| self.kind(found))
    }

    /// Returns the content of a directory in byte order, following links in its path.
    pub(crate) fn children(&self, path: &[u8]) -> Result<impl Iterator<Item = (&[u8], EntryKind)>, Lost> {
        let found = Walk::new(self, path).run(Final::Follow)?;
        match self.node(found) {
            Node::Directory(children) => {
                Ok(children.iter().map(|(name, child)| (&**name, self.kind(*child))))
            }
            Node::File | Node::Link(_) => Err(Lost::NotADirectory),
        }
    }
}

/// A path that is being resolved.
struct Walk<'a> {
    entries: &'a Entries,
    /// The current position: names and numbers from below the root.
    here: Vec<(&'a [u8], Number)>,
    /// The remaining components, last first, each with the position of its link.
    ahead: Vec<(&'a [u8], Option<usize>)>,
    /// The followed links.
    links: Vec<Vec<u8>>,
}

impl<'a> Walk<'a> {
    fn new(entries: &'a Entries, path: &'a [u8]) -> Self {
        let ahead = path.rsplit(is_slash).map(|name| (name, None)).collect();
        Self { entries, here: Vec::new(), ahead, links: Vec::new() }
    }

    /// Resolves the whole path.
    fn run(&mut self, last: Final) -> Result<Number, Lost> {
        while let Some((name, link)) = self.ahead.pop() {
            // An entry followed by a component or a slash must be a directory.
            if self.entries.kind(self.number()) != EntryKind::Directory {
                return Err(Lost::NotADirectory);
            }
            match name {
                b"" | b"." => continue,
                b".." => {
                    if self.here.pop().is_none() {
                        return Err(Lost::Outside(link.map(|link| self.links[link].clone())));
                    }
                    continue;
                }
                _ => {}
            }
            let child = self.enter(name).ok_or(Lost::Missing)?;
            if let Node::Link(target) = self.entries.node(child)
                && (last == Final::Follow || !self.ahead.is_empty())
            {
                self.follow(target)?;
            }
        }
        Ok(self.number())
    }

    /// Enters a name.
    fn enter(&mut self, name: &[u8]) -> Option<Number> {
        let Node::Directory(children) = self.entries.node(self.number()) else { return None };
        let (name, number) = children.get_key_value(name)?;
        self.here.push((name, *number));
        Some(*number)
    }

    /// Replaces the current link by its target.
    fn follow(&mut self, target: &'a [u8]) -> Result<(), Lost> {
        if self.links.len() == LINKS_FOLLOWED_MAX {
            return Err(Lost::TooManyLinks);
        }
        let link = self.path();
        if target.is_empty() {
            return Err(Lost::Missing);
        }
        if target.starts_with(b"/") {
            return Err(Lost::Outside(Some(link)));
        }
        self.here.pop();
        let from = Some(self.links.len());
        self.ahead.extend(target.rsplit(is_slash).map(|name| (name, from)));
        self.links.push(link);
        Ok(())
    }

    fn number(&self) -> Number {
        self.here.last().map_or(ROOT, |(_, number)| *number)
    }

    fn path(&self) -> Vec<u8> {
        self.here.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(&b'/')
    }
}
