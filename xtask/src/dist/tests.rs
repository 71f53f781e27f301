//! Names, contents and reproducibility of archives and wheels; tables of sizes; the page about installation.

use std::fs;

use clap::Parser as _;

use super::archive::{self, File};
use super::target::Architecture::{self, Amd64, Arm64};
use super::{different, sizes, wheel};

fn files() -> Vec<File> {
    vec![
        File::program("tiphys", b"program".to_vec()),
        File::data("LICENSE", b"license".to_vec()),
        File::data("README.md", b"readme".to_vec()),
        File::data("man/man1/tiphys.1", b"page".to_vec()),
        File::data("completions/_tiphys", b"script".to_vec()),
    ]
}

#[test]
fn archives_are_named_by_version_and_architecture() {
    assert_eq!(archive::name("1.2.3", Amd64), "tiphys-1.2.3-linux-amd64");
    assert_eq!(archive::name("1.2.3-rc.1", Arm64), "tiphys-1.2.3-rc.1-linux-arm64");
}

#[test]
fn archive_has_sorted_files_with_fixed_attributes() {
    let packed = archive::pack("name", &files(), 1_700_000_000).unwrap();
    let reversed: Vec<File> = files().into_iter().rev().collect();
    assert_eq!(archive::pack("name", &reversed, 1_700_000_000).unwrap(), packed);

    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
    let entries: Vec<(String, u32, u64, u64, u64)> = archive
        .entries()
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let (path, header) = (entry.path().unwrap().display().to_string(), entry.header());
            let (owner, group) = (header.uid().unwrap(), header.gid().unwrap());
            (path, header.mode().unwrap(), header.mtime().unwrap(), owner, group)
        })
        .collect();
    let expected = [
        ("name/LICENSE", 0o644),
        ("name/README.md", 0o644),
        ("name/completions/_tiphys", 0o644),
        ("name/man/man1/tiphys.1", 0o644),
        ("name/tiphys", 0o755),
    ];
    assert_eq!(entries, expected.map(|(path, mode)| (path.to_owned(), mode, 1_700_000_000, 0, 0)));
    assert_eq!(packed[3..8], [0; 5], "no name and no time in the header of gzip");
}

#[test]
fn wheels_are_tagged_for_glibc_and_musl() {
    let name = |architecture| wheel::name("1.2.3", architecture).unwrap();
    assert_eq!(name(Amd64), "tiphys-1.2.3-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl");
    assert_eq!(name(Arm64), "tiphys-1.2.3-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl");
}

#[test]
fn versions_of_wheels_have_pythons_notation() {
    let cases = [
        ("1.2.3", Some("1.2.3")),
        ("1.2.3-alpha.4", Some("1.2.3a4")),
        ("1.2.3-beta.0", Some("1.2.3b0")),
        ("1.2.3-rc.12", Some("1.2.3rc12")),
        ("1.2.3-rc1", None),
        ("1.2.3-rc.x", None),
        ("1.2.3-nightly", None),
    ];
    for (version, expected) in cases {
        assert_eq!(wheel::python_version(version).ok().as_deref(), expected, "{version}");
    }
}

#[test]
fn wheel_has_program_pages_license_and_metadata() {
    let contents = wheel::contents("1.2.3-rc.1", Amd64, &files()).unwrap();
    let listed: Vec<(&str, u32)> = contents.iter().map(|file| (file.path.as_str(), file.mode)).collect();
    let expected = [
        ("tiphys-1.2.3rc1.data/scripts/tiphys", 0o755),
        ("tiphys-1.2.3rc1.dist-info/licenses/LICENSE", 0o644),
        ("tiphys-1.2.3rc1.data/data/share/man/man1/tiphys.1", 0o644),
        ("tiphys-1.2.3rc1.dist-info/METADATA", 0o644),
        ("tiphys-1.2.3rc1.dist-info/WHEEL", 0o644),
        ("tiphys-1.2.3rc1.dist-info/RECORD", 0o644),
    ];
    assert_eq!(listed, expected);
    let text = |name: &str| {
        let file = contents.iter().find(|file| file.path.ends_with(name)).unwrap();
        String::from_utf8(file.content.clone()).unwrap()
    };
    let metadata = "Metadata-Version: 2.4
Name: tiphys
Version: 1.2.3rc1
Summary: Parameterized GitOps rendering for Kubernetes, compatible with Argo CD
License-Expression: Apache-2.0
License-File: LICENSE
";
    assert_eq!(text("METADATA"), metadata);
    let tags = "Wheel-Version: 1.0
Generator: tiphys
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_x86_64
Tag: py3-none-musllinux_1_1_x86_64
";
    assert_eq!(text("WHEEL"), tags);
    let record = text("RECORD");
    let lines: Vec<&str> = record.lines().collect();
    assert_eq!(lines.len(), contents.len(), "a line for each file");
    // printf program | openssl dgst -sha256 -binary | basenc --base64url | tr -d =
    let program = "tiphys-1.2.3rc1.data/scripts/tiphys,sha256=ExDKLIky29EYZovZdEJVij4fVGteFcaWmd-9YCT1SNg,7";
    assert_eq!(lines[0], program);
    assert_eq!(lines[5], "tiphys-1.2.3rc1.dist-info/RECORD,,", "no checksum of itself");
}

#[test]
fn sizes_are_added_by_crate() {
    let symbols = "\
0000000000001000 0000000000000010 T tiphys_yaml::reader::read
0000000000001010 0000000000000020 t <tiphys_yaml::Node as core::fmt::Debug>::fmt
0000000000001030 0000000000000008 t <&mut serde_json::Value as core::fmt::Debug>::fmt
0000000000001038 0000000000000004 t <dyn clap_builder::Any as core::any::Any>::type_id
000000000000103c 0000000000000001 T mi_malloc
";
    let expected = [
        ("tiphys_yaml", 0x30),
        ("serde_json", 8),
        ("clap_builder", 4),
        ("(C, assembly, data without a name)", 1),
    ];
    assert_eq!(sizes::crates(symbols), expected.map(|(name, size)| (name.to_owned(), size)));
}

#[test]
fn missing_and_changed_files_differ() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |name: &str, [first, second]: [&str; 2]| {
        fs::write(one.path().join(name), first).unwrap();
        fs::write(other.path().join(name), second).unwrap();
    };
    write("equal", ["1", "1"]);
    assert_eq!(different(one.path(), other.path()), Ok(Vec::new()));
    write("changed", ["1", "2"]);
    fs::write(one.path().join("missing"), "").unwrap();
    fs::write(other.path().join("added"), "").unwrap();
    assert_eq!(different(one.path(), other.path()).unwrap(), ["added", "changed", "missing"]);
}

/// The gate builds no release, so the page is compared with the names.
#[test]
fn page_describes_existing_commands_and_names() {
    let page = fs::read_to_string(crate::workspace_root().join("docs/installing.md")).unwrap();
    for command in ["cargo xtask dist", "cargo xtask dist --check"] {
        assert!(page.contains(&format!("`{command}`")), "{command}");
        assert!(crate::Arguments::try_parse_from(command.split(' ').skip(1)).is_ok(), "{command}");
    }
    for architecture in Architecture::ALL {
        let archive = format!("`{}.tar.gz`", archive::name("VERSION", architecture));
        let wheel = wheel::name("0.0.0", architecture).unwrap().replace("0.0.0", "VERSION");
        assert!(page.contains(&archive), "{archive}");
        assert!(page.contains(&format!("`{wheel}`")), "{wheel}");
    }
}
