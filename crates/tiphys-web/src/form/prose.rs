//! Text with code between backticks, as messages of the command line have it.

/// Returns the parts of a message, each with whether it was between backticks.
pub(crate) fn parts(text: &str) -> Vec<(bool, &str)> {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return vec![(false, text)];
    }
    let parts = parts.into_iter().enumerate().map(|(index, part)| (index % 2 == 1, part));
    parts.filter(|(_, part)| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests;
