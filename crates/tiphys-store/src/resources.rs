//! Resources of a store with their locations: projects, settings, CA certificates, Secrets.

use tiphys_api::{AppProject, ArgoCdSecret, ArgoCdSettings, TlsCertificates};

use crate::Place;

/// A project and the location of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProject {
    /// The project.
    pub project: AppProject,
    /// The location of its document.
    pub place: Place,
}

/// Argo CD's settings (`argocd-cm`) and the location of their document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// The settings.
    pub settings: ArgoCdSettings,
    /// The location of the document.
    pub place: Place,
}

/// CA certificates of servers (`argocd-tls-certs-cm`) and the location of their document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCertificates {
    pub(crate) certificates: TlsCertificates,
    pub(crate) place: Place,
}

/// A Secret that Argo CD reads and the location of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    /// The Secret.
    pub secret: ArgoCdSecret,
    /// The location of its document.
    pub place: Place,
}
