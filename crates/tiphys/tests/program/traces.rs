//! Traces of the plugin server as a local collector receives them.

use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tonic::{Code, Request, Response, Status};

use crate::running::Running;
use crate::world::{Output, TIPHYS, World};

/// The caller's trace and its span.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// Part of all inputs and outputs of a call. Must not occur in a trace.
const CANARY: &str = "canary-5ae1";

/// A received batch.
struct Batch {
    authorization: Option<String>,
    request: ExportTraceServiceRequest,
}

struct Receiver(mpsc::Sender<Batch>);

#[tonic::async_trait]
impl TraceService for Receiver {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let authorization = request.metadata().get("authorization");
        let authorization = authorization.map(|value| value.to_str().expect("ASCII").to_owned());
        drop(self.0.send(Batch { authorization, request: request.into_inner() }));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// A collector that runs until the test process ends.
struct Collector {
    address: String,
    batches: mpsc::Receiver<Batch>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("local_addr").to_string();
        listener.set_nonblocking(true).expect("set_nonblocking");
        let (sender, batches) = mpsc::channel();
        std::thread::spawn(move || {
            runtime().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("from_std");
                let incoming = futures_util::stream::unfold(listener, |listener| async move {
                    Some((listener.accept().await.map(|(stream, _)| stream), listener))
                });
                let service = TraceServiceServer::new(Receiver(sender));
                let server = tonic::transport::Server::builder().add_service(service);
                server.serve_with_incoming(incoming).await.expect("serve");
            });
        });
        Self { address, batches }
    }

    /// Returns all batches. A server that has ended has sent all its spans.
    fn batches(&self) -> Vec<Batch> {
        self.batches.try_iter().collect()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The messages of a caller, as in Argo CD's `plugin.proto`.
#[derive(Clone, PartialEq, prost::Message)]
struct AppStreamRequest {
    #[prost(oneof = "Part", tags = "1, 2")]
    request: Option<Part>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Part {
    #[prost(message, tag = "1")]
    Metadata(Metadata),
    #[prost(message, tag = "2")]
    File(File),
}

#[derive(Clone, PartialEq, prost::Message)]
struct Metadata {
    #[prost(string, tag = "1")]
    app_name: String,
    #[prost(string, tag = "2")]
    app_rel_path: String,
    #[prost(string, tag = "3")]
    checksum: String,
    #[prost(message, repeated, tag = "5")]
    env: Vec<EnvEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct EnvEntry {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct File {
    #[prost(bytes = "vec", tag = "1")]
    chunk: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ManifestResponse {
    #[prost(string, repeated, tag = "1")]
    manifests: Vec<String>,
}

/// A world with the plugin `told`, which runs this script, and the archive of an application.
fn world(script: &str) -> World {
    let world = World::empty();
    let plugin = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {{name: told}}
spec:
  init: {{command: [\"true\"]}}
  generate: {{command: [told.sh], args: [{CANARY}]}}
"
    );
    world
        .write("plugins/told/plugin.yaml", &plugin)
        .write("plugins/told/told.sh", &format!("#!/bin/sh\n{script}\n"))
        .write(&format!("repo/{CANARY}/file"), CANARY);
    let mut pack = world.command("sh");
    pack.args(["-c", "tar -czf app.tgz -C repo . && sha256sum app.tgz > app.sum"]);
    assert_eq!(world.finish(pack).code, 0, "the archive can be made");
    world
}

/// A script that prints a manifest with secrets.
const PRINTS: &str =
    "echo \"$PARAM_SECRET\" >&2; echo \"{apiVersion: v1, kind: Secret, metadata: {name: $PARAM_SECRET}}\"";

fn server(world: &World, address: &str, args: &[&str]) -> Command {
    let mut command = world.command(TIPHYS);
    command.args(["cmp-server", "--config-dir-path=plugins/told", "--plugin-sockets=sockets"]);
    command.args(["--otlp-address", address]).args(args);
    command
}

/// Calls a server once with each `traceparent` and ends it. Returns its output and the results of the calls.
fn served(world: &World, mut command: Command, traceparents: &[Option<&str>]) -> (Output, Vec<Answer>) {
    command.env("SECRET_OF_THE_POD", CANARY);
    let mut server = Running::of(command);
    let log = server.stderr();
    log.line_with("serving on");
    let answers = traceparents.iter().map(|traceparent| generate(world, *traceparent)).collect();
    server.signal(world, "TERM");
    let mut ended = server.finish(world);
    ended.stderr = log.rest().join("\n");
    (ended, answers)
}

/// The result of a call.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    code: Code,
    /// The manifests or the error message.
    text: String,
}

/// Calls `GenerateManifest`.
fn generate(world: &World, traceparent: Option<&str>) -> Answer {
    let archive = std::fs::read(world.path("app.tgz")).expect("the archive can be read");
    let sum = world.read("app.sum");
    let metadata = Metadata {
        app_name: CANARY.to_owned(),
        app_rel_path: CANARY.to_owned(),
        checksum: sum.split_whitespace().next().expect("a checksum").to_owned(),
        env: vec![EnvEntry { name: "PARAM_SECRET".to_owned(), value: CANARY.to_owned() }],
    };
    let parts = [Part::Metadata(metadata), Part::File(File { chunk: archive })];
    let messages = parts.map(|part| AppStreamRequest { request: Some(part) });
    let mut request = Request::new(futures_util::stream::iter(messages));
    if let Some(traceparent) = traceparent {
        let value = traceparent.parse().expect("a header");
        request.metadata_mut().insert("traceparent", value);
    }
    let socket = world.path("sockets/told.sock");
    runtime().block_on(async {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("unix:{}", socket.display()));
        let channel = endpoint.expect("a URI").connect().await.expect("connected");
        let mut client = tonic::client::Grpc::new(channel);
        client.ready().await.expect("ready");
        let path = "/plugin.ConfigManagementPluginService/GenerateManifest";
        let codec = tonic_prost::ProstCodec::<AppStreamRequest, ManifestResponse>::default();
        let path = tonic::codegen::http::uri::PathAndQuery::from_static(path);
        match client.client_streaming(request, path, codec).await {
            Ok(answer) => Answer { code: Code::Ok, text: answer.into_inner().manifests.concat() },
            Err(status) => Answer { code: status.code(), text: status.message().to_owned() },
        }
    })
}

fn traceparent(flags: &str) -> String {
    format!("00-{TRACE}-{CALLER}-{flags}")
}

fn spans(batches: &[Batch]) -> Vec<&Span> {
    let resources = batches.iter().flat_map(|batch| &batch.request.resource_spans);
    resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| &scope.spans).collect()
}

/// Each span with its parent, its attributes and its status code, sorted.
fn described(spans: &[&Span]) -> Vec<String> {
    let name = |id: &[u8]| {
        let found = spans.iter().find(|span| span.span_id == id).map(|span| span.name.clone());
        found.unwrap_or_else(|| if id.is_empty() { "none".to_owned() } else { hex(id) })
    };
    let mut lines: Vec<String> = spans
        .iter()
        .map(|span| {
            assert!(span.events.is_empty(), "log lines stay in the server: {span:?}");
            assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:?}");
            let status = span.status.as_ref().map(|status| (status.code, status.message.as_str()));
            let status = match status {
                None | Some((0, "")) => String::new(),
                Some((2, "")) => " failed".to_owned(),
                other => format!("{other:?}"),
            };
            let attributes = pairs(&span.attributes);
            format!("{} < {}{attributes}{status}", span.name, name(&span.parent_span_id))
        })
        .collect();
    lines.sort();
    lines
}

fn pairs(attributes: &[KeyValue]) -> String {
    let texts = attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().and_then(|value| value.value.as_ref());
        let value = match value {
            Some(Value::StringValue(text)) => text.clone(),
            Some(Value::IntValue(number)) => number.to_string(),
            other => format!("{other:?}"),
        };
        format!(" {}={value}", attribute.key)
    });
    texts.collect()
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|&byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[test]
fn spans_of_a_call_continue_the_callers_trace() {
    let world = world(PRINTS);
    let collector = Collector::start();
    let flags = ["--otlp-headers=authorization=Bearer sesame", "--otlp-attrs=cluster:blue"];
    let command = server(&world, &collector.address, &flags);
    let (ended, answers) = served(&world, command, &[Some(&traceparent("01"))]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(answers[0].code, Code::Ok, "{answers:?}");
    let batches = collector.batches();
    let authorized = |batch: &Batch| batch.authorization.as_deref() == Some("Bearer sesame");
    assert!(!batches.is_empty() && batches.iter().all(authorized));
    let resource = batches[0].request.resource_spans[0].resource.as_ref().expect("resource");
    let mut who: Vec<String> = pairs(&resource.attributes).split(' ').map(str::to_owned).collect();
    who.sort();
    let version = format!("service.version={}", env!("CARGO_PKG_VERSION"));
    assert_eq!(who, ["", "cluster=blue", "service.name=argocd-cmp-server", &version]);
    let spans = spans(&batches);
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE), "{spans:?}");
    let call = "plugin.ConfigManagementPluginService/GenerateManifest";
    let rpc = "rpc.system=grpc rpc.service=plugin.ConfigManagementPluginService rpc.method=GenerateManifest \
               rpc.grpc.status_code=0";
    assert_eq!(
        described(&spans),
        [
            "cmp.ReceiveRepoStream < plugin.generateManifestGeneric",
            "cmp.Untgz < cmp.ReceiveRepoStream",
            "cmp.receiveFile < cmp.ReceiveRepoStream",
            &format!("{call} < {CALLER} {rpc}"),
            &format!("plugin.generateManifestGeneric < {call}"),
            "plugin.runCommand < plugin.generateManifestGeneric command=told.sh",
            "plugin.runCommand < plugin.generateManifestGeneric command=true",
        ]
    );
}

#[test]
fn header_variables_of_the_library_win_and_others_are_ignored() {
    let world = world(PRINTS);
    let collector = Collector::start();
    let flags = ["--otlp-headers=authorization=Bearer flag", "--otlp-attrs=cluster:blue"];
    let mut command = server(&world, &collector.address, &flags);
    command
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer variable")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:1")
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        .env("OTEL_TRACES_SAMPLER", "always_off")
        .env("OTEL_SERVICE_NAME", "other")
        .env("OTEL_RESOURCE_ATTRIBUTES", "cluster=red,more=1")
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "0");
    let (ended, answers) = served(&world, command, &[None]);
    assert_eq!((ended.code, answers[0].code), (0, Code::Ok), "{}", ended.stderr);
    let batches = collector.batches();
    let authorizations: Vec<_> = batches.iter().map(|batch| batch.authorization.as_deref()).collect();
    assert_eq!(authorizations, [Some("Bearer variable")]);
    let resource = batches[0].request.resource_spans[0].resource.as_ref().expect("resource");
    let who = pairs(&resource.attributes);
    assert!(who.contains("service.name=argocd-cmp-server") && who.contains("cluster=blue"), "{who}");
    assert!(!who.contains("other") && !who.contains("red") && !who.contains("more"), "{who}");
    assert!(spans(&batches).iter().any(|span| span.name.ends_with("/GenerateManifest")));
}

