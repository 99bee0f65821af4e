"""Reads the cases under ``tests/law/*.toml`` that a lawyer can read: facts, a day, what each rule must say."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from compliance import catalogue, statutes
from compliance.entries import Entries, read
from compliance.evaluate import evaluate
from compliance.factfile import facts_of
from compliance.situation import Situation
from compliance.vocabulary import DEPOT, Finding, Statute, Verdict

CASES = Path(__file__).parent / "law"
EXPECTED = ("rule", "subject", "verdict", "margin", "holds_until", "due", "because", "clause")


@dataclass(frozen=True, slots=True)
class Case:
    """One set of facts on one day, and what is expected of it."""

    title: str
    law: str
    on: date
    tables: Mapping[str, Any]
    as_of: date
    expect: tuple[Mapping[str, Any], ...]

    def findings(self, folder: Path | None = None) -> tuple[Finding, ...]:
        known = _catalogue()
        facts = facts_of(Entries(self.title, "", self.tables), known, self.as_of)
        return evaluate(_statute(self.law, folder), Situation.of(facts, known, self.on), self.on)

    def complaints(self, folder: Path | None = None) -> Iterator[str]:
        """Say in words what is not as expected of the law in this folder (None: as shipped); nothing when all is."""
        findings = self.findings(folder)
        for expected in self.expect:
            unknown = [key for key in expected if key not in EXPECTED]
            if unknown:
                yield f"expect has keys it does not know: {', '.join(unknown)}"
            found = [each for each in findings if each.rule.id == expected["rule"]]
            subject = expected.get("subject")
            if subject is not None:
                found = [each for each in found if str(each.subject) == (f"{DEPOT}" if subject == "depot" else subject)]
            if len(found) != 1:
                have = sorted({str(each.subject) for each in findings if each.rule.id == expected["rule"]})
                yield f"{expected['rule']} on {subject}: one finding expected, {len(found)} found (subjects: {have})"
                continue
            yield from _differences(expected, found[0])


@cache
def _catalogue() -> catalogue.Catalogue:
    return catalogue.load()


@cache
def _statute(law: str, folder: Path | None) -> Statute:
    return statutes.load(law, folder, _catalogue())


def cases(file: Path) -> list[Case]:
    """Return the case of a file and its variations."""
    tables = dict(read(file.parent, file.name).values)
    head = tables.pop("case")
    expect, variations = tables.pop("expect", []), tables.pop("vary", [])
    found = []
    if expect:
        found.append(Case(head["title"], head["law"], head["on"], tables, head["on"], tuple(expect)))
    for number, vary in enumerate(variations, 1):
        unknown = set(vary) - {"title", "set", "unset", "on", "expect"}
        assert not unknown, f"{file.name}: vary {number} has keys it does not know: {unknown}"
        title = f"{head['title']}: {vary.get('title', f'variation {number}')}"
        on = vary.get("on", head["on"])
        changed = _varied(tables, vary.get("set", {}), vary.get("unset", []))
        found.append(Case(title, head["law"], on, changed, min(on, head["on"]), tuple(vary["expect"])))
    assert found, f"{file.name} expects nothing"
    return found


def _varied(tables: Mapping[str, Any], set_: Mapping[str, Any], unset: list[str]) -> Mapping[str, Any]:
    changed = deepcopy(dict(tables))
    for key, value in set_.items():
        thing, fact = _thing(changed, key)
        thing[fact] = value
    for key in unset:
        thing, fact = _thing(changed, key)
        thing.pop(fact, None)
    return changed


def _thing(tables: dict[str, Any], key: str) -> tuple[dict[str, Any], str]:
    """``area.patio.x`` is fact x of that area, ``depot.x`` of the depot; a thing that is not there yet is added."""
    kind, rest = key.split(".", 1)
    if kind == "depot":
        return tables.setdefault("depot", {}), rest
    name, fact = rest.rsplit(".", 1)
    listed = tables.setdefault(kind, [])
    for number, thing in enumerate(listed, 1):
        if thing.get("id", f"{kind}-{number}") == name:
            return thing, fact
    listed.append({"id": name})
    return listed[-1], fact


def _differences(expected: Mapping[str, Any], found: Finding) -> Iterator[str]:
    what = f"{found.rule.id} ({found.rule.clause}) on {found.subject} on {found.on}"
    told = ", ".join(f"{each.subject}.{each.name} = {each.value}" for each in found.evidence)
    if found.verdict is not Verdict(expected["verdict"]):
        yield f"{what}: {expected['verdict']} expected, {found.verdict.value} found\n    from: {told}"
    if "clause" in expected and expected["clause"] != found.rule.clause:
        yield f"{what}: clause {expected['clause']} expected"
    if "margin" in expected:
        close = found.margin is not None and all(abs(end - expected["margin"]) < 1e-9 for end in found.margin[:2])
        if not close:
            yield f"{what}: margin {expected['margin']} expected, {found.margin} found\n    from: {told}"
    for key, have in (("holds_until", found.holds_until), ("due", found.due)):
        if key in expected and (expected[key] or None) != have:
            yield f"{what}: {key} {expected[key]} expected, {have} found"
    missing = {each.name for each in found.missing} | {f"{each.subject}.{each.name}" for each in found.missing}
    for name in expected.get("because", []):
        if name not in missing:
            yield f"{what}: {name} expected among the missing facts, which are {sorted(missing)}"
