//! Which of the work trees around a path another revision of it is read from: a change that puts a submodule or a link in the place of a
//! folder must not choose the repository that it is compared with.

use std::path::{Component, Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_tree::RepoPath;

use super::Sources;
use crate::git::Place;
use crate::local::{Expect, LocalRepository, ask};
use crate::objects::{Found, Reader};
use crate::submodule;
use crate::work_tree::WorkTreePath;
use crate::{BaseRevision, SourceError, redact_url};

/// How a path of a work tree leads into another one, in the eyes of the outer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// The outer one has no entry there, neither at the base nor in its index.
    Untracked,
    /// The same submodule, or the same link, leads there at the base.
    SameAtBase,
    /// The base has nothing there: what leads there is new.
    New,
    /// The base has something else there.
    Replaced {
        /// The kind of entry at the base, as `a folder`.
        was: &'static str,
        /// The kind of entry now.
        now: &'static str,
    },
    /// The same submodule, of another repository.
    Moved {
        /// Its URL at the base, masked.
        was: String,
        /// Its URL now, masked.
        now: String,
    },
}

/// An entry of an index.
struct Staged {
    id: ObjectId,
    path: String,
}

impl Sources {
    /// How `outer` leads into `inner`: the next of the work trees that [`WorkTreePath::find`] gives for one path.
    pub async fn nesting(
        &self,
        outer: &WorkTreePath,
        inner: &WorkTreePath,
        base: &BaseRevision,
    ) -> Result<Nesting, SourceError> {
        let repository = self.local.open(&outer.top, &self.service.git).await?;
        let is_tracked = self.is_tracked(&repository, &outer.path).await?;
        let commit = match base.commit(&repository, &self.service.git).await {
            Err(SourceError::MissingRevision { .. } | SourceError::NoMergeBase { .. }) if !is_tracked => {
                return Ok(Nesting::Untracked);
            }
            commit => commit?,
        };
        let mut reader = repository.source.objects.reader();
        let tree = reader.tree_of(commit)?;
        let steps = reader.find(tree, &outer.path)?;
        let replaced = |was| {
            let now = match (was, what_leads(outer, inner)) {
                ("a link", "a link") => "another link",
                ("a submodule", "a submodule") => "another submodule",
                (_, now) => now,
            };
            Ok(Nesting::Replaced { was, now })
        };
        match steps.last() {
            None | Some(Found::Nothing) if is_tracked => Ok(Nesting::New),
            None | Some(Found::Nothing) => Ok(Nesting::Untracked),
            Some(Found::Entry(EntryKind::Tree, _)) => replaced("a folder"),
            Some(Found::Entry(..)) => replaced("a file"),
            Some(Found::Submodule) => {
                let path = steps.iter().rev().find_map(|step| match step {
                    Found::Link(_, _, next) => next.as_ref(),
                    Found::Nothing | Found::Entry(..) | Found::Submodule => None,
                });
                let path = path.unwrap_or(&outer.path);
                let mount = inner.top.strip_prefix(&outer.top).ok().and_then(Path::to_str);
                let mount = mount.and_then(|mount| RepoPath::new(mount).ok());
                let same = mount.filter(|mount| Path::new(path.as_str()).starts_with(mount.as_str()));
                let Some(mount) = same else { return replaced("a submodule") };
                if reader.gitlink(tree, &mount)?.is_none() {
                    return replaced("a submodule");
                }
                drop(reader);
                self.module_at_base(&repository, tree, &mount).await
            }
            Some(Found::Link(place, id, None)) => {
                let target = reader.link(place, *id)?;
                let parent = place.parent().unwrap_or_default().below(&outer.top);
                // As the base has it: what stands on the way to the link now may be the change's.
                let target = without_dots(&parent.join(target));
                let leads_out = !target.starts_with(&outer.top);
                let leads_there = target.canonicalize().is_ok_and(|target| target.starts_with(&inner.top));
                if leads_out && leads_there { Ok(Nesting::SameAtBase) } else { replaced("a link") }
            }
            Some(Found::Link(_, _, Some(_))) => replaced("a link without an end"),
        }
    }

    /// Whether the index has something at a path, below it, or on the way to it.
    async fn is_tracked(&self, repository: &LocalRepository, path: &RepoPath) -> Result<bool, SourceError> {
        let path = path.as_str();
        let first = path.split('/').next().unwrap_or_default();
        let staged = self.staged(repository, first).await?;
        let is_part = |whole: &str, part: &str| {
            whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Ok(staged.iter().any(|entry| is_part(path, &entry.path) || is_part(&entry.path, path)))
    }

    /// Returns the entries of the index at a path and below it.
    async fn staged(&self, repository: &LocalRepository, path: &str) -> Result<Vec<Staged>, SourceError> {
        let pattern = format!(":(top,literal){path}");
        let args = ["ls-files", "--stage", "-z", "--", &pattern];
        let git = &self.service.git;
        let text = ask(git, git.local(&repository.dir, Place::Here, args), Expect::Success).await?;
        let entry = |line: &str| {
            let (head, path) = line.split_once('\t')?;
            let id = ObjectId::from_hex(head.split(' ').nth(1)?.as_bytes()).ok()?;
            Some(Staged { id, path: path.to_owned() })
        };
        Ok(text.split('\0').filter_map(entry).collect())
    }

    /// A submodule that the base has, too, is the same one as long as the change says nothing else of where it is from.
    async fn module_at_base(
        &self,
        repository: &LocalRepository,
        tree: ObjectId,
        mount: &RepoPath,
    ) -> Result<Nesting, SourceError> {
        let file = RepoPath::new(".gitmodules")?;
        let then = match repository.source.objects.reader().find(tree, &file)?.pop() {
            Some(Found::Entry(EntryKind::Blob | EntryKind::BlobExecutable, id)) => Some(id),
            _ => None,
        };
        let now = self.staged(repository, file.as_str()).await?.pop().map(|entry| entry.id);
        if then == now {
            return Ok(Nesting::SameAtBase);
        }
        let (was, now) = (self.url(repository, then, mount).await?, self.url(repository, now, mount).await?);
        if was == now {
            return Ok(Nesting::SameAtBase);
        }
        let shown = |url: Option<String>| url.map_or_else(|| "none".to_owned(), |url| redact_url(&url));
        Ok(Nesting::Moved { was: shown(was), now: shown(now) })
    }

    /// The URL of the submodule at a place as a `.gitmodules` has it.
    async fn url(
        &self,
        repository: &LocalRepository,
        file: Option<ObjectId>,
        mount: &RepoPath,
    ) -> Result<Option<String>, SourceError> {
        let Some(file) = file else { return Ok(None) };
        let text = bytes(&mut repository.source.objects.reader(), file)?;
        let modules = submodule::read(&self.service.git, text, &repository.dir.display().to_string()).await?;
        Ok(modules.into_iter().find(|module| module.path == *mount).and_then(|module| module.url))
    }
}

fn bytes(reader: &mut Reader, id: ObjectId) -> Result<Vec<u8>, SourceError> {
    reader.blob(id).map(<[u8]>::to_vec)
}

/// Returns the kind of entry on the way into the inner work tree now.
fn what_leads(outer: &WorkTreePath, inner: &WorkTreePath) -> &'static str {
    let mut place = outer.top.clone();
    for name in outer.path.as_str().split('/') {
        place.push(name);
        if place.is_symlink() {
            return "a link";
        }
        if place == inner.top {
            break;
        }
    }
    "a submodule"
}

/// A path with `.` and `..` taken out, without a look at what is there.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
