//! The frames of a client's stream (RFC 9113 section 4): whole header blocks are put together, everything else goes by.

use std::ops::Range;

use super::header_block::make_authority_acceptable;

/// What a client sends before its first frame (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame before its payload.
const FRAME_HEADER_BYTES: usize = 9;

/// Bytes of a header block with its frames' headers that are held until the block is whole. A larger one goes by as it is: the header list in
/// it is longer than the server allows.
pub(super) const BLOCK_BYTES_MAX: usize = 64 * 1024;

/// Number of CONTINUATION frames of a block that are held; a block with more of them goes by as it is. Well-behaved clients need one for
/// every 16 KiB.
pub(super) const CONTINUATIONS_MAX: usize = 16;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// Where in the stream we are. Between two header blocks nothing of a block is remembered.
#[derive(Debug)]
pub(super) struct Frames {
    state: State,
    is_opened: bool,
    /// A header block went by that was not asked for yet.
    has_request: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// In the preface, of which so many bytes were seen.
    Preface(usize),
    /// In something that is of no interest and goes on for so many bytes; a frame begins after it.
    Passing(usize),
    /// This is not HTTP/2: everything goes by.
    Opaque,
}

impl Frames {
    /// At the beginning of a connection.
    pub(super) fn new() -> Self {
        Self { state: State::Preface(0), is_opened: false, has_request: false }
    }

    /// Whether the preface and a whole frame after it were seen.
    pub(super) fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Whether a header block, as each request begins with, went by since this was asked last.
    pub(super) fn take_request(&mut self) -> bool {
        std::mem::take(&mut self.has_request)
    }

    /// Makes authorities acceptable in what came in, and says how many of the first bytes can be handed on. The others are to be given again,
    /// with what comes after them: they are the beginning of a header block, or of a frame's header.
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

/// What comes next in the stream.
#[derive(Debug)]
enum Next {
    /// That cannot be said yet.
    Incomplete,
    /// So many bytes, not all of which need to be here yet, that are of no interest.
    Pass(usize),
    /// A whole header block: its parts, and where its last frame ends.
    Block { fragments: Vec<Range<usize>>, end: usize },
}

/// What begins with these bytes, the first of which is a frame's first.
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
        // What has no room for its padding ends the connection, as does anything else in the middle of a block.
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

/// Rewrites a block that may be cut into several parts.
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

/// A frame's header.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    /// Where its payload begins, and where it ends.
    begin: usize,
    end: usize,
}

impl Frame {
    /// The frame that begins at `at`, if its header is all there.
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let header = bytes.get(at..)?.first_chunk::<FRAME_HEADER_BYTES>()?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = *header;
        let begin = at + FRAME_HEADER_BYTES;
        let length = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
        // The highest bit of the stream's number has no meaning.
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        Some(Self { kind, flags, stream, begin, end: begin + length })
    }

    /// The part of a header block in it, without padding and priority; nothing if the frame is shorter than it says these are. The whole
    /// frame has to be there.
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
