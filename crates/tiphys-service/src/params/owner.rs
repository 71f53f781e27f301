//! The object that generates an Application and overwrites changes of its document.

use std::sync::Arc;

use tiphys_engine::{Owner, instance_name};
use tiphys_store::{Place, SetId, StoredApplication};

use super::origin::ParameterLocation;
use crate::context::workspace::Workspace;

/// The object that generates an Application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationOwner {
    /// Its kind.
    pub kind: OwnerKind,
    /// `NAMESPACE/NAME`, or the name that the Application has of it if the store lacks it.
    pub name: String,
    /// The place of its document. None if the store lacks it.
    pub place: Option<ParameterLocation>,
}

/// The kind of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum OwnerKind {
    /// An `ApplicationSet`.
    ApplicationSet,
    /// Another Application (app of apps).
    Application,
}

impl ApplicationOwner {
    /// Returns the owner of an application: the set that generates it, else the one that its document names.
    pub(super) fn find(workspace: &Workspace, stored: &StoredApplication) -> Option<Self> {
        let Workspace { resources, control_plane, .. } = workspace;
        if let Some(set) = &stored.generated_by {
            let place = Some(location(&stored.place));
            return Some(Self { kind: OwnerKind::ApplicationSet, name: set.to_string(), place });
        }
        let namespace = stored.namespace(control_plane);
        Some(match Owner::of(&stored.node)? {
            Owner::ApplicationSet(name) => {
                let id = SetId { namespace: namespace.to_owned(), name };
                let found = resources.sets().iter().find(|set| set.id(control_plane) == id);
                let place = found.map(|set| location(&set.place));
                Self { kind: OwnerKind::ApplicationSet, name: id.to_string(), place }
            }
            Owner::Application(name) => {
                // An owner reference has the name of an object in the same namespace, a tracking ID the name of an instance.
                let is_owner = |one: &&Arc<StoredApplication>| {
                    let metadata = &one.application.metadata;
                    let is_beside = one.namespace(control_plane) == namespace && metadata.name == name;
                    is_beside || instance_name(&metadata.namespace, &metadata.name, control_plane) == name
                };
                let found = resources.applications().iter().find(is_owner);
                let place = found.map(|one| location(&one.place));
                Self { kind: OwnerKind::Application, name: found.map_or(name, |one| one.full_name()), place }
            }
        })
    }
}

fn location(place: &Place) -> ParameterLocation {
    ParameterLocation { file: place.file.to_string(), position: place.position, version: None }
}

impl OwnerKind {
    /// Returns the kind as documents have it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
