//! A system where orphans cannot be adopted and processes cannot be held: see [`crate::Containment::ProcessGroups`].

use std::io;

use rustix::process::{Pid, Signal};

/// Nobody, so that no value of this type exists.
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

/// Not possible here.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no child subreapers"))
}

/// Nothing is held here.
pub(crate) fn cannot_be_held() -> bool {
    false
}

/// None are known.
pub(crate) fn descendants_of(_ancestor: Pid) -> Vec<Descendant> {
    Vec::new()
}

/// None are known.
pub(crate) fn all() -> Vec<Descendant> {
    Vec::new()
}