#[test]
fn caller_decides_on_sampling_of_its_trace() {
    let world = world(PRINTS);
    let (sampled, left_out) = (traceparent("01"), traceparent("00"));
    let cases: [(&[&str], Option<&str>, bool); 5] = [
        (&[], Some(&left_out), false),
        (&["--otlp-sample-ratio=0"], Some(&sampled), true),
        (&["--otlp-sample-ratio=0"], None, false),
        (&[], None, true),
        (&[], Some("no trace at all"), true),
    ];
    for (flags, traceparent, is_sent) in cases {
        let collector = Collector::start();
        let (ended, answers) = served(&world, server(&world, &collector.address, flags), &[traceparent]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(answers[0].code, Code::Ok, "{answers:?}");
        let batches = collector.batches();
        let call = spans(&batches).into_iter().find(|span| span.name.ends_with("/GenerateManifest")).cloned();
        assert_eq!(call.is_some(), is_sent, "{flags:?} {traceparent:?}");
        if let (Some(call), Some(traceparent)) = (call, traceparent) {
            let continues = hex(&call.trace_id) == TRACE;
            assert_eq!(continues, traceparent.contains(TRACE), "{traceparent}: {call:?}");
        }
    }
}

#[test]
fn trace_contains_no_content_of_a_call() {
    let failing = format!("{PRINTS}; exit 3");
    // Standard error of the last plugin is logged during the call.
    let silent = "echo \"$PARAM_SECRET\" >&2";
    for (script, code) in [(PRINTS, Code::Ok), (failing.as_str(), Code::Unknown), (silent, Code::Ok)] {
        let world = world(script);
        let collector = Collector::start();
        // At the most verbose level, to test that no log line becomes part of a span.
        let command = server(&world, &collector.address, &["--loglevel=trace"]);
        let (ended, answers) = served(&world, command, &[None]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let answer = &answers[0];
        assert_eq!(answer.code, code, "{answer:?}");
        let told = if script == silent { &ended.stderr } else { &answer.text };
        assert!(told.contains(CANARY), "the canary is in the manifests: {told}");
        let batches = collector.batches();
        let names: Vec<String> = described(&spans(&batches));
        let failed =
            |name: &str| names.iter().any(|line| line.starts_with(name) && line.ends_with(" failed"));
        assert_eq!(failed("plugin.runCommand"), code != Code::Ok, "{names:?}");
        assert_eq!(failed("plugin.ConfigManagementPluginService/"), code != Code::Ok, "{names:?}");
        for batch in batches {
            let bytes = batch.request.encode_to_vec();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(CANARY), "{text}");
            assert!(!text.contains(world.path("").to_str().expect("UTF-8")), "{text}");
        }
    }
}

#[test]
fn unreachable_collector_delays_neither_calls_nor_shutdown() {
    let world = world(PRINTS);
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let gone = gone.local_addr().expect("local_addr").to_string();
    // The system accepts connections, but no response is sent.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    for address in [gone, silent.local_addr().expect("local_addr").to_string()] {
        let began = Instant::now();
        let (ended, answers) = served(&world, server(&world, &address, &[]), &[None, None]);
        // An export takes up to ten seconds.
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert!(answers.iter().all(|answer| answer.code == Code::Ok), "{answers:?}");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let warned = ended.stderr.lines().filter(|line| line.contains("traces cannot be sent"));
        let warned: Vec<&str> = warned.collect();
        assert_eq!(warned.len(), 1, "{}", ended.stderr);
        assert!(warned[0].contains(&format!("\"address\":\"{address}\"")), "{}", warned[0]);
        assert!(warned[0].contains("\"level\":\"warning\""), "{}", warned[0]);
    }
}

