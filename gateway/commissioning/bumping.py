"""One guided bump test on a running gateway: opens the window, follows the gas, closes, keeps the record."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from dashboards.ports import Window
from gateway.asking import ask, follow
from gateway.commissioning.bump_course import Course, Step
from gateway.commissioning.bump_history import BumpEntry, bumped_on, bumps
from gateway.commissioning.bump_sheet import FOLDER, Seal, keep, sheet
from gateway.commissioning.bump_verdict import limits_of
from gateway.depot import Depot, Detector
from gateway.journal.reader import JournalReader
from gateway.machine.sockets import ControlError
from gateway.sealing.keys import SigningKey, signing_key

WRITTEN_WITHIN_S = 10.0
"""How long the journal may take to hold the test after its window closed."""

LOOK_S = 0.05


class BumpError(Exception):
    """The test cannot be made, or was not recorded. `reason` is a code for the words."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Order:
    """Who tests which head, for how long at most (minutes), and what they want noted."""

    detector: Detector
    by: str
    minutes: float
    note: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The finished record and its files."""

    record: dict[str, object]
    file: Path
    signature: Path
    public_key: Path


def bump(depot: Depot, order: Order, progress: Callable[[Course], None]) -> Kept:
    """Make the test and keep its record; blocks until gas has come and gone, or the time is up.

    `progress` hears of every new picture. An interruption by the person closes the window and keeps the record so far.

    Raises:
        BumpError: ``not-running``, ``unknown-detector``, ``not-possible``, ``needs-name``, ``bad-request``,
            ``lost`` (the gateway went away meanwhile), ``not-recorded``, ``no-file``.
        KeyFileError: there is no key to sign with.
        StoreError: the journal cannot be read.
    """
    key, folder = signing_key(depot.data), _folder(depot)
    journal, name = depot.journal, str(order.detector.id)
    with JournalReader(journal) as reader:
        start = reader.head()[1]
    limits = {name: limits_of(depot, order.detector)}
    last_passed = bumped_on(journal, limits, ZoneInfo(depot.timezone)).get(name)
    _carry(depot, Window(1, "test", name, order.by, order.note, order.minutes))
    course = Course(name)
    with contextlib.suppress(KeyboardInterrupt):  # the person ends it: what was seen so far is the record
        _watch(depot, course, order.minutes, progress)
    if course.step is not Step.OVER:
        _close(depot, name, order.by)
    entry, seal = _recorded(journal, name, start)
    record = sheet(depot, order.detector, entry, seal, order.by, last_passed)
    return _keep(folder, record, key)


def _folder(depot: Depot) -> Path:
    folder = depot.data / FOLDER
    try:
        folder.mkdir(mode=0o750, exist_ok=True)
    except OSError as error:
        raise BumpError("no-file", f"{folder}: {error.strerror}") from error
    return folder


def _keep(folder: Path, record: dict[str, object], key: SigningKey) -> Kept:
    try:
        file, signature = keep(folder, record, key)
    except OSError as error:
        raise BumpError("no-file", f"{folder}: {error.strerror or error}") from error
    return Kept(record, file, signature, key.public_file)


def _carry(depot: Depot, window: Window) -> None:
    try:
        answer = ask(depot.socket, window)
    except ControlError as error:
        raise BumpError("not-running", str(error)) from error
    if not answer.ok:
        raise BumpError(answer.error, answer.detail)


def _watch(depot: Depot, course: Course, minutes: float, progress: Callable[[Course], None]) -> None:
    """Follow the picture until gas has come and gone, or the window has ended."""
    end = time.monotonic() + minutes * 60 + WRITTEN_WITHIN_S
    try:
        for picture in follow(depot.socket):
            step = course.look(picture, time.monotonic())
            progress(course)
            if step in (Step.SETTLED, Step.OVER) or time.monotonic() > end:
                return
    except ControlError as error:
        raise BumpError("lost", str(error)) from error


def _close(depot: Depot, name: str, by: str) -> None:
    """Close the window; that it ended by itself meanwhile is as good."""
    try:
        _carry(depot, Window(2, "close", name, by))
    except BumpError as error:
        if error.reason != "not-possible":
            raise


def _recorded(journal: Path, name: str, start: int) -> tuple[BumpEntry, Seal]:
    deadline = time.monotonic() + WRITTEN_WITHIN_S
    with JournalReader(journal) as reader:
        while time.monotonic() < deadline:
            entry = next((found for found in bumps(reader, start) if found.detector == name), None)
            if entry is not None:
                _, size, root = reader.head()
                return entry, Seal(entry.idx, entry.leaf, size, root.hex())
            time.sleep(LOOK_S)
    raise BumpError("not-recorded")
