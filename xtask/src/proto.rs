//! `cargo xtask proto`: the Rust code of the plugin protocol, written from its proto files by a compiler in pure Rust.
//!
//! The code is committed, so that building the product needs no compiler for proto files; `cargo xtask tidy` compares it with what
//! this command would write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::Args;

use crate::Failure;

/// Folder of the proto files, below the workspace's root.
pub(crate) const PROTO_DIR: &str = "crates/tiphys-cmp/proto";

/// Folder of the generated code, below the workspace's root.
pub(crate) const GENERATED_DIR: &str = "crates/tiphys-cmp/src/generated";

/// The proto files that are compiled; what they import is found beside them.
const PROTO_FILES: [&str; 2] = ["plugin.proto", "version.proto"];

/// The file for the descriptors of all that is compiled, which the server gives to clients that ask for them.
const DESCRIPTORS_FILE: &str = "descriptors.rs";

/// Bytes of the descriptors on one line of that file.
const DESCRIPTOR_BYTES_A_LINE: usize = 32;

/// Those of services that we only call.
const CLIENT_PROTO_FILES: [&str; 1] = ["askpass.proto"];

/// Messages with secrets in them, which must not get a form for logs.
const SECRET_MESSAGES: [&str; 2] = [".askpass.CredentialsRequest", ".askpass.CredentialsResponse"];

/// What goes above the generated code.
const HEADER: &str =
    "// Written by `cargo xtask proto` from the files in crates/tiphys-cmp/proto; do not edit.\n\n";

/// No options yet.
#[derive(Args, Debug)]
pub(crate) struct Options {}

/// Writes the generated code into its place.
pub(crate) fn run(root: &Path, _options: &Options) -> Result<(), Failure> {
    let dir = root.join(GENERATED_DIR);
    fs::create_dir_all(&dir).map_err(|error| Failure::at(&dir, error))?;
    for (name, text) in generate(&root.join(PROTO_DIR))? {
        let path = dir.join(&name);
        fs::write(&path, text).map_err(|error| Failure::at(&path, error))?;
        println!("{GENERATED_DIR}/{name}");
    }
    Ok(())
}

/// The generated files by name, from the proto files in a folder.
pub(crate) fn generate(proto_dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |error| Failure::at(proto_dir, format!("{error:?}"));
    let mut compiler = protox::Compiler::new([proto_dir]).map_err(failed)?;
    compiler.include_imports(true).include_source_info(false).open_files(PROTO_FILES).map_err(failed)?;
    let for_clients = compiler.encode_file_descriptor_set();
    // Comments become documentation.
    let descriptors = compiler.include_source_info(true).file_descriptor_set();
    let mut files = code(proto_dir, descriptors, Sides::Both)?;
    files.insert(DESCRIPTORS_FILE.to_owned(), format!("{HEADER}{}", constant(&for_clients)));
    let descriptors = protox::compile(CLIENT_PROTO_FILES, [proto_dir]).map_err(failed)?;
    files.extend(code(proto_dir, descriptors, Sides::Client)?);
    Ok(files)
}

/// Which sides of its services code is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Client,
    Both,
}

/// The code for compiled proto files, by the names of its files.
fn code(
    proto_dir: &Path,
    descriptors: tonic_prost_build::FileDescriptorSet,
    sides: Sides,
) -> Result<BTreeMap<String, String>, Failure> {
    let out = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot make a temporary folder: {error}")))?;
    tonic_prost_build::configure()
        .build_client(true)
        .build_server(sides == Sides::Both)
        .bytes(".")
        .skip_debug(SECRET_MESSAGES)
        .out_dir(out.path())
        .compile_fds(descriptors)
        .map_err(|error| Failure::at(proto_dir, error))?;
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(out.path()).map_err(|error| Failure::at(out.path(), error))? {
        let path = entry.map_err(|error| Failure::at(out.path(), error))?.path();
        let text = fs::read_to_string(&path).map_err(|error| Failure::at(&path, error))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.insert(name, format!("{HEADER}{text}"));
    }
    Ok(files)
}

/// Descriptors as Rust.
fn constant(descriptors: &[u8]) -> String {
    let mut text =
        "/// The compiled proto files with all that they import: a `google.protobuf.FileDescriptorSet`.\n\
                    pub(crate) const DESCRIPTORS: &[u8] = &[\n"
            .to_owned();
    for line in descriptors.chunks(DESCRIPTOR_BYTES_A_LINE) {
        let numbers: Vec<String> = line.iter().map(u8::to_string).collect();
        text.push_str("    ");
        text.push_str(&numbers.join(", "));
        text.push_str(",\n");
    }
    text.push_str("];\n");
    text
}
