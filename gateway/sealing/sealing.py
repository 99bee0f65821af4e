"""Signed checkpoints on their way out: the key that signs them, the broker, and a copy in a file elsewhere.

A checkpoint is worth something once it is where nobody at the depot can change it. What stands in the way of that is
told, and never holds up an alarm or the journal.
"""

import asyncio
import base64
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from gateway.depot import Depot
from gateway.journal import Sealed, notes
from gateway.machine.wholefile import whole
from gateway.sealing.keys import KeyFileError
from gateway.sealing.signing import NoteSigner, note_signer

CLOSE_WITHIN_S = 1.0

Report = Callable[[bool, str], None]
"""(unwell, reason), called on the copy's own thread when either changes."""


class Board(Protocol):
    """Where a checkpoint can be hung out for everybody (`alerts.channels.mqtt.MqttChannel`)."""

    def checkpoint(self, note: str) -> None:
        """Publish it, and again with each new connection."""
        ...


class System(Protocol):
    """Hears of a part of the gateway that is unwell, or well again."""

    def __call__(self, subject: str, *, present: bool, reason: str, detail: str) -> None:
        """Tell it."""
        ...


class Sealing:
    """The depot's key, and its last checkpoint.

    Checkpoints go out with the heartbeat, the latest one only: a burst of alarms brings one each, and whoever keeps
    the last has them all.

    Attributes:
        fault: why there is no key, so that nothing is signed; empty when all is well.
        last: the last checkpoint on the disk; None before the first.
    """

    def __init__(self, depot: Depot) -> None:
        self._origin = notes.origin_of(depot.id)
        self._key: NoteSigner | None = None
        self.fault = ""
        try:
            self._key = note_signer(depot.data, self._origin)
        except (KeyFileError, OSError) as error:
            self.fault = str(error)
        self.last: Sealed | None = None
        self._out: Sealed | None = None
        self._copy: CheckpointCopy | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._system: System | None = None
        self._board: Callable[[], Board | None] = lambda: None

    def start(self, loop: asyncio.AbstractEventLoop, system: System, board: Callable[[], Board | None]) -> None:
        """Begin to send out what the journal seals.

        Args:
            loop: where everything but `take` and `close` is called.
            system: told of a part that is unwell, or well again.
            board: gives the present place to publish; None where there is none.
        """
        self._loop, self._system, self._board = loop, system, board
        system("checkpoints", present=bool(self.fault), reason="no-key", detail=self.fault[:200])

    def take(self, sealed: Sealed) -> None:
        """Take a checkpoint that is on the disk; called by the journal's thread."""
        self.last = sealed

    def beat(self) -> None:
        """Once a second: send out what was sealed since."""
        last = self.last
        if last is None or last is self._out:
            return
        self._out = last
        if self._copy is not None:
            self._copy.put(last.note)
        self.hang_out()

    @property
    def vkey(self) -> str:
        """The public key as others note it; empty without a key."""
        return "" if self._key is None else self._key.public.text()

    @property
    def seal(self) -> Callable[[int, bytes], str] | None:
        """What the journal calls to sign; None without a key."""
        if self._key is None:
            return None
        sign = self._key.sign
        return lambda size, root: sign(notes.Checkpoint(self._origin, size, root).text())

    def follow(self, depot: Depot) -> None:
        """Copy checkpoints to where this configuration says, from now on."""
        if self._copy is not None:
            self._copy.close(0)
            self._copy = None
        self._copied(unwell=False, reason="")
        if depot.checkpoint_copy is not None:
            self._copy = CheckpointCopy(depot.checkpoint_copy, self._report)
            if self.last is not None:
                self._copy.put(self.last.note)

    def hang_out(self) -> None:
        """Publish the last checkpoint, on a board that may be new."""
        board = self._board()
        if board is not None and self.last is not None:
            board.checkpoint(self.last.note)

    def _report(self, unwell: bool, reason: str) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(partial(self._copied, unwell=unwell, reason=reason))

    def _copied(self, *, unwell: bool, reason: str) -> None:
        if self._system is not None:
            self._system("checkpoint-copy", present=unwell, reason="not-written", detail=reason)

    def figures(self) -> dict[str, object]:
        """What the health message says of the journal."""
        if self.last is None:
            return {}
        return {"journal_size": self.last.size, "journal_root": base64.b64encode(self.last.root).decode()}

    def close(self) -> None:
        """Let the copy be written, the last checkpoint in it, and stop."""
        if self._copy is not None:
            if self.last is not None and self.last is not self._out:
                self._copy.put(self.last.note)
            self._copy.close(CLOSE_WITHIN_S)
            self._copy = None


class CheckpointCopy:
    """Writes the latest checkpoint to a file elsewhere, in a thread of its own: a dead network share stops only it."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._report = report
        self._note: str | None = None
        self._closing = False
        self._reason = ""
        self._awake = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="checkpoint-copy", daemon=True)
        self._thread.start()

    def put(self, note: str) -> None:
        """Have this written; an older one that still waits is forgotten."""
        with self._awake:
            self._note = note
            self._awake.notify()

    def close(self, timeout_s: float) -> None:
        """Write what waits, then stop; at most so long."""
        with self._awake:
            self._closing = True
            self._awake.notify()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            with self._awake:
                while self._note is None:
                    if self._closing:
                        return
                    self._awake.wait()
                note, self._note = self._note, None
            try:
                with whole(self._path) as out:
                    out.write(note.encode())
                reason = ""
            except OSError as error:
                reason = error.strerror or str(error)
            if reason != self._reason:
                self._reason = reason
                self._report(bool(reason), reason)
