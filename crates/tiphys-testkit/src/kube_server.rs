//! The kube-apiserver and etcd of `cargo xtask tools` on free local ports, with RBAC.
//!
//! There are no controllers: nothing is garbage-collected, and namespaces stay `Terminating`.

mod argo_cd;
mod fault_proxy;

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::certificates::{Authority, Identity};
use crate::http_client::{Answer, Client};
use crate::{built, tools, wait};
pub use fault_proxy::{FaultProxy, Forwarded};

/// Token of a user with all permissions.
pub const ADMIN_TOKEN: &str = "admin-token-4f1c";

/// Token of a user who has only the permissions that a test gives.
pub const LIMITED_TOKEN: &str = "limited-token-9b2e";

/// Token of another user with all permissions, whose requests the server records.
pub const RECORDED_TOKEN: &str = "recorded-token-7d3a";

/// Name of the user of [`RECORDED_TOKEN`].
const RECORDED_USER: &str = "recorded";

/// Records the requests of the user of [`RECORDED_TOKEN`] and of service accounts, each once.
const AUDIT_POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
 "rules": [{"level": "Metadata", "users": ["recorded"]}, {"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}]}"#;

/// Name of the user of [`LIMITED_TOKEN`].
const LIMITED_USER: &str = "limited";

/// Other ports are tried this often if another program takes one between its choice and the start of the server.
const STARTS_MAX: usize = 5;

/// Lines of the log in the message for a server that does not start.
const LOG_LINES_MAX: usize = 20;

/// Returns the program that starts a server, for `cargo xtask demo --kubernetes`.
pub fn program() -> PathBuf {
    built::program("tiphys-testkit", "kube-server", "crates/tiphys-testkit")
}

/// A running API server, which ends when this is dropped or the process ends.
#[derive(Debug)]
pub struct KubeServer {
    child: Mutex<Child>,
    address: SocketAddr,
    /// The addresses of etcd, for clients and for peers.
    etcd: [SocketAddr; 2],
    authority: Authority,
    client: Client,
    folder: PathBuf,
}

impl KubeServer {
    /// Returns the server of this test binary, which is started by the first call.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<KubeServer> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// Starts a server without objects and waits until it is ready.
    ///
    /// # Panics
    ///
    /// Panics with the end of its log if it does not become ready.
    pub fn start() -> Self {
        let mut log = String::new();
        for _ in 0..STARTS_MAX {
            if let Some(server) = Self::start_once(&mut log) {
                return server;
            }
        }
        panic!("kube-apiserver ended before it was ready:\n{log}")
    }

    /// Starts a server on free ports. If it ends before it is ready, `log` is the end of its log.
    fn start_once(log: &mut String) -> Option<Self> {
        // The script removes the directory.
        let folder = tempfile::tempdir().expect("a temporary folder").keep();
        let authority = Authority::new();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listeners = [(); 3].map(|()| TcpListener::bind(address).expect("a free port"));
        let [address, etcd, peer] = listeners.map(|listener| listener.local_addr().expect("a port"));
        let tls = authority.client_config(None);
        let client = Client::new(address, Some(tls), format!("Bearer {ADMIN_TOKEN}"));
        let child = Mutex::new(spawn(&folder, &authority, address, [etcd, peer]));
        let server = Self { child, address, etcd: [etcd, peer], authority, client, folder };
        if server.becomes_ready() {
            return Some(server);
        }
        let lines = fs::read_to_string(server.folder.join("apiserver.log")).unwrap_or_default();
        let lines: Vec<&str> = lines.lines().collect();
        *log = lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n");
        None
    }

    /// Waits until the server is ready. False: it has ended.
    fn becomes_ready(&self) -> bool {
        wait::until(|| {
            if self.child().try_wait().expect("a child process").is_some() {
                return Some(false);
            }
            let answer = self.client.exchange("GET", "/readyz", "", &[]);
            answer.is_ok_and(|answer| answer.status() == 200).then_some(true)
        })
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills etcd and kube-apiserver of a server with the kinds of Argo CD, and starts both again at the same addresses. `meanwhile` gets the
    /// data directory of etcd.
    ///
    /// # Panics
    ///
    /// Panics if they do not become ready.
    pub fn restart(&self, meanwhile: impl FnOnce(&Path)) {
        let keep = self.folder.join("keep");
        fs::write(&keep, "").expect("a file can be written");
        let mut child = self.child();
        drop(child.stdin.take());
        child.wait().expect("a child process");
        fs::remove_file(keep).expect("the file is there");
        meanwhile(&self.folder.join("etcd"));
        *child = spawn(&self.folder, &self.authority, self.address, self.etcd);
        drop(child);
        assert!(self.becomes_ready(), "kube-apiserver ended before it was ready again");
        // It is ready before it serves custom resources.
        self.wait_for_argo_cd();
    }

    /// `https://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA certificate of the server in PEM format.
    pub fn ca_pem(&self) -> &str {
        self.authority.pem()
    }

    /// Issues a client certificate. Its user has no permissions.
    pub fn client_certificate(&self) -> Identity {
        self.authority.client()
    }

    /// Creates an object as administrator: `create("/api/v1/namespaces", …)`. Returns the object.
    ///
    /// # Panics
    ///
    /// Panics unless the server creates it.
    pub fn create(&self, path: &str, object: &Value) -> Value {
        self.request("POST", path, object, 201)
    }

    /// Creates an object as administrator, unless its schema refuses it.
    ///
    /// # Panics
    ///
    /// Panics if the server does not create it for another reason.
    pub fn create_valid(&self, path: &str, object: &Value) -> Option<Value> {
        let content = object.to_string();
        valid(&self.client.send("POST", path, "application/json", content.as_bytes()), 201)
    }

    /// Sends a merge patch as administrator, unless the schema refuses the object.
    ///
    /// # Panics
    ///
    /// Panics if the server does not apply it for another reason.
    pub fn patch_valid(&self, path: &str, patch: &Value) -> Option<Value> {
        let content = patch.to_string();
        valid(&self.client.send("PATCH", path, "application/merge-patch+json", content.as_bytes()), 200)
    }

    /// Replaces an object as administrator, and returns it.
    ///
    /// # Panics
    ///
    /// Panics unless the server replaces it.
    pub fn replace(&self, path: &str, object: &Value) -> Value {
        self.request("PUT", path, object, 200)
    }

    /// Sends a merge patch as administrator, and returns the object.
    ///
    /// # Panics
    ///
    /// Panics unless the server applies it.
    pub fn patch(&self, path: &str, patch: &Value) -> Value {
        let content = patch.to_string();
        let answer = self.client.send("PATCH", path, "application/merge-patch+json", content.as_bytes());
        answer.expect_status(200);
        serde_json::from_str(&answer.body()).expect("a JSON response")
    }

    /// Deletes an object as administrator.
    ///
    /// # Panics
    ///
    /// Panics unless the server deletes it.
    pub fn delete(&self, path: &str) {
        self.request("DELETE", path, &json!({}), 200);
    }

    /// Returns the response for a path, as administrator.
    ///
    /// # Panics
    ///
    /// Panics unless its status is 200.
    pub fn read(&self, path: &str) -> Value {
        self.request("GET", path, &json!({}), 200)
    }

    /// Returns the status of the response for a path, as administrator.
    pub fn status_of(&self, path: &str) -> u16 {
        self.client.send("GET", path, "", &[]).status()
    }

    /// Returns the completed requests of the user of [`RECORDED_TOKEN`], as `VERB PATH?QUERY` with the verbs of RBAC.
    ///
    /// # Panics
    ///
    /// Panics if the server has written anything else.
    pub fn recorded(&self) -> Vec<String> {
        let request = |event: &Value| {
            let string = |field: &str| event[field].as_str().expect("a string").to_owned();
            format!("{} {}", string("verb"), string("requestURI"))
        };
        self.audit_events(RECORDED_USER).iter().map(request).collect()
    }

    /// Returns the permissions that the completed requests of a service account need, as `VERB GROUP/RESOURCE`. The group of core kinds is
    /// empty.
    ///
    /// # Panics
    ///
    /// Panics if the server has written anything else than audit events.
    pub fn used_permissions(&self, namespace: &str, account: &str) -> BTreeSet<String> {
        let permission = |event: &Value| {
            let object = &event["objectRef"];
            let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let resource = [string(&object["apiGroup"]), string(&object["resource"])].join("/");
            let part = object["subresource"].as_str().map(|part| format!("/{part}")).unwrap_or_default();
            format!("{} {resource}{part}", string(&event["verb"]))
        };
        let user = format!("system:serviceaccount:{namespace}:{account}");
        self.audit_events(&user).iter().map(permission).collect()
    }

    /// Returns the audit events of a user.
    fn audit_events(&self, user: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.folder.join("audit.log")).unwrap_or_default();
        // The server may be writing the last line.
        let lines = log.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events = lines.map(|line| serde_json::from_str::<Value>(line).expect("an audit event"));
        events.filter(|event| event["user"]["username"] == user).collect()
    }

    /// Returns a kubeconfig with this server and the user of a token as its only context.
    pub fn kubeconfig(&self, token: &str) -> String {
        let cluster =
            json!({"server": self.url(), "certificate-authority-data": STANDARD.encode(self.ca_pem())});
        kubeconfig(&cluster, token)
    }

    /// Permits verbs on resources of a group to the user of [`LIMITED_TOKEN`] in all namespaces, thus in all tests of the program, and waits
    /// until the server applies it.
    pub fn permit(&self, name: &str, verbs: &[&str], group: &str, resources: &[&str]) {
        self.bind(None, name, &json!({"verbs": verbs, "apiGroups": [group], "resources": resources}));
    }

    /// Permits a `PolicyRule` to the user of [`LIMITED_TOKEN`] in a namespace, and waits until the server applies it.
    pub fn permit_in(&self, namespace: &str, name: &str, rule: &Value) {
        self.bind(Some(namespace), name, rule);
    }

    fn bind(&self, namespace: Option<&str>, name: &str, rule: &Value) {
        const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
        let (kind, path, plural) = match namespace {
            None => ("ClusterRole", RBAC.to_owned(), "clusterrole"),
            Some(namespace) => ("Role", format!("{RBAC}/namespaces/{namespace}"), "role"),
        };
        self.create(&format!("{path}/{plural}s"), &json!({"metadata": {"name": name}, "rules": [rule]}));
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": LIMITED_USER}]
        });
        self.create(&format!("{path}/{plural}bindings"), &binding);
        let request = json!({
            "verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": rule["resources"][0],
            "name": rule["resourceNames"][0], "namespace": namespace,
        });
        wait::until(|| self.permits(LIMITED_USER, &request).then_some(()));
    }

    /// Whether the server permits a request to a user. `request` is a `ResourceAttributes` of the authorization API.
    pub fn permits(&self, user: &str, request: &Value) -> bool {
        let review = json!({"spec": {"user": user, "resourceAttributes": request}});
        let answer = self.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review);
        answer["status"]["allowed"] == true
    }

    /// Returns a token of a service account.
    ///
    /// # Panics
    ///
    /// Panics if the account does not exist.
    pub fn token_of(&self, namespace: &str, account: &str) -> String {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let request = self.create(&path, &json!({"spec": {}}));
        request["status"]["token"].as_str().expect("a token").to_owned()
    }

    fn request(&self, method: &str, path: &str, object: &Value, status: u16) -> Value {
        let answer = self.client.send(method, path, "application/json", object.to_string().as_bytes());
        answer.expect_status(status);
        serde_json::from_str(&answer.body()).expect("a JSON response")
    }
}

