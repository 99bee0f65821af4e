"""What the office's papers must look like to be let into the journal: their shape and bounds, not their sense.

The journal keeps for ever what it takes, and everybody who reads it has to live with it.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dashboards.office import Paper

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Text = Annotated[str, Meta(max_length=4000)]
Moment = Annotated[int, Meta(ge=-2_208_988_800_000, lt=7_258_118_400_000)]
"""Milliseconds since 1970: from 1900 to 2200."""

Verdict = Literal["COMPLIANT", "VIOLATED", "UNDETERMINED", "NOT_APPLICABLE"]
Scalar = Text | int | bool | None


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One register entry of `gateway.office.entries.line`."""

    id: Name
    register: Name
    subject: Name
    act: Literal["record", "remove", "void", "in", "out", "state", "transfer", "count"]
    values: dict[Name, Scalar]
    effective_ms: Moment
    source: Name
    reason: Text = ""
    corrects: Name | msgspec.UnsetType = msgspec.UNSET


class Entered(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a ``register`` paper."""

    at_ms: Moment
    entries: Annotated[tuple[Line, ...], Meta(min_length=1)]


class Margin(msgspec.Struct, forbid_unknown_fields=True):
    """By how much a limit is kept or missed."""

    low: Text | None
    high: Text | None
    unit: Text


class Evidence(msgspec.Struct, forbid_unknown_fields=True):
    """A fact that a verdict rests on."""

    subject: Text
    name: Text
    value: Scalar


class Cause(msgspec.Struct, forbid_unknown_fields=True):
    """A register entry that changed a verdict."""

    register: Name
    subject: Name
    entry: Name
    source: Name


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """One change of a finding, of `gateway.office.findings.changes`, or what days gone by have to tell."""

    statute: Text | None
    rule: Name
    clause: Text | None
    subject: Annotated[str, Meta(min_length=1, max_length=1000)]
    verdict: Verdict
    severity: Text | None
    was: Verdict | None
    on: date
    evidence: list[Evidence]
    because: list[Cause]
    soon: Literal["", "year", "30", "7", "0"] = ""
    effective: date | None = None
    until: date | msgspec.UnsetType = msgspec.UNSET
    past: Literal["known-later", "never-was"] | msgspec.UnsetType = msgspec.UNSET
    margin: Margin | None = None
    holds_until: date | None = None
    due: date | None = None
    together: list[Text] = []


class Changed(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a ``finding`` paper."""

    at_ms: Moment
    changes: Annotated[tuple[Step, ...], Meta(min_length=1)]


BODIES: Mapping[str, type] = {"register": Entered, "finding": Changed}


def read(number: int, paper: Paper) -> dict[str, Any] | str:
    """Return a paper's body; or where it is not as it must be, what is wrong and what would be right."""
    try:
        body: dict[str, Any] = msgspec.json.decode(paper.body, type=dict[str, Any])
        msgspec.convert(body, BODIES[paper.kind])
    except msgspec.DecodeError as error:
        return f"paper {number} ({paper.kind}): {error}"[:300]
    except RecursionError:
        return f"paper {number} ({paper.kind}): nested too deeply"
    return body
