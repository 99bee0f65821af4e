"""The judge: holds the statutes of the depot against what is known of it, on a day, as known then or now.

Slow on purpose and off every loop: called on a thread. Keeps what the findings were, to say what changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from time import time_ns
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import structlog

from compliance.evaluate import evaluate
from compliance.registers import facts as told
from compliance.registers.entries import Entry, Holding, Millis, fold
from compliance.registers.stock import Levels
from compliance.situation import Situation
from compliance.vocabulary import Fact, Finding, Rule, Statute, StatuteKind, Verdict
from dashboards.office import Breach
from gateway.depot import Depot
from gateway.engine.events import Json
from gateway.journal.reader import JournalReader
from gateway.office import findings, survey
from gateway.office.beginnings import beginnings
from gateway.office.bygone import Bygone, Course, Told, past
from gateway.office.daysgone import DaysGone
from gateway.office.desk import Desk
from gateway.office.doubts import Doubt, open_doubts
from gateway.office.findings import Key, Stand
from gateway.office.law import Law, law_of
from gateway.office.lawfacts import Asked, configured, measured, measured_each
from gateway.office.saying import Speaker
from gateway.office.witness import Witness
from sensors.stamps import MILLISECOND, SECOND

DAY = timedelta(days=1)

MOST_DAYS = 366
"""How far back a late entry is followed, in days."""

MOST_BYGONES = 500
"""Stretches of days gone by that one judgement tells; what is beyond is counted in the log."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a judgement brought: entries for the journal, and the conditions that stand."""

    changes: Sequence[Mapping[str, Json]]
    breaches: tuple[Breach, ...]


