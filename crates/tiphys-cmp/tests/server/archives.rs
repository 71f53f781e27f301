//! Valid and invalid archives, byte by byte.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A header of the format ustar.
pub(crate) fn header(name: &str, kind: u8, size: u64, link: &str) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut field = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    field(0, name.as_bytes());
    field(100, b"0000644\0");
    field(108, b"0000000\0");
    field(116, b"0000000\0");
    field(124, format!("{size:011o}\0").as_bytes());
    field(136, b"00000000000\0");
    field(148, b"        ");
    field(156, &[kind]);
    field(157, link.as_bytes());
    field(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// An entry with its content.
pub(crate) fn entry(name: &str, kind: u8, content: &[u8], link: &str) -> Vec<u8> {
    let mut entry = header(name, kind, content.len() as u64, link);
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

/// Regular files.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar: Vec<u8> = files.iter().flat_map(|(name, content)| entry(name, b'0', content, "")).collect();
    tar.extend([0; 1024]);
    tar
}

/// One member of a gzip stream; a stream may have several.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    gzip_at(Compression::fast(), bytes)
}

/// The same with the best compression.
pub(crate) fn gzip_small(bytes: &[u8]) -> Vec<u8> {
    gzip_at(Compression::best(), bytes)
}

fn gzip_at(level: Compression, bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), level);
    gzip.write_all(bytes).expect("written");
    gzip.finish().expect("finished")
}

/// `app/file` with this content, and a number of incompressible bytes.
pub(crate) fn archive(text: &str, ballast: usize) -> Vec<u8> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let ballast: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    })
    .take(ballast)
    .collect();
    gzip(&tar(&[("app/file", text.as_bytes()), ("ballast", &ballast)]))
}
