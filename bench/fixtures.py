"""What is rendered: files, repositories, Applications and charts, the same in every run."""

import json
import random
import subprocess
from pathlib import Path
from typing import Iterable

# The URL of repositories that a command reads from a checkout (--repo).
URL = "https://git.example.org/team/apps.git"

# Files in the directory of an Application, and bytes of one: 10,000 files have 25.5 MB, as in the figures of Argo CD.
FILES_OF_APPLICATION = 20
FILE_BYTES = 2_550

WORDS = "container replicas service selector template annotation metadata namespace volume secret ingress".split()


def write(path: Path, text: str) -> None:
    """Writes a file with its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def git(folder: Path, *words) -> str:
    """Runs git without the caller's configuration, and returns its output."""
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    person = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0"]
    line = ["git", *person, *map(str, words)]
    return subprocess.run(line, cwd=folder, env=env, text=True, check=True, capture_output=True).stdout.strip()


def commit(checkout: Path) -> str:
    """Commits all files of a directory, and returns the commit."""
    if not (checkout / ".git").exists():
        git(checkout, "init", "--quiet", "--initial-branch=main")
    git(checkout, "add", "--force", ".")
    git(checkout, "commit", "--quiet", "--message=all")
    return git(checkout, "rev-parse", "HEAD")


def manifests(root: Path, count: int) -> None:
    """Writes files with the size and compressibility of typical manifests below `apps`."""
    dice = random.Random(0)
    for number in range(count):
        name, index = f"app-{number // FILES_OF_APPLICATION:04}", number % FILES_OF_APPLICATION
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}-{index}\ndata:\n"
        for key in range(FILE_BYTES):
            if len(text) >= FILE_BYTES - 40:
                break
            text += f"  key-{key:03}: {dice.choice(WORDS)}-{dice.choice(WORDS)}-{dice.getrandbits(24):06x}\n"
        write(root / f"apps/{name}/file-{index:02}.yaml", text)


def others(checkout: Path) -> None:
    """Writes files that no Application reads."""
    for index in range(9_000):
        write(checkout / f"other/{index // 50}/{index}", f"{index}\n" * 20)


def served(checkout: Path) -> str:
    """Clones a checkout into a bare repository beside it, packed as on a git server, and returns its URL."""
    bare = checkout.with_suffix(".git")
    git(checkout, "clone", "--quiet", "--bare", checkout, bare)
    git(bare, "repack", "-adfq")
    return f"file://{bare}"


def application(name: str, path: str, source: str = "", url: str = URL, revision: str = "HEAD") -> str:
    """An Application with further fields of its source in flow style."""
    return f"""apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: bench}}
  source: {{repoURL: {url}, targetRevision: {revision}, path: {path}{source and ", " + source}}}
"""


def applications(store: Path, each: Iterable[str]) -> Path:
    """Writes Applications, each in its own file, and returns the store."""
    for index, text in enumerate(each):
        write(store / f"app-{index:04}.yaml", text)
    return store


def config_map(name: str, keys: int) -> str:
    """An object of this many keys; with 40 as large as a Deployment."""
    data = "".join(f"  key{key}: value of the key {key}\n" for key in range(keys))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{data}"


def plugin(plugins: Path, name: str, command: list, discover: str = "", inputs: str = "") -> Path:
    """Writes a plugin that runs one command, and returns the directory of plugins."""
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ConfigManagementPlugin",
        "metadata": {"name": name, "annotations": {"tiphys/inputs": inputs} if inputs else {}},
        "spec": {
            "generate": {"command": [str(word) for word in command]},
            **({"discover": {"fileName": discover}} if discover else {}),
        },
    }
    write(plugins / name / "plugin.yaml", json.dumps(document))
    return plugins


def grouped_chart(folder: Path, values: int) -> None:
    """Writes a chart with this many commented values in groups of nine, and without templates."""
    write(folder / "Chart.yaml", f"apiVersion: v2\nname: {folder.name}\nversion: 1.0.0\n")
    text = ""
    for index in range(values):
        if index % 9 == 0:
            text += f"# -- Settings of group {index // 9}\ngroup{index // 9}:\n"
        text += f"  # -- What value {index} means, in one sentence with several words\n"
        text += f"  value{index % 9}: {index if index % 3 == 0 else f'text {index}'}\n"
    write(folder / "values.yaml", text)


COMPONENT_TEMPLATE = """{{- range $name, $one := .Values.components }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $.Release.Name }}-{{ $name }}
  labels:
    app.kubernetes.io/name: {{ $name | quote }}
    app.kubernetes.io/instance: {{ $.Release.Name | quote }}
spec:
  replicas: {{ $one.replicas }}
  selector:
    matchLabels: {app.kubernetes.io/name: {{ $name | quote }}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: {{ $name | quote }}}
    spec:
      containers:
        - name: main
          image: {{ printf "%s:%s" $one.image.repository $one.image.tag | quote }}
          imagePullPolicy: {{ $one.image.pullPolicy }}
          ports: [{containerPort: {{ $one.port }}}]
          readinessProbe: {httpGet: {path: {{ $one.probe }}, port: {{ $one.port }}}}
          resources:
            requests:
              {{- toYaml $one.resources | nindent 14 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $.Release.Name }}-{{ $name }}
spec:
  selector: {app.kubernetes.io/name: {{ $name | quote }}}
  ports: [{port: {{ $one.servicePort }}, targetPort: {{ $one.port }}}]
{{- end }}
"""


def components_chart(folder: Path, components: int) -> Path:
    """Writes a chart of Deployments with Services, ten values for each, and a value file, and returns its directory."""
    write(folder / "Chart.yaml", "apiVersion: v2\nname: bench\nversion: 1.0.0\n")
    write(folder / "templates/components.yaml", COMPONENT_TEMPLATE)
    write(folder / "env/production.yaml", "components: {c000: {replicas: 5, image: {tag: 2.0.1}}}\n")
    text = "# What the chart runs.\ncomponents:\n"
    for index in range(components):
        text += f"""  c{index:03}:
    # How many of it run at once.
    replicas: 1
    image:
      # Where it comes from.
      repository: registry.example.com/team/component-{index}
      tag: "1.4.{index}"
      pullPolicy: IfNotPresent
    # Ports of the container and of the Service.
    port: {8_000 + index}
    servicePort: 80
    probe: /healthz
    resources:
      # At least this much.
      cpu: 100m
      memory: 128Mi
"""
    write(folder / "values.yaml", text)
    return folder
