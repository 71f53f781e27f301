//! The files of a planned tree, with the content that they have where git checks them out.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_model::limits::Limit;
use tiphys_tree::{RepoPath, Store, TreeLimits, WriteError, look_at_files};

use super::{Part, Plan, PlannedRepository};
use crate::SourceError;
use crate::checkout::{
    ATTRIBUTES_FILE, CheckedOut, CheckoutRequest, ConversionBudget, attributes_convert, check_out,
};
use crate::git::Git;
use crate::identity::{FileId, blob_id};
use crate::narrowing::below;
use crate::objects::Reader;
use crate::sources::blocking;

/// Maximum length of a path in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// A file or link.
pub(crate) struct Item {
    /// Index in [`Plan::repositories`].
    repository: usize,
    pub(crate) path: RepoPath,
    pub(crate) kind: EntryKind,
    /// The blob id of its content.
    pub(crate) id: ObjectId,
    /// The file with its content, if git converted it. None: the content is that of the object.
    converted: Option<PathBuf>,
}

/// The content of a planned tree.
pub(crate) struct Listing {
    plan: Plan,
    /// Files and links.
    pub(crate) items: Vec<Item>,
    /// Empty directories.
    pub(crate) directories: Vec<RepoPath>,
    /// The converted files.
    checked_out: Vec<CheckedOut>,
}

/// Reads the items of a listing, in one thread.
pub(crate) struct Contents {
    readers: Vec<Reader>,
    buffer: Vec<u8>,
}

/// Lists the files of a plan. Reads directories and attributes, and the files that git converts.
pub(crate) async fn list(plan: Plan, git: &Git, store: &Arc<Store>) -> Result<Listing, SourceError> {
    let limits = store.limits();
    let (mut listing, requests) = blocking(move || {
        let listing = Listing::new(plan, limits)?;
        let requests = listing.checkout_requests()?;
        Ok((listing, requests))
    })
    .await?;
    let mut budget = ConversionBudget::new(limits);
    for (repository, request) in requests {
        let checked_out = check_out(git, Arc::clone(store), request, &mut budget).await?;
        listing = blocking(move || listing.with_checked_out(repository, checked_out, limits)).await?;
    }
    Ok(listing)
}

impl Listing {
    fn new(plan: Plan, limits: TreeLimits) -> Result<Self, SourceError> {
        let mut listing = Self { plan, items: Vec::new(), directories: Vec::new(), checked_out: Vec::new() };
        let mut readers = listing.contents().readers;
        for part in std::mem::take(&mut listing.plan.parts) {
            if let Some(reader) = readers.get_mut(part.repository) {
                listing.add(reader, &part, limits)?;
            }
        }
        Ok(listing)
    }

