"""How a screen writes words, numbers, ages and clock times in one language. Pure; the words are given."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal


@dataclass(frozen=True, slots=True)
class Locale:
    """How words, numbers and times are written. `words` maps dotted keys to texts with ``{placeholders}``."""

    language: str
    words: Mapping[str, str]
    zone: tzinfo

    def text(self, key: str, **values: object) -> str:
        """Return a text with its placeholders filled in.

        Raises:
            KeyError: the catalogue has no such key.
        """
        return self.words[key].format_map(values)

    def count(self, key: str, count: int) -> str:
        """Return the ``_one`` or ``_many`` text for a count."""
        return self.text(f"{key}_one" if count == 1 else f"{key}_many", count=count)

    def number(self, value: float, places: int = 1) -> str:
        """Write a number with fixed decimals, halves away from zero, with the language's decimal mark."""
        step = Decimal(1).scaleb(-places)
        rounded = Decimal(value).quantize(step, ROUND_HALF_UP)
        return str(rounded or abs(rounded)).replace(".", self.words["format.decimal"])

    def age(self, seconds: float) -> str:
        """Write a duration by its largest unit; one decimal below ten seconds, where it matters."""
        seconds = max(0.0, seconds)
        if seconds < 9.95:
            return self.text("format.seconds", count=self.number(seconds))
        if seconds < 120:
            return self.text("format.seconds", count=int(seconds))
        if seconds < 7200:
            return self.text("format.minutes", count=int(seconds // 60))
        if seconds < 172_800:
            return self.text("format.hours", count=int(seconds // 3600))
        return self.text("format.days", count=int(seconds // 86_400))

    def ago(self, seconds: float | None) -> str:
        """Write how long ago; a word for "never" when it is None."""
        return self.words["format.never"] if seconds is None else self.text("format.ago", age=self.age(seconds))

    def clock(self, moment: str, *, now: str, thousandths: bool = False) -> str:
        """Write an RFC 3339 moment as the depot's wall clock shows it; with the date when it is not today."""
        local = parsed(moment).astimezone(self.zone)
        text = f"{local:%H:%M:%S}"
        if thousandths:
            text += f"{self.words['format.decimal']}{local.microsecond // 1000:03d}"
        if local.date() != parsed(now).astimezone(self.zone).date():
            text = f"{local:%d/%m/%Y} {text}" if self.language == "pt-BR" else f"{local:%Y-%m-%d} {text}"
        return text

    def duration(self, seconds: float) -> str:
        """Write a length of time as a person would set it: whole minutes as such, else seconds."""
        whole = round(seconds)
        if whole and whole % 60 == 0:
            return self.text("format.minutes", count=whole // 60)
        return self.text("format.seconds", count=whole)

    def minute(self, moment: str) -> str:
        """Write an RFC 3339 moment as the depot's wall clock shows it, to the minute, for what ends within hours."""
        return f"{parsed(moment).astimezone(self.zone):%H:%M}"

    def day(self, moment: str) -> str:
        """Write an RFC 3339 moment with its day, to the minute, for what ends within days."""
        local = parsed(moment).astimezone(self.zone)
        return f"{local:%d/%m %H:%M}" if self.language == "pt-BR" else f"{local:%Y-%m-%d %H:%M}"

    def reason(self, code: str) -> str:
        """Say a reason code in words; one that nobody has put into words yet is called a code."""
        stem, _, number = code.rpartition("-")
        if not (stem and number.isascii() and number.isdigit()):
            stem, number = code, ""
        said = self.words.get(f"why.{stem}", self.words["format.code"])
        return said.replace("{number}", number).replace("{code}", code)


def parsed(moment: str) -> datetime:
    """Read an RFC 3339 moment.

    Raises:
        ValueError: it is none.
    """
    return datetime.fromisoformat(moment)


def milliseconds_between(start: str, end: str) -> float:
    """Milliseconds from one RFC 3339 moment to another."""
    return (parsed(end) - parsed(start)).total_seconds() * 1000
