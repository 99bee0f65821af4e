"""Register entries as the journal keeps them, and back. One journal entry holds a whole batch: all of it or none."""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, Literal

from compliance.registers.cells import CellError
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from compliance.registers.forms import Form, from_json, to_json
from gateway.engine.events import Json

KIND: Literal["register"] = "register"
"""The kind of journal entry."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading the body of an entry raises that is none: it must not keep all others from being read."""


Line = dict[str, Json]
"""One register entry in a body."""


def body(lines: Sequence[Line], at_ms: int) -> dict[str, Json]:
    """A batch as the body of its journal entry; the person goes beside it, not in it."""
    return {"at_ms": at_ms, "entries": list(lines)}


def entries(content: Mapping[str, Any], forms: Mapping[str, Form], by: str) -> tuple[Entry, ...]:
    """The batch of a journal body.

    A value that its field can no longer hold (the catalogue changed) is kept as text: what was told is never dropped.

    Raises:
        KeyError, ValueError: the body is not one of `body`.
    """
    recorded = Millis(int(content["at_ms"]))
    return tuple(_entry(line, forms.get(line["register"]), recorded, by) for line in content["entries"])


def line(entry: Entry) -> Line:
    """A register entry as a body holds it."""
    said: Line = {
        "id": entry.id,
        "register": entry.register,
        "subject": entry.subject,
        "act": entry.act.value,
        "values": {name: to_json(value) for name, value in entry.values.items()},
        "effective_ms": entry.effective,
        "source": entry.source,
    }
    if entry.reason:
        said["reason"] = entry.reason
    if entry.corrects is not None:
        said["corrects"] = entry.corrects
    return said


def _entry(line: Mapping[str, Any], form: Form | None, recorded: Millis, by: str) -> Entry:
    return Entry(
        id=EntryId(line["id"]),
        register=intern(line["register"]),
        subject=intern(line["subject"]),
        act=Act(line["act"]),
        values={intern(name): _value(form, name, value) for name, value in line["values"].items()},
        effective=Millis(int(line["effective_ms"])),
        recorded=recorded,
        by=by,
        source=intern(line["source"]),
        reason=line.get("reason", ""),
        corrects=None if "corrects" not in line else EntryId(line["corrects"]),
    )


def _value(form: Form | None, name: str, value: object) -> Scalar:
    """A value as its field means it. Texts come again and again, years of entries stay in memory: each is kept once."""
    try:
        told = from_json(None if form is None else form.field(name), value)
    except CellError:
        told = str(value)
    return intern(told) if type(told) is str else told
