"""What the rows of a report say in words, beside their ids and keys. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.conformity.phrases import Phrases

Row = Mapping[str, Any]

ASIDE = re.compile(r" ?\([^()]*\{[^()]*\)")
"""What a sentence says in brackets of the one case it is about."""


@dataclass(frozen=True, slots=True)
class Readable:
    """The words of one report.

    Attributes:
        rules, citations: what the report tells of rules and of laws, by id.
        detectors: what the heads are called, by id.
        lines: ids of the lines that heads are read over.
    """

    phrases: Phrases
    rules: Mapping[str, Row]
    citations: Mapping[str, str]
    detectors: Mapping[str, str]
    lines: Collection[str] = ()

    @classmethod
    def of(cls, report: Row, phrases: Phrases) -> "Readable":
        """Take the words that a report brings along."""
        verdicts = report["verdicts"]
        laws = {one["id"]: one["citation"] for one in verdicts.get("statutes", ())}
        return cls(
            phrases,
            verdicts.get("rules", {}),
            laws,
            report["depot"].get("detectors", {}),
            report["depot"].get("lines", ()),
        )

    def verdict(self, one: Row) -> dict[str, Any]:
        """Say a finding."""
        return {**one, **self._asked(one), "margin_said": self.phrases.margin(one["margin"])}

    def breach(self, one: Row) -> dict[str, Any]:
        """Say a breach."""
        severity = self.phrases.locale.words.get(f"severity.{one['severity']}", one["severity"])
        past = one.get("past")
        return {**one, **self._asked(one), "severity_said": severity, "done_said": self._done(one["done"])} | {
            "evidence_said": "; ".join(map(self._fact, one.get("evidence") or ())),
            "past_said": self.phrases.locale.text(f"past.{past}") if past else "",
        }

    def pile(self, one: Row) -> dict[str, Any]:
        """Say a pile of the stock."""
        said = {"state_said": self.phrases.state(one["state"]), "place_said": self.phrases.place(one["place"])}
        return {**one, "area_said": self.phrases.area(one["area"]), **said}

    def alarm(self, one: Row) -> dict[str, Any]:
        """Say an alarm: of what, which, and why."""
        said = {
            "thing": self._alarmed(one["kind"], one["subject"]),
            "kind_said": self.phrases.locale.text(f"report.kind.{one['kind']}"),
            "reason_said": self._why("reason", one["reason"], one["subject"].partition(":")[0]),
        }
        return {**one, **said}

    def watched(self, one: Row) -> dict[str, Any]:
        """Say whose month it was."""
        return {**one, "thing": self._detector(one["detector"])}

    def gap(self, one: Row) -> dict[str, Any]:
        """Say a time without watching."""
        state = self.phrases.locale.words.get(f"ledger.{one['state']}", one["state"])
        return {**self.watched(one), "state_said": state, "cause_said": self._why("cause", one["cause"])}

    def registered(self, registers: Mapping[str, Sequence[Row]]) -> Iterator[dict[str, Any]]:
        """Yield what the registers hold, a row for each value, and say it."""
        for register, held in registers.items():
            for one in held:
                for field, value in one["values"].items():
                    subject, told = f"{register}:{one['subject']}", one["told"][field]
                    yield {
                        "register": register,
                        "subject": one["subject"],
                        "field": field,
                        "value": value,
                        "by": told["by"],
                        "effective": told["effective"],
                        "recorded": told.get("recorded"),
                        "late": told.get("late"),
                        "register_said": self._register(register),
                        "thing": self.phrases.subject(subject),
                        "field_said": self.phrases.fact(subject, field),
                        "value_said": self.phrases.value(subject, field, value),
                    }

    def count(self, one: Row) -> dict[str, Any]:
        """Say a count that found other than the book."""
        return {**self.pile(one), "off": one["counted"] - one["booked"]}

    def movement(self, one: Row) -> dict[str, Any]:
        """Say a row of the map of movements."""
        return {**one, "state_said": self.phrases.state(one["state"]), "recounted": one["counted"]}

    def mended(self, one: Row) -> dict[str, Any]:
        """Say what was corrected, voided or removed."""
        act = "corrected" if one["corrects"] and one["act"] != "void" else one["act"]
        said = {"thing": self.phrases.subject(f"{one['register']}:{one['subject']}")}
        return {**one, **said, "act_said": self.phrases.locale.text(f"report.act.{act}")}

    def _asked(self, one: Row) -> dict[str, str]:
        """What was asked by which law, and of what."""
        rule, statute = self.rules.get(one["rule"], {}), one["statute"]
        return {
            "asked": self.phrases.of(rule.get("text")),
            "law": self.citations.get(statute, statute or ""),
            "thing": self.phrases.subject(one["subject"]),
        }

    def _alarmed(self, kind: str, subject: str) -> str:
        """What an alarm is about. Of a breach of the law: what is asked, and of what."""
        words = self.phrases.locale.words
        head, mark, rest = subject.partition(":")
        match kind:
            case "COMPLIANCE":
                rule, _, thing = subject.partition("/")
                asked = self.phrases.of(self.rules.get(rule, {}).get("text"))
                return ": ".join(filter(None, (asked, self.phrases.subject(thing)))) or subject
            case "SYSTEM":
                return words.get(f"part.{head}", words.get("part.other", "{id}")).format_map({"id": rest or subject})
            case _ if mark:
                return self.phrases.subject(subject)
            case _ if subject in self.lines:
                return words.get("part.mqtt" if subject == "mqtt" else "part.bus", "{id}").format_map({"id": subject})
            case _:
                return self._detector(subject)

    def _why(self, of: str, code: str, part: str = "") -> str:
        """Say why: in the report's own words, else in those of the alarm messages, whose first clause says what is."""
        locale = self.phrases.locale
        told = ASIDE.sub("", locale.words.get(f"what.{part}.{code}", "")).partition(". ")[0].rstrip(".")
        what = "" if "{" in told else told
        own = locale.words.get(f"report.{of}.{code}") or what
        return own or (locale.reason(code) if code else "")

    def _detector(self, detector: str) -> str:
        name = self.detectors.get(detector)
        said = detector if name is None else self.phrases.locale.text("format.named", id=detector, name=name)
        return self.phrases.subject(f"detector:{said}")

    def _fact(self, one: Row) -> str:
        subject, name = one["subject"], one["name"]
        said = (
            self.phrases.subject(subject),
            self.phrases.fact(subject, name),
            self.phrases.value(subject, name, one["value"]),
        )
        return f"{said[0]}: {said[1]}: {said[2]}"

    def _done(self, steps: Sequence[Row]) -> str:
        return ", ".join(self.phrases.subject(f"{step['register']}:{step['subject']}") for step in steps)

    def _register(self, register: str) -> str:
        return self.phrases.locale.words.get(f"register.{register}", register)
