"""The web page: requests to a server that runs, and pages in Chromium."""

import gzip
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Callable, Iterator
from urllib.parse import urlencode, urlsplit

import fixtures
from fixtures import URL, application, applications, write
from measuring import ROOT, Bench, Build, Command, Failure, Sample, Series

FORM = "/applications/argocd/shop"
API = f"/api/v1{FORM}"
STREAMS = 200


class Page:
    """A server with the cookie of an admitted browser."""

    def __init__(self, bench: Bench, build: Build, repository: Path):
        line = [*map(str, build.line("serve", "--listen", "127.0.0.1:0", f"--repo={URL}={repository}", store=repository / "store"))]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        self._process = subprocess.Popen(line, cwd=repository, env=bench.env, text=True, **pipes)
        first = re.search(r"http://(\S+?)(/\S+)", self._process.stderr.readline() or "")
        if first is None:
            raise Failure(f"{' '.join(line)}: prints no address")
        self.address = first[1]
        head = self.request("GET", first[2])[0]
        self.cookie = head["set-cookie"].split(";")[0]
        self.token = self.request("GET", "/api/v1/applications")[0]["x-csrf-token"]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._process.stderr.close()

    def request(self, method: str, path: str, form: dict | None = None) -> tuple:
        """Sends a request, and returns head, body, and milliseconds to the first and to the last byte of the response."""
        with closing(http.client.HTTPConnection(self.address)) as connection:
            headers = {"Origin": f"http://{self.address}"}
            if hasattr(self, "cookie"):
                headers["Cookie"] = self.cookie
            body = None
            if form is not None:
                body = urlencode({"csrf": self.token, **form})
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            begin = time.perf_counter()
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            first = time.perf_counter()
            text = answer.read().decode()
            last = time.perf_counter()
            if answer.status >= 400:
                raise Failure(f"{method} {path}: {answer.status}\n{text}")
            return answer.headers, text, 1e3 * (first - begin), 1e3 * (last - begin)

    def mib(self) -> float:
        """The memory of the server."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def stream(self) -> socket.socket:
        """Opens the stream of changes, and returns its connection after the first event."""
        host, port = self.address.split(":")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(f"GET /events HTTP/1.1\r\nHost: {self.address}\r\nCookie: {self.cookie}\r\n\r\n".encode())
        received = b""
        while b"data:" not in received:
            received += connection.recv(4096) or b"data: none"
        if b"200 OK" not in received:
            raise Failure(f"/events: {received!r}")
        return connection


class Chromium:
    """A headless browser, driven over a pipe."""

    # After all that the events of loading have started.
    READY = """new Promise((resolve) => {
      const idle = () => setTimeout(() => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))));
      if (document.readyState === 'complete') idle(); else addEventListener('load', idle);
    })"""

    def __init__(self, bench: Bench):
        program = shutil.which("chromium")
        if program is None:
            raise Failure("chromium: not found; install it with: apt-get install chromium")
        (there, self._commands), (self._messages, here) = os.pipe(), os.pipe()
        options = ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"]
        options += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]
        options += [f"--user-data-dir={bench.folder / 'chromium'}", "about:blank"]
        line = f'exec {program} {" ".join(options)} 3<&{there} 4>&{here}'
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(["bash", "-c", line], pass_fds=[there, here], env=bench.env, **quiet)
        os.close(there)
        os.close(here)
        self._last, self._text, self._session = 0, b"", {}
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        self._call("Page.enable")

    def close(self) -> None:
        os.close(self._commands)
        self._process.wait()
        os.close(self._messages)

    def admit(self, page: Page) -> None:
        name, value = page.cookie.split("=", 1)
        self._call("Network.setCookie", name=name, value=value, url=f"http://{page.address}/")

    def ready(self, url: str) -> float:
        """Opens a page, and returns the milliseconds until it takes input."""
        self._call("Page.navigate", url=url)
        asked = {"expression": self.READY, "awaitPromise": True, "returnByValue": True}
        return self._call("Runtime.evaluate", **asked)["result"]["value"]

    def _call(self, method: str, **params) -> dict:
        self._last += 1
        command = {"id": self._last, "method": method, "params": params, **self._session}
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            while b"\0" not in self._text:
                self._text += os.read(self._messages, 1 << 16)
            message, self._text = self._text.split(b"\0", 1)
            answer = json.loads(message)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]


@contextmanager
def static(html: str) -> Iterator[str]:
    """Serves a page without its scripts, and its styles, as files, and yields its URL."""
    files = {
        "/": ("text/html; charset=utf-8", re.sub(r"<script.*?</script>", "", html).encode()),
        "/assets/style.css": ("text/css", (ROOT / "crates/tiphys-web/assets/style.css").read_bytes()),
    }

    class Files(BaseHTTPRequestHandler):
        def do_GET(self):
            kind, content = files[urlsplit(self.path).path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def turns(bench: Bench, **measured: Callable[[], float]) -> list[Series]:
    """Measures in turn: once to warm up, then as often as requested."""
    rounds = [[one() for one in measured.values()] for _ in range(bench.runs + 1)][1:]
    names = (name.replace("_", " ") for name in measured)
    return [Series(name, [Sample(value, 0, 0) for value in values]) for name, values in zip(names, zip(*rounds))]


def ratio(bench: Bench, ours: Series, other: Series, limit: float, unit: str = "ms") -> None:
    """Adds the row of a figure with a limit of its ratio to another one, and that one's row."""
    of = lambda sample: sample.wall
    target = ("≤", limit * median(map(of, other.samples)))
    bench.row(ours, unit=unit, of=of, beside=other, target=target)
    bench.row(other, unit=unit, of=of)


