//! Finds header blocks in the frames of a client's stream (RFC 9113 section 4). Everything else passes unchanged.

use std::ops::Range;

use super::header_block::make_authority_acceptable;

/// The preface before a client's first frame (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame header.
const FRAME_HEADER_BYTES: usize = 9;

/// Maximum bytes of a header block, with its frame headers, that is held until it is complete. A larger one passes unchanged: its header
/// list exceeds the server's limit.
pub(super) const BLOCK_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of CONTINUATION frames of a block that is held. A block with more of them passes unchanged. Normal clients need one for
/// every 16 KiB.
pub(super) const CONTINUATIONS_MAX: usize = 16;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// The position in the stream. Nothing is remembered between two header blocks.
#[derive(Debug)]
pub(super) struct Frames {
    state: State,
    is_opened: bool,
    /// A header block passed since the last [`Frames::take_request`].
    has_request: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// In the preface, after this many bytes.
    Preface(usize),
    /// In bytes that pass unchanged, with this many left. A frame begins after them.
    Passing(usize),
    /// Not HTTP/2: everything passes unchanged.
    Opaque,
}

impl Frames {
    /// Starts at the beginning of a connection.
    pub(super) fn new() -> Self {
        Self { state: State::Preface(0), is_opened: false, has_request: false }
    }

    /// Whether the preface and a complete frame after it have passed.
    pub(super) fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Whether a header block, with which each request begins, has passed since the last call.
    pub(super) fn take_request(&mut self) -> bool {
        std::mem::take(&mut self.has_request)
    }

    /// Makes authorities in the bytes acceptable. Returns how many of the first bytes can be passed on. The others must be passed in again
    /// with the following bytes: they are the beginning of a header block or frame header.
    pub(super) fn release(&mut self, bytes: &mut [u8]) -> usize {
        let mut released = 0;
        while released < bytes.len() {
            let rest = &mut bytes[released..];
            match self.state {
                State::Opaque => return bytes.len(),
                State::Preface(seen) => {
                    let count = rest.len().min(PREFACE.len() - seen);
                    self.state = if rest[..count] != PREFACE[seen..seen + count] {
                        State::Opaque
                    } else if seen + count < PREFACE.len() {
                        State::Preface(seen + count)
                    } else {
                        State::Passing(0)
                    };
                    released += count;
                }
                State::Passing(0) => match next(rest) {
                    Next::Incomplete => break,
                    Next::Pass(count) => self.state = State::Passing(count),
                    Next::Block { fragments, end } => {
                        rewrite(rest, &fragments);
                        self.has_request = true;
                        self.state = State::Passing(end);
                    }
                },
                State::Passing(left) => {
                    let count = rest.len().min(left);
                    self.state = State::Passing(left - count);
                    self.is_opened |= count == left;
                    released += count;
                }
            }
        }
        released
    }
}

/// The next part of the stream.
#[derive(Debug)]
enum Next {
    /// Not known yet.
    Incomplete,
    /// This many bytes to pass unchanged, some of which may not have arrived yet.
    Pass(usize),
    /// A complete header block: its fragments and the end of its last frame.
    Block { fragments: Vec<Range<usize>>, end: usize },
}

/// Returns the part that begins with these bytes, at the start of a frame.
fn next(bytes: &[u8]) -> Next {
    let Some(first) = Frame::at(bytes, 0) else { return Next::Incomplete };
    if first.kind != HEADERS {
        return Next::Pass(first.end);
    }
    let mut fragments = Vec::new();
    let mut frame = first;
    loop {
        if frame.end > BLOCK_BYTES_MAX || fragments.len() > CONTINUATIONS_MAX {
            return Next::Pass(frame.end);
        }
        if frame.end > bytes.len() {
            return Next::Incomplete;
        }
        // A frame too short for its padding ends the connection, as does another frame within a block.
        let Some(fragment) = frame.fragment(bytes) else { return Next::Pass(frame.end) };
        fragments.push(fragment);
        if frame.flags & END_HEADERS != 0 {
            return Next::Block { fragments, end: frame.end };
        }
        let end = frame.end;
        let Some(following) = Frame::at(bytes, end) else { return Next::Incomplete };
        if following.kind != CONTINUATION || following.stream != first.stream {
            return Next::Pass(end);
        }
        frame = following;
    }
}

/// Rewrites a block that may consist of several fragments.
fn rewrite(bytes: &mut [u8], fragments: &[Range<usize>]) {
    if let [fragment] = fragments {
        make_authority_acceptable(&mut bytes[fragment.clone()]);
        return;
    }
    let mut block = Vec::new();
    for fragment in fragments {
        block.extend_from_slice(&bytes[fragment.clone()]);
    }
    make_authority_acceptable(&mut block);
    let mut rest = block.as_slice();
    for fragment in fragments {
        let (part, others) = rest.split_at(fragment.len());
        bytes[fragment.clone()].copy_from_slice(part);
        rest = others;
    }
}

/// A frame header.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    /// Beginning and end of its payload.
    begin: usize,
    end: usize,
}

impl Frame {
    /// Parses the frame at `at`. `None` if its header is incomplete.
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let header = bytes.get(at..)?.first_chunk::<FRAME_HEADER_BYTES>()?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = *header;
        let begin = at + FRAME_HEADER_BYTES;
        let length = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
        // The highest bit of the stream ID is reserved.
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        Some(Self { kind, flags, stream, begin, end: begin + length })
    }

    /// Returns the fragment of a header block in it, without padding and priority. `None` if the frame is too short for them. The frame
    /// must be complete.
    fn fragment(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let (mut begin, mut end) = (self.begin, self.end);
        if self.kind == HEADERS {
            if self.flags & PADDED != 0 {
                let padding = *bytes.get(begin..end)?.first()?;
                begin += 1;
                end = end.checked_sub(usize::from(padding))?;
            }
            if self.flags & PRIORITY != 0 {
                begin += PRIORITY_BYTES;
            }
        }
        (begin <= end).then_some(begin..end)
    }
}

#[cfg(test)]
mod tests;
