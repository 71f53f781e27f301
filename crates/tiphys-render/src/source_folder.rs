//! The directory of a source in a tree, and in the index of a revision.

use std::io;

use tiphys_engine::{FolderFile, SourceFolder};
use tiphys_tree::{Depth, ReadError, RepoPath, Tree};

use crate::error::SourceFailure;
use crate::inputs::PathCollector;

/// The reason why an override file cannot be a link.
const LINK: &str = "is a link; an override file must be a file";

/// A directory of a tree.
pub(crate) struct TreeFolder<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) path: &'a RepoPath,
}

impl SourceFolder for TreeFolder<'_> {
    type Error = SourceFailure;

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<FolderFile>, SourceFailure> {
        let path = self.path.join(name).map_err(SourceFailure::Path)?;
        if self.tree.root().join(path.as_str()).is_symlink() {
            let source = io::Error::other(format!("it {LINK}"));
            return Err(SourceFailure::Read(ReadError::Io { path, source }));
        }
        let text = self.tree.read(&path, bytes_max).map_err(SourceFailure::Read)?;
        Ok(text.map(|text| FolderFile { path: path.as_str().to_owned(), text }))
    }

    fn names(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, SourceFailure> {
        let files = self.tree.files(self.path, Depth::Folder).map_err(SourceFailure::Read)?;
        let names = files.iter().filter_map(RepoPath::file_name).filter(|name| is_wanted(name));
        Ok(names.map(str::to_owned).collect())
    }
}

/// A directory of a revision. What is read counts as an input.
pub(crate) struct IndexFolder<'a, 'i> {
    pub(crate) collector: &'a mut PathCollector<'i>,
    pub(crate) path: &'a RepoPath,
}

impl SourceFolder for IndexFolder<'_, '_> {
    type Error = String;

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<FolderFile>, String> {
        let path = self.path.join(name).map_err(|error| error.to_string())?;
        if self.collector.is_link(&path) {
            return Err(format!("{path} {LINK}"));
        }
        let text = self.collector.content(&path)?;
        if text.is_some_and(|text| text.len() as u64 > bytes_max) {
            return Err(format!("{path} is too large"));
        }
        self.collector.add_looked_for(&path, "an override file, or one that would count")?;
        Ok(text.map(|text| FolderFile { path: path.as_str().to_owned(), text: text.to_vec() }))
    }

    fn names(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        for file in self.collector.files_in(self.path)? {
            let Some(name) = file.path.file_name().filter(|name| is_wanted(name)) else { continue };
            // A broken link counts as missing.
            if file.is_link {
                return Err(format!("{} is a link, so the type is not known", file.path));
            }
            self.collector.add_looked_for(&file.path, "it indicates the type")?;
            names.push(name.to_owned());
        }
        Ok(names)
    }
}
