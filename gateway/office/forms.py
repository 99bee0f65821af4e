"""The registers a depot keeps, and their fields: the kinds of things in the law's list of facts, and the stock."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from math import isfinite

from compliance import catalogue
from compliance.catalogue import LABELLED, FactType, Source, Type
from compliance.registers.forms import Field, FieldType, Form
from gateway.office.desk import STOCK

STOCK_FIELDS = ("size_kg", "state", "brand", "lot", "place")
"""The facts of a container that tell one pile from another."""


ALSO: Mapping[str, Source] = {"leak": Source.LIVE}
"""What the heads tell of a thing, and a person too: a leak that was smelt has no alarm."""

DEED = "_on"
"""Ends the name of a day on which something was done; the others say until when something holds."""

NOTE = Field("note", FieldType.TEXT, {"pt-BR": "Observação", "en": "Note"}, prose=True)
ATTACHMENT = Field("attachment", FieldType.TEXT, {"pt-BR": "Anexo", "en": "Attachment"})
"""On every record: a file that is kept by its SHA-256, as `attachments` keeps it. No rule of the law reads either."""


def forms() -> dict[str, Form]:
    """Return every register's form, by its name; read from files: call it once."""
    facts = catalogue.load()
    found = {
        kind: Form(kind, tuple(_field(fact) for fact in facts.facts(kind) if _is_told(fact))) for kind in facts.kinds
    }
    found = {
        kind: replace(form, fields=(*form.fields, NOTE, ATTACHMENT)) for kind, form in found.items() if form.fields
    }
    containers = {fact.name: fact for fact in facts.facts("container")}
    piles = tuple(_field(containers[name]) for name in STOCK_FIELDS)
    size, state, brand, lot, place = piles
    units = Field("units", FieldType.INTEGER, {"pt-BR": "Unidades", "en": "Units"}, least=Decimal(0))
    moved = (
        Field("to_state", state.type, {"pt-BR": "Novo estado", "en": "New state"}, choices=state.choices),
        Field("to_area", FieldType.TEXT, {"pt-BR": "Para a área", "en": "To area"}),
        Field("to_lot", FieldType.TEXT, {"pt-BR": "Para o lote", "en": "To lot"}),
        Field("to_place", place.type, {"pt-BR": "Novo lugar", "en": "New place"}, choices=place.choices),
    )
    sized = Field(size.name, FieldType.SIZE, size.label, size.ask, least=size.least, most=size.most)
    found[STOCK] = Form(STOCK, (sized, state, units, brand, lot, place, *moved, NOTE, ATTACHMENT), key="area")
    return found


def sheet_form(form: Form) -> Form:
    """Return the form of a register's sheet: one of the stock is a count, which moves nothing anywhere."""
    if form.register != STOCK:
        return form
    return replace(form, fields=tuple(field for field in form.fields if not field.name.startswith("to_")))


def _is_told(fact: FactType) -> bool:
    return fact.source in LABELLED or (fact.label is not None and fact.source is ALSO.get(fact.kind))


def _field(fact: FactType) -> Field:
    return Field(
        name=fact.name,
        type=FieldType(fact.type.value),
        label={} if fact.label is None else {"pt-BR": fact.label.pt, "en": fact.label.en},
        ask={} if fact.ask is None else {"pt-BR": fact.ask.pt, "en": fact.ask.en},
        choices={choice: _words(fact, choice) for choice in fact.choices},
        least=Decimal(str(fact.least)) if isfinite(fact.least) else None,
        most=Decimal(str(fact.most)) if isfinite(fact.most) else None,
        needed=fact.needed,
        deed=fact.type is Type.DATE and fact.name.endswith(DEED),
        renews=fact.renew_days is not None,
        alone=fact.alone,
        years_ahead=fact.years_ahead,
    )


def _words(fact: FactType, choice: str) -> dict[str, str]:
    words = fact.words.get(choice)
    return {} if words is None else {"pt-BR": words.pt, "en": words.en}
