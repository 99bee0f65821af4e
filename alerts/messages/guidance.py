"""Why an alarm is probably there and what to do next, by kind, level and reason. Pure but for the catalogue's file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from alerts.alarms import Kind
from alerts.messages.catalogue import Catalogue
from alerts.messages.kinds import part_of
from alerts.messages.standing import StandingAlarm
from alerts.messages.told import told_in

GUIDES: Mapping[str, tuple[str, ...]] = {
    "head-silent": ("no-contact", "timeout", "no-answer", "mute", "never-heard", "not-yet-watched", "not-back",
        "offline", "not-born"),
    "line-down": ("link", "not-yet", "refused", "reset", "closed", "unreachable", "late-guard"),
    "serial-port": ("unplugged", "port-busy", "port-denied", "port-settings", "not-serial"),
    "line-noise": ("flood", "garbled"),
    "scale": ("no-gap",),
    "transaction": ("id-zero", "id-swapped", "id-false"),
    "access": ("not-authorised",),
    "other-device": ("exception", "other-device", "unknown-unit", "no-status", "never-plausible", "not-a-number",
        "bad-scale", "bad-full-scale", "unknown-scale", "unknown-state"),
    "warm-up": ("warm-up",),
    "head-set-aside": ("inhibited", "calibrating", "test", "disabled"),
    "head-fault": ("fault", "head-fault", "sentinel", "nan", "under-range", "below-zero", "zero-drift", "measuring",
        "comms-fault", "no-data", "low-power", "warning", "end-of-life"),
    "own-alarm": ("own-alarm",),
    "over-range": ("over-range",),
    "old-value": ("stale", "frozen", "sequence-stuck", "no-heartbeat", "out-of-order"),
    "person": ("test-window", "inhibited-by-person", "out-of-service"),
    "uncovered": ("uncovered",),
    "output": ("no-read-back", "wrong-state", "does-not-hold"),
    "removed": ("removed",),
    "ours": ("quarantined", "stopped", "queue-full"),
    "broker": ("no-packet-limit",),
}  # fmt: skip
"""Codes that say why a head, a line or an output is not as it should be (``why.<code>``), by what they share."""

_OF_CODE = {code: guide for guide, codes in GUIDES.items() for code in codes}

PARTS: Mapping[str, str] = {
    "journal": "disk",
    "journal.full": "disk-full",
    "store": "disk",
    "store.full": "disk-full",
    "store.slow": "disk-slow",
    "journal.slow": "disk-slow",
    "web": "web",
    "office": "office",
    "judge": "judge",
    "control": "control",
    "channel": "channel",
    "channel.refused": "channel-refused",
    "output": "output",
    "output-test": "output",
    "output-test.overdue": "output-test",
    "left-output": "left-output",
    "mains": "mains",
    "battery": "battery",
    "supply": "supply",
    "scale": "scale",
    "bus": "line-down",
    "mqtt": "broker",
    "task": "ours",
    "watch": "machine",
    "clock": "clock",
    "detector": "ours",
    "configuration": "configuration",
    "configuration.needs-restart": "restart",
    "checkpoints": "keys",
    "checkpoint-copy": "copy",
    "influx": "database",
    "influx.credentials": "database-access",
    "influx.no-database": "database-access",
    "influx.lines": "database-lines",
    "influx.spool": "disk",
    "chatter": "chatter",
    "chatter.gas": "chatter-gas",
    "flood": "flood",
}
"""The guide of a SYSTEM alarm's part, or of its part and reason. A bus, a broker and an output first go by code."""

BY_CODE = frozenset({"bus", "mqtt", "output"})
"""Parts whose reason is a code of `GUIDES`."""

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a person reads beside the alarm's sentence."""

    likely_cause: str
    next_action: str


def guidance(alarm: StandingAlarm, language: str) -> Guidance:
    """Return what is known of this alarm's cause, and what to do about it now.

    Raises:
        ValueError: if nothing is written in `language`.
    """
    say = Catalogue.load(__package__, language).text
    guide = guide_of(alarm)
    cause = say(f"guide.{guide}.cause")
    if alarm.drill:
        return Guidance(say("guide.drill.cause"), say("drill.action"))
    if not alarm.present:
        kind = "over-range" if alarm.over_range else "gas" if alarm.key.kind is Kind.GAS else "other"
        return Guidance(cause, say(f"next.{kind}.{alarm.phase.value}"))
    if alarm.key.kind is Kind.GAS:
        return Guidance(cause, say(f"action.gas.{'none' if alarm.level is None else alarm.level.name}"))
    judged = told_in(alarm.detail, language) if alarm.key.kind is Kind.COMPLIANCE else ""
    told = judged.rpartition("\n")[2] if "\n" in judged else ""
    return Guidance(cause, told or say(f"guide.{guide}.do"))


def guide_of(alarm: StandingAlarm) -> str:
    """Return the guide's name in the catalogue (``guide.<name>``)."""
    match alarm.key.kind:
        case Kind.GAS:
            return "over-range" if alarm.over_range else "gas"
        case Kind.BLIND:
            code = alarm.detail if alarm.reason == "link" and alarm.detail else alarm.reason
            return of_code(code)
        case Kind.SYSTEM:
            return of_part(part_of(alarm.key.subject)[0], alarm.reason)
        case Kind.COMPLIANCE:
            return "compliance"
        case _:
            assert_never(alarm.key.kind)


def of_code(code: str) -> str:
    """Return the guide of a code; numbered exceptions share one, a device's own codes another."""
    return _OF_CODE.get("exception" if code.startswith("exception-") else code, UNKNOWN)


def of_part(part: str, reason: str) -> str:
    """Return the guide of a part of the gateway and what is the matter with it."""
    if part in BY_CODE and (guide := of_code(reason)) != UNKNOWN:
        return guide
    return PARTS.get(f"{part}.{reason}", PARTS.get(part, "ours"))
