"""Chromium over the DevTools protocol: two pipes, messages that end with a NUL; no package is needed.

A page remembers what it said on its console, what it threw and what it asked for outside of its own file."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from harness import Skip

SECONDS = 60


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise Skip("there is no chromium (scripts/setup.sh browser installs it)")


class Browser:
    def __init__(self):
        path = chromium()
        self.folder = tempfile.mkdtemp(prefix="tandem-browser-")
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()
        command = ('exec "$0" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking '
                   '--disable-dev-shm-usage --disable-component-update --remote-debugging-pipe --user-data-dir="$1" '
                   f'about:blank 3<&{to_read} 4>&{to_write}')
        self.process = subprocess.Popen(["bash", "-c", command, path, self.folder], pass_fds=(to_read, to_write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.events, self.last, self.session = b"", [], 0, None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.write)
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.read)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                raise TimeoutError("chromium does not answer")
            got = os.read(self.read, 1 << 16)
            if not got:
                raise EOFError("chromium has ended")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """The result of a method; events that come meanwhile are kept."""
        self.last += 1
        request = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            found = self.message(until)
            if found.get("id") == self.last:
                assert "error" not in found, (method, found["error"])
                return found["result"]
            if "method" in found:
                self.events.append(found)

    def wait_for(self, name):
        until = time.monotonic() + SECONDS
        while not any(event["method"] == name for event in self.events):
            found = self.message(until)
            if "method" in found:
                self.events.append(found)

    def open(self, path, *, width=1200, height=900, phone=False, dark=False):
        """Opens a file in a new tab."""
        self.session, self.events = None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.address, self.events = Path(path).resolve().as_uri(), []
        self.call("Page.navigate", url=self.address)
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector, x=0.5, y=0.5):
        """A real click at a share of an element's width and height."""
        box = self.evaluate(f"(e => (e.scrollIntoView({{block: 'center'}}), (b => [b.left, b.top, b.width, b.height])"
                            f"(e.getBoundingClientRect())))(document.querySelector({json.dumps(selector)}))")
        at = {"x": box[0] + box[2] * x, "y": box[1] + box[3] * y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **at)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **at)

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def complaints(self):
        """What must not be: console messages, exceptions, requests for anything but the file."""
        self.evaluate("0")  # events of before have arrived
        found = []
        for event in self.events:
            name, what = event["method"], event["params"]
            if name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                found.append((name, json.dumps(what)[:300]))
            if name == "Network.requestWillBeSent" and what["request"]["url"] != self.address:
                found.append((name, what["request"]["url"]))
        return found
