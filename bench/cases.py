"""The cases and their targets: each is a function with its fixture, which adds its rows to the bench."""

import json
import shutil
import subprocess
from pathlib import Path
from statistics import median

import fixtures
from charts import charts
from controller import controller
from fixtures import URL, application, applications, commit, config_map, grouped_chart, others, write
from measuring import DIFF, ROOT, Bench, Build, Command, Failure, Sample, Series, cpu, memory, overhead
from sources import sources
from web import web


def render(bench: Bench) -> None:
    """Applications of a repository with 10,000 files, whose plugin prints one object."""
    checkout = bench.folder / "render/apps"
    fixtures.manifests(checkout, 10_000)
    revision, url = commit(checkout), fixtures.served(checkout)
    printed = bench.folder / "render/printed.yaml"
    write(printed, config_map("small", 1))
    plugins = fixtures.plugin(bench.folder / "render/plugins", "nothing", ["cat", printed])

    def store(name: str, count: int, revision: str) -> Path:
        def one(index: int) -> str:
            return application(f"app-{index}", f"apps/app-{index:04}", "plugin: {name: nothing}", url, revision)

        return applications(bench.folder / "render" / name, map(one, range(count)))

    by_commit, by_branch, many = store("one", 1, revision), store("branch", 1, "main"), store("many", 500, "main")

    def command(what: str, store: Path, *options, before=lambda build: None) -> Command:
        def line(build: Build) -> list:
            words = ["render", *options, "--report", build.folder / "report.json"]
            return build.line(*words, store=store, plugins=plugins)

        return Command(what, line, before=before, overhead=reported)

    def reported(build: Build) -> float:
        """The longest time of an application beside its plugin."""
        report = json.loads((build.folder / "report.json").read_text())
        return 1e3 * max(
            one["seconds"] - sum(source["pluginSeconds"] for source in one["sources"])
            for one in report["applications"]
        )

    for measured, target in [
        (command("no tree written yet", by_commit, before=lambda build: build.forget("trees")), ("≤", 250)),
        (command("tree known", by_commit), ("≤", 5)),
        (command("--repo, again", by_branch, f"--repo={url}={checkout}"), None),
    ]:
        [series] = bench.turns(measured)
        bench.row(series, f"{series.what}, overhead", of=overhead, target=target)
    [series] = bench.turns(command("500 applications, tree known", many))
    bench.row(series, unit="applications/s", of=lambda sample: 500 / sample.wall * 1e3, target=("≥", 100))
    bench.row(series, f"{series.what}, memory", "MiB", memory, target=("≤", 100))


def inputs(bench: Bench) -> None:
    """Comparisons of 300 Applications of ten charts after one file changed."""
    folder = bench.folder / "inputs"
    plugins = fixtures.plugin(folder / "plugins", "helm", ["cat", "printed.yaml"], "Chart.yaml", "chart")

    def command(what: str, checkout: Path, words: list, before=lambda build: None) -> Command:
        repo = f"--repo={URL}={checkout}"
        store = checkout / "store"
        return Command(what, lambda build: build.line(*words, repo, store=store, plugins=plugins), before=before)

    charts = folder / "charts"
    others(charts)
    for index in range(10):
        chart = charts / f"charts/c{index}"
        write(chart / "Chart.yaml", f"apiVersion: v2\nname: c{index}\nversion: 1.0.0\n")
        write(chart / "printed.yaml", "---\n".join(config_map(f"object{number}", 40) for number in range(30)))
        for number in range(30):
            write(chart / f"templates/t{number}.yaml", "a: {{ .Values.a }}\n" * 30)
    for index in range(300):
        write(charts / f"env/app{index}/values.yaml", f"a: {index}\n")
    files = (f"helm: {{valueFiles: [/env/app{index}/values.yaml]}}" for index in range(300))
    applications(charts / "store", (application(f"app{i}", f"charts/c{i % 10}", one) for i, one in enumerate(files)))
    commit(charts)
    whole = command("render", charts, ["render"])
    unchanged, everything = bench.turns(command("nothing changed, diff", charts, DIFF), whole)
    bench.row(unchanged, beside=everything)
    write(charts / "env/app0/values.yaml", "a: changed\n")
    cold = command("one value file of ten charts changed, diff, no tree written yet", charts, DIFF, Build.forget)
    bench.row(*bench.turns(cold), target=("≤", 1_500))
    known, affected, everything = bench.turns(
        command("one value file of ten charts changed, diff, trees known", charts, DIFF),
        command("one value file of ten charts changed, affected", charts, ["affected", "--base", "HEAD"]),
        whole,
    )
    bench.row(known, beside=everything, target=("≤", 1_000))
    bench.row(affected, beside=everything, target=("≤", 700))
    bench.row(everything)


