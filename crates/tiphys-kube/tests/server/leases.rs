//! Leader election.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tiphys_engine::ServedKinds;
use tiphys_kube::cluster_reader::ClusterReader as _;
use tiphys_kube::{
    Elector, KubeCluster, KubeConnection, KubeIdentity, KubeOptions, Leadership, LeaseSettings, WriteOptions,
};
use tiphys_model::access::Secret;
use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer, RECORDED_TOKEN};
use tiphys_testkit::wait;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Reply, Scripted, ok};
use crate::support::{admin, connection, namespace, options, with_token};

/// A time that no test waits for.
const LONG: Duration = Duration::from_hours(1);

/// A clock that does not show the time, but increases.
fn clock() -> SystemTime {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    let ticks = TICKS.fetch_add(1, Ordering::Relaxed);
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000) + Duration::from_micros(ticks)
}

/// Settings whose leases end after the duration. Leaders may write three quarters of that.
fn settings(namespace: &str, identity: &str, duration: Duration) -> LeaseSettings {
    let settings = LeaseSettings::new(namespace.to_owned(), "lock".to_owned(), identity.to_owned(), clock);
    let renew_interval = Duration::from_millis(20);
    LeaseSettings { duration, renew_interval, renew_deadline: duration * 3 / 4, ..settings }
}

/// A candidate at the shared server.
fn candidate(namespace: &str, identity: &str, duration: Duration) -> (Elector, Leadership) {
    Elector::new(Arc::new(admin()), settings(namespace, identity, duration))
}

/// Runs electors until a test ends.
async fn with_electors(electors: impl IntoIterator<Item = Elector>, test: impl Future<Output = ()>) {
    let runs = electors.into_iter().map(|elector| elector.run(CancellationToken::new()));
    tokio::select! {
        () = test => {}
        _ = join_all(runs) => panic!("an elector ends only when it is stopped"),
    }
}

fn path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}

/// Returns the `spec` of the lease in a namespace of the shared server.
fn spec(namespace: &str) -> Value {
    KubeServer::shared().read(&format!("{}/lock", path(namespace)))["spec"].clone()
}

/// Waits until the lease in a namespace exists and fulfils a condition. Returns its `spec`. Electors continue meanwhile.
async fn lease_when(namespace: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    let kinds = ServedKinds::built_in();
    let kind = kinds.find("coordination.k8s.io", "Lease", None).expect("a kind of Kubernetes");
    let (cluster, begin) = (admin(), Instant::now());
    loop {
        let lease = cluster.get(kind, namespace, "lock").await.expect("no error");
        if let Some(spec) =
            lease.and_then(|lease| lease.into_value().get("spec").cloned()).filter(&is_expected)
        {
            return spec;
        }
        assert!(begin.elapsed() < wait::PATIENCE, "not within {:?}", wait::PATIENCE);
    }
}

/// Waits until one of the candidates leads, and checks that there is never a second one. Returns its index.
async fn leader(candidates: &[Leadership]) -> usize {
    let mut leading = Vec::new();
    wait::eventually("a candidate leads", || {
        leading = (0..candidates.len()).filter(|index| candidates[*index].is_leader()).collect();
        assert!(leading.len() < 2, "{leading:?}");
        !leading.is_empty()
    })
    .await;
    leading[0]
}

#[tokio::test]
async fn one_candidate_takes_an_expired_lease() {
    namespace("expired");
    // The time of the holder is not relevant.
    let lease = json!({"metadata": {"name": "lock", "labels": {"foreign": "yes"}}, "spec": {
        "holderIdentity": "gone", "leaseDurationSeconds": 1, "leaseTransitions": 6,
        "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2099-01-01T00:00:00.000000Z"
    }});
    KubeServer::shared().create(&path("expired"), &lease);
    let names = ["a", "b", "c", "d"];
    let (electors, candidates): (Vec<_>, Vec<_>) =
        names.iter().map(|name| candidate("expired", name, LONG)).unzip();
    with_electors(electors, async {
        let first = leader(&candidates).await;
        let taken = spec("expired");
        assert_eq!(taken["holderIdentity"], names[first]);
        assert_eq!((&taken["leaseTransitions"], &taken["leaseDurationSeconds"]), (&json!(7), &json!(3600)));
        // It is renewed, and nothing else changes.
        let mut renewed = lease_when("expired", |spec| spec["renewTime"] != taken["renewTime"]).await;
        renewed["renewTime"] = taken["renewTime"].clone();
        assert_eq!(renewed, taken);
        assert_eq!(leader(&candidates).await, first);
        let lease = KubeServer::shared().read(&format!("{}/lock", path("expired")));
        assert_eq!(lease["metadata"]["labels"], json!({"foreign": "yes"}));
    })
    .await;
}

