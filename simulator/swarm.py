"""Plays drawn depots in virtual time, holds every step against the promises, and cuts what fails down to its shortest.

One seed is one depot with its timeline; the same seed leaves the same trace on every machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from alerts.effects import OutputKind
from gateway.budget import budgets
from gateway.configuration.loading import load
from gateway.depot import Depot, MqttChannel
from simulator.checker import Checker
from simulator.dice import Dice
from simulator.disks import LossyDisk
from simulator.drawn_file import toml
from simulator.draws import DrawnDepot, changed
from simulator.draws import depot as drawn_depot
from simulator.field import Field
from simulator.game import Game, posted
from simulator.pipes import NetLoop
from simulator.promises import Broken, HeadRule, Rules
from simulator.rounds import Rounds
from simulator.timelines import Happening, timeline
from simulator.virtual import VirtualClock
from simulator.virtual_threads import current
from simulator.witness import Witness

TICKS_S: Final = 0.05
"""Deadlines of the engine share wake-ups."""

MOST_TRIES: Final = 300
"""Timelines tried to find the shortest that fails."""


@dataclass(frozen=True, slots=True)
class Upshot:
    """What came of one timeline.

    Attributes:
        trace: a hash over everything that the gateway did and when.
        broken: the promises that were not kept; the first is what counts.
        kept: how often each promise was put to the test.
    """

    seed: int
    hours: float
    trace: str
    events: int
    broken: tuple[Broken, ...]
    kept: dict[str, int] = field(default_factory=dict)
    timeline: tuple[Happening, ...] = ()


def judge(seed: int, hours: float) -> Upshot:
    """Draw the depot and the timeline of this seed and play them."""
    drawn = drawn_depot(seed)
    return play(seed, drawn, timeline(seed, drawn, hours), hours)


def play(
    seed: int,
    drawn: DrawnDepot,
    happenings: Sequence[Happening],
    hours: float,
    looks: Callable[[float], None] = lambda _: None,
) -> Upshot:
    """Play one timeline to its end, or to the first promise that is not kept.

    `looks` is called every `simulator.game.LOOKS_S`, with the seconds since the beginning.
    """
    disk = LossyDisk(f"swarm-{seed}", _waiting)
    with TemporaryDirectory(prefix="vigia-swarm-", dir=_memory()) as folder:
        loop = NetLoop()  # type: ignore[abstract]  # what is not there, nothing here asks for
        try:
            install = _Installer(drawn, Path(folder))
            depot = install(())
            clock, checker = VirtualClock(loop), Checker(rules_of(depot))
            rounds = Rounds(drawn.phones[0], posted(depot, ()))
            field_ = Field(loop, drawn, depot, disk, checker, rounds)
            witness = Witness(loop, clock, checker, rounds, field_, looks)
            field_.last_taken = lambda phone, event: witness.note("took", phone, event)
            game = Game(loop, clock, install, field_, disk, checker, rounds, witness, Dice(seed * 2 + 3))
            loop.run_until_complete(game.play(happenings, hours))
        finally:
            disk.unregister()
            loop.close()
    return Upshot(seed, hours, witness.trace, witness.events, witness.broken(), witness.kept(), tuple(happenings))


class _Installer:
    """Writes the depot's file as it was changed, and reads it as the gateway does."""

    def __init__(self, drawn: DrawnDepot, folder: Path) -> None:
        self._drawn = drawn
        self._file = folder / "depot.toml"
        self._known: dict[tuple[str, ...], Depot] = {}

    def __call__(self, changes: tuple[str, ...]) -> Depot:
        if changes not in self._known:
            self._file.write_text(toml(changed(self._drawn, changes), broker=self._drawn.has_broker), encoding="utf-8")
            depot = self._known[changes] = load(self._file, {}).depot
            depot.data.mkdir(parents=True, exist_ok=True)
        return self._known[changes]


def shortest(upshot: Upshot, most_tries: int = MOST_TRIES) -> Upshot:
    """Return the shortest timeline found that still breaks the same promise."""
    drawn, tries = drawn_depot(upshot.seed), 0
    promise, at = upshot.broken[0].promise, upshot.broken[0].at
    entries = [each for each in upshot.timeline if each.at <= at]
    best = replace(upshot, timeline=tuple(entries))
    size = max(1, len(entries) // 2)
    while size and tries < most_tries:
        start = 0
        while start < len(entries) and tries < most_tries:
            fewer = entries[:start] + entries[start + size :]
            tries += 1
            found = play(upshot.seed, drawn, fewer, upshot.hours)
            if found.broken and found.broken[0].promise == promise:
                entries, best = fewer, found
            else:
                start += size
        size //= 2
    return best


def rules_of(depot: Depot) -> Rules:
    """Return what is promised of this depot."""
    worst = {figure.detector: figure.total_s for figure in budgets(depot)}
    heads = {
        str(head.id): HeadRule(
            head.source,
            alarm_s=max(depot.within_s, worst[head.id]),
            blind_s=max((head.detects_silence_s or 0.0) + depot.within_s, head.blind_after_s + TICKS_S),
        )
        for head in depot.detectors
    }
    sirens = frozenset(output.id for output in depot.outputs if output.row.kind is OutputKind.SIREN)
    boards = frozenset(channel.id for channel in depot.channels if isinstance(channel, MqttChannel))
    phones = frozenset(channel.id for channel in depot.channels) - boards
    return Rules(depot.levels, heads, sirens, phones, boards)


def _waiting(seconds: float) -> None:
    """Wait for a slow disk, where that can be done: whoever opens a journal does so outside the watch."""
    thread = current()
    if thread is not None:
        thread.sleep(seconds)


def _memory() -> str | None:
    """Where files need no disk; None for the system's own folder of temporary files."""
    folder = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
    return str(folder) if folder.is_dir() else None
