"""How a command says what stands in the law's files: words, days, numbers and units. Knows no law and no finding."""

from collections.abc import Mapping
from datetime import date

from alerts.messages.catalogue import Catalogue
from compliance.vocabulary import Period, Value, Words
from gateway.commands.talk import Talk


def said(talk: Talk, words: Words) -> str:
    """Words of a law's file in the language of the talk."""
    return words.en if talk.words.language == "en" else words.pt


def words_row(words: Words) -> dict[str, str]:
    """The same in both languages, as JSON."""
    return {"pt": words.pt, "en": words.en}


def in_force(talk: Talk, period: Period) -> str:
    """From when and until when something is law."""
    match period:
        case Period(since=None, until=None):
            return talk.text("law.always")
        case Period(since=since, until=None) if since is not None:
            return talk.text("law.since", since=day_of(talk, since))
        case Period(since=None, until=until) if until is not None:
            return talk.text("law.until", until=day_of(talk, until))
        case _:
            ends = {"since": period.since or date.min, "until": period.until or date.max}
            return talk.text("law.since_until", **{name: day_of(talk, day) for name, day in ends.items()})


def period_row(period: Period) -> dict[str, Value | None]:
    """The same as JSON."""
    return {"from": period.since, "until": period.until}


def day_of(talk: Talk, day: date) -> str:
    """A day as people of the language write it."""
    return day.isoformat() if talk.words.language == "en" else f"{day:%d/%m/%Y}"


def amount(talk: Talk, value: float, unit: str) -> str:
    """A number with its unit."""
    return f"{number_of(talk, value)}{'' if unit == '%' else ' '}{unit_of(talk, unit, one=abs(value) == 1)}"


def unit_of(talk: Talk, unit: str, *, one: bool = False) -> str:
    """A unit of the law's files in words; they are a closed list."""
    words = Catalogue.load("dashboards.conformity", talk.words.language).texts
    single = words.get(f"unit.{unit}_one") if one else None
    return single or words.get(f"unit.{unit}", unit)


def number_of(talk: Talk, value: float) -> str:
    """A number with the decimal sign of the language."""
    text = f"{value:,.10g}" if abs(value) >= 1000 else f"{value:.10g}"
    return text if talk.words.language == "en" else text.translate(_SWAPPED)


_SWAPPED: Mapping[int, str] = str.maketrans({",": ".", ".": ","})
