//! A value that must not be in any output but the rendered object.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tiphys_testkit::dice::Dice;

use crate::world::World;

/// Letters and digits of each word. Longer words are redacted without the rest of the value.
const WORD: usize = 12;

/// A random value of two words with special characters between them, which JSON, YAML, URLs and shells escape. The words stay as they are in
/// every escaped form.
pub(crate) struct Canary {
    pub(crate) value: String,
    words: [String; 2],
    /// The value in base64 at each offset.
    encoded: [String; 3],
}

impl Canary {
    /// Creates a value from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let mut dice = Dice::new(seed);
        let mut word = || (0..WORD).map(|_| char::from(dice.one(LETTERS))).collect::<String>();
        let (first, second) = (word(), word());
        let value = format!("{first} \"'&$\\% {second}");
        // The characters of base64 that contain only bits of the value.
        let encoded = |offset: usize| {
            let encoded = STANDARD_NO_PAD.encode("\0".repeat(offset) + &value);
            encoded[offset.div_ceil(3) * 4..encoded.len() - 2].to_owned()
        };
        let encoded = [0, 1, 2].map(encoded);
        Self { value, words: [first, second], encoded }
    }

    /// Whether the bytes contain a form of the value, or a half of it.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.words.iter().chain(&self.encoded).any(|form| text.contains(form))
    }

    /// Replaces the words, so that the outputs for two values can be compared.
    pub(crate) fn replaced(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, word| text.replace(word, "CANARY"))
    }

    /// Returns the files of a world's directory with the value in their name or content. Pipes and sockets are not opened.
    pub(crate) fn files(&self, world: &World, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.search(&world.path(folder), &mut found);
        found
    }

    fn search(&self, path: &Path, found: &mut Vec<String>) {
        // Files of runs may be removed meanwhile.
        let Ok(metadata) = path.symlink_metadata() else { return };
        if metadata.is_dir() {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.search(&entry.path(), found);
            }
        }
        let content = if metadata.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
        let target = fs::read_link(path).unwrap_or_default();
        let names = [path, &target].map(|path| path.to_string_lossy().into_owned());
        if self.is_in(&content) || names.iter().any(|name| self.is_in(name.as_bytes())) {
            found.push(path.display().to_string());
        }
    }
}
