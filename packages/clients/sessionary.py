"""A client of `sessionary serve` for Python 3.9 and later, without dependencies.

    with Sessionary() as sessions:
        found = sessions.ask("search", query="linker error")
"""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
from concurrent.futures import Future

# The version of the protocol that this client speaks.
PROTOCOL = 1


class Refused(Exception):
    """A request that was refused: `code`, and `data` with `kind` and `hints`."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.data = error["code"], error.get("data")


class Sessionary:
    """The program, which answers until it is closed. Any thread may ask."""

    def __init__(self, program="sessionary", args=(), on_change=lambda change: None, **options):
        """`on_change` is called with each change, on a thread of its own, once you ask for `subscribe`."""
        self.on_change = on_change
        self._open, self._numbers, self._lock = {}, itertools.count(1), threading.Lock()
        self._sending, self._changes = threading.Lock(), queue.SimpleQueue()
        self._ended, self._failed = False, None
        self._child = subprocess.Popen(
            [program, "serve", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", **options
        )
        for work in self._listen, self._tell:
            threading.Thread(target=work, daemon=True).start()
        try:
            self.server = self.ask("hello", protocol=PROTOCOL, client="python")
        except BaseException:  # Nobody else could end it.
            self._child.kill()
            self.close()
            raise

    def ask(self, method, **params):
        """What the method answers."""
        return self.begin(method, **params)[1].result()

    def begin(self, method, **params):
        """The number of the request, by which it is called off, and the future of its answer."""
        number, answer = next(self._numbers), Future()
        with self._lock:
            if self._ended:
                raise ConnectionError("sessionary serve has ended")
            self._open[number] = answer
        self._send({"id": number, "method": method, "params": params})
        return number, answer

    def cancel(self, number):
        """Calls a request off: its answer is `Refused` then."""
        self._send({"method": "cancel", "params": {"id": number}})

    def close(self):
        """The program ends with its input."""
        with contextlib.suppress(OSError):  # It has ended, and did not take all.
            self._child.stdin.close()
        self._child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _listen(self):
        why = ConnectionError("sessionary serve has ended")
        try:
            for line in self._child.stdout:
                self._take(json.loads(line))
        except Exception as error:  # What was printed is no JSON.
            self._give_up(error)
        self._changes.put(None)
        if self._failed:
            why = ConnectionError(f"sessionary serve is not listened to any more: {self._failed!r}")
        with self._lock:
            self._ended, left = True, list(self._open.values())
        for answer in left:
            self._settle(answer, why)

    def _tell(self):
        # It may ask: what it asks is answered on the other thread.
        try:
            for change in iter(self._changes.get, None):
                self.on_change(change)
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error):
        self._failed = error
        self._child.kill()

    def _take(self, message):
        if message.get("method") == "change":
            return self._changes.put(message["params"])
        number, answers = message.get("id"), []
        with self._lock:
            # Of a line that could not be read nobody knows which request it was: all are refused.
            for known in [number] if number is not None else list(self._open):
                answers.append(self._open.pop(known, None))
        for answer in filter(None, answers):
            self._settle(answer, Refused(message["error"]) if "error" in message else None, message.get("result"))

    @staticmethod
    def _settle(answer, why, result=None):
        if not answer.set_running_or_notify_cancel():
            return  # Whoever asked waits no more.
        answer.set_exception(why) if why else answer.set_result(result)

    def _send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        # Not the lock of what is open: while this waits, answers are taken.
        with self._sending:
            self._child.stdin.write(line)
            self._child.stdin.flush()