#[tokio::test]
async fn stopped_leader_hands_over_at_once() {
    namespace("released");
    let (first, mut first_view) = candidate("released", "a", LONG);
    let (second, mut second_view) = candidate("released", "b", LONG);
    let stop = CancellationToken::new();
    let lead = async {
        assert!(first_view.changed().await);
        stop.cancel();
    };
    tokio::join!(first.run(stop.clone()), lead);
    assert!(!first_view.is_leader());
    let released = spec("released");
    assert_eq!((&released["holderIdentity"], &released["leaseDurationSeconds"]), (&json!(""), &json!(1)));
    with_electors([second], async {
        assert!(second_view.changed().await && second_view.is_leader());
        let taken = spec("released");
        assert_eq!((&taken["holderIdentity"], &taken["leaseTransitions"]), (&json!("b"), &json!(1)));
    })
    .await;
}

#[tokio::test]
async fn leader_without_server_ends_before_another_leads() {
    namespace("stalled");
    let server = KubeServer::shared();
    let proxy = Proxy::start(server.address());
    let connection = KubeConnection {
        server: format!("https://{}", proxy.address),
        ..connection(server, KubeIdentity::Token(Secret::new(ADMIN_TOKEN)))
    };
    let duration = Duration::from_secs(2);
    let cluster = Arc::new(KubeCluster::new(connection, options()));
    let (first, first_view) = Elector::new(cluster, settings("stalled", "a", duration));
    let (second, second_view) = candidate("stalled", "b", duration);
    let mut changes = first_view.clone();
    let test = async {
        assert!(changes.changed().await);
        proxy.is_stalled.store(true, Ordering::Relaxed);
        let views = [first_view.clone(), second_view.clone()];
        with_electors([second], async {
            wait::eventually("the second candidate leads", || {
                let leading = views.iter().filter(|view| view.is_leader()).count();
                assert!(leading < 2);
                second_view.is_leader()
            })
            .await;
        })
        .await;
        assert!(!changes.changed().await);
    };
    with_electors([first], test).await;
}

#[tokio::test]
async fn paused_process_does_not_lead() {
    namespace("paused");
    let (elector, mut view) = candidate("paused", "a", Duration::from_secs(1));
    let mut run = Box::pin(elector.run(CancellationToken::new()));
    tokio::select! {
        () = &mut run => panic!("an elector ends only when it is stopped"),
        is_leader = view.changed() => assert!(is_leader),
    }
    // The elector does not run any more.
    wait::eventually("the leadership ends", || !view.is_leader()).await;
    assert!(!view.changed().await);
    drop(run);
}

#[tokio::test]
async fn deleted_lease_is_not_taken_from_its_leader() {
    namespace("deleted");
    let (first, mut first_view) = candidate("deleted", "a", LONG);
    let server = KubeServer::shared();
    let cluster = Arc::new(with_token(server, RECORDED_TOKEN));
    let (second, second_view) = Elector::new(cluster, settings("deleted", "b", LONG));
    with_electors([first], async {
        assert!(first_view.changed().await);
        with_electors([second], async {
            wait::eventually("the second candidate reads it", || !server.recorded().is_empty()).await;
            for _ in 0..10 {
                server.delete(&format!("{}/lock", path("deleted")));
                let created = lease_when("deleted", |_| true).await;
                assert!(!second_view.is_leader());
                assert_eq!(created["holderIdentity"], "a");
            }
        })
        .await;
    })
    .await;
}

/// The time of all leases that have this clock.
const FIXED_TIME: &str = "2026-09-21T14:13:20.000000Z";

fn fixed_clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// A candidate at a scripted server.
fn scripted_candidate(server: &Scripted, options: KubeOptions) -> (Elector, Leadership) {
    let settings = LeaseSettings { clock: fixed_clock, ..settings("ns", "a", LONG) };
    Elector::new(Arc::new(server.cluster_with(options)), settings)
}

/// The lease of a scripted server.
fn scripted_lease(version: &str, holder: &str) -> String {
    let lease = json!({
        "kind": "Lease",
        "metadata": {"name": "lock", "namespace": "ns", "resourceVersion": version},
        "spec": {"holderIdentity": holder, "acquireTime": FIXED_TIME, "leaseTransitions": 0}
    });
    lease.to_string()
}

const READ: &str = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
const CREATE: &str = "/apis/coordination.k8s.io/v1/namespaces/ns/leases?fieldManager=tiphys";
const UPDATE: &str = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock?fieldManager=tiphys";

