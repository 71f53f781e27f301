//! gRPC server reflection in both versions that clients use.

use tonic_reflection::server::v1::{ServerReflection, ServerReflectionServer};
use tonic_reflection::server::v1alpha::{
    ServerReflection as ServerReflectionAlpha, ServerReflectionServer as ServerReflectionAlphaServer,
};
use tonic_reflection::server::{Builder, Error};

use crate::generated::descriptors::DESCRIPTORS;

/// `grpc.reflection.v1.ServerReflection`.
pub(crate) fn v1() -> Result<ServerReflectionServer<impl ServerReflection>, Error> {
    builder().build_v1()
}

/// `grpc.reflection.v1alpha.ServerReflection`.
pub(crate) fn v1alpha() -> Result<ServerReflectionAlphaServer<impl ServerReflectionAlpha>, Error> {
    builder().build_v1alpha()
}

/// Both versions list both versions, because every service of the server is listed.
fn builder() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET)
        .include_reflection_service(false)
}
