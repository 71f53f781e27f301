//! The connection with a real HTTP/2 reader.

mod encoder;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use h2::Reason;
use proptest::prelude::*;
use tiphys_testkit::http2::{PREFACE, write as frame};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tonic::codegen::http::uri::Authority;

use super::authority::code_of;
use super::{Connection, fuzz_connection};
use encoder::{Cut, Encoder, Field, Writing};

/// Bytes from hexadecimal digits.
pub(super) fn hex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Encodes a string by HPACK's Huffman code.
pub(super) fn huffman(text: &[u8]) -> Vec<u8> {
    let mut digits = String::new();
    for octet in text {
        let (code, bits) = code_of(*octet).expect("an octet with a short code");
        digits.push_str(&format!("{code:032b}")[32 - bits as usize..]);
    }
    digits.push_str(&"1".repeat((8 - digits.len() % 8) % 8));
    let octet = |at| u8::from_str_radix(&digits[at..at + 8], 2).expect("binary digits");
    (0..digits.len()).step_by(8).map(octet).collect()
}

/// A peer whose bytes arrive in given pieces, and that then waits. Bytes sent to it are lost.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(mut piece) = self.0.pop_front() else { return Poll::Pending };
        let rest = piece.split_off(piece.len().min(out.remaining()));
        out.put_slice(&piece);
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn on_a_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Returns the requests that `h2` reads from a peer: authority, path and the other fields.
async fn requests(stream: Connection<Pieces>) -> Vec<(Option<String>, Vec<Field>)> {
    let mut server = h2::server::handshake(stream).await.expect("the preface and the settings");
    let mut requests = Vec::new();
    // Requests that are not available now will never arrive: nothing wakes the reader.
    while let Some(Some(Ok((request, _)))) = server.accept().now_or_never() {
        let authority = request.uri().authority().map(ToString::to_string);
        let path = request.uri().path().as_bytes().to_vec();
        let mut fields = vec![(b":path".to_vec(), path)];
        let others = request.headers().iter();
        fields.extend(others.map(|(name, value)| (name.as_str().into(), value.as_bytes().into())));
        requests.push((authority, fields));
    }
    requests
}

/// The first request of grpc-go, and the same request again, completely from the dynamic table.
fn grpc_go_requests() -> Vec<u8> {
    let first = hex(
        "838645ad62ba2d98d52f78f54a69b40ea1cc5a4b5275d16cc6ab716cee62158bd3949d75d16cc6aaf1ea94d35b60d263d541909cf49551611d931c922a2c35ae8393af\
         5f8b1d75d0620d263d4c4d656440899acac8b24d494f6a7f023953",
    );
    let second = hex("8386c1c0bfbe");
    [PREFACE.to_vec(), frame(4, 0, 0, b""), frame(1, 4, 1, &first), frame(1, 5, 3, &second)].concat()
}

#[test]
fn grpc_go_requests_are_read_also_from_the_dynamic_table() {
    let stream = Connection::new(Pieces([grpc_go_requests()].into()));
    let requests = on_a_runtime(requests(stream));
    let authorities: Vec<_> = requests.iter().map(|(authority, _)| authority.as_deref()).collect();
    assert_eq!(authorities, [Some("home-2Fargocd-2Fp.sock"); 2]);
    assert!(requests[1].1.contains(&(b"grpc-timeout".to_vec(), b"9S".to_vec())), "{requests:?}");
}

/// If this fails, [`crate::connection`] can be removed.
#[tokio::test]
async fn plain_h2_rejects_the_authority_of_argo_cd() {
    let (mut client, server) = tokio::io::duplex(64 * 1024);
    client.write_all(&grpc_go_requests()).await.expect("sent");
    let serving = async {
        let mut server = h2::server::handshake(server).await.expect("the preface and the settings");
        server.accept().await.map(|result| result.map(drop))
    };
    let reading = async {
        loop {
            let mut header = [0; 9];
            client.read_exact(&mut header).await.expect("a frame");
            let [_, l1, l2, kind, _, _, _, _, stream] = header;
            let mut payload = vec![0; usize::from(u16::from_be_bytes([l1, l2]))];
            client.read_exact(&mut payload).await.expect("a payload");
            if kind == 3 {
                let code = payload.try_into().map(u32::from_be_bytes).expect("four octets");
                return (stream, Reason::from(code));
            }
        }
    };
    tokio::select! {
        accepted = serving => panic!("the request was accepted, or the connection ended: {accepted:?}"),
        reset = reading => assert_eq!(reset, (1, Reason::PROTOCOL_ERROR)),
    }
}

#[tokio::test]
async fn held_bytes_are_passed_on_at_the_end() {
    let sent = [PREFACE, &frame(1, 0, 1, b"\x41\x03a%b")].concat();
    let mut arrived = Vec::new();
    let mut connection = Connection::new(sent.as_slice());
    connection.read_to_end(&mut arrived).await.expect("read");
    assert_eq!(arrived, sent);
}

