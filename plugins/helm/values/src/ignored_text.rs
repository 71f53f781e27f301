//! Text of values files that Helm ignores.

use tiphys_yaml::LIMITS;

use crate::{HelmVersion, read_values_documents};

/// Returns a warning for each line from which on Helm ignores the text of a values file, up to its next document. `place` names the file. A text
/// that Helm refuses has none.
pub fn ignored_text(place: &str, text: &[u8], version: HelmVersion) -> Vec<String> {
    let reason = match version {
        HelmVersion::V3 => "Helm 3 reads the first document only; merge the documents",
        HelmVersion::V4 => {
            "helm ignores what follows the end of a document (`...`); separate documents by `---` alone"
        }
    };
    // Most files have one document, and need no parsing.
    let may_end = |line: &[u8]| line.starts_with(b"...") || line.starts_with(b"---");
    if !text.split(|byte| *byte == b'\n').any(may_end) {
        return Vec::new();
    }
    let documents = read_values_documents(text, version, LIMITS).into_iter().flatten();
    let lines = documents.filter_map(|document| document.ok()?.ignored_from);
    lines.map(|line| format!("{place}:{line}: the text from this line on is lost: {reason}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{HelmVersion, ignored_text};

    #[test]
    fn text_after_the_end_of_a_document_is_reported() {
        let cases = [
            ("a: 1\n", &[][..], &[][..]),
            ("a: 1\n---\nb: 2\n", &[], &[2]),
            ("a: 1\n...\nb: 2\n---\nc: 3\n...\nd: 4\n", &[3, 7], &[3]),
            ("a: 1\n...\n# A comment.\n", &[], &[]),
            ("a: |\n  ...\nb: 2\n", &[], &[]),
            ("a: [\n...\nb: 2\n", &[], &[]),
        ];
        for (text, of_v4, of_v3) in cases {
            for (version, lines) in [(HelmVersion::V4, of_v4), (HelmVersion::V3, of_v3)] {
                let found = ignored_text("f", text.as_bytes(), version);
                let begins =
                    lines.iter().map(|line| format!("f:{line}: the text from this line on is lost: "));
                let begins: Vec<String> = begins.collect();
                assert_eq!(found.len(), begins.len(), "{text:?} {found:?}");
                assert!(found.iter().zip(&begins).all(|(one, begin)| one.starts_with(begin)), "{found:?}");
            }
        }
    }
}
