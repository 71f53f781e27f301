//! Addresses of objects as users write them.

use tiphys_api::ResourceReference;

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
    if kind.is_empty() || name.is_empty() {
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

#[cfg(test)]
mod tests;