class Judge:
    """One depot's judge.

    Args:
        law: the statutes, where they were read already.
        utc: the civil time (ns).
    """

    def __init__(self, depot: Depot, zone: ZoneInfo, law: Law | None = None, utc: Callable[[], int] = time_ns) -> None:
        self._depot = depot
        self._zone = zone
        self._utc = utc
        law = law or law_of(depot)
        self._catalogue, self._statutes = law.catalogue, law.statutes
        self._configured = tuple(configured(depot))
        names = {area.id: area.name for area in depot.areas if area.name}
        by_id = {statute.id: statute for statute in self._statutes}
        self._speaker = Speaker(by_id, self._catalogue, names, depot.language, zone)
        self._sources = {source.id: source.area for source in depot.stock_sources}
        self._witness = Witness(depot, zone)
        self._proven: tuple[Fact, ...] = ()
        self._follows = False
        self._held_back = False
        self._standing: dict[Key, Stand] = {}
        self._steps: dict[Key, list[int]] = {}
        self._read_to = -1
        self._judged_to = 0
        self._judged_on: date | None = None
        self._changed_ms = Millis(0)

    @property
    def rules(self) -> frozenset[str]:
        """The ids of all rules that the depot is held against."""
        return frozenset(rule.id for statute in self._statutes for rule in statute.rules)

    def catch_up(self, journal: JournalReader) -> None:
        """Read the findings that the journal holds by now."""
        for idx, body, _ in journal.filed(findings.KIND, self._read_to):
            self._read_to = idx
            try:
                self._keep(idx, _changes(body))
            except (LookupError, TypeError, ValueError) as error:
                structlog.get_logger("office").error(
                    "finding of the journal is none", entry=idx, reason=repr(error)[:200]
                )

    def heard_news(self, now: Millis) -> bool:
        """Follow what the watch has proven of heads and outputs by now; tell whether there is reason to judge.

        Raises:
            StoreError: the journal cannot be read.
        """
        with JournalReader(self._depot.journal) as journal:
            proven = self._witness.facts(journal, Asked(told.day(now, self._zone), now))
        changed, self._proven, self._follows = proven != self._proven, proven, True
        return changed or self._held_back

    def _keep(self, idx: int, changes: Iterable[Mapping[str, Any]]) -> None:
        """Keep where each finding stands now, and of its steps only which entries of the journal hold them."""
        for change in changes:
            if not findings.is_bygone(change):
                findings.keep(self._standing, change)
            self._changed_ms = max(self._changed_ms, Millis(change["at_ms"]))
            self._judged_on = max(told.day(self._changed_ms, self._zone), self._judged_on or date.min)
            self._steps.setdefault((change["rule"], change["subject"]), []).append(idx)

    def judge(self, desk: Desk, now: Millis) -> Verdicts:
        """Judge today, and say what changed since the last time.

        Raises:
            StoreError: the journal cannot be read.
        """
        self.heard_news(now)
        found = self._found(desk, now, None)
        on = told.day(now, self._zone)
        news = desk.entries[self._judged_to :]
        causes = [_cause(entry) for entry in news]
        begun, bygone = self._looked_back(desk, found, news, on)
        self._judged_to = len(desk.entries)
        self._judged_on = on
        kinds = {statute.id: statute.kind for statute in self._statutes}
        passing = {
            findings.key_of(finding)
            for finding in found
            if finding.verdict is Verdict.VIOLATED
            and findings.is_passing(finding, self._standing.get(findings.key_of(finding)), now)
        }
        self._held_back = bool(passing)
        findings.forget(self._standing, found)
        lasting = [finding for finding in found if findings.key_of(finding) not in passing]
        told_of = findings.breaches(lasting, kinds, self._speaker.finding)
        doubted = tuple(self._speaker.doubt(doubt) for doubt in self.doubts(desk))
        changed = findings.changes(self._standing, found, on, causes, begun)
        gone = [findings.bygone(one, finding, on, causes) for one, finding in bygone]
        return Verdicts([*gone, *changed], (*doubted, *told_of))

    def _looked_back(
        self, desk: Desk, found: Iterable[Finding], news: Sequence[Entry], on: date
    ) -> tuple[dict[Key, date], list[tuple[Bygone, Finding]]]:
        """Look at days gone by: where entries came late, and where days went by unjudged.

        Return the first day of what is broken and of what no longer is, and what else the late entries show.
        """
        broken = {findings.key_of(one) for one in found if one.verdict is Verdict.VIOLATED}
        fresh = list(self._told_since(news, desk))
        late_from = min((day for entry in fresh if (day := told.day(entry.effective, self._zone)) < on), default=on)
        first = late_from if self._judged_on is None else min(late_from, self._judged_on + DAY)
        first, late_from = (max(day, on - MOST_DAYS * DAY) for day in (first, late_from))
        known = {
            key: date.fromisoformat(stood.effective)
            for key, stood in self._standing.items()
            if stood.verdict == Verdict.VIOLATED.value
        }
        is_late = late_from < on
        asked = broken if is_late else broken - known.keys()
        if first >= on or not (asked or is_late):
            return {}, []
        unheard = [entry.recorded for entry in news if entry.recorded >= self._changed_ms]
        gone = self._days_gone(desk, first, on, Millis(min(unheard, default=0) - 1))
        turns = {first, *(told.day(entry.effective, self._zone) for entry in desk.entries)}
        begun = beginnings(asked, (day for day in turns if day >= first), on, gone.broken, known)
        if not is_late:
            return begun, []
        late = past(
            {late_from, *(day for day in turns if day > late_from)},
            on,
            gone.broken,
            gone.broken_as_told,
            {key: Course(known.get(key), begun.get(key)) for key in known.keys() | begun.keys()},
        )
        return begun | dict(late.mended), list(_shown_on(late.bygones, gone))

    def _days_gone(self, desk: Desk, first: date, on: date, by_then: Millis) -> DaysGone:
        days = [first + ago * DAY for ago in range((on - first).days)]
        with JournalReader(self._depot.journal) as journal:
            proven = measured_each(self._depot, journal, days, int(self._utc() // MILLISECOND))
        return DaysGone(days, desk.entries, by_then, proven, self._judged, self._zone)

    def _told_since(self, news: Sequence[Entry], desk: Desk) -> Iterator[Entry]:
        """The entries told since the last change that the journal holds, and those that they take the place of."""
        for entry in news:
            if entry.recorded >= self._changed_ms:
                yield entry
                if entry.corrects is not None and (corrected := desk.find(entry.corrects)) is not None:
                    yield corrected

    def doubts(self, desk: Desk) -> tuple[Doubt, ...]:
        """What counters, readers and scales told and the book could not take."""
        return open_doubts(desk.entries, self._sources)

    def would_break(self, desk: Desk, planned: Sequence[Entry], now: Millis) -> list[dict[str, Any]]:
        """Return what the law would say against movements that are not done yet: new breaches, and worse ones."""
        before = {findings.key_of(finding): finding for finding in self._found(desk, now, None)}
        then = desk.after(planned)
        kinds = {statute.id: statute.kind for statute in self._statutes}
        cited = {statute.id: statute.citation for statute in self._statutes}
        return [
            self._shown(finding, told.day(now, self._zone))
            | {"text": finding.rule.text._asdict(), "remedy": finding.rule.remedy._asdict()}
            | {"citation": cited[finding.statute]}
            for finding in self._found(desk, now, None, then)
            if kinds[finding.statute] is not StatuteKind.REFERENCE
            and _is_worse(before.get(findings.key_of(finding)), finding)
        ]

    def findings(self, desk: Desk, on: Millis, known: Millis | None) -> dict[str, Any]:
        """What every rule says on a day, as known then or now, with the words of rule and clause."""
        found = self._found(desk, on, known)
        return {
            "on": told.day(on, self._zone).isoformat(),
            "statutes": [_statute(statute) for statute in self._statutes],
            "rules": {rule.id: _rule(rule) for statute in self._statutes for rule in statute.rules},
            "findings": [self._shown(finding, told.day(on, self._zone), known) for finding in found],
        }

    def survey(self, desk: Desk, now: Millis) -> dict[str, Any]:
        """What is still to be told so that every binding rule can be judged."""
        kinds = {statute.id: statute.kind for statute in self._statutes}
        binding = [one for one in self._found(desk, now, None) if kinds[one.statute] is not StatuteKind.REFERENCE]
        holdings = fold(desk.entries, now)
        asked = survey.questions(binding, holdings, desk.entries, self._catalogue, self._zone)
        return survey.as_json(
            asked, holdings, {str(one.id): one.area for one in self._depot.detectors}, told.day(now, self._zone)
        )

    def limits(self, on: date) -> list[dict[str, Any]]:
        """What each area is licensed for, and which class of which law that is."""
        return [
            {
                "area": area.id,
                "licensed_kg": f"{area.licensed_kg:.6g}",
                "classes": [found for statute in self._statutes if (found := _class(statute, area.licensed_kg, on))],
            }
            for area in self._depot.areas
        ]

    def history(self, rule: str, subject: str) -> list[Mapping[str, Any]]:
        """Every step of one finding, oldest first; of every subject where none is named.

        Raises:
            StoreError: the journal cannot be read.
        """
        keys = [(rule, subject)] if subject else [key for key in self._steps if key[0] == rule]
        held_by = sorted({idx for key in keys for idx in self._steps.get(key, ())})
        with JournalReader(self._depot.journal) as journal:
            return list(steps(journal, held_by, rule, subject))

    def _shown(self, finding: Finding, on: date, known: Millis | None = None) -> dict[str, Any]:
        """A finding with the day on which it became known so, and the day since which it was so."""
        stood = self._standing.get(findings.key_of(finding))
        since = effective = None
        if stood is not None and stood.verdict == finding.verdict.value and (known is None or stood.at_ms <= known):
            since, effective = (day if day <= on.isoformat() else None for day in (stood.since, stood.effective))
        return {**findings.as_json(finding), "since": since, "effective": effective}

    def _found(self, desk: Desk, at: Millis, known: Millis | None, stock: Levels | None = None) -> list[Finding]:
        on = told.day(at, self._zone)
        end = _end_of(on, self._zone)
        holdings = fold(desk.entries, end, known)
        return self._judged(on, holdings, stock or desk.stock(end, known), self._witnessed(on, known))

    def _judged(
        self, on: date, holdings: Mapping[tuple[str, str], Holding], stock: Levels, proven: Sequence[Fact]
    ) -> list[Finding]:
        """Judge a day on what is known of it."""
        noted = {subject: held for (register, subject), held in holdings.items() if register == told.CONTAINER}
        facts = [
            *self._configured,
            *proven,
            *told.of_registers(holdings.values(), self._catalogue, self._zone),
            *told.of_stock(stock, noted, on, self._zone),
        ]
        facts += told.lots_named(facts)
        situation = Situation.of(facts, self._catalogue, on)
        return [finding for statute in self._statutes for finding in evaluate(statute, situation, on)]

    def _witnessed(self, on: date, known: Millis | None) -> Sequence[Fact]:
        """What was proven by the end of a day: what is followed for today, else the journal is read anew."""
        now = int(self._utc() // MILLISECOND)
        if known is None and self._follows and on >= told.day(Millis(now), self._zone):
            return self._proven
        with JournalReader(self._depot.journal) as journal:
            return tuple(measured(self._depot, journal, Asked(on, now, known)))


def _shown_on(bygones: Sequence[Bygone], gone: DaysGone) -> Iterator[tuple[Bygone, Finding]]:
    """Yield each stretch of days with what its first day rests on."""
    if len(bygones) > MOST_BYGONES:
        structlog.get_logger("office").warning("bygone breaches not kept", count=len(bygones) - MOST_BYGONES)
    for one in bygones[:MOST_BYGONES]:
        found = gone.found(one.first, as_told=one.told is Told.NEVER_WAS)
        yield one, next(each for each in found if findings.key_of(each) == one.key)


def steps(journal: JournalReader, held_by: Iterable[int], rule: str, subject: str) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of one finding out of the entries that hold them; of every subject where none is named.

    Raises:
        StoreError: the journal cannot be read.
    """
    for idx in held_by:
        for change in _changes(msgspec.json.decode(journal.entry(idx))["body"]):
            if change["rule"] == rule and subject in ("", change["subject"]):
                yield change


def changes(journal: JournalReader) -> Iterator[Mapping[str, Any]]:
    """Yield every change of a finding that a journal holds, oldest first; an entry that is none is passed over.

    Raises:
        StoreError: it cannot be read.
    """
    for _, body, _ in journal.filed(findings.KIND):
        try:
            found = _changes(body)
        except (LookupError, TypeError, ValueError):
            continue
        yield from found


def _changes(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The changes of an entry, each with when it was judged. Raises LookupError, TypeError, ValueError."""
    return [{**change, "at_ms": int(body["at_ms"])} for change in body["changes"]]


def until_midnight_s(utc: int, zone: ZoneInfo) -> float:
    """Return the seconds from a civil time (ns) to the next local midnight, and a little more."""
    now = datetime.fromtimestamp(utc / SECOND, UTC).astimezone(zone)
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), zone)
    return max(1.0, midnight.timestamp() - now.timestamp() + 1.0)  # a day of a clock change has 23 or 25 hours


def _is_worse(before: Finding | None, then: Finding) -> bool:
    if then.verdict is not Verdict.VIOLATED:
        return False
    if before is None or before.verdict is not Verdict.VIOLATED:
        return True
    return before.margin is not None and then.margin is not None and then.margin.high < before.margin.high


def _end_of(day: date, zone: ZoneInfo) -> Millis:
    """The last millisecond of a local day."""
    midnight = datetime.combine(day + timedelta(days=1), time(), zone)
    return Millis(int(midnight.timestamp() * 1000) - 1)


def _cause(entry: Entry) -> dict[str, Json]:
    return {"register": entry.register, "subject": entry.subject, "entry": entry.id, "source": entry.source}


def _statute(statute: Statute) -> dict[str, Any]:
    clauses = {
        clause.locator: {"summary": clause.summary._asdict(), "mode": clause.mode.value} for clause in statute.clauses
    }
    kind = statute.kind.value
    return {"id": statute.id, "title": statute.title, "citation": statute.citation, "kind": kind, "clauses": clauses}


def _class(statute: Statute, kg: float, on: date) -> dict[str, Any] | None:
    """The class that so many kg fall into, if the statute has classes on this day."""
    scheme = next((scheme for scheme in statute.schemes if scheme.period.holds(on)), None)
    if scheme is None or statute.kind is StatuteKind.HOUSE:
        return None
    found = next(one for one in scheme.classes if one.up_to_kg is None or kg <= one.up_to_kg)
    most = None if found.up_to_kg is None else f"{found.up_to_kg:.6g}"
    return {"statute": statute.id, "citation": statute.citation, "class": found.name, "up_to_kg": most}


def _rule(rule: Rule) -> dict[str, Any]:
    return {"text": rule.text._asdict(), "remedy": rule.remedy._asdict(), "clause": rule.clause, "each": rule.each}
