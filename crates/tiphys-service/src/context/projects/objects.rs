//! Decisions of the rules of projects about rendered and live objects.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use tiphys_engine::{Manifest, Scope, Scopes};
use tiphys_model::params::ValueRedactor;
use tiphys_model::project_rules::{ObjectIdentity, Permission, ProjectRules, Scope as RuleScope};
use tiphys_model::resources::Application;
use tiphys_render::RenderedApplication;
use tiphys_store::StoredApplication;

use super::Projects;
use crate::context::clusters::DestinationClusters;
use crate::error::ServiceError;

impl Projects {
    /// Checks rendered objects, with the scopes of the destination cluster if it can be read. Returns warnings about kinds of which it is not
    /// known whether they are namespaced.
    pub(crate) async fn check_rendered(
        &self,
        clusters: &DestinationClusters,
        stored: &StoredApplication,
        rendered: &RenderedApplication,
    ) -> Result<Vec<String>, ServiceError> {
        let RenderedApplication { manifests, redactor, .. } = rendered;
        if self.rules(&stored.application).is_none() {
            return Ok(Vec::new());
        }
        let manifests = with_nested(manifests);
        let cluster = self.cluster(&stored.application.spec.destination);
        let scopes = clusters.scopes(&cluster, &manifests).await;
        let scopes = scopes.map_err(|error| error.in_application(stored, &stored.place))?;
        self.check_objects(stored, &manifests, &scopes, redactor)
    }

    pub(super) fn check_objects(
        &self,
        stored: &StoredApplication,
        manifests: &[Manifest],
        scopes: &Scopes,
        redactor: &ValueRedactor,
    ) -> Result<Vec<String>, ServiceError> {
        let Some(rules) = self.rules(&stored.application) else { return Ok(Vec::new()) };
        let cluster = self.cluster(&stored.application.spec.destination);
        let (mut refused, mut reported) = (BTreeSet::new(), BTreeSet::new());
        for manifest in manifests {
            let object = identity(manifest, &stored.application.spec.destination.namespace, scopes);
            match rules.check_object(&cluster, &object.identity, object.scope) {
                Ok(Permission::Granted) => {}
                Ok(Permission::Reported(message)) => {
                    reported.insert(of_object(rules, redactor, &message));
                }
                Err(error) => {
                    let message = format!("{error} ({})", manifest.key());
                    refused.insert(of_object(rules, redactor, &message));
                }
            }
        }
        let mut warnings = self.decided(stored, refused.into_iter().collect())?;
        warnings.extend(reported);
        Ok(warnings)
    }

    /// Returns why the project does not permit a live object. None if it does, or if there are no rules.
    pub(crate) fn refusal_of_live(
        &self,
        application: &Application,
        manifest: &Manifest,
        scopes: &Scopes,
    ) -> Option<String> {
        let rules = self.rules(application)?;
        let object = identity(manifest, "", scopes);
        let cluster = self.cluster(&application.spec.destination);
        rules.check_object(&cluster, &object.identity, object.scope).err().map(|error| error.to_string())
    }
}

/// Returns a message about an object without values of dynamic parameters, which its name may be.
fn of_object(rules: &ProjectRules, redactor: &ValueRedactor, message: &str) -> String {
    match redactor.redact(message) {
        Cow::Owned(redacted) => redacted,
        Cow::Borrowed(same) if same == message => message.to_owned(),
        Cow::Borrowed(withheld) => {
            format!("project {} restricts a rendered object {withheld}", rules.project())
        }
    }
}

/// Returns objects, and those in lists among them. Lists of a plugin's output are flattened one level deep, as in Argo CD, but kubectl
/// applies what deeper ones contain.
fn with_nested(manifests: &[Manifest]) -> Cow<'_, [Manifest]> {
    let mut nested = Vec::new();
    for manifest in manifests {
        add_items(manifest, &mut nested);
    }
    if nested.is_empty() { Cow::Borrowed(manifests) } else { Cow::Owned([manifests, &nested].concat()) }
}

fn add_items(manifest: &Manifest, nested: &mut Vec<Manifest>) {
    let Some(Value::Array(items)) = manifest.object().get("items") else { return };
    for item in items {
        if let Value::Object(object) = item {
            let item = Manifest::new(object.clone());
            add_items(&item, nested);
            nested.push(item);
        }
    }
}

/// An object as rules see it.
struct ScopedObject {
    identity: ObjectIdentity,
    scope: RuleScope,
}

/// Returns the identity of an object. `namespace` is that of namespaced objects without one. An object of unknown kind that names a
/// namespace is namespaced.
fn identity(manifest: &Manifest, namespace: &str, scopes: &Scopes) -> ScopedObject {
    let key = manifest.key();
    let own = Some(&key.namespace).filter(|namespace| !namespace.is_empty()).map_or(namespace, |own| own);
    let (scope, namespace) = match scopes.scope(&key.group, &key.kind) {
        Scope::Cluster => (RuleScope::Cluster, None),
        Scope::Unknown if key.namespace.is_empty() => (RuleScope::Unknown, None),
        Scope::Namespaced | Scope::Unknown => (RuleScope::Namespaced, Some(own.to_owned())),
    };
    let identity = ObjectIdentity { namespace, group: key.group, kind: key.kind, name: key.name };
    ScopedObject { identity, scope }
}