def params(bench: Bench) -> None:
    """Parameters of charts by the Helm plugin with nothing cached, and the start of the program."""

    def command(name: str, what: str, words: list) -> Command:
        repo, store = f"--repo={URL}={bench.folder / 'params' / name}", bench.folder / f"params/{name}.store"
        return Command(what, lambda build: build.line(*words, repo, store=store), before=Build.forget)

    def make(name: str, values: int, charts: int, count: int, value=lambda index: 1) -> None:
        for chart in range(charts):
            grouped_chart(bench.folder / "params" / name / f"chart{chart}", values)
        helm = "helm: {{parameters: [{{name: group1.value0, value: '{}'}}]}}"
        each = (application(f"app{i}", f"chart{i % charts}", helm.format(value(i))) for i in range(count))
        applications(bench.folder / "params" / f"{name}.store", each)

    make("one", 519, 1, 1)
    [series] = bench.turns(command("one", "params list, 519 values", ["params", "list", "app0"]))
    bench.row(series, target=("≤", 500))
    bench.row(series, f"{series.what}, memory", "MiB", memory, target=("≤", 60))
    make("equal", 200, 20, 1_000)
    make("different", 200, 20, 1_000, lambda index: index)
    for name, what in [("equal", "equal sources of each chart"), ("different", "each with a value of its own")]:
        check = command(name, f"params check, 1,000 Applications, {what}", ["params", "check"])
        bench.row(*bench.turns(check), target=("≤", 5_000))
    bench.row(*bench.turns(Command("version", lambda build: [build.tiphys, "version"])), target=("≤", 5))


# Reports a version, writes its arguments, each with a NUL, and prints a file.
STAND_IN = """#!/bin/sh
case $1 in version) printf 'VERSION' ;; *) printf '%s\\0' "$@" >"$0.arguments" && exec cat "$0.output" ;; esac
"""

# Example 3 of Argo CD's proposal for parameters of plugins.
SCRIPT = """arguments=$(printf '%s' "$ARGOCD_APP_PARAMETERS" |
  jq -r '.[] | select(.name == "values-files").array | .[] | "--values=" + .')
parameters=$(printf '%s' "$ARGOCD_APP_PARAMETERS" |
  jq -r '.[] | select(.name == "helm-parameters").map | to_entries | map("\\(.key)=\\(.value)") | .[] | "--set=" + .')
printf '%s\\n%s\\n' "$arguments" "$parameters" | xargs helm template .
"""


