"""A generator plugin for ApplicationSets: the teams of an environment.

    python3 server.py TOKEN_FILE [ADDRESS:PORT]
"""
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TEAMS = {"prod": ["shop", "web"], "test": ["shop"]}
BODY_BYTES_MAX = 1024 * 1024


class Refused(Exception):
    """A status and a message for the controller, which shows it in the set's conditions."""


def parameter_sets(parameters):
    """The answer: one object for each Application. Replace this function."""
    env = parameters.get("env")
    if not isinstance(env, str) or env not in TEAMS:
        # An empty list would delete the Applications of the set.
        raise Refused(400, f"input.parameters.env: expected one of {', '.join(TEAMS)}")
    return [{"team": team, "namespace": f"{team}-{env}"} for team in TEAMS[env]]


class Plugin(BaseHTTPRequestHandler):
    timeout = 10  # seconds without a byte of the client

    def do_POST(self):
        try:
            self.answer(200, {"output": {"parameters": parameter_sets(self.parameters())}})
        except Refused as refused:
            self.answer(*refused.args)

    def parameters(self):
        """The parameters of the request, once the token is known to be right."""
        # The body is read in any case: a client may lose the answer if its connection is closed before.
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
            raise Refused(413, f"expected a body of at most {BODY_BYTES_MAX} bytes and its length")
        body = self.rfile.read(int(length))
        expected = f"Bearer {self.server.token}".encode()
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), expected):
            raise Refused(401, "expected the header `Authorization: Bearer TOKEN`")
        if self.path != "/api/v1/getparams.execute":
            raise Refused(404, "expected POST /api/v1/getparams.execute")
        try:
            parameters = json.loads(body)["input"].get("parameters", {})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Refused(400, "expected an object with `input.parameters`") from error
        if not isinstance(parameters, dict):
            raise Refused(400, "input.parameters: expected an object")
        return parameters

    def answer(self, status, content):
        body = json.dumps({"message": content} if isinstance(content, str) else content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    token_file, address = (sys.argv[1:] + ["127.0.0.1:4355"])[:2]
    host, port = address.rsplit(":", 1)
    server = ThreadingHTTPServer((host, int(port)), Plugin)
    server.token = Path(token_file).read_text().strip()
    if not server.token:
        sys.exit(f"{token_file}: the token is empty")
    print(f"serving on http://{host}:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()


main()
