"""How a command writes numbers and times: for a file in the depot's language, for a person in theirs."""

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from alerts.messages.catalogue import Catalogue
from dashboards.wording import Locale

if TYPE_CHECKING:
    from dashboards.conformity.phrases import Phrases
    from gateway.depot import Depot
    from sensors.readings import Reading


def locale_of(language: str, timezone: str) -> Locale:
    """Return the depot's way of writing."""
    return Locale(language, Catalogue.load("dashboards", language).texts, ZoneInfo(timezone))


def spoken(language: str, timezone: str) -> Locale:
    """Return the page's way of speaking, with the words that alarm messages have for reasons (``why.<code>``)."""
    reasons = Catalogue.load("alerts.messages", language).texts
    words = {**locale_of(language, timezone).words, **{key: told for key, told in reasons.items() if key[:4] == "why."}}
    return Locale(language, words, ZoneInfo(timezone))


def phrases_of(language: str, depot: "Depot") -> "Phrases":
    """Return how the law's things, states and figures are said to a person."""
    from compliance import catalogue
    from dashboards.conformity.phrases import Phrases
    from dashboards.reports.wording import report_words

    words = report_words(language)
    names = {area.id: area.name for area in depot.areas if area.name}
    return Phrases(Locale(language, words, ZoneInfo(depot.timezone)), catalogue.load(), names)


def state_of(reading: "Reading", locale: Locale) -> str:
    """Say a reading's quality, the head's own state where it is not the usual one, and why."""
    said = [locale.text("detector.quality", quality=locale.text(f"quality.{reading.quality.value}"))]
    if reading.status.value != "measuring":
        said.append(locale.text(f"status.{reading.status.value}"))
    return ", ".join([*said, locale.reason(reading.reason)] if reading.reason else said)
