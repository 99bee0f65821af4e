"""What the law says of the depot, as a page shows it: what is broken first, then what is due, then law by law. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from dashboards.conformity.phrases import HOUSE, REFERENCE, Phrases
from dashboards.detector_cards import Badge, Tone

KNOWN_LATER = "known-later"
"""Of days gone by: a breach that was over before anybody knew of it; else it was told, and never was."""

VIOLATED, UNDETERMINED, COMPLIANT, NOT_APPLICABLE = "VIOLATED", "UNDETERMINED", "COMPLIANT", "NOT_APPLICABLE"
ORDER = (VIOLATED, UNDETERMINED, COMPLIANT, NOT_APPLICABLE)
SEVERITIES = ("danger", "serious", "minor")
THIS_YEAR = "year"
NAMED = 3
"""How many missing facts a row names; the finding's own page names all."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact that a finding rests on."""

    what: str
    value: str
    missing: bool


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding. `mark` says whose rule it is where it is no law: house rule, or a reference that is not this law."""

    clause: str
    law: str
    mark: str
    where: str
    what: str
    badge: Badge
    severity: str
    margin: str
    holds: str
    missing: str
    since: str
    remedy: str
    link: str
    evidence: tuple[FactRow, ...] = ()
    together: str = ""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The things of which one rule says the same; `row` is the first one's and speaks for all where they are more."""

    row: FindingRow
    rows: tuple[FindingRow, ...]


