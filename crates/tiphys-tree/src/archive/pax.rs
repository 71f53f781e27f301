//! The records of an extended header (POSIX.1-2001, pax): `<length> <key>=<value>\n`.

/// Takes records from the front of a header's text. A record is as long as it says: its value may hold newlines, `=` and bytes that are not
/// UTF-8, because names of files may.
pub(super) struct Records<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    /// Key and value, or `Err` for text that is no record; nothing comes behind that.
    type Item = Result<(&'a [u8], &'a [u8]), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = record(self.0);
        self.0 = read.as_ref().map_or(&[], |(_, rest)| rest);
        Some(read.map(|(record, _)| record).ok_or(Malformed))
    }
}

/// A text that is no record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed pax extension")
    }
}

type Record<'a> = (&'a [u8], &'a [u8]);

/// The first record, and what is behind it.
fn record(text: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&text[..space]).ok()?.parse().ok()?;
    let (record, rest) = text.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some(((&record[..equals], &record[equals + 1..]), rest))
}

#[cfg(test)]
mod tests;