def helm(bench: Bench) -> None:
    """The Helm plugin, and a shell script, beside the call of helm that the plugin makes."""
    bench.needs("helm", "jq")
    folder = bench.folder / "helm"
    version = bench.output(["helm", "version", "--template={{.Version}}"]).strip()
    stand_in = folder / "bin/helm"
    write(stand_in, STAND_IN.replace("VERSION", version))
    stand_in.chmod(0o755)
    write(folder / "bin/helm.output", "---\n".join(config_map(f"object{index}", 40) for index in range(50)))
    write(folder / "script.sh", SCRIPT)
    parameters = [
        {"name": "value-files", "array": ["env/production.yaml"]},
        {"name": "set.components.c000.image.tag", "string": "2.0.0"},
    ]
    of_script = [
        {"name": "values-files", "array": ["env/production.yaml"]},
        {"name": "helm-parameters", "map": {"components.c000.image.tag": "2.0.0"}},
    ]
    kinds = [f"group-{group:02}.example.com/v1/Kind{kind}" for group in range(40) for kind in range(6)]
    variables = {
        "ARGOCD_APP_NAME": "bench",
        "ARGOCD_APP_NAMESPACE": "bench",
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_SOURCE_PATH": "chart",
        "ARGOCD_APP_SOURCE_REPO_URL": URL,
        "KUBE_VERSION": "1.33.1",
        "KUBE_API_VERSIONS": ",".join(kinds),
        "ARGOCD_APP_PARAMETERS": json.dumps(parameters),
    }
    in_its_place = {**variables, "PATH": f"{stand_in.parent}:{bench.env['PATH']}"}
    script = {**variables, "ARGOCD_APP_PARAMETERS": json.dumps(of_script)}
    for components, what in [(1, "a chart like guestbook"), (50, "a chart of 500 values")]:
        chart = fixtures.components_chart(folder / f"repository-{components}/chart", components)
        call = [*bench.builds[0].helm_plugin, "generate"]
        bench.output(call, chart, in_its_place)
        arguments = stand_in.with_name("helm.arguments").read_text().split("\0")[:-1]
        if bench.output(["helm", *arguments], chart) != bench.output(call, chart, variables):
            raise Failure(f"{chart}: the plugin and helm do not print the same")

        def plugin(env: dict) -> Command:
            return Command(f"{what}, plugin", lambda build: [*build.helm_plugin, "generate"], chart, env)

        def other(name: str, line: list, env: dict) -> Command:
            return Command(name, lambda _: line, chart, env, of_tiphys=False)

        alone, ours, shell, replaced, ours_with_it = bench.turns(
            other(f"helm {version}", ["helm", *arguments], {}),
            plugin(variables),
            other(f"{what}, script", ["sh", folder / "script.sh"], script),
            other("a script in helm's place", [stand_in, *arguments], {}),
            plugin(in_its_place),
        )
        bench.row(alone, f"{what}, helm {version} alone")
        bench.row(ours, beside=alone)
        bench.row(ours.beside(alone, f"{what}, time that the plugin adds"), beside=alone, target=("≤", 15))
        bench.row(ours_with_it.beside(replaced, f"{what}, the same to a script in helm's place"), target=("≤", 15))
        bench.row(shell.beside(alone, f"{what}, time that the shell script adds"), beside=alone)


def kustomize(bench: Bench) -> None:
    """Both sides of 25 kustomizations after their base changed, beside `kustomize build`, two at a time."""
    bench.needs("kustomize")
    head, base = bench.folder / "kustomize/head", bench.folder / "kustomize/base"
    write(head / "bases/b/kustomization.yaml", "resources: [deployment.yaml, config.yaml]\n")
    write(head / "bases/b/config.yaml", config_map("config", 20))
    deployment = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: 'registry.example.com/web:1'}]}
