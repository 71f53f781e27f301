//! `cargo xtask proto`: generates the Rust code of the plugin protocol from its proto files, with a compiler in pure Rust.
//!
//! The code is committed, so that a build needs no proto compiler. `cargo xtask tidy` compares it with the output of this command.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Failure, files};

/// Directory of the proto files, relative to the workspace's root.
pub(crate) const PROTO_DIR: &str = "crates/tiphys-cmp/proto";

/// Directory of the generated code, relative to the workspace's root.
pub(crate) const GENERATED_DIR: &str = "crates/tiphys-cmp/src/generated";

/// The compiled proto files. Their imports are in the same directory.
const PROTO_FILES: [&str; 2] = ["plugin.proto", "version.proto"];

/// The file with the descriptors of all compiled files, which the server's reflection service returns.
const DESCRIPTORS_FILE: &str = "descriptors.rs";

/// Bytes of the descriptors per line of that file.
const DESCRIPTOR_BYTES_A_LINE: usize = 32;

/// Proto files of services of which only the client is generated.
const CLIENT_PROTO_FILES: [&str; 1] = ["askpass.proto"];

/// Messages with secrets, for which no `Debug` is generated.
const SECRET_MESSAGES: [&str; 2] = [".askpass.CredentialsRequest", ".askpass.CredentialsResponse"];

/// The header of the generated code.
const HEADER: &str =
    "// Written by `cargo xtask proto` from the files in crates/tiphys-cmp/proto; do not edit.\n\n";

/// Writes the generated code.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let dir = root.join(GENERATED_DIR);
    for (name, text) in generate(&root.join(PROTO_DIR))? {
        files::write(&dir.join(&name), text)?;
        println!("{GENERATED_DIR}/{name}");
    }
    Ok(())
}

/// Returns the generated files by name for a directory of proto files.
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

/// The generated sides of a service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Client,
    Both,
}

/// Generates code for compiled proto files, by file name.
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
    let mut generated = BTreeMap::new();
    for path in files::entries(out.path())? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        generated.insert(name, format!("{HEADER}{}", files::read(&path)?));
    }
    Ok(generated)
}

/// Formats descriptors as Rust code.
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