def web(bench: Bench) -> None:
    """The web page beside whole commands, a static file, the same rendering, and itself without streams."""
    bench.needs("helm")
    build = bench.builds[0]
    shop = bench.folder / "web/shop"
    fixtures.components_chart(shop / "chart", 120)
    applications(shop / "store", [application("shop", "chart", "helm: {parameters: [{name: components.c000.replicas, value: '2'}]}")])

    def process(store: Path, *words) -> Callable[[], float]:
        command = Command("", lambda build: build.line(*words, f"--repo={URL}={store.parent}", store=store), cwd=store.parent)
        return lambda: bench.sample(command, build).wall

    with closing(Page(bench, build, shop)) as page:
        form = turns(
            bench,
            form_of_a_chart_with_1200_values=lambda: page.request("GET", FORM)[3],
            params_list=process(shop / "store", "params", "list", "shop", "-o", "json"),
        )
        ratio(bench, *form, 1)
        tags = iter(range(1_000_000))

        def preview() -> float:
            edit = {"source": "1", "/set.components.c001.image.tag": f"2.0.{next(tags)}"}
            _, html, _, last = page.request("POST", f"{FORM}/preview", edit)
            if "2.0." not in html:
                raise Failure(f"the preview shows no effect:\n{html}")
            return last

        rendered = turns(bench, preview_of_one_edit=preview, the_same_rendering=lambda: page.request("GET", f"{API}/manifests")[3])
        ratio(bench, *rendered, 1.2)
        with closing(Chromium(bench)) as browser, static(page.request("GET", FORM)[1]) as copy:
            browser.admit(page)
            url = f"http://{page.address}{FORM}"
            ready = turns(bench, the_form_takes_input=lambda: browser.ready(url), the_static_file=lambda: browser.ready(copy))
            ratio(bench, *ready, 1.5)
        without = page.mib()
        streams = [page.stream() for _ in range(STREAMS)]
        memory = [Series(what, [Sample(mib, 0, 0)]) for what, mib in [(f"{STREAMS} streams", page.mib()), ("no stream", without)]]
        ratio(bench, *memory, 1.5, "MiB")
        for stream in streams:
            stream.close()

    many = bench.folder / "web/many"
    for index in range(5_000):
        write(many / f"plain/d{index}/a.yaml", fixtures.config_map("one", 1))
    applications(many / "store", (application(f"app{index}", f"plain/d{index}") for index in range(5_000)))
    with closing(Page(bench, build, many)) as page:
        listed = turns(
            bench,
            list_of_5000_Applications=lambda: page.request("GET", "/applications")[2],
            list=process(many / "store", "list"),
        )
        ratio(bench, *listed, 1 / 5)
    packed = sum(len(gzip.compress(file.read_bytes())) for file in (ROOT / "crates/tiphys-web/assets").iterdir())
    bench.row(Series("assets, compressed", [Sample(packed / 1e3, 0, 0)]), unit="KB", of=lambda sample: sample.wall, target=("≤", 60))
