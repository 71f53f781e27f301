"""The ApplicationSet controller beside Argo CD's, on one API server.

Each program gets namespaces of its own, one after the other: sets from nothing to converged, then a minute in which a plugin
service is asked every five seconds and answers the same, then changed answers.
"""

import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from measuring import MEMORY_FILE_SYSTEM, TOOLS, Bench, Failure, Row

ARGO = "/apis/argoproj.io/v1alpha1"
TICKS = os.sysconf("SC_CLK_TCK")
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
         "rules": [{"level": "Metadata", "users": ["ours", "theirs"]}, {"level": "None"}]}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """kube-apiserver and etcd, with the kinds of Argo CD."""

    def __init__(self, folder: Path, service: int):
        # The port of the plugin service.
        self.folder, self.service = folder, service
        etcd, peer, self.port = free_port(), free_port(), free_port()
        key, cert, authority = (folder / name for name in ("key.pem", "cert.pem", "ca.pem"))
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        for line in ([*request, "-keyout", folder / "ca-key.pem", "-out", authority, "-subj", "/CN=bench"],
                     [*request, "-keyout", key, "-out", cert, "-subj", "/CN=server", "-CA", authority, "-CAkey", folder / "ca-key.pem",
                      "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]):
            subprocess.run(line, check=True, stderr=subprocess.DEVNULL)
        (folder / "tokens.csv").write_text("".join(f"{name},{name},{name},system:masters\n" for name in ("admin", "ours", "theirs")))
        (folder / "audit.json").write_text(json.dumps(AUDIT))
        log = {"stdout": subprocess.DEVNULL, "stderr": (folder / "log").open("wb")}
        urls = [f"http://127.0.0.1:{port}" for port in (etcd, peer)]
        self.processes = [
            subprocess.Popen([TOOLS / "etcd", "--data-dir", folder / "etcd", "--unsafe-no-fsync", "--log-level=error",
                              "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0],
                              "--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1],
                              "--initial-cluster", f"default={urls[1]}"], **log),
            subprocess.Popen([TOOLS / "kube-apiserver", "--etcd-servers", urls[0], f"--secure-port={self.port}",
                              "--bind-address=127.0.0.1", f"--cert-dir={folder}", f"--tls-cert-file={cert}",
                              f"--tls-private-key-file={key}", "--authorization-mode=RBAC",
                              f"--token-auth-file={folder / 'tokens.csv'}",
                              "--service-account-issuer=https://kubernetes.default.svc",
                              f"--service-account-key-file={cert}", f"--service-account-signing-key-file={key}",
                              "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
                              f"--audit-policy-file={folder / 'audit.json'}", f"--audit-log-path={folder / 'audit.log'}"], **log),
        ]
        self.context = ssl.create_default_context(cafile=str(authority))
        self.wait(lambda: self.get("/readyz", raw=True) == b"ok", "the API server")

    def call(self, method: str, path: str, body=None, kind="application/json", raw=False):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("Authorization", "Bearer admin")
        request.add_header("Content-Type", kind)
        with urllib.request.urlopen(request, context=self.context, timeout=30) as response:
            content = response.read()
        return content if raw else json.loads(content)

    def get(self, path: str, raw=False):
        try:
            return self.call("GET", path, raw=raw)
        except (urllib.error.URLError, ConnectionError):
            return None

    def wait(self, condition, what: str, seconds=300) -> float:
        print(f"waiting for {what}", file=sys.stderr)
        begin = time.monotonic()
        while not condition():
            if time.monotonic() - begin > seconds:
                raise Failure(f"{what}: not within {seconds} s")
            time.sleep(0.05)
        return time.monotonic() - begin

    def serve_argo_cd(self) -> None:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        for kind, plural, parts in (("Application", "applications", {}), ("AppProject", "appprojects", {}),
                                    ("ApplicationSet", "applicationsets", {"subresources": {"status": {}}})):
            version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **parts}
            self.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.argoproj.io", "annotations": {"api-approved.kubernetes.io": "unapproved, for a benchmark"}},
                "spec": {"group": "argoproj.io", "scope": "Namespaced", "versions": [version],
                         "names": {"kind": kind, "plural": plural, "singular": kind.lower()}}})
        for plural in ("applications", "appprojects", "applicationsets"):
            self.wait(lambda: self.get(f"{ARGO}/{plural}") is not None, plural)

    def requests(self, user: str) -> dict:
        """Completed requests of a user, watches left out."""
        counts = {"read": 0, "write": 0}
        for line in (self.folder / "audit.log").read_text().splitlines():
            event = json.loads(line)
            if event["user"]["username"] == user and event["verb"] != "watch":
                counts["read" if event["verb"] in ("get", "list") else "write"] += 1
        return counts

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


