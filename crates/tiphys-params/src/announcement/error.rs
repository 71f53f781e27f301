//! Why an announcement is refused.

use std::fmt;

use tiphys_yaml::Position;

/// Which announcement of a list is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index in the list, from 0; texts for people count from 1. `None` is the list itself.
    pub index: Option<usize>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where the offending value begins, if the text is known.
    pub position: Option<Position>,
}

/// An announcement that is refused, with its place and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct AnnouncementError {
    /// Which one.
    pub place: Place,
    /// What is wrong with it.
    pub problem: AnnouncementProblem,
}

/// What is wrong with an announcement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementProblem {
    /// An entry of the list is `null`.
    #[error("is null; an announcement is an object with a `name`")]
    Null,
    /// An entry of the list is no object.
    #[error("is {found}; an announcement is an object with a `name`")]
    NotAnObject {
        /// What it is, with an article.
        found: &'static str,
    },
    /// `name` is missing or empty (proposal, Q/A 5).
    #[error("has no name; every announcement needs a non-empty `name`")]
    NoName,
    /// `collectionType` is none of the known words (proposal, the schema's comment).
    #[error("unknown collectionType `{found}`; use `string`, `array` or `map`, or leave it out for a string")]
    UnknownCollectionType {
        /// The word.
        found: String,
    },
    /// A field has the wrong JSON type.
    #[error("{field}: {message}")]
    WrongType {
        /// The field, with the key or index of the item inside it.
        field: String,
        /// What was expected and found.
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
