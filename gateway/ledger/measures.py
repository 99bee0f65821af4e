"""What the journal proves of heads and outputs: who watched, how fast a siren sounded, which leaks there were. Pure.

A time from sample to siren is measured by each bump test with gas, and by each alarm that switched a siren on. A test
that was passed supersedes what was measured before it: what was slow and was mended is proven mended by a test.

One escape of gas rouses every head that it reaches, and is asked about once: the gas alarms of one area are one leak,
which has the id of the first, as long as they come within `ONE_LEAK_MS` of it and not all of them have been reset by a
person before. Whatever comes later, after the reset, or in another area is a leak of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from compliance.vocabulary import Fact, Subject, Value
from gateway.ledger.ledger import Ledger, Line, Watch

SIREN_WITHIN_MS = 60_000
"""A siren that comes on later than this after a sample is not that alarm's."""

ONE_LEAK_MS = 3_600_000
"""How long after its first alarm another alarm of its area is still the same leak."""

BEGAN = frozenset({"raised", "risen"})
"""Events of an alarm after which its cause is there."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment that facts are asked for: `at_ms` UTC, on the local day `on`; `alive`: the watch runs then."""

    at_ms: int
    on: date
    alive: bool


@dataclass(slots=True)
class _Head:
    area: str
    measured_ms: int | None = None
    waiting_since: int | None = None


@dataclass(slots=True)
class _Leak:
    """`standing`: the heads whose alarms of it nobody has reset yet."""

    id: str
    area: str
    raised_ms: int
    standing: set[str]


@dataclass(slots=True)
class Measures:
    """The fold. Feed `take` with every line in the order of the journal, then ask for `facts`.

    Attributes:
        areas: of each detector.
        audible: ids of the outputs that people hear.
        written_ms: when the last entry was written, UTC.
    """

    areas: Mapping[str, str]
    audible: frozenset[str]
    written_ms: int = 0
    _ledger: Ledger = field(default_factory=lambda: Ledger(latest=True))
    _heads: dict[str, _Head] = field(default_factory=dict)
    _outputs: dict[str, bool] = field(default_factory=dict)
    _unwell: set[str] = field(default_factory=set)
    _leaks: list[_Leak] = field(default_factory=list)

    def take(self, line: Line) -> None:
        """Take one entry."""
        self._ledger.take(line)
        body = line.body
        self.written_ms = max(self.written_ms, int(body.get("at_ms", 0)))
        match line.kind:
            case "alarm" if body["kind"] == "GAS":
                self._gas(body)
            case "alarm" if body["kind"] == "SYSTEM" and str(body["subject"]).startswith("output"):
                self._trouble(body)
            case "output":
                self._output(body)
            case "bump" if body.get("until_siren_ms") is not None:
                self._head(str(body["detector"])).measured_ms = int(body["until_siren_ms"])
            case _:
                pass

    def facts(self, moment: Moment, zone: tzinfo) -> Iterator[Fact]:
        """Yield what is proven at a moment."""
        for name, watching in self._watching(moment).items():
            yield _fact("detector", name, "watching", watching, moment.on)
        for name, head in self._heads.items():
            if head.measured_ms is not None:
                yield _fact("detector", name, "measured_s", head.measured_ms / 1000, moment.on)
        for name, answers in self._outputs.items():
            well = answers and moment.alive and not self._unwell & {f"output:{name}", f"output-test:{name}"}
            yield _fact("output", name, "working", well, moment.on)
        for leak in self._leaks:
            day = datetime.fromtimestamp(leak.raised_ms / 1000, UTC).astimezone(zone).date()
            if day <= moment.on:
                yield _fact("leak", leak.id, "raised_on", day, day)
                yield _fact("leak", leak.id, "area", leak.area, day)

    def _watching(self, moment: Moment) -> Mapping[str, bool]:
        now = {}
        for stretch in self._ledger.close(moment.at_ms):
            if stretch.start_ms <= moment.at_ms <= stretch.end_ms and stretch.detector in self.areas:
                now[stretch.detector] = moment.alive and stretch.state is Watch.WATCHED
        return now

    def _head(self, name: str) -> _Head:
        return self._heads.setdefault(name, _Head(self.areas.get(name, "")))

    def _gas(self, body: Mapping[str, Any]) -> None:
        name = str(body["subject"])
        if body.get("after") == "normal":
            for leak in self._leaks:
                leak.standing.discard(name)
        if name not in self.areas or body["event"] not in BEGAN or body.get("drill"):
            return
        if body["event"] == "raised":
            self._leak(name, str(body["id"]), int(body["at_ms"]))
        if body.get("time_trusted", True) is not False:
            self._head(name).waiting_since = int(body["sampled_ms"])

    def _leak(self, head: str, alarm: str, at_ms: int) -> None:
        area = self.areas[head]
        last = next((leak for leak in reversed(self._leaks) if leak.area == area), None)
        if last is not None and last.standing and 0 <= at_ms - last.raised_ms <= ONE_LEAK_MS:
            last.standing.add(head)
        else:
            self._leaks.append(_Leak(alarm, area, at_ms, {head}))

    def _output(self, body: Mapping[str, Any]) -> None:
        output, on, at = str(body["output"]), body["on"], body.get("at_ms")
        self._outputs[output] = on is not None
        if on is not True or output not in self.audible or not isinstance(at, int):
            return
        for head in self._heads.values():
            since, head.waiting_since = head.waiting_since, None
            if since is not None and 0 <= at - since <= SIREN_WITHIN_MS:
                head.measured_ms = max(head.measured_ms or 0, at - since)

    def _trouble(self, body: Mapping[str, Any]) -> None:
        if body["event"] in BEGAN or body["event"] == "still":
            self._unwell.add(str(body["subject"]))
        elif body["event"] == "cleared":
            self._unwell.discard(str(body["subject"]))


def until(lines: Iterable[Line], at_ms: int) -> Iterator[Line]:
    """Yield the lines written by a moment."""
    for line in lines:
        if int(line.body.get("at_ms", 0)) <= at_ms:
            yield line


def _fact(kind: str, name: str, fact: str, value: Value, on: date) -> Fact:
    return Fact(Subject(kind, name), fact, value, on, source="journal")
