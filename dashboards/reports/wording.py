"""The words of a report: those of the pages, and those that alarm messages have for reasons and parts."""

from collections.abc import Mapping

from alerts.messages.catalogue import Catalogue

OF_ALARMS = ("why.", "part.", "what.")


def report_words(language: str) -> Mapping[str, str]:
    """Return every word that a report may need, in one language."""
    told = Catalogue.load("alerts.messages", language).texts
    return {
        **{key: text for key, text in told.items() if key.startswith(OF_ALARMS)},
        **Catalogue.load("dashboards", language).texts,
        **Catalogue.load("dashboards.conformity", language).texts,
    }