impl Drop for KubeServer {
    /// Ends the pipe, on which the script waits.
    fn drop(&mut self) {
        let mut child = self.child();
        drop(child.stdin.take());
        drop(child.wait());
    }
}

/// Returns the object of a response, if it is valid.
fn valid(answer: &Answer, status: u16) -> Option<Value> {
    const UNPROCESSABLE: u16 = 422;
    if answer.status() == UNPROCESSABLE {
        return None;
    }
    answer.expect_status(status);
    serde_json::from_str(&answer.body()).ok()
}

/// Returns a kubeconfig with this cluster and the user of a token as its only context.
fn kubeconfig(cluster: &Value, token: &str) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": token}}]
    });
    config.to_string()
}

/// Starts the script that runs etcd and kube-apiserver.
fn spawn(folder: &Path, authority: &Authority, address: SocketAddr, [etcd, peer]: [SocketAddr; 2]) -> Child {
    #[expect(clippy::disallowed_methods, reason = "tests only")]
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", include_str!("kube_server.sh"), "kube_server.sh"])
        .arg(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("ETCD", tools::program("etcd"))
        .env("APISERVER", tools::program("kube-apiserver"))
        .env("ETCD_URL", format!("http://{etcd}"))
        .env("PEER_URL", format!("http://{peer}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .args(flags(folder, authority, address.port()));
    command.spawn().expect("a shell")
}

/// Writes the files of the server, and returns its options.
fn flags(folder: &Path, authority: &Authority, port: u16) -> Vec<String> {
    let write = |name: &str, content: &str| -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).expect("a file can be written");
        path
    };
    let (server, accounts) = (authority.server(), authority.server());
    let tokens = format!(
        "{ADMIN_TOKEN},admin,1,system:masters\n{LIMITED_TOKEN},{LIMITED_USER},2,{LIMITED_USER}\n{RECORDED_TOKEN},{RECORDED_USER},3,system:masters\n"
    );
    let files = [
        ("cert-dir", folder.join("certificates")),
        ("tls-cert-file", write("server.pem", &server.certificate_pem)),
        ("tls-private-key-file", write("server-key.pem", &server.key_pem)),
        ("client-ca-file", write("clients.pem", authority.pem())),
        ("token-auth-file", write("tokens.csv", &tokens)),
        ("audit-policy-file", write("audit.json", AUDIT_POLICY)),
        ("audit-log-path", folder.join("audit.log")),
        ("service-account-key-file", write("accounts.pem", &accounts.certificate_pem)),
        ("service-account-signing-key-file", write("accounts-key.pem", &accounts.key_pem)),
    ];
    let settings = [
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned(),
    ];
    let files = files.iter().map(|(name, path)| format!("--{name}={}", path.display()));
    files.chain(settings).collect()
}
