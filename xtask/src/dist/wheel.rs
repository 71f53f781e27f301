//! Python wheels that carry the program, for `uvx`, `pipx` and `pip`.
//!
//! The format is that of the [binary distribution format](https://packaging.python.org/en/latest/specifications/binary-distribution-format/).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::archive::File;
use super::target::Architecture;
use crate::build::PROGRAM;
use crate::cargo::{program, run};
use crate::files::{create_directory, write as write_file};
use crate::{Failure, native};

/// Packs a directory as a zip file.
const PACK: &str = include_str!("wheel.py");

/// Returns the file name of a wheel.
pub(super) fn name(version: &str, architecture: Architecture) -> Result<String, Failure> {
    Ok(format!("tiphys-{}-py3-none-{}.whl", python_version(version)?, platforms(architecture).join(".")))
}

/// Writes the wheel with the programs, its manual pages and its license into the directory `dist`.
pub(super) fn write(
    python: &Path,
    version: &str,
    architecture: Architecture,
    files: &[File],
    dist: &Path,
) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::at(dist, error))?;
    for file in contents(version, architecture, files)? {
        let path = folder.path().join(&file.path);
        create_directory(path.parent().unwrap_or(folder.path()))?;
        write_file(&path, &file.content)?;
        fs::set_permissions(&path, Permissions::from_mode(file.mode))
            .map_err(|error| Failure::at(&path, error))?;
    }
    let wheel = dist.join(name(version, architecture)?);
    run(program(python).args(["-c", PACK]).arg(wheel).arg(folder.path()))
}

/// Returns the files of a wheel, which ends with the list of all.
pub(super) fn contents(
    version: &str,
    architecture: Architecture,
    files: &[File],
) -> Result<Vec<File>, Failure> {
    let version = python_version(version)?;
    let (data, info) = (format!("tiphys-{version}.data"), format!("tiphys-{version}.dist-info"));
    let mut contents: Vec<File> = files
        .iter()
        .filter_map(|file| {
            let path = match file.path.as_str() {
                PROGRAM | native::PROGRAM => format!("{data}/scripts/{}", file.path),
                "LICENSE" => format!("{info}/licenses/LICENSE"),
                // pipx links these.
                page if page.starts_with("man/") => format!("{data}/data/share/{page}"),
                _ => return None,
            };
            Some(File { path, ..file.clone() })
        })
        .collect();
    contents.push(File::data(format!("{info}/METADATA"), metadata(&version).into_bytes()));
    contents.push(File::data(format!("{info}/WHEEL"), tags(architecture).into_bytes()));
    let list = format!("{info}/RECORD");
    let lines = contents.iter().map(record).chain([format!("{list},,\n")]);
    contents.push(File::data(&list, lines.collect::<String>().into_bytes()));
    Ok(contents)
}

/// Returns a version of Cargo in the notation of Python: `1.2.3-rc.1` is `1.2.3rc1`.
pub(super) fn python_version(version: &str) -> Result<String, Failure> {
    let Some((release, pre)) = version.split_once('-') else { return Ok(version.to_owned()) };
    let letters = [("alpha.", "a"), ("beta.", "b"), ("rc.", "rc")];
    let python = letters.into_iter().find_map(|(cargo, python)| {
        let number = pre.strip_prefix(cargo).filter(|number| number.parse::<u32>().is_ok())?;
        Some(format!("{release}{python}{number}"))
    });
    python.ok_or_else(|| {
        Failure::new(format!(
            "version {version}: a wheel has no such pre-release; use alpha.NUMBER, beta.NUMBER or rc.NUMBER"
        ))
    })
}

/// Returns the platforms on which pip installs the wheel. The program is static, so these are the oldest of their kinds.
pub(super) fn platforms(architecture: Architecture) -> [String; 2] {
    ["manylinux_2_17", "musllinux_1_1"].map(|platform| format!("{platform}_{}", architecture.kernel_name()))
}

fn metadata(version: &str) -> String {
    format!(
        "Metadata-Version: 2.4
Name: tiphys
Version: {version}
Summary: Parameterized GitOps rendering for Kubernetes, compatible with Argo CD
License-Expression: Apache-2.0
License-File: LICENSE
"
    )
}

fn tags(architecture: Architecture) -> String {
    let mut text = "Wheel-Version: 1.0\nGenerator: tiphys\nRoot-Is-Purelib: false\n".to_owned();
    text.extend(platforms(architecture).map(|platform| format!("Tag: py3-none-{platform}\n")));
    text
}

/// Returns the line of a file in the list of all.
fn record(file: &File) -> String {
    let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.content));
    format!("{},sha256={sum},{}\n", file.path, file.content.len())
}
