"""Real charts: one Application, both sides of many, and a comparison of 300 after one template changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from fixtures import URL, application, applications, commit, write
from measuring import DIFF, ROOT, Bench, Command, Failure, cpu, memory

# Of each of so many charts, the comparisons have so many Applications.
CHARTS, RELEASES, MANY = 10, 6, 30


def charts(bench: Bench) -> None:
    """Processor time of real charts, beside helm and a Go program of Helm's library; needs --charts."""
    if not bench.charts:
        print("charts: not measured without --charts", file=sys.stderr)
        return
    bench.needs("helm")
    found = sorted(path.parent for path in bench.charts.rglob("Chart.yaml"))
    # Subcharts are a part of the others.
    found = [chart for chart in found if not any(parent in found for parent in chart.parents)]
    by_name = {chart.name: chart for chart in found if is_usable(bench, chart)}
    usable = list(by_name.values())
    if len(usable) < CHARTS:
        raise Failure(f"{bench.charts}: {len(usable)} charts can be rendered by helm; {CHARTS} are needed")
    largest = sorted(usable, key=lambda chart: -sum(path.stat().st_size for path in (chart / "templates").rglob("*")))
    for chart in largest[:3]:
        single(bench, chart)
    both_sides(bench, largest[:CHARTS])
    changed_template(bench, largest[:CHARTS])


def is_usable(bench: Bench, chart: Path) -> bool:
    done = subprocess.run(["helm", "template", "x", chart], env=bench.env, capture_output=True)
    return done.returncode == 0 and len(done.stdout) > 1000


def row(bench: Bench, series, beside, time: float, space: float) -> None:
    bench.row(series, f"{series.what}, user+system", of=cpu, beside=beside, target=("≤", time * median(map(cpu, beside.samples))))
    bench.row(beside, f"{beside.what}, user+system", of=cpu)
    bench.row(series, f"{series.what}, memory", "MiB", memory, beside=beside, target=("≤", space * median(map(memory, beside.samples))))
    bench.row(beside, f"{beside.what}, memory", "MiB", memory)


def single(bench: Bench, chart: Path) -> None:
    """One Application beside `helm template`."""
    checkout = bench.folder / "charts/single" / chart.name
    shutil.copytree(chart, checkout / chart.name)
    applications(checkout / "store", [application(chart.name, chart.name)])
    commit(checkout)
    store = checkout / "store"
    ours = Command(f"{chart.name}: one Application", lambda build: build.line("render", f"--repo={URL}={checkout}", store=store))
    helm = Command(f"{chart.name}: helm template", lambda build: ["helm", "template", chart.name, checkout / chart.name, "--include-crds"], of_tiphys=False)
    one, other = bench.turns(ours, helm)
    row(bench, one, other, 1 / 3, 1 / 3)


def repository(bench: Bench, name: str, found: list, releases: int) -> Path:
    """Charts with Applications of each."""
    checkout = bench.folder / "charts" / name
    for chart in found:
        shutil.copytree(chart, checkout / chart.name)
    each = (application(f"{chart.name}-{index}", chart.name) for chart in found for index in range(releases))
    applications(checkout / "store", each)
    commit(checkout)
    return checkout


def both_sides(bench: Bench, found: list) -> None:
    """A comparison in which every chart changed, and nothing is known."""
    peer = bench.folder / "charts/peer"
    go = {**os.environ, "GOTOOLCHAIN": "auto", "GOWORK": "off", "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", "-o", peer, "."], cwd=ROOT / "bench/peers/helm", env=go, check=True)
    checkout = repository(bench, "both", found, RELEASES)
    for chart in found:
        write(checkout / chart.name / "templates/added.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: added}\n")
    line = lambda build: build.line(*DIFF, f"--repo={URL}={checkout}", store=checkout / "store")
    ours = Command("both sides of 60 Applications, nothing known", line, before=lambda build: build.forget())
    folders = [checkout / chart.name for chart in found]
    library = Command("120 releases by Helm's library", lambda build: [peer, 2 * RELEASES, *folders], of_tiphys=False)
    one, other = bench.turns(ours, library)
    row(bench, one, other, 1 / 2, 1 / 3)


def changed_template(bench: Bench, found: list) -> None:
    """A comparison of 300 Applications after a template of one chart changed."""
    checkout = repository(bench, "changed", found, MANY)
    write(checkout / found[0].name / "templates/added.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: added}\n")
    line = lambda build: build.line(*DIFF, f"--repo={URL}={checkout}", store=checkout / "store")
    ours = Command("300 Applications, a template changed", line, before=lambda build: build.forget())
    [series] = bench.turns(ours)
    target = ("≤", median(map(cpu, series.against)) / 5) if series.against else None
    bench.row(series, f"{series.what}, user+system", of=cpu, target=target)
