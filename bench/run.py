#!/usr/bin/env python3
"""Measures tiphys on a memory file system: python3 bench/run.py [CASE…]; --help lists the options.

The commands of a row run in turn: once to warm up, then as often as requested. Minimum, median and maximum are
printed. A missed target is no error, because a busy machine misses all of them. docs/performance.md has figures.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from cases import CASES
from measuring import ROOT, Bench, Failure, load, machine, table


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures tiphys on a memory file system.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="what to measure; all by default")
    parser.add_argument("--list", action="store_true", help="print the cases, and measure none")
    parser.add_argument("--runs", type=int, default=11, metavar="N", help="runs of each row, beside one to warm up")
    parser.add_argument("--program", type=Path, metavar="FILE", help="measure this build instead of the release build")
    parser.add_argument("--against", type=Path, metavar="FILE", help="measure another build in turn; for the case controller alone: Argo CD's program")
    parser.add_argument("--kustomizations", type=Path, metavar="DIR", help="folder of checkouts whose kustomizations the case sources builds")
    parser.add_argument("--charts", type=Path, metavar="DIR", help="folder with charts that the case charts renders")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all values as JSON")
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"{', '.join(unknown)}: the cases are {', '.join(CASES)}")
    if options.runs < 1:
        parser.error("--runs: must be at least 1")
    return options


def main() -> int:
    options = arguments()
    if options.list:
        for name, case in CASES.items():
            print(f"{name:10} {(case.__doc__ or '').splitlines()[0]}")
        return 0
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = options.program or target / f"{platform.machine()}-unknown-linux-musl/release/tiphys"
    bench = None
    try:
        is_controller = options.cases == ["controller"]
        bench = Bench(program, None if is_controller else options.against, options.runs, options.kustomizations)
        bench.charts = options.charts and options.charts.resolve()
        bench.argo_cd = options.against.resolve() if is_controller and options.against else None
        about = {"machine": machine(), "runs": options.runs, "loadBefore": load()}
        for build in bench.builds:
            version = json.loads(bench.output([build.tiphys, "version", "-o", "json"]))
            about[build.name] = version["commit"] or f"{version['version']}, not a release build"
        print(f"{about['machine']}, load {about['loadBefore']} before")
        for name in options.cases or CASES:
            print(f"measuring {name}", file=sys.stderr)
            CASES[name](bench)
        about["loadAfter"] = load()
        builds = ", ".join(f"{build.name} {about[build.name]}" for build in bench.builds)
        print(f"{builds}, {options.runs} runs, load {about['loadAfter']} after\n\n{table(bench.rows)}")
        if options.json:
            rows = [row.json() for row in bench.rows]
            options.json.write_text(json.dumps({**about, "rows": rows}, indent=2) + "\n")
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        if bench:
            bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
