"""A finding as a notice says it: what the law asks, by which clause, of what; how that stands; what to do."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from zoneinfo import ZoneInfo

from alerts.messages.catalogue import Catalogue
from compliance.catalogue import Catalogue as Facts
from compliance.vocabulary import Finding, Statute, StatuteKind, Verdict
from dashboards.conformity.phrases import Phrases
from dashboards.wording import Locale
from gateway.office import findings

Say = Callable[[Finding], str]


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
    words = {
        **Catalogue.load("gateway.words", language).texts,
        **Catalogue.load("dashboards", language).texts,
        **Catalogue.load("dashboards.conformity", language).texts,
    }
    phrases = Phrases(Locale(language, words, zone), facts, areas)

    def say(finding: Finding) -> str:
        rule, statute = finding.rule, statutes[finding.statute]
        text, remedy = (words.en if language == "en" else words.pt for words in (rule.text, rule.remedy))
        law = rule.clause if statute.kind is StatuteKind.HOUSE else f"{statute.citation}, {rule.clause}"
        where = phrases.subject(str(finding.subject))
        asked = phrases.locale.text("breach.asked", text=text.rstrip("."), law=law, where=where)
        if finding.verdict is Verdict.VIOLATED:
            margin = phrases.margin(findings.as_json(finding)["margin"])  # type: ignore[arg-type]
            state = phrases.locale.text("breach.by" if margin else "breach.violated", margin=margin)
        else:
            days = (finding.holds_until, finding.due)
            last = min(day for day in days if day is not None)
            if last == finding.holds_until:
                last -= timedelta(days=1)  # what is kept is the first day on which it is worse
            state = phrases.locale.text("breach.due", day=phrases.day(last.isoformat()))
        return f"{asked}\n{state}\n{remedy}"

    return say
