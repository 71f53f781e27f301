//! Faults of watches.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::{Server, State};
use crate::dice::Dice;

/// Percentage of events with a fault.
const EVENT_FAULTS: usize = 20;

/// Percentage of events that come late or again, in proxies without cuts. A cut makes the client list all objects, and hides what these cause.
const EVENT_FAULTS_WITHOUT_CUTS: usize = 60;

/// The longest delay of an event.
const DELAY_MAX_MILLISECONDS: usize = 400;

/// An event that comes again is one of this number of latest ones.
const REPEATED_MAX: usize = 6;

/// The fault of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fault {
    #[default]
    None,
    /// It comes late, and so do those after it.
    Delay(Duration),
    /// It comes twice.
    Duplicate,
    /// One from before comes again after it.
    Repeat(usize),
    /// The connection ends before it.
    End,
    /// The connection breaks before it.
    Cut,
    /// The connection breaks within it.
    CutInside,
}

/// Forwards the events of a watch at `path` until one side closes its connection.
pub(super) fn follow(mut client: &TcpStream, server: Server, path: &str, state: &State) -> io::Result<()> {
    let mut server = BufReader::new(server);
    let mut is_watch = false;
    loop {
        let mut line = String::new();
        if server.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        if let Some(status) = line.strip_prefix("HTTP/1.0") {
            is_watch = status.starts_with(" 200");
            client.write_all(format!("HTTP/1.1{status}").as_bytes())?;
        } else if !line.to_ascii_lowercase().starts_with("connection:") {
            client.write_all(line.as_bytes())?;
        }
    }
    if !is_watch {
        // A failure, whose length is known or ends with the connection.
        client.write_all(b"Connection: close\r\n\r\n")?;
        return io::copy(&mut server, &mut client).map(drop);
    }
    client.write_all(b"Transfer-Encoding: chunked\r\n\r\n")?;
    let mut sent: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut line = Vec::new();
        if server.read_until(b'\n', &mut line)? == 0 {
            return end(client);
        }
        state.wait_for_events_of(path);
        match state.draw(|dice| draw(dice, state.has_cuts, sent.len())) {
            Fault::None => send(client, &line)?,
            Fault::Delay(time) => {
                state.pause(time);
                send(client, &line)?;
            }
            Fault::Duplicate => {
                send(client, &line)?;
                send(client, &line)?;
            }
            Fault::Repeat(index) => {
                send(client, &line)?;
                send(client, &sent[index])?;
            }
            Fault::End => return end(client),
            Fault::Cut => return Ok(()),
            Fault::CutInside => {
                return send(client, &line[..line.len() / 2]);
            }
        }
        // A bookmark that comes again would be a lie: the server has sent later events.
        if !line.starts_with(b"{\"type\":\"BOOKMARK\"") {
            sent.push(line);
        }
    }
}

fn draw(dice: &mut Dice, has_cuts: bool, sent: usize) -> Fault {
    use Fault::{Cut, CutInside, Duplicate, End};
    if !dice.chance(if has_cuts { EVENT_FAULTS } else { EVENT_FAULTS_WITHOUT_CUTS }) {
        return Fault::None;
    }
    let delay = Fault::Delay(Duration::from_millis(dice.below(DELAY_MAX_MILLISECONDS) as u64));
    let repeat = match sent.min(REPEATED_MAX) {
        0 => Duplicate,
        recent => Fault::Repeat(sent - 1 - dice.below(recent)),
    };
    if has_cuts {
        dice.one(&[delay, delay, Duplicate, repeat, repeat, End, Cut, CutInside])
    } else {
        dice.one(&[delay, Duplicate, repeat, repeat])
    }
}

fn send(mut client: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    client.write_all(&chunk)
}

/// Ends a watch as the server does.
fn end(mut client: &TcpStream) -> io::Result<()> {
    client.write_all(b"0\r\n\r\n")
}
