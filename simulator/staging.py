"""What `vigia demo` and `vigia simulate` share: words, folders, ports, the end in order, and a scenario's acts."""

import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from threading import Event

import click

from alerts.messages.catalogue import Catalogue
from gateway.words.sentences import spoken
from simulator.children import READY_S, ChildError
from simulator.happenings import KINDS, Happening, On, What
from simulator.lines import HOST
from simulator.scenario import ScenarioError, load, names
from simulator.yard import Scenario

USUAL_PORT = 8080
CALIBRATED_DAYS_AGO = 30
TRUTH_FILE = "truth.jsonl"
LINKS = "linhas"
"""Folder, under the data folder, where the devices of serial lines appear."""


@dataclass(frozen=True, slots=True)
class Voice:
    """The simulator's words, said on standard error: standard output belongs to data."""

    words: Catalogue

    @property
    def language(self) -> str:
        """The language it speaks."""
        return self.words.language

    def text(self, key: str, **values: object) -> str:
        """Return words without saying them."""
        return self.words.text(key, **values)

    def spoken(self, error: object) -> str:
        """Return what a file's reader, or the system, says of it in English, in the person's language."""
        return spoken(Catalogue.load("gateway.words", self.language), error)

    def say(self, key: str, **values: object) -> None:
        """Say something to the person."""
        click.echo(self.words.text(key, **values), err=True)


def chosen(voice: Voice, name: str) -> Scenario:
    """Read the scenario that a person named.

    Raises:
        click.UsageError: there is none, or it cannot be used; in the person's words, what is wrong with a file apart.
    """
    own = name.endswith(".toml")
    if own and not Path(name).is_file():
        raise click.UsageError(voice.text("refused.no_file", name=name))
    if not own and name not in names():
        near = get_close_matches(name, names(), n=1)
        key = "refused.near" if near else "refused.unknown"
        raise click.UsageError(voice.text(key, name=name, near="".join(near), names=", ".join(names())))
    try:
        return load(name)
    except ScenarioError as error:
        raise click.UsageError(voice.text("refused.scenario", reason=voice.spoken(error))) from error


@dataclass(slots=True)
class Acts:
    """What befalls the broker and the watch's own machine, told when it is due, in our time."""

    scenario: Scenario
    speed: float = 1.0
    _began: float | None = None
    _told: set[tuple[Happening, bool]] = field(default_factory=set)

    def begin(self) -> None:
        """Second 0 of the scenario is now."""
        self._began = time.monotonic()

    @property
    def t_s(self) -> float:
        """Seconds into the scenario; below 0 before it begins."""
        return -1.0 if self._began is None else (time.monotonic() - self._began) * self.speed

    def due(self) -> Iterator[tuple[Happening, bool]]:
        """Yield each happening once when it begins (True) and once when it is over (False)."""
        for each in (*self.scenario.on(On.BROKER), *self.scenario.on(On.HOST)):
            moments = [(each.at_s, True)] + ([(each.until_s, False)] if KINDS[each.what].lasting else [])
            for at_s, begins in moments:
                if at_s <= self.t_s and (each, begins) not in self._told:
                    self._told.add((each, begins))
                    yield each, begins


def unfit(scenario: Scenario, playable: frozenset[What]) -> list[str]:
    """Return what befalls the watch's machine in this scenario and is not among what can be played."""
    return sorted({each.what.value for each in scenario.on(On.HOST) if each.what not in playable})


@contextmanager
def told_to_stop() -> Iterator[Event]:
    """Turn Ctrl-C, SIGTERM and a closed terminal into an event, so that the end is always the same and in order."""
    stop = Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, former, strict=True):
            signal.signal(number, handler)


def folder_of(data: Path | None, prefix: str) -> Path:
    """Return the folder asked for, made if need be, or a new one."""
    if data is None:
        return Path(tempfile.mkdtemp(prefix=prefix))
    data.mkdir(parents=True, exist_ok=True)
    return data.resolve()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Tell whether nobody listens on a port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def child_words(voice: Voice, error: ChildError) -> str:
    """Say what became of a child."""
    name = voice.text(f"child.{error.child}")
    if error.how is None:
        return voice.text("child.not_up", name=name, seconds=f"{READY_S:g}")
    return voice.text("child.ended", name=name, how=error.how)
