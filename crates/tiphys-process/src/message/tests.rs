use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use super::*;
use crate::spec::{PrivateView, Shielded};

fn payload(frame: &[u8]) -> &[u8] {
    let (head, payload) = frame.split_first_chunk::<HEADER_BYTES>().expect("a header");
    assert_eq!(payload.len(), payload_bytes(*head), "length of the header");
    payload
}

#[test]
fn requests_are_decoded_as_encoded() {
    let not_utf8 = PathBuf::from(OsString::from_vec(b"/a/\xff,:\\b".to_vec()));
    let limits =
        Limits { stdout_bytes_max: usize::MAX, stderr_bytes_max: 0, grace: Duration::from_millis(1500) };
    let requests = [
        Request::SetUp {
            view: View::Direct { dir: not_utf8.clone() },
            limits,
            containment: Containment::Descendants,
        },
        Request::SetUp {
            view: View::Private {
                lower: not_utf8.clone(),
                others: vec!["/o".into(), "/p".into()],
                run_dir: "/r".into(),
                how: PrivateView::Auto,
                shielded: Shielded::default(),
            },
            limits,
            containment: Containment::ProcessGroups,
        },
        Request::SetUp {
            view: View::Private {
                lower: "/l".into(),
                others: vec![],
                run_dir: not_utf8.clone(),
                how: PrivateView::Copy,
                shielded: Shielded { hidden: vec![not_utf8], read_only: vec!["/w".into()] },
            },
            limits,
            containment: Containment::ProcessGroups,
        },
        Request::SetUp {
            view: View::Private {
                lower: "/l".into(),
                others: vec![],
                run_dir: "/r".into(),
                how: PrivateView::Overlay,
                shielded: Shielded { hidden: vec!["/h".into(), "/i".into()], read_only: vec![] },
            },
            limits,
            containment: Containment::ProcessGroups,
        },
        Request::Execute(CommandSpec {
            argv: vec!["sh".into(), String::new(), "a\0b\n".into()],
            env: vec![("N".into(), "é".into()), (String::new(), "=".into())],
            dir: "x/y".into(),
        }),
    ];
    for request in requests {
        let frame = encode(&request).expect("encodes");
        assert_eq!(decode::<Request>(payload(&frame)).expect("decodes"), request);
    }
}

#[test]
fn events_are_decoded_as_encoded() {
    let events = [
        Event::Ready {
            root: "/r/root".into(),
            others: vec!["/r/other-0/root".into()],
            copied_because: "no".into(),
        },
        Event::SetUpFailed { message: String::new() },
        Event::NotStarted { errno: -1, message: "é".into() },
        Event::Stdout(Bytes::from_static(&[0, 255, 10])),
        Event::Finished { ended: Ended::Exited(255), stderr: vec![255, 0] },
        Event::Finished { ended: Ended::Signalled(9), stderr: vec![] },
        Event::Finished { ended: Ended::DeadlineExceeded, stderr: vec![] },
        Event::Finished { ended: Ended::Cancelled, stderr: vec![] },
        Event::Finished { ended: Ended::OutputTooLarge, stderr: vec![] },
        Event::Gone { message: "left".into() },
    ];
    for event in events {
        let frame = encode(&event).expect("encodes");
        assert_eq!(decode::<Event>(payload(&frame)).expect("decodes"), event);
    }
}

#[test]
fn malformed_message_is_an_error() {
    let frame = encode(&Event::NotStarted { errno: 2, message: "abc".into() }).expect("encodes");
    let payload = payload(&frame);
    for length in 0..payload.len() {
        decode::<Event>(&payload[..length]).expect_err("truncated message");
    }
    let mut longer = payload.to_vec();
    longer.push(0);
    decode::<Event>(&longer).expect_err("bytes behind the message");
    decode::<Event>(&[99]).expect_err("unknown event");
    decode::<Request>(&[99]).expect_err("unknown request");
}
