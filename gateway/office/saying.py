"""A finding as a notice says it: what the law asks, by which clause, of what; how that stands; what to do."""

from collections.abc import Callable, Mapping
from zoneinfo import ZoneInfo

from alerts.messages.catalogue import LANGUAGES, Catalogue
from alerts.messages.told import worded
from compliance.catalogue import Catalogue as Facts
from compliance.vocabulary import Finding, Severity, Statute, StatuteKind, Verdict
from dashboards.conformity.phrases import Phrases
from dashboards.office import MOST_DETAIL_CHARS, Breach
from dashboards.wording import Locale
from gateway.office import findings
from gateway.office.doubts import Doubt
from gateway.office.shown import time

Say = Callable[[Finding], str]


def phrases_in(language: str, facts: Facts, areas: Mapping[str, str], zone: ZoneInfo) -> Phrases:
    """Return the words of a depot in a language; `areas` are what its areas are called, by id."""
    words = {
        **Catalogue.load("gateway.words", language).texts,
        **Catalogue.load("dashboards", language).texts,
        **Catalogue.load("dashboards.conformity", language).texts,
    }
    return Phrases(Locale(language, words, zone), facts, areas)


class Speaker:
    """Words findings and doubts in every language, the depot's own first, as a notice's detail keeps them."""

    def __init__(
        self, statutes: Mapping[str, Statute], facts: Facts, areas: Mapping[str, str], language: str, zone: ZoneInfo
    ) -> None:
        ordered = sorted(LANGUAGES, key=lambda each: each != language)
        self._say = {each: sayer(statutes, facts, areas, each, zone) for each in ordered}
        self._phrases = {each: phrases_in(each, facts, areas, zone) for each in ordered}

    def finding(self, finding: Finding) -> str:
        """Say a finding."""
        return _kept({language: say(finding) for language, say in self._say.items()})

    def doubt(self, doubt: Doubt) -> Breach:
        """Say that a stock is in doubt, and what to do."""
        texts = {language: _doubted(doubt, phrases) for language, phrases in self._phrases.items()}
        subject = f"{DOUBT}/{doubt.area}/{doubt.source}"
        return Breach(subject, "violated", _kept(texts), Severity.SERIOUS.value)


def _kept(texts: Mapping[str, str]) -> str:
    """The texts as one detail; the depot's own alone where both are too long for the watch."""
    both = worded(texts)
    return both if len(both) <= MOST_DETAIL_CHARS else next(iter(texts.values()))[:MOST_DETAIL_CHARS]


DOUBT = "stock-doubt"
"""Begins the subject of a notice of a stock that is in doubt."""


def _doubted(doubt: Doubt, phrases: Phrases) -> str:
    text, words = phrases.locale.text, phrases.locale.words
    key = f"doubt.{doubt.reason}"
    why = words[key] if key in words else text("doubt.other", code=doubt.reason)
    asked = text("doubt.asked", area=phrases.area(doubt.area), source=doubt.source)
    since = text("doubt.since", why=why, day=phrases.locale.day(time(doubt.since)))
    return f"{asked}\n{since}\n{text('doubt.do')}"


def sayer(
    statutes: Mapping[str, Statute], facts: Facts, areas: Mapping[str, str], language: str, zone: ZoneInfo
) -> Say:
    """Return how findings are said in a language: what is asked first, and after a line's end the rest.

    Args:
        statutes: by id.
        facts: the list of facts.
        areas: what the areas are called, by id.
        language: of the depot.
        zone: of the depot.
    """
    phrases = phrases_in(language, facts, areas, zone)

    def say(finding: Finding) -> str:
        rule, statute = finding.rule, statutes[finding.statute]
        text, remedy = (words.en if language == "en" else words.pt for words in (rule.text, rule.remedy))
        clause = phrases.clause(rule.clause, statute.kind.value)
        law = clause if statute.kind is StatuteKind.HOUSE else f"{statute.citation}, {clause}"
        where = phrases.subject(str(finding.subject))
        asked = phrases.locale.text("breach.asked", text=text.rstrip("."), law=law, where=where)
        if finding.verdict is Verdict.VIOLATED:
            margin = phrases.margin(findings.as_json(finding)["margin"])  # type: ignore[arg-type]
            state = phrases.locale.text("breach.by" if margin else "breach.violated", margin=margin)
        else:
            last = findings.last_good(finding)
            assert last is not None, "what is told without a breach is due"
            state = phrases.locale.text("breach.due", day=phrases.day(last.isoformat()))
        return f"{asked}\n{state}\n{remedy}"

    return say