#[tokio::test]
async fn renewal_without_response_does_not_end_the_leadership() {
    let server = Scripted::start(|earlier, _| match earlier {
        0 => Reply::Whole(404, "", String::new()),
        1 => Reply::Whole(201, "", scripted_lease("1", "a")),
        // The renewal is stored.
        2 => Reply::Raw(String::new()),
        3 => Reply::Whole(409, "", String::new()),
        4 => ok(scripted_lease("2", "a")),
        5 => ok(scripted_lease("3", "a")),
        _ => Reply::Hanging(String::new()),
    });
    let (elector, mut view) = scripted_candidate(&server, options());
    with_electors([elector], async {
        assert!(view.changed().await);
        wait::eventually("requests", || {
            assert!(view.is_leader());
            server.requests().len() > 6
        })
        .await;
    })
    .await;
    assert_eq!(server.requests(), [READ, CREATE, UPDATE, UPDATE, READ, UPDATE, UPDATE]);
}

#[tokio::test]
async fn renewal_that_creates_the_lease_ends_the_leadership() {
    let server = Scripted::start(|earlier, _| match earlier {
        0 => Reply::Whole(404, "", String::new()),
        1 => Reply::Whole(201, "", scripted_lease("1", "a")),
        2 => Reply::Whole(201, "", scripted_lease("2", "a")),
        _ => ok(scripted_lease("2", "a")),
    });
    let (elector, mut view) = scripted_candidate(&server, options());
    with_electors([elector], async {
        assert!(view.changed().await);
        assert!(!view.changed().await);
        wait::eventually("requests", || server.requests().len() > 5).await;
        assert!(!view.is_leader());
    })
    .await;
    assert_eq!(server.requests()[..6], [READ, CREATE, UPDATE, READ, READ, READ]);
}

#[tokio::test]
async fn lease_of_another_ends_the_leadership() {
    let server = Scripted::start(|earlier, _| match earlier {
        0 => Reply::Whole(404, "", String::new()),
        1 => Reply::Whole(201, "", scripted_lease("1", "a")),
        2 => Reply::Whole(409, "", String::new()),
        // The holder's time has passed by its clock, but not by that of the candidate.
        _ => ok(scripted_lease("2", "b")),
    });
    let (elector, mut view) = scripted_candidate(&server, options());
    with_electors([elector], async {
        assert!(view.changed().await);
        assert!(!view.changed().await);
        wait::eventually("requests", || server.requests().len() > 9).await;
        assert!(!view.is_leader());
    })
    .await;
    assert_eq!(server.requests()[..10], [&[READ, CREATE, UPDATE][..], &[READ; 7]].concat());
}

#[tokio::test]
async fn candidate_that_loses_the_race_does_not_lead() {
    let exists = json!({"kind": "Status", "reason": "AlreadyExists"}).to_string();
    let server = Scripted::start(move |earlier, _| match earlier {
        0 => Reply::Whole(404, "", String::new()),
        1 => Reply::Whole(409, "", exists.clone()),
        2 => ok(scripted_lease("1", "")),
        3 => Reply::Whole(409, "", String::new()),
        // A lease that a replacement creates could be one that another process led with.
        4 => ok(scripted_lease("3", "")),
        5 => Reply::Whole(201, "", scripted_lease("4", "a")),
        _ => ok(scripted_lease("4", "a")),
    });
    let (elector, view) = scripted_candidate(&server, options());
    with_electors([elector], async {
        wait::eventually("requests", || {
            assert!(!view.is_leader());
            server.requests().len() > 8
        })
        .await;
    })
    .await;
    assert_eq!(server.requests()[..9], [READ, CREATE, READ, UPDATE, READ, UPDATE, READ, READ, READ]);
}

#[tokio::test]
async fn elector_of_a_dry_run_does_not_lead() {
    let server = Scripted::start(|_, _| Reply::Whole(404, "", String::new()));
    let write = WriteOptions { is_dry_run: true, ..WriteOptions::default() };
    let (elector, view) = scripted_candidate(&server, KubeOptions { write, ..options() });
    let stop = CancellationToken::new();
    stop.cancel();
    elector.run(stop).await;
    assert!(!view.is_leader() && server.requests().is_empty());
}

#[tokio::test]
async fn process_without_election_always_leads() {
    let mut view = Leadership::always();
    assert!(view.is_leader() && view.changed().await && view.is_leader());
}

/// A TCP proxy that can stop to forward.
struct Proxy {
    address: SocketAddr,
    is_stalled: Arc<AtomicBool>,
}

impl Proxy {
    fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let is_stalled = Arc::new(AtomicBool::new(false));
        let stalled = Arc::clone(&is_stalled);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a connection");
                let server = TcpStream::connect(server).expect("a connection");
                let clone = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
                for (from, to) in [(clone(&client), clone(&server)), (server, client)] {
                    let stalled = Arc::clone(&stalled);
                    thread::spawn(move || forward(from, to, &stalled));
                }
            }
        });
        Self { address, is_stalled }
    }
}

/// Forwards bytes until the connection ends, and drops them while the proxy is stalled.
fn forward(mut from: TcpStream, mut to: TcpStream, is_stalled: &AtomicBool) {
    let mut buffer = [0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !is_stalled.load(Ordering::Relaxed) && to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
