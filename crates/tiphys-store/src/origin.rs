//! Who controls the files of a store, and what each may decide. The table is in SECURITY.md.

use std::ops::Deref;

use tiphys_model::access::FileRepositories;

use crate::place::Place;

/// Who controls a file. The loader of a store sets it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller: standard input, or a file outside of all work trees.
    Caller,
    /// The caller: a file in a work tree that is not rendered, or an object of Argo CD's cluster.
    WorkTree,
    /// A rendered repository whose settings the caller accepts.
    AcceptedRepository,
    /// A rendered repository, or what it renders. Files that have no origin yet count as this.
    Repository,
    /// The rendered head of a comparison whose settings the caller accepts.
    AcceptedHead,
    /// The base of a comparison, which a change cannot alter.
    Base,
    /// The base of a comparison whose settings the caller accepts.
    AcceptedBase,
}

/// A document that may permit more than the defaults. Only this module makes one.
#[derive(Debug)]
pub struct Trusted<'a, T>(&'a T);

/// Whose documents are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authors {
    /// Those that may permit more than the defaults.
    Trusted,
    /// The others.
    Untrusted,
}

impl Origin {
    /// Whether settings, projects, Secrets and CA certificates may permit more than the defaults. Others can only restrict.
    pub fn widens(self) -> bool {
        match self {
            Self::Repository | Self::Base => false,
            Self::Caller
            | Self::WorkTree
            | Self::AcceptedRepository
            | Self::AcceptedHead
            | Self::AcceptedBase => true,
        }
    }

    /// Whether a project may permit values of live clusters.
    pub fn permits_look_ups(self) -> bool {
        self.widens() || self == Self::Base
    }

    /// Whether an address that a set names may get Secrets of the caller.
    pub fn receives_secrets(self) -> bool {
        self.permits_look_ups() && self != Self::AcceptedHead
    }

    /// Whether a rendered repository controls the file, so that it chooses no clusters.
    pub fn is_rendered(self) -> bool {
        matches!(self, Self::AcceptedRepository | Self::Repository | Self::AcceptedHead)
    }

    /// Returns which `file://` repositories a document may name.
    pub fn file_repositories(self) -> FileRepositories {
        if self == Self::Caller { FileRepositories::Any } else { FileRepositories::Allowed }
    }
}

impl Authors {
    /// Whether a document of this origin is used.
    pub(crate) fn include(self, place: &Place) -> bool {
        match self {
            Self::Trusted => place.origin().widens(),
            Self::Untrusted => !place.origin().widens(),
        }
    }
}

impl<T> Deref for Trusted<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

/// Separates documents that may permit more than the defaults from others.
pub(crate) fn by_trust<T>(documents: &[T], place: impl Fn(&T) -> &Place) -> (Vec<Trusted<'_, T>>, Vec<&T>) {
    let (trusted, others): (Vec<&T>, Vec<&T>) =
        documents.iter().partition(|document| place(document).origin().widens());
    (trusted.into_iter().map(Trusted).collect(), others)
}
