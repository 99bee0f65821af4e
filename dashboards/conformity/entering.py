"""The forms of the daily entries: which fields they have, and what a filled one asks of the office. Pure.

Values go to the office as they were typed: it reads them by the register's own fields, and says what would be right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compliance.registers import cells
from compliance.registers.cells import CellError, Marks
from compliance.registers.forms import to_json
from dashboards.conformity.phrases import Phrases
from dashboards.office import Fault, LineAsk, Value

STOCK = "stock"
SIZES = ("P-13", "P-20", "P-45", "P-2", "P-5", "P-7", "P-8", "P-90", "P-190")
TOP = ("by", "expect", "", "line")
"""Faults that stand above the fields, or beside the name."""

SALES: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "exchange": ("state", {"state": "full", "to_state": "empty"}),
    "sold": ("out", {"state": "full"}),
    "returned": ("in", {"state": "empty"}),
    "collected": ("out", {"state": "empty"}),
}
"""What happens at the counter: the movement of the stock that it is."""


APART: Mapping[str, Mapping[str, Value]] = {"apart": {"to_place": "set-apart"}, "back": {"place": "set-apart"}}
"""Set apart for a leak or a defect, and back in its place: which of the pile's marks changes."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of a form, with what stands in it and what is wrong with that.

    Attributes:
        kind: ``text``, ``number``, ``whole``, ``date``, ``moment``, ``choice``, ``yes-no``, ``file``.
        choices: value and words; an empty value first where nothing may be chosen.
    """

    name: str
    label: str
    kind: str = "text"
    value: str = ""
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    needed: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class EntryForm:
    """One form.

    Attributes:
        dry: it can be checked before it happens.
        hidden: what goes with it unseen.
        path: where it is sent; empty: the form's own under ``/lancar``.
    """

    id: str
    title: str
    explain: str
    fields: tuple[FieldView, ...]
    dry: bool = False
    hidden: tuple[tuple[str, str], ...] = ()
    path: str = ""

    def filled(self, given: Mapping[str, str], faults: Sequence[Fault] = (), language: str = "pt-BR") -> "EntryForm":
        """Return the form with what was typed, each fault beside its field."""
        wrong = {fault.field: fault.texts.get(language, fault.problem) for fault in faults}
        return replace(
            self,
            fields=tuple(
                replace(one, value=given.get(one.name, one.value), error=wrong.get(one.name, "")) for one in self.fields
            ),
        )

    def beside(self, faults: Sequence[Fault], language: str) -> tuple[str, ...]:
        """Return what is wrong and belongs to no field of this form."""
        own = {one.name for one in self.fields}
        return tuple(fault.texts.get(language, fault.problem) for fault in faults if fault.field not in own)


DAILY = ("delivery", "sale", "count", "transfer", "set-apart", "weighing")
REGISTERS = ("extinguisher", "document", "leak", "detector", "lot", "opening", "sign", "container", "vehicle", "notice")
"""Registers with a form of their own on the page; what an area or the depot is, the survey asks."""


def daily_form(name: str, areas: Sequence[str], phrases: Phrases) -> EntryForm:
    """Return an empty form of a daily entry."""
    t = phrases.locale.text
    place = FieldView("area", t("entry.area"), "choice", areas[0] if len(areas) == 1 else "", needed=True)
    place = replace(place, choices=tuple((area, phrases.area(area)) for area in areas))
    size = FieldView("size_kg", t("entry.size"), "choice", SIZES[0], choices=tuple((one, one) for one in SIZES))
    units = FieldView("units", t("entry.units"), "whole", needed=True)
    brand = FieldView("brand", t("entry.brand"))
    when = FieldView("effective", t("entry.when"), "moment", hint=t("entry.when_hint"))
    note = FieldView("note", t("entry.note"))
    states = tuple((state, phrases.state(state)) for state in ("full", "empty", "part-used"))
    state = FieldView("state", t("entry.state"), "choice", "full", choices=states)
    fields: Sequence[FieldView]
    match name:
        case "delivery":
            fields = (place, size, units, brand, when, note)
        case "sale":
            kinds = tuple((kind, t(f"entry.sale_{kind}")) for kind in SALES)
            fields = (
                FieldView("kind", t("entry.kind"), "choice", "exchange", choices=kinds),
                place,
                size,
                units,
                brand,
                when,
            )
        case "count":
            fields = (place, size, state, units, brand, when, note)
        case "transfer":
            goal = replace(place, name="to_area", label=t("entry.to_area"), needed=True)
            lots = (FieldView("lot", t("entry.lot")), FieldView("to_lot", t("entry.to_lot")))
            fields = (place, goal, size, state, units, brand, *lots, when, note)
        case "set-apart":
            ways = tuple((way, t(f"entry.{way}")) for way in APART)
            way = FieldView("kind", t("entry.kind"), "choice", "apart", choices=ways)
            fields = (way, place, size, state, units, brand, when, note)
        case _:
            fields = _weighing(phrases)
    return EntryForm(name, t(f"entry.{name}"), t(f"entry.{name}_explain"), tuple(fields), dry=name == "delivery")


WEIGHED = (
    "weighed_on", "nominal_kg", "full_weighed_kg", "full_container", "full_tare_kg",
    "empty_weighed_kg", "empty_container", "empty_tare_kg", "price_per_kg",
)  # fmt: skip


def _weighing(phrases: Phrases) -> tuple[FieldView, ...]:
    fields = [
        FieldView(
            name,
            phrases.fact("weighing:", name),
            {"weighed_on": "date", "full_container": "text", "empty_container": "text"}.get(name, "number"),
            hint=phrases.locale.text("entry.tare_hint") if name.endswith("_container") else "",
            needed=name == "full_weighed_kg",
        )
        for name in WEIGHED
    ]
    return (*fields, yes_no("weight_told", phrases.fact("weighing:", "weight_told"), phrases))


def yes_no(name: str, label: str, phrases: Phrases, value: str = "", hint: str = "") -> FieldView:
    """Return a field that is yes, no, or not known."""
    t = phrases.locale.text
    choices = (("", t("conformity.not_known")), ("sim", t("conformity.yes")), ("não", t("conformity.no")))
    return FieldView(name, label, "yes-no", value, hint, choices)


def lines_of(form: str, given: Mapping[str, str], request: str, today: str) -> tuple[LineAsk, ...]:
    """Return what a filled daily form asks the office to enter; `request` makes a repeat count once."""
    makers: Mapping[str, Callable[[Mapping[str, str]], tuple[str, str, str, dict[str, Value]]]] = {
        "delivery": lambda one: (STOCK, one.get("area", ""), "in", _stock(one) | {"state": "full"}),
        "sale": _sale,
        "count": lambda one: (STOCK, one.get("area", ""), "count", _stock(one) | {"state": one.get("state")}),
        "transfer": lambda one: (STOCK, one.get("area", ""), "transfer", _moved(one)),
        "set-apart": lambda one: (STOCK, one.get("area", ""), "transfer", _moved(one) | dict(APART[_way(one)])),
        "weighing": lambda one: ("weighing", f"{today}-{request[:6]}", "record", weighed(one, today)),
    }
    register, subject, act, values = makers[form](given)
    return (LineAsk(register, subject, act, values, given.get("effective", ""), id=request),)


def _sale(given: Mapping[str, str]) -> tuple[str, str, str, dict[str, Value]]:
    act, states = SALES.get(given.get("kind", ""), SALES["exchange"])
    return STOCK, given.get("area", ""), act, _stock(given) | dict(states)


def _moved(given: Mapping[str, str]) -> dict[str, Value]:
    marks = {name: text for name in ("to_area", "lot", "to_lot") if (text := given.get(name, "").strip())}
    return _stock(given) | {"state": given.get("state")} | marks


def _way(given: Mapping[str, str]) -> str:
    way = given.get("kind", "")
    return way if way in APART else "apart"


def _stock(given: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {"size_kg": given.get("size_kg") or SIZES[0]}
    units = given.get("units", "").strip()
    found["units"] = int(units) if units.isascii() and units.isdigit() else units or None
    return found | {name: text for name in ("brand", "note") if (text := given.get(name, "").strip())}


def weighed(given: Mapping[str, str], today: str) -> dict[str, Value]:
    """Return a weigh ticket: as typed, and what follows. The credit is what comes back above the stamped tare."""
    typed: dict[str, Value] = {name: text.strip() for name, text in given.items() if name in _TICKET and text.strip()}
    typed.setdefault("weighed_on", today)
    typed["full_weighed"] = "full_weighed_kg" in typed
    returned = "empty_weighed_kg" in typed
    typed["exchange"] = returned
    if returned:
        typed["empty_weighed"] = True
        try:
            back, tare = (cells.number(str(typed[name])) for name in ("empty_weighed_kg", "empty_tare_kg"))
            typed["credited_kg"] = to_json(max(back - tare, back - back))
        except (CellError, KeyError):
            pass  # the office says what is wrong with the two
    return typed


def last_price(tickets: Sequence[Mapping[str, Any]]) -> str:
    """The price per kg that was told last, as it is kept; empty before the first."""
    told = [(one["told"]["price_per_kg"]["recorded"], one["values"]["price_per_kg"]) for one in tickets if _priced(one)]
    return str(max(told)[1]) if told else ""


def _priced(ticket: Mapping[str, Any]) -> bool:
    return ticket["values"].get("price_per_kg") is not None


def ticket_of(values: Mapping[str, Value], phrases: Phrases, marks: Marks | None = None) -> str:
    """Say a weigh ticket: net, credit, and the price where the kg has one. `marks`: how the values are written."""
    try:
        gross, tare = (cells.number(str(values[name]), marks) for name in ("full_weighed_kg", "full_tare_kg"))
        credit = cells.number(str(values.get("credited_kg") or "0"), marks)
        said = {"net": phrases.number(str(to_json(gross - tare))), "credit": phrases.number(str(to_json(credit)))}
        if values.get("price_per_kg") is None:
            return phrases.locale.text("entry.ticket", **said)
        price = (gross - tare - credit) * cells.number(str(values["price_per_kg"]), marks)
    except (CellError, KeyError):
        return phrases.locale.text("entry.weighing")
    return phrases.locale.text("entry.ticket_price", price=phrases.number(f"{price:.2f}"), **said)


_TICKET = frozenset({*WEIGHED, "weight_told"})


# --- any register ---------------------------------------------------------------------------------


def record_form(
    form: Mapping[str, Any], held: Mapping[str, Any] | None, subject: str, areas: Sequence[str], phrases: Phrases
) -> EntryForm:
    """Return the form of a register's record, with what it holds of the subject."""
    t, register = phrases.locale.text, form["register"]
    values = {} if held is None else held["values"]
    name = FieldView("subject", t("entry.subject"), value=subject, hint=t("entry.subject_hint"), needed=True)
    fields = [_field(one, values.get(one["name"]), areas, phrases) for one in form["fields"] if _is_asked(one, values)]
    title = t(f"register.{register}")
    return EntryForm(register, title, t("entry.record_explain"), (name, *fields))