#[test]
fn invalid_trace_settings_prevent_the_start() {
    let world = world(PRINTS);
    let tls = "TLS is not supported: leave --otlp-insecure at true";
    let cases: [(&str, &[&str], &str); 4] = [
        ("collector:4317", &["--otlp-insecure=false"], tls),
        ("https://collector:4317", &[], tls),
        ("col lector", &[], "cannot send traces to \"col lector\"; --otlp-address takes HOST:PORT"),
        ("collector:4317", &["--otlp-headers=secret=a\u{1}b"], "characters that a header cannot have"),
    ];
    for (address, flags, expected) in cases {
        let ended = world.finish(server(&world, address, flags));
        assert_eq!((ended.code, ended.stdout.as_str()), (20, ""), "{}", ended.stderr);
        let last = ended.stderr.lines().last().expect("last log line");
        assert!(last.contains("\"level\":\"fatal\""), "{last}");
        let message: serde_json::Value = serde_json::from_str(last).expect("JSON");
        let message = message["msg"].as_str().expect("a string");
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains('\u{1}'), "{message}");
    }
    // Without an address the settings are not used.
    let mut command = world.command(TIPHYS);
    command.args(["cmp-server", "--config-dir-path=plugins/told", "--plugin-sockets=sockets"]);
    command.arg("--otlp-insecure=false");
    let (ended, _) = served(&world, command, &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}
