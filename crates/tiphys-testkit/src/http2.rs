//! Parts of HTTP/2 (RFC 9113) and HPACK (RFC 7541) for tests: one gRPC call on its own connection, and valid or malformed frames.

/// The client connection preface.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The only stream of a connection.
const STREAM: u32 = 1;

/// Initial flow-control window of the connection and of each stream in bytes.
const WINDOW_BYTES: u32 = 65_535;

/// The largest window, so that responses are never delayed.
const WINDOW_BYTES_MAX: u32 = 0x7fff_ffff;

const FRAME_HEADER_BYTES: usize = 9;

const SETTING_HEADER_TABLE_SIZE: u16 = 1;
const SETTING_INITIAL_WINDOW_SIZE: u16 = 4;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// A received frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'a [u8],
}

/// The meaning of a server's frame for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Response data.
    Data {
        /// The bytes without padding.
        bytes: &'a [u8],
        /// Whether it is the last one.
        ends: bool,
    },
    /// A header block or a fragment of one.
    Headers {
        /// The fragment.
        block: &'a [u8],
        /// Whether it ends the block.
        whole: bool,
        /// Whether the stream ends after the block.
        ends: bool,
    },
    /// A window update of the connection (stream 0) or of the stream.
    Window {
        /// The stream identifier.
        stream: u32,
        /// The increment.
        bytes: i64,
    },
    /// The initial window of each stream.
    InitialWindow(i64),
    /// Settings without a window, which must be acknowledged.
    Settings,
    /// A ping, which must be answered.
    Ping(&'a [u8]),
    /// The server reset the stream with this error code.
    Reset(u32),
    /// The server closes the connection with this error code.
    GoAway(u32),
    /// An irrelevant frame.
    Other,
}

/// Returns the first frame in `bytes` and its length, or none if it is incomplete.
pub fn frame(bytes: &[u8]) -> Option<(Frame<'_>, usize)> {
    let whole = frame_bytes(bytes)?;
    let frame = bytes.get(..whole)?;
    let stream = u32::from_be_bytes(frame[5..FRAME_HEADER_BYTES].try_into().ok()?) & WINDOW_BYTES_MAX;
    Some((Frame { kind: frame[3], flags: frame[4], stream, payload: &frame[FRAME_HEADER_BYTES..] }, whole))
}

/// The length of the first frame including its header.
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..FRAME_HEADER_BYTES).map(|header| [0, header[0], header[1], header[2]])?;
    Some(FRAME_HEADER_BYTES + usize::try_from(u32::from_be_bytes(length)).ok()?)
}

impl<'a> Frame<'a> {
    /// Returns the meaning of the frame, or none if it is malformed.
    pub fn event(&self) -> Option<Event<'a>> {
        let number = |bytes: &[u8]| Some(u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?));
        let ends = self.flags & END_STREAM != 0;
        let whole = self.flags & END_HEADERS != 0;
        Some(match self.kind {
            DATA => Event::Data { bytes: self.unpadded()?, ends },
            HEADERS => {
                let block = self.unpadded()?;
                let block = if self.flags & PRIORITY == 0 { block } else { block.get(5..)? };
                Event::Headers { block, whole, ends }
            }
            // The first frame of the block states whether the stream ends.
            CONTINUATION => Event::Headers { block: self.payload, whole, ends: false },
            RST_STREAM => Event::Reset(number(self.payload)?),
            SETTINGS if self.flags & ACK == 0 => {
                let settings = self.payload.chunks_exact(6);
                let mut window = settings
                    .filter(|setting| setting[..2] == SETTING_INITIAL_WINDOW_SIZE.to_be_bytes())
                    .filter_map(|setting| number(&setting[2..]));
                window.next_back().map_or(Event::Settings, |window| Event::InitialWindow(i64::from(window)))
            }
            PING if self.flags & ACK == 0 => Event::Ping(self.payload),
            GOAWAY => Event::GoAway(number(self.payload.get(4..)?)?),
            WINDOW_UPDATE => Event::Window { stream: self.stream, bytes: i64::from(number(self.payload)?) },
            _ => Event::Other,
        })
    }

    fn unpadded(&self) -> Option<&'a [u8]> {
        if self.flags & PADDED == 0 {
            return Some(self.payload);
        }
        let (length, rest) = self.payload.split_first()?;
        rest.get(..rest.len().checked_sub(usize::from(*length))?)
    }
}

/// The beginning of a connection: preface, and settings that never delay a response.
pub fn connecting() -> Vec<u8> {
    let mut settings = Vec::new();
    // Without a dynamic table, no field of the response refers to an earlier one.
    for (setting, value) in [(SETTING_HEADER_TABLE_SIZE, 0), (SETTING_INITIAL_WINDOW_SIZE, WINDOW_BYTES_MAX)]
    {
        settings.extend(setting.to_be_bytes());
        settings.extend(value.to_be_bytes());
    }
    let more = WINDOW_BYTES_MAX - WINDOW_BYTES;
    [PREFACE, &write(SETTINGS, 0, 0, &settings), &write(WINDOW_UPDATE, 0, 0, &more.to_be_bytes())].concat()
}