class Service(BaseHTTPRequestHandler):
    """A plugin service, which answers the same until `names` changes."""

    names = ["p0", "p1"]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"output": {"parameters": [{"name": name} for name in Service.names]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


class Controller:
    def __init__(self, server: Server, user: str, namespace: str, line: list, env: dict):
        kubeconfig = server.folder / f"{user}.yaml"
        cluster = {"server": f"https://127.0.0.1:{server.port}",
                   "certificate-authority-data": base64.b64encode((server.folder / "ca.pem").read_bytes()).decode()}
        kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x", "namespace": namespace}}],
            "clusters": [{"name": "x", "cluster": cluster}], "users": [{"name": "x", "user": {"token": user}}]}))
        self.log = (server.folder / f"{user}.log").open("wb")
        self.process = subprocess.Popen([*line, "--namespace", namespace], stdout=self.log, stderr=self.log,
                                        env={**os.environ, **env, "KUBECONFIG": str(kubeconfig)})

    def cpu(self) -> float:
        """Milliseconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) * 1000 / TICKS

    def peak(self) -> float:
        """Peak memory in MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def template(prefix: str) -> dict:
    return {"metadata": {"name": prefix + "{{.name}}"}, "spec": {
        "project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "x"},
        "source": {"repoURL": "https://git.example.org/apps.git", "path": "{{.name}}", "targetRevision": "main"}}}


def create_set(server: Server, namespace: str, name: str, generator: dict, prefix: str = "") -> None:
    server.call("POST", f"{ARGO}/namespaces/{namespace}/applicationsets", {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": name},
        "spec": {"goTemplate": True, "generators": [generator], "template": template(prefix)}})


# Sets of ten Applications, and sets that ask a plugin service.
SETS, ASKING_SETS = 200, 20

# Sets of the row without Argo CD's program.
MANY_SETS = 1000

# Seconds without changes.
IDLE = 60

# Answers that change, one after the other.
CHANGES = 3

# A run takes minutes.
RUNS_MAX = 3


