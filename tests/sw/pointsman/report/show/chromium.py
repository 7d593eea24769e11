"""Chromium without a window, driven through pipes by its DevTools protocol: only the standard library, no port, no network."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    *("--remote-debugging-pipe", "--disable-dev-shm-usage", "--force-device-scale-factor=1"),
)


def find_chromium() -> str | None:
    """The browser on this machine, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """A browser with one page. ``console``: everything that the page logged or threw."""

    def __init__(self, path: str, *, width: int = 1280, height: int = 800, seconds: float = 60) -> None:
        self.seconds = seconds
        self.console: list[str] = []
        self.requests: list[str] = []
        self.folder = tempfile.mkdtemp(prefix="pointsman-chromium-")
        read_commands, self._out = os.pipe()
        self._in, write_answers = os.pipe()

        def give_pipes() -> None:
            low, high = os.dup(read_commands), os.dup(write_answers)
            os.dup2(low, 3)
            os.dup2(high, 4)

        flags = (*FLAGS, f"--user-data-dir={self.folder}", f"--window-size={width},{height}")
        self.process = subprocess.Popen(
            [path, *flags, "about:blank"],
            preexec_fn=give_pipes,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._session = None
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and give its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + self.seconds
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, said: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in said["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(said["exceptionDetails"])[:2000])
        elif method == "Log.entryAdded":
            self.console.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"][:200])

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until its scripts have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        until = time.monotonic() + self.seconds
        while not self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
            if time.monotonic() > until:
                raise TimeoutError(f"{path} does not load")
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression in the page; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has drawn what was asked for."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A move ("mouseMoved"), press, release or turn of the wheel at a place of the page."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def key(self, key: str) -> None:
        """Press a key, as ``KeyboardEvent.key`` names it."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def picture(self, path: Path) -> None:
        """Write what the page looks like as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
