"""Cause and effect: what each kind of output does at whatever happens to an alarm. One table, and how it is read.

An output is on while any standing alarm that concerns it asks for it. What an alarm asks follows from where it stands,
not from a memory of events: its state tells which causes led there, these are read in the table one after the other,
and the last that says "on" or "off" counts. So a restart asks for exactly what was asked for before it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from alerts.alarms import AlarmState, Kind, Level, Phase
from alerts.states import HORN, QUIET
from alerts.voting import Gate
from sensors.stamps import Instant


class OutputKind(Enum):
    """What an output is to people."""

    SIREN = "siren"  # horn and beacon in one: it can only be silenced whole
    HORN = "horn"
    BEACON = "beacon"
    VALVE = "valve"  # "on" is closed
    HEARTBEAT = "heartbeat"  # held by the alarm loop, whatever the alarms say
    RELAY = "relay"


class Occasion(Enum):
    """What can move an output: a column of the table. BLIND stands for "a detector is not watching"."""

    RAISED = "raised"
    RISEN = "risen"
    ACKNOWLEDGED = "acknowledged"
    SILENCED = "silenced"
    CLEARED = "cleared"
    RESET = "reset"
    BLIND = "blind"


class Does(Enum):
    """What an output does on an occasion."""

    ON = "on"
    OFF = "off"
    KEEP = "keep"


_COLUMNS: Final = tuple(Occasion)
_ON, _OFF, _KEEP = Does.ON, Does.OFF, Does.KEEP

USUAL: Final[Mapping[OutputKind, tuple[Does, ...]]] = {
    #                      raised risen  ackn.  silenc. cleared reset  blind
    OutputKind.SIREN:     (_ON,   _ON,   _OFF,  _OFF,   _KEEP,  _OFF,  _KEEP),
    OutputKind.HORN:      (_ON,   _ON,   _OFF,  _OFF,   _KEEP,  _OFF,  _KEEP),
    OutputKind.BEACON:    (_ON,   _ON,   _KEEP, _KEEP,  _KEEP,  _OFF,  _KEEP),
    OutputKind.VALVE:     (_ON,   _ON,   _KEEP, _KEEP,  _KEEP,  _OFF,  _KEEP),
    OutputKind.HEARTBEAT: (_KEEP, _KEEP, _KEEP, _KEEP,  _KEEP,  _KEEP, _KEEP),
    OutputKind.RELAY:     (_ON,   _ON,   _KEEP, _KEEP,  _KEEP,  _OFF,  _KEEP),
}  # fmt: skip
"""The table as it is where depot.toml says nothing else. It takes a reset for certain: an alarm that is gone asks for
nothing. "Silenced" lasts as long as the silence does."""


WHEN_LEFT: Final[Mapping[OutputKind, Does]] = {
    OutputKind.SIREN: _OFF,
    OutputKind.HORN: _OFF,
    OutputKind.BEACON: _OFF,
    OutputKind.VALVE: _KEEP,
    OutputKind.HEARTBEAT: _OFF,
    OutputKind.RELAY: _KEEP,
}
"""What is done to an output that new orders no longer name, before it is forgotten. Whatever tells people ends, since
nobody could end it any more. What acts on the gas stays as the alarms have it, for a person to undo on site: a valve
that gas closed is not opened by an edited file, nor the power put on again by a relay. A heartbeat that nobody would
keep drops."""


@dataclass(frozen=True, slots=True)
class Row:
    """One output's line of the table.

    Attributes:
        does: what it does on each occasion.
        level: gas below it does not concern this output.
        areas: alarms elsewhere do not concern it; empty: the whole depot does.
        drills: whether gas that a person announced in a test window moves it.
        gate: the votes that a costly action wants before it is begun; None for one that asks nobody.
    """

    kind: OutputKind
    does: Mapping[Occasion, Does] = field(hash=False)
    level: Level = Level.A1
    areas: frozenset[str] = frozenset()
    drills: bool = True
    gate: Gate | None = None

    @property
    def audible(self) -> bool:
        """Whether people hear it: only such an output keeps the promise of a statute that asks for the alarm."""
        return self.kind in (OutputKind.SIREN, OutputKind.HORN)

    @property
    def counts(self) -> bool:
        """Whether its read-back is a first output of an alarm: somebody may notice it."""
        return self.kind not in (OutputKind.VALVE, OutputKind.HEARTBEAT)

    @property
    def held(self) -> bool:
        """Whether the alarm loop holds it, whatever the alarms say."""
        return self.kind is OutputKind.HEARTBEAT

    def concerns(self, area: str | None) -> bool:
        """Tell whether something in this area matters here; what is in no known area matters everywhere."""
        return not self.areas or area is None or area in self.areas


def usual(kind: str, changes: Mapping[Occasion, Does] | None = None) -> Row:
    """Return the row of an output as it comes, with these cells changed. A valve asks for votes from A2 on."""
    output = OutputKind(kind)
    row = Row(output, dict(zip(_COLUMNS, USUAL[output], strict=True)) | dict(changes or {}))
    if output is OutputKind.VALVE:
        return replace(row, level=Level.A2, drills=False, gate=Gate())
    return row


def occasions(alarm: AlarmState, now: Instant) -> tuple[Occasion, ...]:
    """Return the causes that led an alarm to where it stands, as columns of the table, in the order they are read."""
    acknowledged = alarm.phase in (Phase.ACKNOWLEDGED, Phase.LATCHED_ACKNOWLEDGED)
    if alarm.key.kind is Kind.BLIND:
        if not alarm.present or alarm.suppression in QUIET:
            return ()
        return (Occasion.BLIND, Occasion.ACKNOWLEDGED) if acknowledged else (Occasion.BLIND,)
    if alarm.key.kind is not Kind.GAS:
        return ()
    muted = alarm.phase in HORN and alarm.muted_until is not None and alarm.muted_until.mono > now
    happened = (
        (Occasion.RAISED, True),
        (Occasion.RISEN, alarm.annunciated != alarm.since),
        (Occasion.ACKNOWLEDGED, acknowledged),
        (Occasion.SILENCED, muted),
        (Occasion.CLEARED, not alarm.present),
    )
    return tuple(occasion for occasion, holds in happened if holds)


def reading(row: Row, causes: Iterable[Occasion]) -> bool:
    """Read these causes in the row one after the other; what is said last counts, and nothing said is off."""
    on = False
    for cause in causes:
        does = row.does[cause]
        if does is not Does.KEEP:
            on = does is Does.ON
    return on


def stays_when_left(row: Row, *, asked: bool) -> bool:
    """Tell whether an output is left as it is when nobody will hold it any more; `asked`: an alarm wants it on."""
    return asked and not row.held and WHEN_LEFT[row.kind] is Does.KEEP


def asks(output: str, row: Row, alarm: AlarmState, area: str | None, now: Instant) -> bool:
    """Tell whether a standing alarm asks for this output. A costly one stays held by the alarms that got it begun."""
    if row.held or not row.concerns(area):
        return False
    if alarm.key.kind is Kind.GAS:
        if (alarm.level or Level.A1) < row.level or (alarm.drill and not row.drills):
            return False
        if row.gate is not None and output not in alarm.holds:
            return False
    elif alarm.key.kind is not Kind.BLIND or row.does[Occasion.BLIND] is not Does.ON:
        return False
    return reading(row, occasions(alarm, now))
