//! Measures the cost of the connection layer for an upload: `cargo bench -p tiphys-cmp --bench connection`.
//!
//! The upload is that of 10,000 files: 5.7 MB in messages of 1 KiB, each in its own DATA frame, as written by grpc-go. It is read from a
//! Unix socket while another thread writes it, and from memory, which measures the layer alone.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::io::Write as _;
use std::os::unix::net::UnixStream as StdStream;
use std::thread;
use std::time::{Duration, Instant};

use tiphys_cmp::exposed::server_side;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::UnixStream;

const UPLOAD_BYTES: usize = 5_700_000;
const MESSAGE_BYTES: usize = 1024;
/// Bytes of the repo-server's header block.
const BLOCK_BYTES: usize = 150;
/// Bytes that grpc-go writes at a time.
const WRITE_BYTES: usize = 32 * 1024;
/// Bytes that h2 makes room for.
const READ_BYTES: usize = 8 * 1024;
const ROUNDS: usize = 101;

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

fn upload() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, b""));
    bytes.extend(frame(1, 4, 1, &[0x82; BLOCK_BYTES]));
    for _ in 0..UPLOAD_BYTES / MESSAGE_BYTES {
        bytes.extend(frame(0, 0, 1, &[b'x'; MESSAGE_BYTES + 13]));
    }
    bytes
}

async fn read(mut stream: impl AsyncRead + Unpin, expected: usize) {
    let mut buffer = vec![0; READ_BYTES];
    let mut left = expected;
    while left > 0 {
        let read = stream.read(&mut buffer).await.expect("read");
        assert!(read > 0, "{left} bytes are missing");
        left -= read;
    }
}

/// One round over a socket.
async fn over_a_socket(upload: &[u8], through_the_layer: bool) -> Duration {
    let (mut near, far) = StdStream::pair().expect("a pair of sockets");
    far.set_nonblocking(true).expect("set");
    let far = UnixStream::from_std(far).expect("in the runtime");
    let sent = upload.to_vec();
    let begin = Instant::now();
    let writing = thread::spawn(move || {
        for piece in sent.chunks(WRITE_BYTES) {
            near.write_all(piece).expect("written");
        }
    });
    if through_the_layer {
        read(server_side(far), upload.len()).await;
    } else {
        read(far, upload.len()).await;
    }
    let took = begin.elapsed();
    writing.join().expect("the writer ends");
    took
}

/// One round from memory.
async fn from_memory(upload: &[u8], through_the_layer: bool) -> Duration {
    let begin = Instant::now();
    if through_the_layer {
        read(server_side(upload), upload.len()).await;
    } else {
        read(upload, upload.len()).await;
    }
    begin.elapsed()
}

/// Minimum and median in milliseconds. The minimum is least affected by other load.
fn figures(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().unwrap_or_default().as_secs_f64() * 1e3;
    format!("{:.2}/{:.2}", at(0), at(times.len() / 2))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let upload = upload();
    println!("{} bytes; minimum/median of {ROUNDS} rounds, in milliseconds", upload.len());
    println!("{:10} {:>14} {:>14}", "from", "plain", "layer");
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        times[0].push(over_a_socket(&upload, false).await);
        times[1].push(over_a_socket(&upload, true).await);
        times[2].push(from_memory(&upload, false).await);
        times[3].push(from_memory(&upload, true).await);
    }
    let [socket, socket_layer, memory, memory_layer] = times.map(figures);
    println!("{:10} {socket:>14} {socket_layer:>14}", "a socket");
    println!("{:10} {memory:>14} {memory_layer:>14}", "memory");
}
