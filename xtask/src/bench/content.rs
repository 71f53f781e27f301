//! Deterministic files with the size and compressibility of typical manifests.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Failure, files};

/// Files of an application's directory.
pub(crate) const FILES_PER_APPLICATION: usize = 20;

/// Size of a file in bytes, less at most one line: 10,000 files have 25.5 MB.
const FILE_BYTES: usize = 2570;

/// Name of an Application and of its directory below `apps`.
pub(crate) fn application_name(index: usize) -> String {
    format!("app-{index:04}")
}

/// Writes this number of files into directories of applications below `root`.
pub(crate) fn write_files(root: &Path, count: usize, seed: u64) -> Result<(), Failure> {
    let mut words = Words::new(seed);
    (0..count).try_for_each(|number| {
        let (path, content) = numbered_file(number, &mut words);
        files::write(&root.join(path), content)
    })
}

/// Path and content of a file of a repository.
pub(crate) fn numbered_file(number: usize, words: &mut Words) -> (String, String) {
    let application = application_name(number / FILES_PER_APPLICATION);
    let index = number % FILES_PER_APPLICATION;
    (format!("apps/{application}/file-{index:02}.yaml"), file_of(&application, index, words))
}

/// A ConfigMap with keys and values of words and digits.
pub(crate) fn file_of(application: &str, index: usize, words: &mut Words) -> String {
    let mut text =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {application}-{index}\ndata:\n");
    let mut key = 0;
    while text.len() < FILE_BYTES - 40 {
        writeln!(
            text,
            "  key-{key:03}: {}-{}-{:06x}",
            words.word(),
            words.word(),
            words.number() & 0xff_ffff
        )
        .ok();
        key += 1;
    }
    text
}

/// Words and numbers from a seed (xorshift).
pub(crate) struct Words(u64);

impl Words {
    /// Starts with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        // The state must not be zero.
        Self(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "container",
            "replicas",
            "service",
            "selector",
            "template",
            "annotation",
            "metadata",
            "namespace",
            "volume",
            "secret",
            "ingress",
            "deployment",
            "strategy",
            "resources",
            "protocol",
            "readiness",
        ];
        let index = usize::try_from(self.number() >> 32).unwrap_or_default() % WORDS.len();
        WORDS[index]
    }
}
