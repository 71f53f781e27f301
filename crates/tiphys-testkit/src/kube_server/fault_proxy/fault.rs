//! Faults of requests.

use serde_json::json;

use crate::dice::Dice;
use crate::http::Request;

/// Percentage of reads with a fault. A list of several pages has several reads.
const READ_FAULTS: usize = 8;

/// Percentage of writes with a fault.
const WRITE_FAULTS: usize = 25;

/// The fault of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fault {
    #[default]
    None,
    /// This status, without the server.
    Status(u16),
    /// A closed connection, without the server.
    CutBefore,
    /// A closed connection after the server has responded.
    CutAfter,
    /// Status 500 after the server has responded, as after a timeout of etcd.
    FailAfter,
}

impl Fault {
    pub(super) fn draw(request: &Request, dice: &mut Dice) -> Self {
        use Fault::{CutAfter, CutBefore, FailAfter, Status};
        let is_read = request.method == "GET";
        if !dice.chance(if is_read { READ_FAULTS } else { WRITE_FAULTS }) {
            return Self::None;
        }
        if !is_read {
            return dice.one(&[Status(409), Status(429), Status(500), CutBefore, CutAfter, FailAfter]);
        }
        if ["watch=true", "continue="].iter().any(|part| request.path.contains(part)) {
            return dice.one(&[Status(410), Status(410), Status(429), Status(500), CutBefore]);
        }
        dice.one(&[Status(429), Status(500), CutBefore, CutAfter])
    }
}

/// Returns a failure as the API server answers it.
pub(super) fn answer(status: u16) -> Vec<u8> {
    let reason = match status {
        409 => "Conflict",
        410 => "Expired",
        // Before a request has a handler, the server answers text.
        429 => return text(status, "Retry-After: 1\r\nContent-Type: text/plain", "Too many requests."),
        _ => "InternalError",
    };
    let message = format!("a fault of the test: {reason}");
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": status,
    });
    text(status, "Content-Type: application/json", &body.to_string())
}

fn text(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Fault\r\n{headers}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}
