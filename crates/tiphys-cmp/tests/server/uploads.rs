//! Invalid uploads and the answers of the server.

use std::io::Write as _;

use tiphys_cmp::ServerOptions;
use tiphys_plugin::Discovery;
use tonic::Code;

use crate::archives::{archive, entry, gzip, gzip_small, header, tar};
use crate::test_server::{ScriptedPlugin, options, served};
use crate::wire::{StreamMessage, checksum, file, files, head, head_of, slowly, upload};

/// Bytes of one gzip member of a bomb. They compress to less than a thousandth.
const MEMBER_BYTES: usize = 8 << 20;

/// Uncompressed bytes of a bomb. A size of more than eleven octal digits would need another tar format.
const BOMB_BYTES: u64 = (8 << 30) - (8 << 20);

fn bomb() -> Vec<u8> {
    let mut bomb = gzip(&header("zeros", b'0', BOMB_BYTES, ""));
    let member = gzip_small(&vec![0; MEMBER_BYTES]);
    for _ in 0..BOMB_BYTES / MEMBER_BYTES as u64 {
        bomb.extend_from_slice(&member);
    }
    bomb
}

fn many_entries(count: usize) -> Vec<u8> {
    let tar: Vec<u8> = (0..count).flat_map(|number| header(&format!("d/{number}"), b'0', 0, "")).collect();
    gzip(&tar)
}

fn with_entry(name: &str, kind: u8, link: &str) -> Vec<StreamMessage> {
    let mut bytes = entry(name, kind, b"", link);
    bytes.extend(tar(&[("app/file", b"x")]));
    upload(&gzip(&bytes))
}

/// Uploads, and the end of the message after `generate manifest error receiving stream: `.
fn invalid_uploads() -> Vec<(&'static str, Vec<StreamMessage>, &'static str)> {
    let good = archive("x", 5000);
    let sum = checksum(&good);
    let cut = &good[..good.len() / 2];
    let mut second_head = upload(&good);
    second_head.insert(2, head(&sum));
    let mut nothing_between = upload(&good);
    nothing_between.insert(2, StreamMessage::default());
    let mut behind = good.clone();
    behind.extend_from_slice(b"garbage");
    vec![
        ("no message", vec![], "error getting stream metadata: metadata is nil"),
        ("a file first", vec![file("x")], "error getting stream metadata: metadata is nil"),
        (
            "an empty message first",
            vec![StreamMessage::default()],
            "error getting stream metadata: metadata is nil",
        ),
        ("a second head", second_head, "error receiving tgz file: stream request file is nil"),
        ("an empty message", nothing_between, "error receiving tgz file: stream request file is nil"),
        (
            "a wrong checksum",
            [head(&checksum(b"other"))].into_iter().chain(files(&good)).collect(),
            "error receiving tgz file: file checksum validation error",
        ),
        (
            "an upper-case checksum",
            [head(&sum.to_uppercase())].into_iter().chain(files(&good)).collect(),
            "error receiving tgz file: file checksum validation error",
        ),
        (
            "no bytes and no checksum",
            vec![head("")],
            "error receiving tgz file: file checksum validation error",
        ),
        (
            "bytes behind the archive that the checksum leaves out",
            [head(&sum)].into_iter().chain(files(&behind)).collect(),
            "error receiving tgz file: file checksum validation error",
        ),
        ("half an archive", upload(cut), "error decompressing tgz file: error"),
        ("no archive", upload(b"no gzip at all"), "error decompressing tgz file: error reading file: "),
        ("no bytes", upload(b""), "error decompressing tgz file: error reading file: "),
        (
            "a path out of the tree",
            with_entry("../evil", b'0', ""),
            "error decompressing tgz file: error creating nested folders: mkdirat ..: path escapes from parent",
        ),
        (
            "a link out of the tree",
            with_entry("app/link", b'2', "../../etc/passwd"),
            "error decompressing tgz file: error checking symlink \"../etc/passwd\" target: statat ../etc/passwd: path escapes from parent",
        ),
        ("a bomb", upload(&bomb()), "error decompressing tgz file: the tree has more than 33554432 bytes"),
        (
            "20,000 entries",
            upload(&many_entries(20_000)),
            "error decompressing tgz file: the tree has more than 1000 entries",
        ),
        (
            "more packed bytes than may be",
            [head(&sum)].into_iter().chain((0..17).map(|_| file(vec![0; 1 << 20]))).collect(),
            "error decompressing tgz file: the archive has more than 16777216 bytes",
        ),
    ]
}

