//! Addresses of objects as users write them.

use tiphys_engine::{Scope, ServedKinds, UnknownKind};
use tiphys_model::resources::ResourceReference;

use crate::error::ServiceError;

/// Parses `KIND[.GROUP]/NAMESPACE/NAME`, or `KIND[.GROUP]/NAME` for an object without a namespace.
pub fn parse_object_address(address: &str) -> Result<ResourceReference, ServiceError> {
    let parts: Vec<&str> = address.split('/').collect();
    let (kind, namespace, name) = match parts[..] {
        [kind, namespace, name] if !namespace.is_empty() => (kind, namespace, name),
        [kind, name] => (kind, "", name),
        _ => ("", "", ""),
    };
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let is_invalid =
        |part: &str| part.contains(|c: char| c.is_whitespace() || c.is_control() || "*?[]{}".contains(c));
    if kind.is_empty() || name.is_empty() || is_invalid(address) {
        return Err(ServiceError::invalid_input(format!(
            "{address:?} is not the address of an object: expected KIND[.GROUP]/NAMESPACE/NAME or KIND[.GROUP]/NAME, \
             for example Deployment.apps/shop/web"
        )));
    }
    Ok(ResourceReference {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..ResourceReference::default()
    })
}

/// Checks that an object of a kind of Kubernetes can exist. Kinds of other groups are unknown here.
pub fn require_possible(object: &ResourceReference) -> Result<(), ServiceError> {
    let built_in = ServedKinds::built_in();
    let ResourceReference { group, kind, namespace, .. } = object;
    let problem = match built_in.find(group, kind, None) {
        Ok(found) if found.scope == Scope::Namespaced && namespace.is_empty() => {
            format!("{kind} objects have a namespace: name it as {kind}/NAMESPACE/NAME")
        }
        Ok(found) if found.scope == Scope::Cluster && !namespace.is_empty() => {
            format!("{kind} objects have no namespace: name it as {kind}/NAME")
        }
        Ok(_) | Err(UnknownKind::Group { .. }) => return Ok(()),
        Err(unknown) => unknown.to_string(),
    };
    Err(ServiceError::invalid_input(problem))
}

#[cfg(test)]
mod tests;
