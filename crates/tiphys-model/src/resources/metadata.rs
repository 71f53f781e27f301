//! The fields of `metadata` that tiphys uses.

use std::collections::BTreeMap;

use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::fields::GoType::{Int64, List, Named, Pointer, String as GoString, Struct, Time};
use crate::resources::fields::application::{MANAGED_FIELDS, OWNER_REFERENCE};
use crate::resources::fields::{GoFields, OPTIONAL_INT64, PatchStrategy, STRINGS, field, go_struct};
use crate::resources::{Findings, ObjectRef, ResourceError};

go_struct! {
    /// Name, namespace, labels and annotations of a resource: of `ObjectMeta` of Kubernetes 1.36.
    #[derive(Eq)]
    pub struct Metadata = "v1.ObjectMeta" {
        /// Name; empty if the document has none.
        pub name: String = "name",
        _ = field("generateName", GoString),
        /// Namespace; empty if the document has none.
        pub namespace: String = "namespace",
        _ = field("selfLink", GoString),
        _ = field("uid", Named("types.UID", &GoString)),
        _ = field("resourceVersion", GoString),
        _ = field("generation", Int64),
        _ = field("creationTimestamp", Time).omit_zero(),
        _ = field("deletionTimestamp", Pointer(&Time)),
        _ = field("deletionGracePeriodSeconds", OPTIONAL_INT64),
        /// Labels.
        pub labels: BTreeMap<String, String> = "labels",
        /// Annotations.
        pub annotations: BTreeMap<String, String> = "annotations",
        _ = field("ownerReferences", List(&Struct(&OWNER_REFERENCE))).patched(PatchStrategy::MergeBy("uid")),
        _ = field("finalizers", STRINGS).patched(PatchStrategy::Merge),
        _ = field("managedFields", List(&Struct(&MANAGED_FIELDS))),
    }
}

impl Metadata {
    /// Decodes the metadata of any resource; other fields are not checked.
    pub fn of(node: &Node) -> Result<Self, ResourceError> {
        let read = || Object::new(node, "")?.object("metadata")?.map(Self::decode).transpose();
        match read() {
            Ok(metadata) => Ok(metadata.unwrap_or_default()),
            Err(source) => Err(ResourceError { object: ObjectRef::of(node), source: Box::new(source) }),
        }
    }

    /// Decodes the known fields of a `metadata` object. The API server owns the others, so they are ignored.
    pub(crate) fn decode(mut object: Object<'_>) -> Result<Self, DecodeError> {
        Self::read_fields(&mut object, &mut Findings::default())
    }
}
