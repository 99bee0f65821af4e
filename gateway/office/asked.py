"""What somebody asks to have entered -> entries, or what is wrong with each line. Pure: time and new ids are given."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from compliance.registers.cells import FIRST_YEAR, LAST_YEAR, CellError, Marks, folded, iso, typed
from compliance.registers.entries import Act, Entry, EntryId, Millis, Scalar
from compliance.registers.forms import Filled, Form, Problem, fill, from_json, read
from compliance.registers.sheets import SheetError, plain
from compliance.registers.sheets import read as read_sheet
from dashboards.office import Enter, Import, LineAsk
from gateway.office.desk import STOCK, Told
from gateway.office.forms import sheet_form

SECOND_MS = 1000


class MomentError(ValueError):
    """A text means no moment."""


def moment(text: str, zone: ZoneInfo, now: Millis) -> Millis:
    """Return what a text means: a day (its local midnight), a time of RFC 3339, either as people here write it; or now.

    Raises:
        MomentError: it means none.
    """
    if not text:
        return now
    given, text = text, iso(text)
    try:
        if "T" not in text and " " not in text:
            found = datetime.combine(date.fromisoformat(text), time(), zone)
        else:
            found = datetime.fromisoformat(text)
    except ValueError as error:
        raise MomentError(given) from error
    if not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise MomentError(given)
    if found.tzinfo is None:
        found = found.replace(tzinfo=zone)
    return Millis(int(found.astimezone(UTC).timestamp() * SECOND_MS))


def until(text: str, zone: ZoneInfo, now: Millis) -> Millis:
    """Return the last moment of what a text means, for whoever asks how things were: of a day its end.

    Raises:
        MomentError: it means none.
    """
    first, beyond = moment(text, zone, now), end_of(text, zone, now)
    return first if first == beyond else Millis(beyond - 1)


def end_of(text: str, zone: ZoneInfo, now: Millis) -> Millis:
    """Return the first moment that is no longer part of a time which ends so: of a day the next midnight.

    Raises:
        MomentError: it means none.
    """
    first, given = moment(text, zone, now), iso(text)
    if not given or "T" in given or " " in given:
        return first
    following = date.fromisoformat(given) + timedelta(days=1)
    return Millis(int(datetime.combine(following, time(), zone).timestamp() * SECOND_MS))


def day_of(text: str) -> date:
    """Return the day that a text means (2026-07-31, 31/07/2026).

    Raises:
        MomentError: it means none.
    """
    try:
        found = date.fromisoformat(iso(text))
    except ValueError as error:
        raise MomentError(text) from error
    if not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise MomentError(text)
    return found


def from_lines(
    ask: Enter, forms: Mapping[str, Form], zone: ZoneInfo, now: Millis, new_id: Callable[[], str]
) -> tuple[list[Told], list[Problem]]:
    """Read the lines of an `Enter`; with any problem nothing may be entered."""
    told: list[Told] = []
    problems: list[Problem] = []
    for number, line in enumerate(ask.lines, start=1):
        form = forms.get(line.register)
        faults = list(_faults(number, line, form, zone, now))
        if faults:
            problems.extend(faults)
            continue
        entry = Entry(
            id=EntryId(line.id or new_id()),
            register=line.register,
            subject=typed(line.subject),
            act=Act(line.act),
            values={_field(form, name): _value(form, name, value) for name, value in line.values.items()},
            effective=moment(line.effective, zone, now),
            recorded=now,
            by=typed(ask.by),
            source=ask.source,
            reason=line.reason.strip(),
            corrects=EntryId(line.corrects) if line.corrects else None,
        )
        told.append(Told(entry, EntryId(line.expect) if line.expect else None, number))
    return told, problems


def from_sheet(
    ask: Import, form: Form, zone: ZoneInfo, now: Millis, new_id: Callable[[], str]
) -> tuple[list[Told], list[Problem]]:
    """Read the rows of an `Import`: each becomes a record, or for the stock a count of what stands there.

    With any problem nothing may be entered; the rows that can be read are given for what else is wrong with them.
    """
    try:
        rows = read_sheet(ask.content)
    except SheetError as error:
        return [], [Problem(error.line, "", error.problem, error.got, error.right)]
    filled, faults = fill(sheet_form(form), rows, Marks(ask.marks) if ask.marks else None)
    problems = list(faults)
    effective = now
    try:
        effective = moment(ask.effective, zone, now)
    except MomentError:
        problems.append(Problem(0, "effective", "not-a-date", ask.effective, "2026-07-31"))
    problems.extend(_piles_twice(filled) if form.register == STOCK else _twice(form, filled))
    act = Act.COUNT if form.register == STOCK else Act.RECORD
    told = [
        Told(
            Entry(EntryId(new_id()), form.register, row.subject, act, row.values, effective, now, typed(ask.by), "csv"),
            line=row.line,
        )
        for row in filled
    ]
    return told, problems


def _twice(form: Form, filled: Iterable[Filled]) -> Iterable[Problem]:
    """What one sheet says twice: nobody could tell which of the two holds."""
    lines: dict[str, int] = {}
    for row in filled:
        first = lines.setdefault(folded(row.subject), row.line)
        if row.subject and first != row.line:
            yield Problem(row.line, form.key, "subject-twice", row.subject, str(first))


def _piles_twice(filled: Iterable[Filled]) -> Iterable[Problem]:
    """What one sheet counts twice: the second count would take the place of the first."""
    lines: dict[tuple[Scalar, ...], int] = {}
    for row in filled:
        pile = (row.subject, *(row.values.get(name) or "" for name in ("size_kg", "state", "brand", "lot", "place")))
        first = lines.setdefault(pile, row.line)
        if first != row.line:
            yield Problem(row.line, "units", "pile-twice", row.subject, str(first))


def _faults(number: int, line: LineAsk, form: Form | None, zone: ZoneInfo, now: Millis) -> Iterable[Problem]:
    if line.act not in {act.value for act in Act}:
        yield Problem(number, "act", "no-such-choice", line.act, ", ".join(act.value for act in Act))
    try:
        moment(line.effective, zone, now)
    except MomentError:
        yield Problem(number, "effective", "not-a-date", line.effective, "2026-07-31, 2026-07-31T14:00")
    for name, value in line.values.items():
        try:
            _value(form, name, value)
        except CellError as error:
            yield Problem(number, name, error.problem, error.got, error.right)


def _field(form: Form | None, name: str) -> str:
    """The field that a name means: its own, or its heading in either language."""
    if form is None or form.field(name) is not None:
        return name
    found = form.column(plain(name))
    return name if found is None or found == form.key else found


def _value(form: Form | None, name: str, value: object) -> Scalar:
    """A value as a program or a person wrote it: JSON first, then what a form's text means."""
    known = None if form is None else form.field(_field(form, name))
    try:
        found = from_json(known, value)
    except CellError:
        if known is None or not isinstance(value, str):
            raise
        return read(known, value)
    return typed(found) if isinstance(found, str) and known is not None and not known.prose else found