def _is_asked(one: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Whether a field has a question for people; what has none ("still in the depot") is there for programs."""
    return bool(one["ask"]) or one["type"] != "boolean" or held.get(one["name"]) is not None


def record_line(
    form: Mapping[str, Any], held: Mapping[str, Any] | None, given: Mapping[str, str], request: str
) -> LineAsk:
    """Return what a filled record asks for: what was changed, and what was wiped is unknown again."""
    before = {} if held is None else held["values"]
    values: dict[str, Value] = {}
    for one in form["fields"]:
        name, text = one["name"], given.get(one["name"], "").strip()
        kept = as_typed(before.get(name))
        same = text == kept or (one["type"] in ("number", "size") and text.replace(",", ".") == kept)
        if text and not same:
            values[name] = text
        elif not text and before.get(name) is not None and name in given:
            values[name] = None
    return LineAsk(
        form["register"],
        given.get("subject", "").strip(),
        "record",
        values,
        given.get("effective", ""),
        id=request,
        expect=given.get("expect", ""),
    )


def _field(one: Mapping[str, Any], value: object, areas: Sequence[str], phrases: Phrases) -> FieldView:
    language = phrases.locale.language
    hint = phrases.locale.text("entry.attachment_hint") if one["name"] == "attachment" else one["ask"].get(language, "")
    return field_of(one, one["label"].get(language) or one["name"], value, areas, phrases, hint)


def field_of(
    one: Mapping[str, Any], label: str, value: object, areas: Sequence[str], phrases: Phrases, hint: str = ""
) -> FieldView:
    """Return the input for a field as the office describes it (`type`, `choices`), with a kept value in it.

    `name` in `one` is the input's; `field` the fact's, where they differ.
    """
    name, typed, kind = one["name"], as_typed(value), one["type"]
    blank = ("", phrases.locale.text("conformity.not_known"))
    choices: tuple[tuple[str, str], ...] = ()
    if one.get("field", name) == "attachment":
        kind = "file"
    elif one.get("field", name) == "area":
        kind, choices = "choice", (blank, *((area, phrases.area(area)) for area in areas))
    elif kind == "choice":
        language = phrases.locale.language
        choices = (blank, *((key, words.get(language) or key) for key, words in one["choices"].items()))
    elif kind == "boolean":
        return replace(yes_no(name, label, phrases, typed, hint), needed=one.get("needed", False))
    elif kind == "number":
        typed = phrases.plain(typed)
    return FieldView(name, label, KINDS.get(kind, kind), typed, hint, choices, one.get("needed", False))


KINDS = {"integer": "whole", "size": "number"}
"""A field's type as an input's kind, where they are not called alike."""


def as_typed(value: object) -> str:
    """A kept value as the form's field would hold it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "sim" if value else "não"
    return str(value)
