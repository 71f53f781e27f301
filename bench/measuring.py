"""Measures whole processes in turn, and collects rows of figures."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable, Optional

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "target/tools/bin"

# The program that tiphys finds beside itself or in the search path.
NATIVE = "tiphys-native"

DIFF = ["diff", "--base", "HEAD", "--exit-code=false", "-o", "name"]

# Some disk file systems create and remove files in quadratic time.
MEMORY_FILE_SYSTEM = "/dev/shm"


class Failure(Exception):
    """What cannot be measured, and why."""


@dataclass(frozen=True)
class Sample:
    """One run of a process with its children: milliseconds and MiB."""

    wall: float
    cpu: float
    mib: float
    # Time beside the plugins, from the report of `tiphys render`.
    overhead: float = 0.0


@dataclass(frozen=True)
class Build:
    """A build of tiphys in a directory of its own, with its cache."""

    name: str
    folder: Path

    @property
    def tiphys(self) -> Path:
        return self.folder / "bin/tiphys"

    @property
    def helm_plugin(self) -> list:
        """The program of the Helm plugin: of its own in older builds, else a part of tiphys."""
        own = self.folder / "share/tiphys/plugins/helm/tiphys-helm"
        return [own] if own.is_file() else [self.tiphys, "tiphys-helm"]

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def forget(self, path: str = "") -> None:
        """Removes the cache, or a directory of it."""
        shutil.rmtree(self.cache / path, ignore_errors=True)

    def line(self, *words, store: Path, plugins: Optional[Path] = None) -> list:
        """A command line of this build. The built-in plugins are the default."""
        named = ["--plugins", plugins] if plugins else []
        return [self.tiphys, *words, "--store", store, *named, "--config", f"cacheDir={self.cache}"]


@dataclass(frozen=True)
class Command:
    """A command line to measure. Those of tiphys depend on the build; others run once in each round."""

    what: str
    line: Callable[[Build], list]
    cwd: Optional[Path] = None
    env: dict = field(default_factory=dict)
    before: Callable[[Build], object] = lambda build: None
    # Reads the time beside the plugins after a run.
    overhead: Callable[[Build], float] = lambda build: 0.0
    of_tiphys: bool = True


@dataclass(frozen=True)
class Series:
    """The samples of a command: of the program, and of the other build if there is one."""

    what: str
    samples: list
    against: Optional[list] = None

    def beside(self, other: "Series", what: str) -> "Series":
        """The time that this command takes beyond another one of the same round."""
        pairs = zip(self.samples, other.samples)
        return Series(what, [Sample(one.wall - base.wall, one.cpu - base.cpu, one.mib) for one, base in pairs])


@dataclass(frozen=True)
class Row:
    """A figure with its values in all runs. The ratio is that of its median to the median of what it is beside."""

    what: str
    unit: str
    values: list
    cpu: Optional[float] = None
    mib: Optional[float] = None
    beside: str = ""
    ratio: Optional[float] = None
    # The sign and the limit of the median.
    target: Optional[tuple] = None

    @property
    def is_met(self) -> Optional[bool]:
        if self.target is None:
            return None
        sign, limit = self.target
        return median(self.values) <= limit if sign == "≤" else median(self.values) >= limit

    def json(self) -> dict:
        middle = {"min": min(self.values), "median": median(self.values), "max": max(self.values)}
        return {**vars(self), **middle, "isMet": self.is_met}


def wall(sample: Sample) -> float:
    """Of this figure, a row also has processor time and memory."""
    return sample.wall


def cpu(sample: Sample) -> float:
    return sample.cpu


def memory(sample: Sample) -> float:
    return sample.mib


def overhead(sample: Sample) -> float:
    return sample.overhead


class Bench:
    """The builds, the directory of all files on a memory file system, and the rows so far."""

    def __init__(self, program: Path, against: Optional[Path], runs: int, kustomizations: Optional[Path] = None):
        if f" {MEMORY_FILE_SYSTEM} tmpfs " not in Path("/proc/mounts").read_text():
            raise Failure(f"{MEMORY_FILE_SYSTEM}: is not a memory file system (tmpfs)")
        self.runs = runs
        self.kustomizations = kustomizations
        # Charts, for the case of that name.
        self.charts: Optional[Path] = None
        # Argo CD's program, for the case of the controller.
        self.argo_cd: Optional[Path] = None
        self.rows: list[Row] = []
        self._place = tempfile.TemporaryDirectory(prefix="tiphys-bench-", dir=MEMORY_FILE_SYSTEM)
        self.folder = Path(self._place.name)
        for name in ("home", "tmp", "tools"):
            (self.folder / name).mkdir()
        # A build uses the one beside it, and no other.
        for tool in TOOLS.glob("*"):
            if tool.name != NATIVE:
                (self.folder / "tools" / tool.name).symlink_to(tool)
        self.env = {
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
        }
        self.builds = [self._build("program", program, TOOLS / NATIVE)]
        if against:
            self.builds.append(self._build("against", against, against.with_name(NATIVE)))

    def close(self) -> None:
        self._place.cleanup()

    def _build(self, name: str, program: Path, native: Path) -> Build:
        """Copies a program, and the plugins that were installed with it (`cargo xtask install --root DIR`) before they were a part of it."""
        if not program.is_file():
            raise Failure(f"{program}: not found; build it with: cargo xtask build")
        build = Build(name, self.folder / name)
        build.tiphys.parent.mkdir(parents=True)
        shutil.copy(program, build.tiphys)
        if native.is_file():
            shutil.copy(native, build.tiphys.with_name(NATIVE))
        installed = program.parent.parent / "share/tiphys/plugins"
        if installed.is_dir():
            shutil.copytree(installed, build.folder / "share/tiphys/plugins")
        return build

    def needs(self, *tools: str) -> None:
        for tool in tools:
            if not shutil.which(tool, path=self.env["PATH"]):
                raise Failure(f"{tool}: not found; install it with: cargo xtask tools")

    def output(self, line: list, cwd: Optional[Path] = None, env: Optional[dict] = None) -> str:
        """Runs a command line that is not measured, and returns its standard output."""
        env = {**self.env, **(env or {})}
        done = subprocess.run(line, cwd=cwd or self.folder, env=env, text=True, capture_output=True)
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, line))}: exit code {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def turns(self, *commands: Command, runs: Optional[int] = None) -> list[Series]:
        """Runs the commands in turn: once to warm up, then as often as requested."""
        sides = [
            (index, build)
            for index, command in enumerate(commands)
            for build in (self.builds if command.of_tiphys else self.builds[:1])
        ]
        samples: dict = {(index, build.name): [] for index, build in sides}
        for run in range((runs or self.runs) + 1):
            for index, build in sides:
                sample = self.sample(commands[index], build)
                if run > 0:
                    samples[index, build.name].append(sample)
        return [
            Series(command.what, samples[index, "program"], samples.get((index, "against")))
            for index, command in enumerate(commands)
        ]

    def sample(self, command: Command, build: Build) -> Sample:
        """Runs a command once."""
        command.before(build)
        line = [str(word) for word in command.line(build)]
        helper = [sys.executable, "-I", "-S", str(Path(__file__).with_name("one_process.py"))]
        printed = json.loads(self.output(helper + line, command.cwd, command.env))
        if printed.pop("status") != 0:
            # Again, for its standard error.
            self.output(line, command.cwd, command.env)
            raise Failure(f"{' '.join(line)}: failed, and succeeded when it was repeated")
        return Sample(**printed, overhead=command.overhead(build))

    def row(self, series: Series, what="", unit="ms", of=wall, beside: Optional[Series] = None, target=None) -> None:
        """Adds a figure of a series, with processor time and memory if it is the time of the whole process."""
        what = what or series.what
        sides = [(what, series.samples, beside.what if beside else "", beside and beside.samples, target)]
        if series.against:
            sides.append((f"{what}: --against", series.against, "the program", series.samples, None))
        for what, samples, base, of_base, target in sides:
            values = [of(sample) for sample in samples]
            others = [median(each(sample) for sample in samples) if of is wall else None for each in (cpu, memory)]
            ratio = median(values) / median(of(sample) for sample in of_base) if of_base else None
            self.rows.append(Row(what, unit, values, *others, base, ratio, target))


def machine() -> str:
    """Describes this machine on one line."""
    info = Path("/proc/cpuinfo").read_text()
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    model = models[0] if models else platform.machine()
    return f"{model}, {os.cpu_count()} processors, {memory / 2**30:.0f} GiB, Linux {platform.release()}, tmpfs"


def load() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.2f}"


def table(rows: list[Row]) -> str:
    """All rows as a table of Markdown."""

    def number(value: Optional[float], digits: int = 1) -> str:
        if value is None:
            return ""
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.{digits}f}"

    lines = [["row", "unit", "min", "median", "max", "cpu ms", "MiB", "beside", "ratio", "target", ""]]
    lines.append(["---", "---", "---:", "---:", "---:", "---:", "---:", "---", "---:", "---:", "---"])
    for row in rows:
        spread = [number(min(row.values)), number(median(row.values)), number(max(row.values))]
        target = f"{row.target[0]} {number(row.target[1])}" if row.target else ""
        verdict = {None: "", True: "met", False: "MISSED"}[row.is_met]
        ratio = number(row.ratio, 2)
        figures = [number(row.cpu), number(row.mib), row.beside, ratio, target, verdict]
        lines.append([row.what, row.unit, *spread, *figures])
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths)) for line in lines]
    return "\n".join(f"| {line} |" for line in text)
