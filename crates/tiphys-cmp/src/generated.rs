//! The wire's messages and services, written by `cargo xtask proto` from the files in `proto/` and committed, so that a build needs no
//! compiler for proto files. `cargo xtask tidy` fails if they are not what the proto files make.

#[rustfmt::skip]
pub(crate) mod descriptors;

#[rustfmt::skip]
#[expect(
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "the generator has its own style and its own suppressions"
)]
pub(crate) mod askpass;

#[rustfmt::skip]
#[expect(
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "the generator has its own style and its own suppressions"
)]
pub(crate) mod plugin;

#[rustfmt::skip]
#[expect(unreachable_pub, reason = "the generator makes everything public")]
pub(crate) mod repository;

#[rustfmt::skip]
#[expect(
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "the generator has its own style and its own suppressions"
)]
pub(crate) mod version;
