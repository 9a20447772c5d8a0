"""A real browser without a window: Chromium, driven through its debugging pipe."""

import json
import os
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page. Calls wait for their answers; what the page logs or throws is collected."""

    def __init__(self):
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        assert program, "no Chromium: tools/install_deps.sh test"
        self.folder = tempfile.mkdtemp(prefix="icewright-browser-")
        commands, self.out = os.pipe()
        self.back, answers = os.pipe()
        # Chromium reads commands from file 3 and writes answers to file 4.
        script = (f"exec {program} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-pipe "
                  f"--user-data-dir={self.folder} about:blank 3<&{commands} 4>&{answers}")
        self.process = subprocess.Popen(["bash", "-c", script], pass_fds=(commands, answers), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.buffer, self.number, self.complaints, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.out)
        self.process.terminate()
        self.process.wait(timeout=10)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def next(self):
        while b"\0" not in self.buffer:
            chunk = os.read(self.back, 1 << 16)
            assert chunk, "Chromium ended"
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\0", 1)
        answer = json.loads(line)
        if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(answer["params"])
        return answer

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1,
                  mobile=phone)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def value(self, expression):
        """What a JavaScript expression gives; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def wait_for(self, expression, seconds=40):
        """Until the expression is true; returns its value."""
        until = time.monotonic() + seconds
        while True:
            value = self.value(expression)
            if value:
                return value
            if time.monotonic() > until:
                raise AssertionError(f"{expression} did not come; the page says:\n{self.value('document.body.innerText')}")
            time.sleep(0.1)

    def picture(self, path):
        import base64
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