#[tokio::test]
async fn invalid_uploads_have_the_messages_of_argo_cd() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let good = archive("x", 5000);
        for (what, parts, text) in invalid_uploads() {
            let status = caller.generate(parts).await.expect_err(what);
            let text = format!("generate manifest error receiving stream: {text}");
            assert!(status.message().starts_with(&text), "{what}: {}", status.message());
            assert_eq!(status.code(), Code::Unknown, "{what}");
            assert!(!status.message().contains("/work"), "{what}: {}", status.message());
            let answer = caller.generate(upload(&good)).await;
            assert_eq!(answer.expect("it goes on"), [r#"{"kind":"x"}"#], "after {what}");
        }
        assert_eq!(server.count(r#"tiphys_cmp_refusals_total{bound="archive"}"#), 3);
    })
    .await;
}

#[tokio::test]
async fn error_messages_name_the_call() {
    let plugin = ScriptedPlugin { discovery: Some(Discovery::Run), ..ScriptedPlugin::default() };
    served(plugin, options(), async |server| {
        let caller = server.caller().await;
        let tail = "error receiving stream: error getting stream metadata: metadata is nil";
        let status = caller.matches(vec![]).await.expect_err("no head");
        assert_eq!(status.message(), format!("match repository {tail}"));
        let status = caller.announce(vec![]).await.expect_err("no head");
        assert_eq!(status.message(), format!("parameters announcement {tail}"));
    })
    .await;
}

#[tokio::test]
async fn uploads_that_argo_cd_accepts_are_accepted() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        let good = archive("x", 5000);
        let mut empty_chunks = upload(&good);
        empty_chunks.insert(1, file(""));
        empty_chunks.push(file(""));
        let mut behind = good.clone();
        behind.extend_from_slice(b"garbage");
        let cases = [
            ("empty chunks", empty_chunks),
            ("one chunk", vec![head(&checksum(&good)), file(good.clone())]),
            ("bytes behind the archive that the checksum has", upload(&behind)),
            ("a hard link", with_entry("app/hard", b'1', "/etc/passwd")),
            ("a device", with_entry("app/device", b'3', "")),
            ("a pipe", with_entry("app/pipe", b'6', "")),
            ("a link to nowhere", with_entry("app/link", b'2', "nowhere")),
            (
                "an absolute application path",
                [head_of("/app", &checksum(&good))].into_iter().chain(files(&good)).collect(),
            ),
        ];
        for (what, parts) in cases {
            let answer = caller.generate(parts).await;
            assert_eq!(
                answer.map_err(|status| status.message().to_owned()),
                Ok(vec![r#"{"kind":"x"}"#.to_owned()]),
                "{what}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn application_outside_the_tree_is_refused_or_clamped() {
    let plugin = ScriptedPlugin { discovery: Some(Discovery::Entries), ..ScriptedPlugin::default() };
    served(plugin, options(), async |server| {
        let caller = server.caller().await;
        let good = archive("x", 10);
        let climb =
            |path| [head_of(path, &checksum(&good))].into_iter().chain(files(&good)).collect::<Vec<_>>();
        for path in ["..", "app/../../x", "../../../../etc"] {
            let status = caller.generate(climb(path)).await.expect_err("outside");
            assert_eq!(
                (status.code(), status.message()),
                (Code::Unknown, "illegal appPath: out of workDir bound")
            );
        }
        assert_eq!(caller.matches(climb("../../app")).await.expect("matched"), (true, true));
        assert_eq!(caller.matches(climb("../other")).await.expect("matched"), (false, true));
    })
    .await;
}

#[tokio::test]
async fn message_above_the_limit_is_refused_both_ways() {
    let options = ServerOptions { message_bytes_max: 4096, ..options() };
    served(ScriptedPlugin::default(), options, async |server| {
        let caller = server.caller().await;
        let good = archive("x", 8000);
        let status = caller.generate(vec![head(&checksum(&good)), file(good)]).await.expect_err("too large");
        assert_eq!(status.code(), Code::ResourceExhausted, "{}", status.message());
        assert!(status.message().contains("received message larger than max"), "{}", status.message());
        assert!(status.message().contains("ARGOCD_GRPC_MAX_SIZE_MB"), "{}", status.message());
        let status = caller.generate(upload(&archive(&"y".repeat(5000), 0))).await.expect_err("too large");
        assert_eq!(status.code(), Code::ResourceExhausted, "{}", status.message());
        assert!(status.message().contains("trying to send message larger than max"), "{}", status.message());
        assert!(status.message().contains("ARGOCD_GRPC_MAX_SIZE_MB"), "{}", status.message());
    })
    .await;
}

#[tokio::test]
async fn sender_of_an_invalid_upload_can_finish() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        // More than the windows of the connection, so the sender finishes only if the server reads.
        let rest = std::iter::repeat_n(file(vec![7; 1 << 20]), 60);
        let (sender, parts) = slowly([file("not a head")].into_iter().chain(rest));
        let end = parts.len();
        drop(sender);
        let read = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Counted { parts, read: std::sync::Arc::clone(&read) };
        let status = caller.generate(counted).await.expect_err("wrong");
        assert_eq!(status.code(), Code::Unknown);
        assert_eq!(read.load(std::sync::atomic::Ordering::Relaxed), end);
    })
    .await;
}

/// Counts the messages that the connection has taken.
struct Counted {
    parts: tokio::sync::mpsc::UnboundedReceiver<StreamMessage>,
    read: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl crate::wire::IntoParts for Counted {
    fn into_parts(self) -> impl futures_util::Stream<Item = StreamMessage> + Send + 'static {
        futures_util::stream::unfold(self, |mut this| async move {
            let part = this.parts.recv().await?;
            this.read.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Some((part, this))
        })
    }
}

#[tokio::test]
async fn discovery_by_entries_writes_no_file() {
    let good = archive("x", 300_000);
    let plugin = ScriptedPlugin { discovery: Some(Discovery::Entries), ..ScriptedPlugin::default() };
    served(plugin, options(), async |server| {
        let caller = server.caller().await;
        assert_eq!(caller.matches(upload(&good)).await.expect("matched"), (true, true));
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="listed"}"#), 1);
        assert_eq!(server.count(r#"tiphys_cmp_uploads_total{upload="new"}"#), 0);
        drop(caller.generate(upload(&good)).await.expect("rendered"));
        assert_eq!(caller.matches(upload(&good)).await.expect("matched"), (true, true));
        assert_eq!(
            server.count(r#"tiphys_cmp_uploads_total{upload="known"}"#),
            1,
            "the tree is in the store"
        );
    })
    .await;
    served(ScriptedPlugin::default(), options(), async |server| {
        let caller = server.caller().await;
        assert_eq!(caller.matches(upload(b"no archive")).await.expect("matched"), (false, false));
        let status = caller.matches(vec![head("00"), file("x")]).await.expect_err("wrong checksum");
        assert!(status.message().ends_with("file checksum validation error"), "{}", status.message());
    })
    .await;
}

#[tokio::test]
async fn work_paths_are_removed_from_messages() {
    served(ScriptedPlugin::default(), options(), async |server| {
        let status = server.caller().await.generate(upload(&archive("path", 0))).await.expect_err("told");
        assert!(status.message().contains("seen at <workdir>/"), "{}", status.message());
    })
    .await;
}

/// A million empty files, packed as a stream because of their size. The entries beyond the limit are equal: the server never reads them,
/// and packing different ones would double the time of the test.
fn million_entries() -> Vec<u8> {
    const REPEATED: usize = 10_000;
    let different = u32::try_from(tiphys_cmp::ENTRIES_MAX).expect("a small number") + 1;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let begin = "app/0000000";
    let mut block = header(begin, b'0', 0, "");
    let sum_of_zeros: u32 = block.iter().map(|byte| u32::from(*byte)).sum::<u32>()
        - block[148..156].iter().map(|byte| u32::from(*byte)).sum::<u32>()
        + 8 * u32::from(b' ');
    for number in 0..different {
        let digits = format!("{number:07}");
        block[4..11].copy_from_slice(digits.as_bytes());
        let more: u32 = digits.bytes().map(|digit| u32::from(digit - b'0')).sum();
        block[148..156].copy_from_slice(format!("{:06o}\0 ", sum_of_zeros + more).as_bytes());
        gzip.write_all(&block).expect("written");
    }
    let mut packed = gzip.finish().expect("finished");
    let members = (1_000_000 - different as usize).div_ceil(REPEATED);
    packed.extend(gzip_small(&block.repeat(REPEATED)).repeat(members));
    packed
}

#[tokio::test]
async fn million_entries_are_refused_by_the_default_limit() {
    let plugin = ScriptedPlugin { discovery: Some(Discovery::Entries), ..ScriptedPlugin::default() };
    served(plugin, ServerOptions::default(), async |server| {
        let caller = server.caller().await;
        let million = million_entries();
        let status = caller.matches(upload(&million)).await.expect_err("too many");
        let expected = "match repository error receiving stream: error decompressing tgz file: the tree has more than 500000 entries";
        assert!(status.message().starts_with(expected), "{}", status.message());
        assert_eq!(server.count(r#"tiphys_cmp_refusals_total{bound="archive"}"#), 1);
        let answer = caller.generate(upload(&archive("x", 10))).await;
        assert_eq!(answer.expect("rendered"), [r#"{"kind":"x"}"#]);
    })
    .await;
}