"""
    write(head / "bases/b/deployment.yaml", deployment)
    for index in range(25):
        patch = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}\n"
        write(head / f"overlays/o{index}/patch.yaml", patch)
        text = f"namePrefix: o{index}-\nresources: [../../bases/b]\npatches: [{{path: patch.yaml}}]\n"
        write(head / f"overlays/o{index}/kustomization.yaml", text)
    applications(head / "store", (application(f"app{index}", f"overlays/o{index}") for index in range(25)))
    commit(head)
    shutil.copytree(head, base)
    write(head / "bases/b/deployment.yaml", deployment.replace("web:1", "web:2"))
    folders = [f"{side}/overlays/o{index}\n" for index in range(25) for side in (base, head)]
    write(bench.folder / "kustomize/folders", "".join(folders))
    build = ["xargs", "-a", bench.folder / "kustomize/folders", "-n", "1", "-P", "2", "kustomize", "build"]
    repo = f"--repo={URL}={head}"
    diff, bare = bench.turns(
        Command("25 kustomizations, diff", lambda build: build.line(*DIFF, repo, store=head / "store")),
        Command("kustomize build, two at a time", lambda _: build, of_tiphys=False),
    )
    for series, beside in ((diff, bare), (bare, None)):
        bench.row(series, f"{series.what}, user+system", of=cpu, beside=beside)
        bench.row(series, f"{series.what}, process", beside=beside)


def appset(bench: Bench) -> None:
    """A matrix of 100 × 100 parameter sets, 20 expressions and a templatePatch."""

    def elements(key: str) -> list:
        def element(index: int) -> dict:
            labels = {"region": f"eu-{index}", "tier": "gold"}
            address = f"https://{key}-{index}.example.org"
            return {key: {"name": f"{key}-{index}", "address": address, "labels": labels}}

        return [element(index) for index in range(100)]

    expressions = [
        "{{ .cluster.address }}",
        "{{ .team.labels.region | upper | quote }}",
        '{{ if eq .team.labels.tier "gold" }}3{{ else }}1{{ end }}',
        '{{ index .cluster.labels "region" | replace "-" "." }}',
        '{{ printf "%s.%s" .team.name .cluster.name | trunc 63 }}',
        '{{ .team.missing | default "none" | b64enc }}',
    ]
    # Two expressions are those of the name.
    values = [{"name": f"p{index}", "value": expressions[index % 6]} for index in range(18)]
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "matrix", "namespace": "argocd"},
        "spec": {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=default"],
            "generators": [
                {"matrix": {"generators": [{"list": {"elements": elements(key)}} for key in ("team", "cluster")]}}
            ],
            "template": {
                "metadata": {"name": "{{ .team.name }}-{{ .cluster.name }}"},
                "spec": {
                    "project": "default",
                    "source": {"repoURL": URL, "path": "plain", "helm": {"parameters": values}},
                    "destination": {"server": "https://kubernetes.default.svc", "namespace": "bench"},
                },
            },
            "templatePatch": "metadata:\n  labels:\n    region: {{ .cluster.labels.region }}\nspec:\n  syncPolicy:\n"
            '    automated:\n      prune: {{ eq .team.labels.tier "gold" }}\n',
        },
    }
    store = applications(bench.folder / "appset", [json.dumps(document)])
    [series] = bench.turns(Command("10,000 Applications", lambda build: build.line("appset", "generate", store=store)))
    bench.row(series, target=("≤", 1_000))
    bench.row(series, f"{series.what}, memory", "MiB", memory, target=("≤", 200))


# Functions of Argo CD, and what one of the two programs refuses: some functions, and a complex number.
NOT_OF_BOTH = ("normalize", "slugify", "toYaml", "fromYaml", "env", "gen", "derivePassword", "cryptAES", " 1i ")


def templates(bench: Bench) -> None:
    """Recorded Go templates, parsed and executed, beside Go; always of this checkout."""
    oracles = ROOT / "testdata/oracles"

    def recorded(name: str):
        data = json.loads((oracles / f"{name}.data.json").read_text())
        return data, map(json.loads, (oracles / f"{name}.jsonl").read_text().splitlines())

    data, cases = recorded("gotemplate")
    chosen = [(case["t"], "default", data, []) for case in cases if "out" in case["default"]]
    sets, cases = recorded("gotemplate-argo")
    for case in (case["input"] for case in cases if "out" in case["output"]):
        options = [option.partition("missingkey=")[2] for option in case.get("options") or []]
        of_set = sets[case["data"]]
        chosen.append((case["template"], (options or ["default"])[-1], of_set["data"], of_set["stringMaps"]))
    keys = ("template", "missingKey", "data", "stringMaps")
    chosen = [dict(zip(keys, one)) for one in chosen if not any(name in one[0] for name in NOT_OF_BOTH)]
    file = bench.folder / "templates.json"
    write(file, json.dumps(chosen))

    def microseconds(line: list, cwd: Path) -> Sample:
        printed = subprocess.run([*line, file], cwd=cwd, check=True, text=True, stdout=subprocess.PIPE).stdout
        return Sample(sum(json.loads(printed)) / 1e3, 0, 0)

    ours = ["cargo", "bench", "--quiet", "--package=tiphys-go", "--bench=templates", "--"]
    go = ["go", "run", "./templates"]
    pairs = [(microseconds(ours, ROOT), microseconds(go, ROOT / "e2e")) for _ in range(bench.runs + 1)][1:]
    ours, go = (Series(what, list(each)) for what, each in zip((f"{len(chosen)} templates", "Go"), zip(*pairs)))
    of_go = median(sample.wall for sample in go.samples)
    bench.row(ours, unit="µs", of=lambda sample: sample.wall, beside=go, target=("≤", of_go))
    bench.row(go, unit="µs", of=lambda sample: sample.wall)


CASES = {case.__name__: case for case in (render, inputs, params, helm, charts, kustomize, sources, appset, templates, web, controller)}
