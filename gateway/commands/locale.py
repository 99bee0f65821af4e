"""How a command writes numbers and times for a file: in the language and zone of the depot."""

from zoneinfo import ZoneInfo

from alerts.messages.catalogue import Catalogue
from dashboards.wording import Locale


def locale_of(language: str, timezone: str) -> Locale:
    """Return the depot's way of writing."""
    return Locale(language, Catalogue.load("dashboards", language).texts, ZoneInfo(timezone))