class Trial:
    """One program in a new namespace."""

    def __init__(self, server: Server, user: str, number: int, line: list, env: dict):
        self.server, self.user, self.namespace = server, user, f"{user}-{number}"
        self.line, self.env = line, env
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        server.call("POST", f"{ARGO}/namespaces/{self.namespace}/appprojects", {
            "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default"},
            "spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}})
        core, labels = f"/api/v1/namespaces/{self.namespace}", {"app.kubernetes.io/part-of": "argocd"}
        server.call("POST", f"{core}/secrets", {"metadata": {"name": "argocd-secret", "labels": labels},
                                                "stringData": {"token": "x", "server.secretkey": "x"}})
        server.call("POST", f"{core}/configmaps", {"metadata": {"name": "argocd-cm", "labels": labels}})
        url = f"http://127.0.0.1:{server.service}"
        server.call("POST", f"{core}/configmaps", {"metadata": {"name": "plugin", "labels": labels},
                                                   "data": {"baseUrl": url, "token": "$token"}})

    def applications(self) -> int:
        listed = self.server.get(f"{ARGO}/namespaces/{self.namespace}/applications")
        return len(listed["items"]) if listed else 0

    def has(self, applications: int) -> bool:
        """Whether there are that many Applications, and all sets are up to date."""
        def is_done(one: dict) -> bool:
            conditions = one.get("status", {}).get("conditions", [])
            return any(c["type"] == "ResourcesUpToDate" and c["status"] == "True" for c in conditions)
        if self.applications() != applications:
            return False
        listed = self.server.get(f"{ARGO}/namespaces/{self.namespace}/applicationsets")
        return bool(listed) and all(map(is_done, listed["items"]))

    def create_sets(self, sets: int) -> None:
        for index in range(sets):
            elements = [{"name": f"s{index}-{number}"} for number in range(10)]
            create_set(self.server, self.namespace, f"s{index}", {"list": {"elements": elements}})

    def run(self, sets: int, is_idle_measured: bool) -> dict:
        self.create_sets(sets)
        before = self.server.requests(self.user)
        controller = Controller(self.server, self.user, self.namespace, self.line, self.env)
        figures = {}
        try:
            figures["time"] = self.server.wait(lambda: self.has(sets * 10), f"{self.namespace}: {sets} sets", 900)
            figures["processor time"], figures["memory"] = controller.cpu(), controller.peak()
            figures["requests"] = self.since(before)["requests"]
            if is_idle_measured:
                self.idle(controller, sets * 10, figures)
        finally:
            controller.close()
        return figures

    def idle(self, controller: "Controller", others: int, figures: dict) -> None:
        Service.names = ["p0", "p1"]
        for index in range(ASKING_SETS):
            generator = {"plugin": {"configMapRef": {"name": "plugin"}, "requeueAfterSeconds": 5}}
            create_set(self.server, self.namespace, f"p{index}", generator, f"{index}-")
        self.server.wait(lambda: self.has(others + 2 * ASKING_SETS), f"{self.namespace}: sets with a service")
        time.sleep(6)
        before, cpu = self.server.requests(self.user), controller.cpu()
        time.sleep(IDLE)
        figures["idle processor time"] = controller.cpu() - cpu
        idle = self.since(before)
        figures["idle writes"], figures["idle reads"] = idle["write"], idle["read"]
        seconds = []
        for change in range(CHANGES):
            Service.names = [f"p{number}" for number in range(3 + change)]
            expected = others + (3 + change) * ASKING_SETS
            seconds.append(self.server.wait(lambda: self.applications() == expected, f"{self.namespace}: a changed answer"))
        figures["time of a change"] = sum(seconds) / CHANGES

    def since(self, before: dict) -> dict:
        after = self.server.requests(self.user)
        counts = {kind: after[kind] - before[kind] for kind in before}
        return {**counts, "requests": sum(counts.values())}


# Each figure with its unit, and the ratio of Argo CD's median to ours that is the target.
FIGURES = {
    "time": ("s", None), "processor time": ("ms", 5), "memory": ("MiB", 4), "requests": ("", 1),
    "idle processor time": ("ms", 5), "idle writes": ("", None), "idle reads": ("", 1), "time of a change": ("s", 1),
}


def controller(bench: Bench) -> None:
    """The ApplicationSet controller: 200 sets of 10 Applications, an idle minute, changed answers; --against FILE: Argo CD's program."""
    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    found: dict = {"ours": [], "theirs": [], "many": []}
    with tempfile.TemporaryDirectory(dir=MEMORY_FILE_SYSTEM) as folder:
        server = Server(Path(folder), service.server_address[1])
        try:
            server.serve_argo_cd()
            env = {"XDG_CACHE_HOME": f"{folder}/cache", "HOME": folder}
            addresses = lambda: [f"--{name}-addr=127.0.0.1:{free_port()}" for name in ("metrics", "probe", "webhook")]
            ours = [bench.builds[0].tiphys, "appset-controller"]
            for number in range(min(bench.runs, RUNS_MAX)):
                if bench.argo_cd:
                    theirs = [bench.argo_cd, "--argocd-repo-server=127.0.0.1:1"]
                    named = {**env, "ARGOCD_BINARY_NAME": "argocd-applicationset-controller"}
                    found["theirs"].append(Trial(server, "theirs", number, [*theirs, *addresses()], named).run(SETS, True))
                found["ours"].append(Trial(server, "ours", number, [*ours, *addresses()], env).run(SETS, True))
            found["many"].append(Trial(server, "ours", RUNS_MAX, [*ours, *addresses()], env).run(MANY_SETS, False))
        finally:
            server.close()
            service.shutdown()
    for name, (unit, target) in FIGURES.items():
        values = {user: [figures[name] for figures in runs] for user, runs in found.items() if runs and name in runs[0]}
        bench.rows.append(Row(f"controller: {name}", unit, values["ours"]))
        if "theirs" in values:
            bench.rows.append(Row(f"controller: {name}: Argo CD", unit, values["theirs"]))
            if all(values["ours"]):
                ratios = [theirs / ours for theirs, ours in zip(values["theirs"], values["ours"])]
                bench.rows.append(Row(f"controller: {name}: Argo CD / ours", "ratio", ratios, target=target and ("≥", target)))
        if "many" in values:
            bench.rows.append(Row(f"controller: {name}: {MANY_SETS} sets", unit, values["many"]))
