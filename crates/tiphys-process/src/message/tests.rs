use super::*;

fn split(frame: &[u8]) -> (u8, &[u8]) {
    let (head, payload) = frame.split_first_chunk::<HEADER_BYTES>().expect("a header");
    let (kind, length) = header(*head);
    assert_eq!(payload.len(), length, "length of the header");
    (kind, payload)
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
        let frame = request.encode().expect("encodes");
        let (kind, payload) = split(&frame);
        assert_eq!(Request::decode(kind, payload).expect("decodes"), request);
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
        Event::Stdout(vec![0, 255, 10]),
        Event::Finished { ended: Ended::Exited(255), stderr: vec![255, 0] },
        Event::Finished { ended: Ended::Signalled(9), stderr: vec![] },
        Event::Finished { ended: Ended::DeadlineExceeded, stderr: vec![] },
        Event::Finished { ended: Ended::Cancelled, stderr: vec![] },
        Event::Finished { ended: Ended::OutputTooLarge, stderr: vec![] },
        Event::Gone { message: "left".into() },
    ];
    for event in events {
        let frame = event.encode().expect("encodes");
        let (kind, payload) = split(&frame);
        assert_eq!(Event::decode(kind, payload).expect("decodes"), event);
    }
}

#[test]
fn malformed_message_is_an_error() {
    let frame = Event::NotStarted { errno: 2, message: "abc".into() }.encode().expect("encodes");
    let (kind, payload) = split(&frame);
    for length in 0..payload.len() {
        Event::decode(kind, &payload[..length]).expect_err("truncated message");
    }
    let mut longer = payload.to_vec();
    longer.push(0);
    Event::decode(kind, &longer).expect_err("bytes behind the message");
    Event::decode(0, payload).expect_err("unknown kind");
    Request::decode(0, payload).expect_err("unknown kind");
}