    fn add(&mut self, reader: &mut Reader, part: &Part, limits: TreeLimits) -> Result<(), SourceError> {
        let mut waiting = vec![(part.at.clone(), part.kind, part.id)];
        let mut seen: u64 = 0;
        while let Some((path, kind, id)) = waiting.pop() {
            seen += 1;
            if seen > limits.entries_max {
                return Err(WriteError::TooManyEntries {
                    max: limits.entries_max,
                    limit: Limit::TREE_ENTRIES_MAX,
                }
                .into());
            }
            if path.as_str().len() > PATH_BYTES_MAX {
                let name = path.as_str().chars().take(80).chain("…".chars()).collect();
                return Err(SourceError::Name { repository: reader.repository().to_owned(), name });
            }
            match kind {
                EntryKind::Tree => {
                    let entries = reader.entries(id)?;
                    for entry in entries.iter().rev() {
                        waiting.push((path.join(&entry.name)?, entry.kind, entry.id));
                    }
                    if entries.is_empty() {
                        self.directories.push(path);
                    }
                }
                EntryKind::Commit => {
                    let demands = self.plan.repositories.get(part.repository);
                    let demands = demands.is_some_and(|repository| repository.has_gitmodules);
                    if demands && !self.plan.submodules.contains(&path) {
                        let problem = format!(
                            ".gitmodules of repository {} has no URL for the submodule at {path}",
                            reader.repository()
                        );
                        return Err(SourceError::SubmoduleConfiguration { problem });
                    }
                    self.directories.push(path);
                }
                EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                    let repository = part.repository;
                    self.items.push(Item { repository, path, kind, id, converted: None });
                }
            }
        }
        Ok(())
    }

    /// Returns what is to be checked out: of each repository of which git may convert files, by index.
    fn checkout_requests(&self) -> Result<Vec<(usize, CheckoutRequest)>, SourceError> {
        let repositories = &self.plan.repositories;
        let above = |repository: &PlannedRepository| repository.attributes.clone();
        let mut attributes: Vec<BTreeMap<RepoPath, ObjectId>> = repositories.iter().map(above).collect();
        for item in self.files().filter(|item| item.path.file_name() == Some(ATTRIBUTES_FILE)) {
            attributes[item.repository].insert(item.path.clone(), item.id);
        }
        let mut requests = Vec::new();
        for (index, (repository, mut files)) in repositories.iter().zip(attributes).enumerate() {
            let mut reader = repository.source.objects.reader();
            let mut may_convert = repository.source.settings.may_convert();
            for id in files.values() {
                may_convert = may_convert || attributes_convert(reader.blob(*id)?);
            }
            if may_convert {
                let items = self.files().filter(|item| item.repository == index);
                files.extend(items.map(|item| (item.path.clone(), item.id)));
                let within = |path: &RepoPath| RepoPath::new(below(&repository.at, path)?).ok();
                let files = files.iter().filter_map(|(path, id)| Some((within(path)?, *id))).collect();
                requests.push((index, CheckoutRequest { source: repository.source.clone(), files }));
            }
        }
        Ok(requests)
    }

    fn files(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind != EntryKind::Link)
    }

    /// Replaces files of a repository by those that git checked out.
    fn with_checked_out(
        mut self,
        repository: usize,
        checked_out: CheckedOut,
        limits: TreeLimits,
    ) -> Result<Self, SourceError> {
        let Some(at) = self.plan.repositories.get(repository).map(|repository| repository.at.clone()) else {
            return Ok(self);
        };
        let root = checked_out.root();
        let found = look_at_files(&root, &checked_out.files, limits, blob_id)?;
        let found: HashMap<&str, ObjectId> =
            found.into_iter().map(|(path, (_, id))| (path.as_str(), id)).collect();
        for item in
            self.items.iter_mut().filter(|item| item.repository == repository && item.kind != EntryKind::Link)
        {
            let path = below(&at, &item.path).unwrap_or_default();
            if let Some(id) = found.get(path) {
                (item.id, item.converted) = (*id, Some(root.join(path)));
            }
        }
        self.checked_out.push(checked_out);
        Ok(self)
    }

    /// Returns the ids of the files and links. Deletes the converted files, so this blocks.
    pub(crate) fn into_file_ids(self) -> Vec<FileId> {
        self.items.into_iter().map(|item| (item.path, item.kind, item.id)).collect()
    }

    /// Returns a reader of the items for one thread.
    pub(crate) fn contents(&self) -> Contents {
        let readers = self.plan.repositories.iter().map(|repository| repository.source.objects.reader());
        Contents { readers: readers.collect(), buffer: Vec::new() }
    }
}

impl Contents {
    /// Returns the content of a file, or the target of a link.
    pub(crate) fn of(&mut self, item: &Item) -> Result<&[u8], SourceError> {
        if let Some(file) = &item.converted {
            self.buffer = fs::read(file).map_err(SourceError::cache("read", file))?;
            return Ok(&self.buffer);
        }
        self.reader(item).blob(item.id)
    }

    /// Returns the size of a file or a link's target in bytes; zero if it is missing.
    pub(crate) fn bytes_of(&mut self, item: &Item) -> u64 {
        let bytes = match &item.converted {
            Some(file) => file.metadata().ok().map(|metadata| metadata.len()),
            None => self.reader(item).bytes_of(item.id),
        };
        bytes.unwrap_or_default()
    }

    /// Returns the target of a link.
    pub(crate) fn link(&mut self, item: &Item) -> Result<String, SourceError> {
        self.reader(item).link(&item.path, item.id)
    }

    fn reader(&mut self, item: &Item) -> &mut Reader {
        &mut self.readers[item.repository]
    }
}