/// The headers of a request.
pub fn request(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        // A literal field without indexing, with a literal name.
        block.push(0);
        for text in [name, value] {
            integer(&mut block, text.len());
            block.extend_from_slice(text.as_bytes());
        }
    }
    write(HEADERS, END_HEADERS, STREAM, &block)
}

/// An integer with a prefix of seven bits.
fn integer(to: &mut Vec<u8>, value: usize) {
    let byte = |value: usize| value.to_le_bytes()[0];
    let Some(mut rest) = value.checked_sub(0x7f) else { return to.push(byte(value)) };
    to.push(0x7f);
    while rest > 0x7f {
        to.push(byte(rest) | 0x80);
        rest >>= 7;
    }
    to.push(byte(rest));
}

/// A data frame.
pub fn data(message: &[u8]) -> Vec<u8> {
    write(DATA, 0, STREAM, message)
}

/// An empty data frame that ends the stream.
pub fn end_of_data() -> Vec<u8> {
    write(DATA, END_STREAM, STREAM, &[])
}

/// An empty settings frame.
pub fn no_settings() -> Vec<u8> {
    write(SETTINGS, 0, 0, &[])
}

/// A ping.
pub fn ping(payload: [u8; 8]) -> Vec<u8> {
    write(PING, 0, 0, &payload)
}

/// Acknowledges settings.
pub fn settings_seen() -> Vec<u8> {
    write(SETTINGS, ACK, 0, &[])
}

/// Answers a ping.
pub fn pong(payload: &[u8]) -> Vec<u8> {
    write(PING, ACK, 0, payload)
}

/// A frame of any kind.
pub fn write(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut frame = Vec::with_capacity(FRAME_HEADER_BYTES + payload.len());
    frame.extend([length[1], length[2], length[3], kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Returns `grpc-status` of a header block, or none if it is missing. The block must not use the dynamic table, which [`connecting`]
/// disables.
pub fn grpc_status(block: &[u8]) -> Option<u32> {
    let mut rest = block;
    while let Some(&first) = rest.first() {
        if first & 0x80 != 0 {
            // An indexed field of the static table.
            rest = take_integer(rest, 7)?.1;
            continue;
        }
        if first & 0xe0 == 0x20 {
            // A dynamic table size update.
            rest = take_integer(rest, 5)?.1;
            continue;
        }
        let bits = if first & 0x40 == 0 { 4 } else { 6 };
        let (index, after) = take_integer(rest, bits)?;
        let (is_status, after) = if index == 0 {
            let (name, after) = Text::take(after)?;
            (name.is_grpc_status(), after)
        } else {
            (false, after)
        };
        let (value, after) = Text::take(after)?;
        if is_status {
            return value.digits();
        }
        rest = after;
    }
    None
}

fn take_integer(bytes: &[u8], prefix_bits: u32) -> Option<(usize, &[u8])> {
    let (&first, mut rest) = bytes.split_first()?;
    let mask = (1u8 << prefix_bits) - 1;
    let mut value = usize::from(first & mask);
    if first & mask == mask {
        let mut shift = 0;
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            value = value.checked_add(usize::from(byte & 0x7f).checked_shl(shift)?)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    Some((value, rest))
}

/// A string literal.
struct Text<'a> {
    is_huffman: bool,
    bytes: &'a [u8],
}

impl<'a> Text<'a> {
    fn take(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let is_huffman = bytes.first()? & 0x80 != 0;
        let (length, rest) = take_integer(bytes, 7)?;
        let (bytes, rest) = rest.split_at_checked(length)?;
        Some((Self { is_huffman, bytes }, rest))
    }

    fn is_grpc_status(&self) -> bool {
        const HUFFMAN: &[u8] = b"\x9a\xca\xc8\xb2\x12\x34\xda\x8f";
        self.bytes == if self.is_huffman { HUFFMAN } else { b"grpc-status" }
    }

    /// A number of one or two digits in Huffman code.
    fn digits(&self) -> Option<u32> {
        if !self.is_huffman {
            return std::str::from_utf8(self.bytes).ok()?.parse().ok();
        }
        // The codes of 0 to 2 have five bits, those of 3 to 9 six. Padding is ones.
        let mut value = 0;
        let bits = self.bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1)));
        let mut code = 0;
        let mut length = 0;
        for bit in bits {
            code = code << 1 | bit;
            length += 1;
            let digit = match (length, code) {
                (5, 0..=2) => Some(code),
                (6, 25..=31) => Some(code - 22),
                (6, _) => return None,
                _ => None,
            };
            if let Some(digit) = digit {
                value = value * 10 + digit;
                (code, length) = (0, 0);
            }
        }
        (length == 0 || code + 1 == 1 << length).then_some(value)
    }
}

#[cfg(test)]
mod tests;
