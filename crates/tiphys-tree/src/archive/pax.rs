//! The records of an extended header (POSIX.1-2001, pax): `<length> <key>=<value>\n`.

/// Parses records from the front of a header. The length of a record decides its end: a value may contain newlines, `=` and bytes that are
/// not UTF-8, because file names may.
pub(super) struct Records<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    /// Key and value, or `Err` for a malformed record, which ends the iteration.
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

/// A malformed record.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed pax extension")]
pub(super) struct Malformed;

type Record<'a> = (&'a [u8], &'a [u8]);

/// Returns the first record and the rest.
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
