"""Sends a request to the API server of the demo, as kubectl does, and prints the answer.

    api.py METHOD PATH [CONTENT_TYPE BODY]
"""
import os
import ssl
import sys
import urllib.request
from pathlib import Path

FOLDER = Path("target/demo/kubernetes")

method, path, *content = sys.argv[1:]
request = urllib.request.Request(f"{os.environ['API_SERVER']}/{path}", method=method)
request.add_header("Authorization", f"Bearer {(FOLDER / 'token').read_text()}")
if content:
    request.add_header("Content-Type", content[0])
    request.data = content[1].encode()
context = ssl.create_default_context(cafile=FOLDER / "ca.pem")
with urllib.request.urlopen(request, context=context, timeout=30) as answer:
    sys.stdout.write(answer.read().decode())
