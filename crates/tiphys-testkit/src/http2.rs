//! Frames of HTTP/2 (RFC 9113) for tests: valid and malformed ones.

/// The client connection preface.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const SETTINGS: u8 = 4;
const PING: u8 = 6;

const ACK: u8 = 0x1;

/// An empty settings frame.
pub fn no_settings() -> Vec<u8> {
    write(SETTINGS, 0, 0, &[])
}

/// Acknowledges settings.
pub fn settings_seen() -> Vec<u8> {
    write(SETTINGS, ACK, 0, &[])
}

/// A ping.
pub fn ping(payload: [u8; 8]) -> Vec<u8> {
    write(PING, 0, 0, &payload)
}

/// Answers a ping.
pub fn pong(payload: &[u8]) -> Vec<u8> {
    write(PING, ACK, 0, payload)
}

/// A frame of any kind.
pub fn write(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}
