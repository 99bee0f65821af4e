"""How the law's facts, values, margins and things are said to people. Pure; words and catalogue are given."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from compliance.catalogue import Catalogue, FactType, Source, Type
from dashboards.wording import Locale

HOUSE, REFERENCE = "house", "reference"

OF_AREAS = frozenset({"area", "one", "other"})
"""Facts whose value is an area's id."""

OF_ALARM = re.compile(r".+-[0-9a-f]{8}-([0-9]+)")
"""The name of a leak that a gas alarm opened: depot, life of the gateway, number of the alarm."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """The words of one page.

    Attributes:
        catalogue: the law's list of facts.
        areas: what the areas are called, by id.
    """

    locale: Locale
    catalogue: Catalogue
    areas: Mapping[str, str] = field(default_factory=dict)

    @property
    def english(self) -> bool:
        """Whether the page is in English."""
        return self.locale.language == "en"

    def of(self, words: Mapping[str, str] | None, otherwise: str = "") -> str:
        """Choose this page's language out of words that have both, as the office sends them."""
        words = words or {}
        return words.get("en" if self.english else "pt") or words.get(self.locale.language) or otherwise

    def area(self, area: str) -> str:
        """Call an area by its name."""
        return (
            self.locale.text("thing.area", id=self.areas.get(area, area)) if area else self.locale.text("thing.depot")
        )

    def subject(self, subject: str) -> str:
        """Call a thing: ``extinguisher:EXT-7`` is "Extintor EXT-7"."""
        kind, _, name = subject.partition(":")
        if kind == "area":
            return self.area(name)
        if kind == "stock":
            return self.locale.text("thing.stock", area=self.areas.get(name, name))
        if kind == "between":
            name = " - ".join(self.areas.get(area, area) for area in name.split("|"))
        if kind == "leak" and (alarm := OF_ALARM.fullmatch(name)):
            return self.locale.text("thing.leak_of_alarm", id=alarm[1])
        if kind == "container" and name.startswith("stock "):
            return self._pile(name.removeprefix("stock "))
        key = f"thing.{kind}"
        return self.locale.text(key, id=name) if key in self.locale.words else name

    def _pile(self, name: str) -> str:
        area, _, pile = name.partition(": ")
        if not pile:
            return self.locale.text("thing.piles", area=self.areas.get(area, area))
        said = " ".join(self.place(self.state(part)) for part in pile.split(" "))
        return self.locale.text("thing.pile", area=self.areas.get(area, area), pile=said)

    def clause(self, locator: str, kind: str) -> str:
        """Name a clause; the house's own by its number, in the page's language."""
        return f"{self.locale.text('mark.house')} {locator.rpartition(' ')[2]}" if kind == HOUSE else locator

    def state(self, state: str) -> str:
        """Say a container's state; any other word stays as it is."""
        return self._choice(self.catalogue.find("container", "state"), state)

    def place(self, place: str) -> str:
        """Say where a pile stands, where that is not simply its area."""
        return "" if place in ("", "area") else self._choice(self.catalogue.find("container", "place"), place)

    def fact(self, subject: str, name: str) -> str:
        """Return a fact's heading."""
        known = self.catalogue.find(subject.partition(":")[0], name)
        if known is None or known.label is None:
            return name.replace("_", " ")
        return known.label.en if self.english else known.label.pt

    def is_live(self, fact: Mapping[str, Any]) -> bool:
        """Whether a fact is one that heads and outputs tell, and nobody needs to."""
        known = self.catalogue.find(str(fact["subject"]).partition(":")[0], str(fact["name"]))
        return known is not None and known.source is Source.LIVE and known.kind != "leak"

    def value(self, subject: str, name: str, value: Any) -> str:  # noqa: ANN401 - JSON
        """Say a fact's value."""
        known = self.catalogue.find(subject.partition(":")[0], name)
        match value:
            case None:
                return self.locale.text("conformity.unknown")
            case bool():
                return self.locale.text("conformity.yes" if value else "conformity.no")
            case str() if known is not None and known.type is Type.CHOICE:
                return self._choice(known, value)
            case str() if known is not None and known.type is Type.DATE:
                return self.day(value)
            case str() if known is not None and known.type is Type.NUMBER:
                return self.number(value)
            case _:
                return self.areas.get(str(value), str(value)) if name in OF_AREAS else str(value)

    def _choice(self, known: FactType | None, value: str) -> str:
        words = None if known is None else known.words.get(value)
        return value if words is None else words.en if self.english else words.pt

    def number(self, text: str) -> str:
        """Write a number as the language does: 6.240 kg here, 6,240 there."""
        try:
            value = Decimal(text)
        except InvalidOperation:
            return text
        places = max(0, -int(value.as_tuple().exponent)) if value.is_finite() else 0
        said = f"{value:,.{places}f}"
        return said if self.english else said.translate(str.maketrans(",.", ".,"))

    def plain(self, text: str) -> str:
        """Write a number as a person would type it: with the language's decimal mark, and no other."""
        return text.replace(".", self.locale.words["format.decimal"])

    def day(self, text: str | None) -> str:
        """Write a day (AAAA-MM-DD) as people do."""
        if not text:
            return ""
        try:
            found = date.fromisoformat(text[:10])
        except ValueError:
            return text
        return found.isoformat() if self.english else f"{found:%d/%m/%Y}"

    def moment(self, at: str) -> str:
        """Write a time of the office as people do, with its year and to the minute."""
        local = datetime.fromisoformat(at).astimezone(self.locale.zone)
        return f"{self.day(local.date().isoformat())} {local:%H:%M}"

    def amount(self, figure: str, unit: str) -> str:
        """Say so many of a unit. The units of the law's files are a closed list; a test holds it to them."""
        key = f"unit.{unit}"
        one = f"{key}_one"
        word = self.locale.words.get(one if figure == "1" and one in self.locale.words else key, unit)
        return f"{self.number(figure)}{'' if word == '%' else ' '}{word}"

    def margin(self, margin: Mapping[str, Any] | None) -> str:
        """Say how far from the limit."""
        if margin is None:
            return ""
        low, high, unit = margin["low"], margin["high"], margin["unit"]
        if low is None and high is not None and Decimal(high) < 0:
            return self.locale.text("margin.at_least", amount=self.amount(high.lstrip("-"), unit))
        if low is None or high is None:
            return ""
        if low != high:
            return self.locale.text("margin.between", low=self.number(low), high=self.amount(high, unit))
        if Decimal(low) < 0:
            return self.locale.text("margin.beyond", amount=self.amount(low.lstrip("-"), unit))
        return self.locale.text("margin.room", amount=self.amount(low, unit))
