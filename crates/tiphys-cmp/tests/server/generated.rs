//! The committed code of the plugin protocol is what its proto files make, with a compiler in pure Rust. It is committed so that a build needs no
//! proto compiler. `UPDATE=1` writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tiphys_testkit::fixture;

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
const HEADER: &str = "// Written by `UPDATE=1 cargo test -p tiphys-cmp --test server -- generated` from the files in \
                      crates/tiphys-cmp/proto; do not edit.\n\n";

#[test]
fn code_is_generated_from_proto_files() {
    let folder = crate_folder("src/generated");
    let expected = generate(&crate_folder("proto"));
    if fixture::is_updating() {
        for (name, text) in &expected {
            fs::write(folder.join(name), text).expect("generated code can be written");
        }
    }
    let entries = fs::read_dir(&folder).expect("the directory of generated code");
    let found: BTreeMap<String, String> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a UTF-8 name").to_owned();
            (name, fs::read_to_string(&path).expect("generated code is UTF-8"))
        })
        .collect();
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (name, text) in &expected {
        assert!(found[name] == *text, "{name} is not what the proto files make (UPDATE=1 writes it)");
    }
}

fn crate_folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the generated files by name for a directory of proto files.
fn generate(proto_dir: &Path) -> BTreeMap<String, String> {
    let mut compiler = protox::Compiler::new([proto_dir]).expect("a directory");
    compiler
        .include_imports(true)
        .include_source_info(false)
        .open_files(PROTO_FILES)
        .expect("the proto files are valid");
    let for_clients = compiler.encode_file_descriptor_set();
    // Comments become documentation.
    let descriptors = compiler.include_source_info(true).file_descriptor_set();
    let mut files = code(descriptors, Sides::Both);
    files.insert(DESCRIPTORS_FILE.to_owned(), format!("{HEADER}{}", constant(&for_clients)));
    let descriptors = protox::compile(CLIENT_PROTO_FILES, [proto_dir]).expect("the proto files are valid");
    files.extend(code(descriptors, Sides::Client));
    files
}

/// The generated sides of a service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Client,
    Both,
}

/// Generates code for compiled proto files, by file name.
fn code(descriptors: tonic_prost_build::FileDescriptorSet, sides: Sides) -> BTreeMap<String, String> {
    let out = tempfile::tempdir().expect("a temporary folder");
    tonic_prost_build::configure()
        .build_client(true)
        .build_server(sides == Sides::Both)
        .bytes(".")
        .skip_debug(SECRET_MESSAGES)
        .out_dir(out.path())
        .compile_fds(descriptors)
        .expect("code can be generated");
    let entries = fs::read_dir(out.path()).expect("the folder");
    entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a UTF-8 name").to_owned();
            (name, format!("{HEADER}{}", fs::read_to_string(&path).expect("code is UTF-8")))
        })
        .collect()
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
