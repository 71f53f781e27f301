"""Processor time of the sources that tiphys renders without a plugin of the user: kustomizations and directories."""

import os
import shutil
import subprocess
from itertools import islice, zip_longest
from pathlib import Path
from statistics import median
from typing import Iterator, Optional

from fixtures import URL, application, applications, commit, config_map, others, write
from measuring import DIFF, NATIVE, ROOT, TOOLS, Bench, Command, Failure, Series, cpu, memory

KUSTOMIZATIONS = 60

# Of a kustomization that is measured, at most.
BUILD_SECONDS = 5

# A remote base is an error.
OFFLINE = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY")} | {"GIT_ALLOW_PROTOCOL": "none"}

COMPONENT = """# Serves requests of component {0}.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: component-{0}
  labels:
    app.kubernetes.io/name: component-{0}
    app.kubernetes.io/part-of: shop
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: component-{0}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: component-{0}
      annotations:
        prometheus.io/scrape: "true"
    spec:
      securityContext: {{runAsNonRoot: true}}
      containers:
        - name: main
          image: registry.example.com/team/component:1.4.0
          args: ["--listen=:8080", "--log-format=json"]
          ports:
            - containerPort: 8080
              name: http
          env:
            - name: POD_NAME
              valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}
          readinessProbe:
            httpGet: {{path: /healthz, port: http}}
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits: {{memory: 256Mi}}
          volumeMounts:
            - name: config
              mountPath: /etc/component
      volumes:
        - name: config
          configMap: {{name: component-{0}}}
---
apiVersion: v1
kind: Service
metadata:
  name: component-{0}
spec:
  selector:
    app.kubernetes.io/name: component-{0}
  ports:
    - name: http
      port: 80
      targetPort: http
"""

BASE = """resources: [component.yaml]
labels: [{pairs: {team: shop}}]
configMapGenerator: [{name: component-NUMBER, files: [settings.txt], literals: [mode=fast]}]
"""

METRICS = """apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [rules.yaml]
patches:
  - target: {kind: Deployment}
    patch: '[{"op": "add", "path": "/spec/template/metadata/annotations/metrics", "value": "on"}]'
"""

OVERLAY = """namespace: environment-INDEX
namePrefix: oINDEX-
resources: [../../bases/bNUMBER]
components: [../../components/metrics]
images: [{name: registry.example.com/team/component, newTag: 2.0.INDEX}]
replicas: [{name: component-NUMBER, count: 3}]
configMapGenerator: [{name: component-NUMBER, behavior: merge, literals: [environment=oINDEX]}]
patches:
  - path: resources.yaml
  - target: {kind: Service}
    patch: |-
      - op: replace
        path: /spec/ports/0/port
        value: 8080
"""

STRATEGIC_MERGE = """apiVersion: apps/v1
kind: Deployment
metadata: {name: component-NUMBER}
spec: {template: {spec: {containers: [{name: main, resources: {limits: {memory: 1Gi}}}]}}}
"""


def sources(bench: Bench) -> None:
    """Processor time of kustomizations and directories, beside Go programs of a page."""
    peers = bench.folder / "sources/peers"
    go = {**os.environ, "GOTOOLCHAIN": "auto", "GOWORK": "off", "CGO_ENABLED": "0"}
    peers.mkdir(parents=True)
    subprocess.run(["go", "build", "-o", peers, "./..."], cwd=ROOT / "bench/peers", env=go, check=True)
    kustomizations(bench, peers / "kustomize")
    directory(bench, peers / "directory")
    directories(bench)
    one_directory(bench)


def command(what: str, checkout: Path, words: list) -> Command:
    repo, store = f"--repo={URL}={checkout}", checkout / "store"
    return Command(what, lambda build: build.line(*words, repo, store=store))


def row(bench: Bench, series: Series, limit: float, beside: Optional[Series] = None) -> None:
    """Adds the processor time, limited by that of another command, or else of the other build."""
    of_other = beside.samples if beside else series.against
    target = ("≤", limit * median(map(cpu, of_other))) if of_other else None
    bench.row(series, f"{series.what}, user+system", of=cpu, beside=beside, target=target)
    if beside:
        bench.row(beside, f"{beside.what}, user+system", of=cpu)


