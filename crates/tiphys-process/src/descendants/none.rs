//! Systems without child subreapers and pidfds: see [`crate::Containment::ProcessGroups`].

use std::io;

use rustix::process::{Pid, Signal};

/// An empty type.
#[derive(Debug)]
pub(crate) enum Descendant {}

impl Descendant {
    pub(crate) fn pid(&self) -> Pid {
        match *self {}
    }

    pub(crate) fn identity(&self) -> (Pid, u64) {
        match *self {}
    }

    pub(crate) fn signal(&self, _signal: Signal) {
        match *self {}
    }
}

/// Unsupported.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no child subreapers"))
}

/// No descriptors are needed.
pub(crate) fn cannot_be_held() -> bool {
    false
}

pub(crate) fn descendants_of(_ancestor: Pid) -> Vec<Descendant> {
    Vec::new()
}

pub(crate) fn all() -> Vec<Descendant> {
    Vec::new()
}
