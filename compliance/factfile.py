"""Reads facts from a TOML file: ``[depot]``, one ``[[area]]`` and so on for each thing, ``[[fact]]`` for a single fact.

Every key of a thing is a fact of it, except ``id`` and ``as_of``, the day since which its facts hold.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from importlib.resources.abc import Traversable

from compliance.catalogue import Catalogue
from compliance.entries import Entries, read, shown
from compliance.vocabulary import DEPOT, Fact, Subject, Value


def load(folder: Traversable, file: str, catalogue: Catalogue, as_of: date) -> tuple[Fact, ...]:
    """Read a file of facts; those without a day of their own hold since `as_of`.

    Raises:
        StatuteError: if it is not as it should be.
    """
    return tuple(facts_of(read(folder, file), catalogue, as_of))


def facts_of(top: Entries, catalogue: Catalogue, as_of: date) -> Iterator[Fact]:
    """Yield every fact that a file's tables tell.

    Raises:
        StatuteError: if one is not in the catalogue, or of another type than there.
    """
    top.only("fact", *catalogue.kinds)
    for kind in catalogue.kinds:
        if kind not in top.values:
            continue
        things = [top.table(kind)] if kind == DEPOT.kind else list(top.listed(kind))
        for number, entry in enumerate(things, 1):
            name = DEPOT.id if kind == DEPOT.kind else entry.text("id", f"{kind}-{number}")
            yield from _thing(entry, Subject(kind, name), catalogue, as_of)
    for entry in top.listed("fact"):
        yield _single(entry, catalogue, as_of)


def _thing(entry: Entries, subject: Subject, catalogue: Catalogue, as_of: date) -> Iterator[Fact]:
    since = entry.day("as_of") if "as_of" in entry.values else as_of
    for name, value in entry.values.items():
        if name not in ("id", "as_of"):
            yield Fact(subject, name, _value(entry, name, value, subject.kind, name, catalogue), since)


def _single(entry: Entries, catalogue: Catalogue, as_of: date) -> Fact:
    entry.only("subject", "name", "value", "effective", "recorded", "source")
    kind, _, name = entry.text("subject").partition(":")
    if kind not in catalogue.kinds or (not name and kind != DEPOT.kind):
        raise entry.wrong("subject", "a thing such as area:patio", repr(entry.text("subject")))
    told = entry.values.get("value")
    return Fact(
        subject=Subject(kind, name) if name else DEPOT,
        name=entry.text("name"),
        value=None if told is None else _value(entry, "value", told, kind, entry.text("name"), catalogue),
        effective=entry.day("effective") if "effective" in entry.values else as_of,
        recorded=_moment(entry) if "recorded" in entry.values else None,
        source=entry.text("source", "-"),
    )


def _value(entry: Entries, key: str, value: object, kind: str, name: str, catalogue: Catalogue) -> Value:
    fact = catalogue.find(kind, name)
    if fact is None:
        raise entry.wrong(key, "a fact of {kind} that the list of facts has", repr(name), kind=kind)
    if not isinstance(value, bool | int | float | str | date) or not fact.takes(value):
        template, values = fact.asked_for()
        raise entry.wrong(key, template, shown(value), **values)
    return value


def _moment(entry: Entries) -> datetime:
    value: Mapping[str, object] | object = entry.values["recorded"]
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    day = entry.day("recorded")
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