def kustomizations(bench: Bench, peer: Path) -> None:
    bench.needs("kustomize")
    if not bench.builds[0].tiphys.with_name(NATIVE).is_file():
        raise Failure(f"{NATIVE}: {TOOLS / NATIVE}: not found; build it with: cargo xtask tools")
    head, base = bench.folder / "sources/head", bench.folder / "sources/base"
    folders = real(bench, head) if bench.kustomizations else made_up(head)
    applications(head / "store", (application(f"app{index}", folder) for index, folder in enumerate(folders)))
    commit(head)
    shutil.copytree(head, base, symlinks=True)
    for folder in folders:
        bench.output(["kustomize", "edit", "add", "annotation", "side:head"], head / folder)
    diff = command(f"both sides of {len(folders)} {'real' if bench.kustomizations else 'made-up'} kustomizations, diff", head, DIFF)
    for build in bench.builds:
        if (changed := len(bench.output(diff.line(build)).splitlines())) < len(folders):
            raise Failure(f"{build.tiphys}: {changed} objects of {len(folders)} kustomizations differ")
    line = [peer, *(side / folder for folder in folders for side in (base, head))]
    ours, go = bench.turns(diff, Command("kustomize's library in one Go process", lambda _: line, of_tiphys=False))
    row(bench, ours, 2, go)


def real(bench: Bench, head: Path) -> list[str]:
    """Copies checkouts, and returns folders of all of them that kustomize builds."""

    def buildable(checkout: Path) -> Iterator[str]:
        names = ("kustomization.yaml", "kustomization.yml", "Kustomization")
        for folder in sorted({file.parent for name in names for file in checkout.rglob(name)}):
            line, env = ["kustomize", "build", folder], bench.env | OFFLINE
            try:
                done = subprocess.run(line, env=env, capture_output=True, timeout=BUILD_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            if done.returncode == 0 and done.stdout.strip():
                yield str(folder.relative_to(head))

    shutil.copytree(bench.kustomizations, head, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    checkouts = sorted(folder for folder in head.iterdir() if folder.is_dir())
    rounds = zip_longest(*map(buildable, checkouts))
    folders = list(islice((folder for each in rounds for folder in each if folder), KUSTOMIZATIONS))
    if len(folders) < KUSTOMIZATIONS:
        raise Failure(f"{bench.kustomizations}: {len(folders)} kustomizations that build; add checkouts until it has {KUSTOMIZATIONS}")
    return folders


def made_up(head: Path) -> list[str]:
    """Writes overlays of ten bases with a component, and returns their folders."""
    write(head / "components/metrics/kustomization.yaml", METRICS)
    write(head / "components/metrics/rules.yaml", config_map("rules", 20))
    for number in range(10):
        base = head / f"bases/b{number}"
        write(base / "kustomization.yaml", BASE.replace("NUMBER", str(number)))
        write(base / "component.yaml", COMPONENT.format(number))
        write(base / "settings.txt", "setting = value\n" * 20)
    folders = [f"overlays/o{index}" for index in range(KUSTOMIZATIONS)]
    for index, folder in enumerate(folders):
        for name, text in (("kustomization.yaml", OVERLAY), ("resources.yaml", STRATEGIC_MERGE)):
            write(head / folder / name, text.replace("NUMBER", str(index % 10)).replace("INDEX", str(index)))
    return folders


def directory(bench: Bench, peer: Path) -> None:
    checkout = components(bench.folder / "sources/directory", 5_000)
    ours, go = bench.turns(
        command("a directory of 5,000 files, render", checkout, ["render"]),
        Command("sigs.k8s.io/yaml in one Go process", lambda _: [peer, checkout / "apps"], of_tiphys=False),
    )
    row(bench, ours, 1, go)


def components(checkout: Path, count: int) -> Path:
    """Writes and commits a directory Application of files with two objects, and returns the repository."""
    for index in range(count):
        write(checkout / f"apps/{index:04}.yaml", COMPONENT.format(index))
    applications(checkout / "store", [application("app", "apps")])
    commit(checkout)
    return checkout


def directories(bench: Bench) -> None:
    checkout = bench.folder / "sources/directories"
    others(checkout)
    for index in range(5_000):
        write(checkout / f"plain/d{index}/a.yaml", config_map("one", 1))
    applications(checkout / "store", (application(f"app{index}", f"plain/d{index}") for index in range(5_000)))
    commit(checkout)
    write(checkout / "plain/d0/a.yaml", config_map("two", 1))
    [series] = bench.turns(command("one file of 5,000 directories changed, diff", checkout, DIFF))
    row(bench, series, 1 / 3)
    bench.row(series, target=("≤", 5_000))
    bench.row(series, f"{series.what}, memory", "MiB", memory, target=("≤", 300))


def one_directory(bench: Bench) -> None:
    checkout = components(bench.folder / "sources/one", 1)
    [series] = bench.turns(command("one directory, render", checkout, ["render"]), runs=10 * bench.runs)
    row(bench, series, 1 / 2)