#[tokio::test]
async fn bytes_of_the_server_pass_unchanged() {
    let (mut client, server) = tokio::io::duplex(1024);
    let mut connection = Connection::new(server);
    let answer = frame(1, 4, 1, b"\x41\x03a%b");
    connection.write_all(&answer).await.expect("written");
    connection.shutdown().await.expect("ended");
    let mut arrived = Vec::new();
    client.read_to_end(&mut arrived).await.expect("read");
    assert_eq!(arrived, answer);
}

#[tokio::test]
async fn small_buffer_gets_all_bytes_in_order() {
    let sent = [PREFACE.to_vec(), frame(0, 0, 1, &(0..=255).collect::<Vec<u8>>())].concat();
    let mut connection = Connection::new(sent.as_slice());
    let mut arrived = Vec::new();
    for _ in 0..sent.len() {
        arrived.push(connection.read_u8().await.expect("a byte"));
    }
    assert_eq!(arrived, sent);
}

fn authorities() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("localhost".to_owned()),
        Just("localhost:8080".to_owned()),
        "[a-zA-Z0-9._~!$&'()*+,;=-]{0,20}%2F[a-zA-Z0-9._~!$&'()*+,;=:@%\\[\\]-]{0,40}",
    ]
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let field = ("x-[a-d]{1,3}", "[ -~]{0,60}")
        .prop_map(|(name, value)| (name.into_bytes(), value.trim().as_bytes().to_vec()));
    prop::collection::vec(field, 0..12)
}

fn writings() -> impl Strategy<Value = Writing> {
    (any::<[bool; 3]>(), prop::option::weighted(0.2, 0..4096_usize), 0..3_u8).prop_map(
        |([index, coded, named], table_bytes, literal)| Writing { index, coded, named, table_bytes, literal },
    )
}

fn cuts() -> impl Strategy<Value = Cut> {
    (prop::collection::vec(0..400_usize, 0..6), prop::option::of(any::<u8>()), any::<bool>())
        .prop_map(|(fragments, padding, priority)| Cut { fragments, padding, priority })
}

proptest! {
    #[test]
    fn only_rejected_authorities_change(
        sent in prop::collection::vec((authorities(), fields(), writings(), cuts()), 1..8),
        pieces in prop::collection::vec(1..700_usize, 1..20),
    ) {
        let mut encoder = Encoder::default();
        let mut bytes = [PREFACE, &frame(4, 0, 0, b"")].concat();
        let mut expected = Vec::new();
        for (index, (authority, others, writing, cut)) in sent.into_iter().enumerate() {
            let text = |text: &str| text.as_bytes().to_vec();
            let mut fields = vec![
                (text(":method"), text("POST")),
                (text(":scheme"), text("http")),
                (text(":path"), text("/plugin")),
                (text(":authority"), authority.clone().into_bytes()),
            ];
            fields.extend(others.clone());
            let block = encoder.block(&fields, &writing);
            let stream = u32::try_from(index * 2 + 1).expect("few streams");
            bytes.extend(cut.frames(stream, &block));
            bytes.extend(frame(0, 1, stream, b"%%%"));
            let arrived = if authority.parse::<Authority>().is_ok() {
                authority
            } else {
                authority.replace('%', "-").replace(':', "x").replace(['@', '[', ']'], "~")
            };
            let mut arrived_fields = vec![(text(":path"), text("/plugin"))];
            arrived_fields.extend(others);
            arrived_fields.sort();
            expected.push((Some(arrived), arrived_fields));
        }
        let mut lengths = pieces.iter().cycle();
        let mut rest = bytes.as_slice();
        let mut queue = VecDeque::new();
        while let (false, Some(&length)) = (rest.is_empty(), lengths.next()) {
            let (piece, others) = rest.split_at(length.min(rest.len()));
            queue.push_back(piece.to_vec());
            rest = others;
        }
        let mut arrived = on_a_runtime(requests(Connection::new(Pieces(queue))));
        for (_, fields) in &mut arrived {
            fields.sort();
        }
        prop_assert_eq!(arrived, expected);
    }

    #[test]
    fn arbitrary_bytes_pass_regardless_of_the_pieces(
        begin in prop::option::of(Just(PREFACE)),
        frames in prop::collection::vec((0..11_u8, any::<u8>(), 0..3_u32, prop::collection::vec(any::<u8>(), 0..40)), 0..12),
        end in prop::collection::vec(any::<u8>(), 0..40),
        piece in any::<u8>(),
    ) {
        let mut data = vec![piece];
        data.extend(begin.unwrap_or_default());
        for (kind, flags, stream, payload) in frames {
            data.extend(frame(kind, flags, stream, &payload));
        }
        data.extend(end);
        fuzz_connection(&data);
    }
}