@dataclass(frozen=True, slots=True)
class LawView:
    """One law with its findings; `aside` are those that do not apply."""

    title: str
    mark: str
    counts: str
    groups: tuple[FindingGroup, ...]
    aside: tuple[FindingGroup, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class FindingsView:
    """The page's findings. `first`: violated or soon due, of what binds."""

    headline: Badge
    counts: str
    first: tuple[FindingRow, ...]
    laws: tuple[LawView, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a finding's history."""

    on: str
    badge: Badge
    because: tuple[str, ...]
    evidence: tuple[FactRow, ...]


def findings_view(data: Mapping[str, Any], phrases: Phrases) -> FindingsView:
    """Say everything about the findings of a day, as the office answers them."""
    laws = {law["id"]: law for law in data["statutes"]}
    binding = [one for one in data["findings"] if laws[one["statute"]]["kind"] != REFERENCE]
    first = sorted((one for one in binding if one["verdict"] == VIOLATED or one["soon"]), key=_urgency)
    return FindingsView(
        headline=_headline(binding, phrases),
        counts=_counts(binding, phrases),
        first=tuple(finding_row(one, data, phrases) for one in first),
        laws=tuple(
            _law(law, [one for one in data["findings"] if one["statute"] == law["id"]], data, phrases)
            for law in sorted(laws.values(), key=lambda law: (law["kind"] == REFERENCE, law["kind"] == HOUSE))
        ),
    )


def finding_row(one: Mapping[str, Any], data: Mapping[str, Any], phrases: Phrases) -> FindingRow:
    """Say one finding, in the words of its rule."""
    locale = phrases.locale
    law = next(law for law in data["statutes"] if law["id"] == one["statute"])
    rule = data["rules"].get(one["rule"], {})
    text = phrases.of(rule.get("text"), one["rule"])
    evidence = tuple(_told(fact, phrases) for fact in one["evidence"])
    open_ = one["verdict"] == UNDETERMINED
    live = open_ and any(fact["value"] is None and phrases.is_live(fact) for fact in one["evidence"])
    missing = [
        told.what
        for told, fact in zip(evidence, one["evidence"], strict=True)
        if open_ and told.missing and not phrases.is_live(fact)
    ]
    more = locale.text("conformity.more", count=len(missing) - NAMED) if len(missing) > NAMED else ""
    together = [phrases.areas.get(area, area) for area in one.get("together", ())]
    return FindingRow(
        clause=phrases.clause(one["clause"], law["kind"]),
        law=mark_of(HOUSE, phrases) if law["kind"] == HOUSE else law["citation"],
        mark=mark_of(law["kind"], phrases),
        where=phrases.subject(one["subject"]),
        what=locale.text("conformity.asked", text=text) if one["verdict"] == VIOLATED else text,
        badge=verdict_badge(one, phrases, binds=law["kind"] != REFERENCE),
        severity=locale.text(f"severity.{one['severity']}"),
        margin="" if one["verdict"] == UNDETERMINED else phrases.margin(one.get("margin")),
        holds=_holds(one, phrases),
        missing=_missing("; ".join(missing[:NAMED]) + more, phrases, live=live),
        since=_since(one.get("since"), one.get("effective"), phrases),
        remedy=phrases.of(rule.get("remedy")) if one["verdict"] == VIOLATED or one["soon"] else "",
        link="?" + urlencode({"rule": one["rule"], "subject": one["subject"]}),
        evidence=evidence,
        together=locale.text("conformity.together", areas=", ".join(together)) if len(together) > 1 else "",
    )


def known_then(
    then: Mapping[str, Any] | None, now: Mapping[str, Any] | None, known: str, phrases: Phrases
) -> tuple[str, ...]:
    """Say a finding as it was known on a day and as it is known now; nothing where no day was asked about."""
    if not known:
        return ()
    text = phrases.locale.text

    def said(one: Mapping[str, Any] | None) -> str:
        return text("conformity.not_asked") if one is None else verdict_badge(one, phrases).word

    return (
        text("conformity.known_then", day=phrases.day(known), verdict=said(then)),
        text("conformity.known_now", verdict=said(now)),
    )


def steps(history: Iterable[Mapping[str, Any]], phrases: Phrases) -> tuple[Step, ...]:
    """Say a finding's history, the latest step first."""
    return tuple(
        Step(
            on=_stepped(change, phrases),
            badge=_step_badge(change, phrases),
            because=_causes(change.get("because", ()), phrases),
            evidence=tuple(_told(fact, phrases) for fact in change.get("evidence", ())),
        )
        for change in reversed(list(history))
    )


def verdict_badge(one: Mapping[str, Any], phrases: Phrases, *, binds: bool = True) -> Badge:
    """Say a verdict by word, shape and tone."""
    locale, verdict = phrases.locale, one["verdict"]
    tone: Tone = "normal"
    word = locale.text(f"verdict.{verdict}")
    if verdict == VIOLATED and binds:
        tone = "alarm" if one.get("severity") == SEVERITIES[0] else "attention"
    elif verdict == UNDETERMINED:
        tone = "aside"
    elif verdict == COMPLIANT and one.get("soon") and binds:
        this_year = one["soon"] == THIS_YEAR
        return Badge("attention", "▲", locale.text("verdict.this_year" if this_year else "verdict.soon"))
    shape = {VIOLATED: "■", UNDETERMINED: "?", COMPLIANT: "○", NOT_APPLICABLE: "–"}[verdict]
    return Badge(tone, shape, word)


def mark_of(kind: str, phrases: Phrases) -> str:
    """Say whose rule it is, where it is not a law's."""
    return phrases.locale.text(f"mark.{kind}") if kind in (HOUSE, REFERENCE) else ""


# --- details --------------------------------------------------------------------------------------


def _law(
    law: Mapping[str, Any], found: Sequence[Mapping[str, Any]], data: Mapping[str, Any], phrases: Phrases
) -> LawView:
    order = {clause: place for place, clause in enumerate(law["clauses"])}
    rows = sorted(found, key=lambda one: (order.get(one["clause"], len(order)), one["rule"], one["subject"]))
    return LawView(
        title=mark_of(HOUSE, phrases) if law["kind"] == HOUSE else f"{law['citation']} - {law['title']}",
        mark=mark_of(law["kind"], phrases),
        counts=_counts(found, phrases),
        groups=_grouped((one for one in rows if one["verdict"] != NOT_APPLICABLE), data, phrases),
        aside=_grouped((one for one in rows if one["verdict"] == NOT_APPLICABLE), data, phrases),
        open=law["kind"] != REFERENCE,
    )


def _grouped(found: Iterable[Mapping[str, Any]], data: Mapping[str, Any], phrases: Phrases) -> tuple[FindingGroup, ...]:
    """One group for the things of which a rule says the same: twelve detectors untested are one line."""
    groups: dict[tuple[str, str, bool], list[FindingRow]] = {}
    for one in found:
        groups.setdefault((one["rule"], one["verdict"], bool(one["soon"])), []).append(finding_row(one, data, phrases))
    return tuple(FindingGroup(rows[0], tuple(rows)) for rows in groups.values())


def _headline(binding: Sequence[Mapping[str, Any]], phrases: Phrases) -> Badge:
    """The one question, answered: nothing is well while something is unknown."""
    locale = phrases.locale
    broken = sum(one["verdict"] == VIOLATED for one in binding)
    grave = any(one["verdict"] == VIOLATED and one["severity"] == SEVERITIES[0] for one in binding)
    soon = sum(one["soon"] not in ("", THIS_YEAR) for one in binding)
    unknown = sum(one["verdict"] == UNDETERMINED for one in binding)
    counts = ((broken, "conformity.broken"), (soon, "conformity.soon"), (unknown, "conformity.open"))
    said = " · ".join(locale.count(key, count) for count, key in counts if count)
    if broken:
        return Badge("alarm" if grave else "attention", "■", said)
    if soon:
        return Badge("attention", "▲", said)
    return Badge("stale", "?", said) if unknown else Badge("normal", "○", locale.text("conformity.all_kept"))


def _counts(found: Sequence[Mapping[str, Any]], phrases: Phrases) -> str:
    counted = [(verdict, sum(one["verdict"] == verdict for one in found)) for verdict in ORDER]
    return " · ".join(phrases.locale.count(f"count.{verdict}", count) for verdict, count in counted if count)


def _urgency(one: Mapping[str, Any]) -> tuple[bool, int, date, str, str]:
    due = min(filter(None, (one["holds_until"], one["due"])), default="9999-12-31")
    broken = one["verdict"] == VIOLATED
    return not broken, SEVERITIES.index(one["severity"]), date.fromisoformat(due), one["rule"], one["subject"]


def _holds(one: Mapping[str, Any], phrases: Phrases) -> str:
    said = []
    if one.get("due"):
        said.append(phrases.locale.text("conformity.due", day=phrases.day(one["due"])))
    if one.get("holds_until") and one["verdict"] != VIOLATED:
        last = date.fromisoformat(one["holds_until"]) - timedelta(days=1)  # what is kept is the first worse day
        said.append(phrases.locale.text("conformity.holds_until", day=phrases.day(last.isoformat())))
    return " · ".join(said)


def _since(known: str | None, effective: str | None, phrases: Phrases) -> str:
    """Say since when it is so and, where that is another day, when it became known."""
    text, first = phrases.locale.text, effective or known
    if first is None:
        return ""
    if known in (None, first):
        return text("conformity.since", day=phrases.day(first))
    return text("conformity.since_known", day=phrases.day(first), known=phrases.day(known))


def _stepped(change: Mapping[str, Any], phrases: Phrases) -> str:
    """Say when a step was judged and, where that is another day, since when it was so; of days gone by, which."""
    on, effective, text = change["on"], change.get("effective"), phrases.locale.text
    if change.get("past"):
        last = (date.fromisoformat(change["until"]) - timedelta(days=1)).isoformat()
        days = (
            phrases.day(effective)
            if last == effective
            else text("conformity.from_to", day=phrases.day(effective), last=phrases.day(last))
        )
        return text("conformity.known_past", days=days, known=phrases.day(on))
    if effective in (None, on):
        return phrases.day(on)
    return text("conformity.known_since", known=phrases.day(on), day=phrases.day(effective))


def _step_badge(change: Mapping[str, Any], phrases: Phrases) -> Badge:
    """Say a step's verdict; of days gone by, whether it was a breach that is over or none at all."""
    past = change.get("past")
    if not past:
        return verdict_badge(change, phrases)
    return Badge("aside", "■" if past == KNOWN_LATER else "–", phrases.locale.text(f"past.{past}"))


def _told(fact: Mapping[str, Any], phrases: Phrases) -> FactRow:
    subject, name = fact["subject"], fact["name"]
    return FactRow(
        f"{phrases.subject(subject)}: {phrases.fact(subject, name)}",
        phrases.value(subject, name, fact["value"]),
        fact["value"] is None,
    )


def _missing(facts: str, phrases: Phrases, *, live: bool) -> str:
    """Say what people have still to tell, and that the rest shows on the live page."""
    text = phrases.locale.text
    return " ".join(
        (
            *((text("conformity.missing", facts=facts),) if facts else ()),
            *((text("conformity.live"),) if live else ()),
        )
    )


def _causes(causes: Sequence[Mapping[str, Any]], phrases: Phrases) -> tuple[str, ...]:
    """What was told before a change; what one person told in a row stands together, the person once."""
    told = groupby(causes, key=lambda cause: cause.get("by"))
    return tuple(_from(dict.fromkeys(_cause(cause, phrases) for cause in each), by, phrases) for by, each in told)


def _from(what: Iterable[str], by: object, phrases: Phrases) -> str:
    listed = ", ".join(what)
    return phrases.locale.text("conformity.told_by", what=listed, by=by) if by else listed


def _cause(cause: Mapping[str, Any], phrases: Phrases) -> str:
    register, subject = str(cause.get("register", "")), str(cause.get("subject", ""))
    if register == "stock":
        return phrases.locale.text("conformity.moved", area=phrases.area(subject))
    return phrases.subject(f"{register}:{subject}")
