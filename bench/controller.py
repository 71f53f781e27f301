#!/usr/bin/env python3
"""Measures ApplicationSet controllers on one API server: python3 bench/controller.py --argo-cd FILE; --help lists the options.

Each program gets namespaces of its own on the same server, one after the other: sets from nothing to converged, then
a minute in which a plugin service is asked every five seconds and answers the same, then one changed answer.
"""

import argparse
import base64
import json
import os
import platform
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

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "target/tools/bin"
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

    def __init__(self, folder: Path):
        self.folder = folder
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
                sys.exit(f"bench: {what}: not within {seconds} s")
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
    def __init__(self, server: Server, user: str, line: list, env: dict):
        self.server, self.user = server, user
        kubeconfig = server.folder / f"{user}.yaml"
        cluster = {"server": f"https://127.0.0.1:{server.port}",
                   "certificate-authority-data": base64.b64encode((server.folder / "ca.pem").read_bytes()).decode()}
        kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x", "namespace": user}}],
            "clusters": [{"name": "x", "cluster": cluster}], "users": [{"name": "x", "user": {"token": user}}]}))
        self.log = (server.folder / f"{user}.log").open("wb")
        self.process = subprocess.Popen([*line, "--kubeconfig", kubeconfig, "--namespace", user], stdout=self.log, stderr=self.log,
                                        env={**os.environ, **env})

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


def measured(server: Server, user: str, line: list, env: dict, sets: int, minute: float, port: int) -> dict:
    server.call("POST", "/api/v1/namespaces", {"metadata": {"name": user}})
    server.call("POST", f"{ARGO}/namespaces/{user}/appprojects", {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default"},
        "spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}})
    core = f"/api/v1/namespaces/{user}"
    server.call("POST", f"{core}/secrets", {"metadata": {"name": "argocd-secret", "labels": {"app.kubernetes.io/part-of": "argocd"}},
                                            "stringData": {"token": "x", "server.secretkey": "x"}})
    server.call("POST", f"{core}/configmaps", {"metadata": {"name": "argocd-cm", "labels": {"app.kubernetes.io/part-of": "argocd"}}})
    server.call("POST", f"{core}/configmaps", {"metadata": {"name": "plugin", "labels": {"app.kubernetes.io/part-of": "argocd"}},
                                               "data": {"baseUrl": f"http://127.0.0.1:{port}", "token": "$token"}})
    for index in range(sets):
        elements = [{"name": f"s{index}-{number}"} for number in range(10)]
        create_set(server, user, f"s{index}", {"list": {"elements": elements}})
    controller = Controller(server, user, line, env)

    def applications() -> list:
        listed = server.get(f"{ARGO}/namespaces/{user}/applications?limit=100000") or {"items": []}
        return [one["metadata"]["name"] for one in listed["items"]]

    def converged() -> bool:
        listed = server.get(f"{ARGO}/namespaces/{user}/applicationsets") or {"items": []}
        def is_done(one: dict) -> bool:
            conditions = one.get("status", {}).get("conditions", [])
            return any(c["type"] == "ResourcesUpToDate" and c["status"] == "True" for c in conditions)
        return all(map(is_done, listed["items"]))

    row = {}
    try:
        row["converge s"] = server.wait(lambda: len(applications()) == sets * 10 and converged(), f"{user}: converged", 600)
        row["converge cpu ms"], row["peak MiB"] = controller.cpu(), controller.peak()
        row |= {f"converge {kind}s": count for kind, count in server.requests(user).items()}
        Service.names = ["p0", "p1"]
        for index in range(20):
            generator = {"plugin": {"configMapRef": {"name": "plugin"}, "requeueAfterSeconds": 5}}
            create_set(server, user, f"p{index}", generator, f"{index}-")
        server.wait(lambda: len(applications()) == sets * 10 + 40 and converged(), f"{user}: plugins", 300)
        time.sleep(6)
        before, cpu = server.requests(user), controller.cpu()
        time.sleep(minute)
        after = server.requests(user)
        row["minute cpu ms"] = (controller.cpu() - cpu) * 60 / minute
        row |= {f"minute {kind}s": after[kind] - before[kind] for kind in before}
        Service.names = ["p0", "p1", "p2"]
        row["change s"] = server.wait(lambda: len(applications()) == sets * 10 + 60, f"{user}: the changed answer", 120)
    finally:
        controller.close()
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures ApplicationSet controllers on one API server.")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--program", type=Path, default=target / f"{platform.machine()}-unknown-linux-musl/release/tiphys")
    parser.add_argument("--argo-cd", type=Path, metavar="FILE", help="Argo CD's program, to measure in the same run")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--minute", type=float, default=60, metavar="SECONDS", help="length of the idle phase; its figures are per minute")
    options = parser.parse_args()
    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        server = Server(Path(folder))
        try:
            server.serve_argo_cd()
            ports = ["--metrics-addr=127.0.0.1:{}", "--probe-addr=127.0.0.1:{}", "--webhook-addr=127.0.0.1:{}"]
            addresses = lambda: [port.format(free_port()) for port in ports]
            env = {"XDG_CACHE_HOME": f"{folder}/cache", "HOME": folder}
            rows = {}
            port = service.server_address[1]
            if options.argo_cd:
                link = Path(folder) / "argocd-applicationset-controller"
                link.symlink_to(options.argo_cd.resolve())
                rows["theirs"] = measured(server, "theirs", [link, *addresses(), "--argocd-repo-server=127.0.0.1:1"], env, options.sets, options.minute, port)
            rows["ours"] = measured(server, "ours", [options.program, "appset-controller", *addresses()], env, options.sets, options.minute, port)
        finally:
            server.close()
    print(f"{options.sets} sets of 10 Applications, then 20 sets with a plugin service")
    for name in rows["ours"]:
        values = [rows[user][name] for user in rows]
        ratio = f"  {values[0] / values[1]:.2f}" if len(values) == 2 and values[1] else ""
        print(f"{name:18} " + " ".join(f"{user} {value:10.1f}" for user, value in zip(rows, values)) + ratio)
    return 0


if __name__ == "__main__":
    sys.exit(main())
