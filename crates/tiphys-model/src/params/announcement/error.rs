//! Errors in announcements.

use std::fmt;

use tiphys_yaml::Position;

/// Location of an announcement in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index in the list, from 0; messages count from 1. `None` for the list itself.
    pub index: Option<usize>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Position of the invalid value, if known.
    pub position: Option<Position>,
}

/// An invalid announcement, with its location and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct AnnouncementError {
    /// The announcement.
    pub place: Place,
    /// The reason.
    pub problem: AnnouncementProblem,
}

/// The reason why an announcement is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementProblem {
    /// An entry of the list is `null`.
    #[error("is null; an announcement is an object with a `name`")]
    Null,
    /// An entry of the list is not an object.
    #[error("is {found}; an announcement is an object with a `name`")]
    NotAnObject {
        /// The type found, with an article.
        found: &'static str,
    },
    /// `name` is missing or empty (proposal, Q/A 5).
    #[error("has no name; every announcement needs a non-empty `name`")]
    NoName,
    /// `collectionType` is unknown (proposal, comment in the schema).
    #[error("unknown collectionType `{found}`; use `string`, `array` or `map`, or leave it out for a string")]
    UnknownCollectionType {
        /// The word.
        found: String,
    },
    /// A field has the wrong JSON type.
    #[error("{field}: {message}")]
    WrongType {
        /// The field, with the key or index of the invalid item.
        field: String,
        /// The expected type and the type found.
        message: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "announcement {}", index + 1)?,
            None => f.write_str("list of announcements")?,
        }
        if let Some(name) = &self.name {
            write!(f, " `{name}`")?;
        }
        if let Some(position) = self.position {
            write!(f, " (line {}, column {})", position.line, position.column)?;
        }
        Ok(())
    }
}
