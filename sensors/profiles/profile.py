"""A device model as data: where its values sit, what its codes mean, how fast it is.

A profile file has one shape, whether shipped or written on site; docs/add-a-detector-profile.md is its reference and
`sensors.profiles.keys` its keys. Here files are found, read and held together; every error says file, line and key.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from sensors.profiles.files import ProfileError, found, line_of, read
from sensors.profiles.keys import ALWAYS_ACCEPTED, MODBUS_KEYS, PAYLOAD_KEYS, SECTIONS, TOP, UNITS
from sensors.profiles.parts import (
    counter_point,
    measure_points,
    mqtt_output,
    output_point,
    payload_measure,
    tag_points,
)
from sensors.profiles.payloads import payload_points
from sensors.profiles.points import modbus_points
from sensors.profiles.shapes import ABSENT, NOTHING, KeyFault, TableOf, one_of, shown
from sensors.profiles.shared import NEEDS_HEAD
from sensors.sentences import Sentence
from sensors.wire.counts import CounterPoint, TagPoints
from sensors.wire.outputs import MqttOutput, OutputPoint
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import ModbusPoints, ReadLimits
from sensors.wire.units import Basis

NEUTRAL: Final = Basis(1.0, 1.0)
"""The basis by which a measure keeps its own unit."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How far the profile is to be believed, and where its numbers come from."""

    verification: str
    sources: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One key of one point that no source states: to be checked on the first device."""

    point: str
    key: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """One device model; after `installed`, one head's.

    Attributes:
        refresh_s: how often the device renews its own value; None where nobody knows.
        detects_silence_s: how long a silence can stay unseen by the device's own signs; None where it has none.
        accepts, requires: keys an installation may and must set.
        table: the keys of [points] as written, under an installation's.
        points: where the value sits; None until every required key is there, or for a device that is no detector.
        document: the whole file, what it builds upon included.
    """

    id: str
    wire: Literal["modbus", "mqtt"]
    refresh_s: float | None
    detects_silence_s: float | None
    provenance: Provenance
    accepts: tuple[str, ...]
    requires: tuple[str, ...]
    table: Mapping[str, object]
    points: ModbusPoints | PayloadPoints | None
    document: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What people call the device."""
        return str(self.document.get("title", self.id))

    @property
    def kind(self) -> str:
        """What sort of device it is, one of `sensors.profiles.keys.KINDS`."""
        return str(self.document.get("kind", "detector"))

    @property
    def line(self) -> Mapping[str, Any]:
        """What the device asks of its line: keys of ``[line]``."""
        found: Mapping[str, Any] = self.document.get("line", {})
        return found

    @property
    def service(self) -> Mapping[str, int]:
        """Days between calibrations, bump tests and function tests: keys of ``[service]``."""
        found: Mapping[str, int] = self.document.get("service", {})
        return found

    @property
    def is_detector(self) -> bool:
        """Whether it has a gas value to read."""
        return bool(self.table or self.requires)

    @property
    def limits(self) -> ReadLimits:
        """What one read of the device may span."""
        return read_limits(self.line)

    def setting_names(self) -> tuple[str, ...]:
        """Return the keys an installation may give."""
        return (*self.requires, *(name for name in self.accepts if name not in self.requires))

    def assumptions(self) -> tuple[Assumption, ...]:
        """Return everything in it that no source states."""
        return tuple(_assumptions("", self.document))

    def installed(self, settings: Mapping[str, object]) -> "Profile":
        """Return this profile with an installation's keys applied.

        Raises:
            ProfileError: for an unknown key (with the nearest right one), a missing one, or a wrong value.
        """
        if not self.is_detector:
            raise self._refused("profile", "a profile of a detector", Sentence("one of kind {kind}", kind=self.kind))
        known = (*self.setting_names(), *ALWAYS_ACCEPTED)
        for name in settings:
            if name not in known:
                raise self._refused(name, one_of(dict.fromkeys(known), name), ABSENT)
        table = _under(self.table, settings)
        refresh_s = self.refresh_s
        if "refresh_s" in table:
            given = table.pop("refresh_s")
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
                raise self._refused("refresh_s", "seconds, a number above 0", shown(given))
            refresh_s = float(given)
        for name in self.requires:
            if name not in table:
                raise self._refused(name, "a value", NOTHING)
        try:
            points = self._made(table)
        except KeyFault as fault:
            raise self._refused(fault.key, fault.expected, fault.got) from None
        return replace(self, refresh_s=refresh_s, table=table, points=points)

    def parts(self, section: str) -> tuple[str, ...]:
        """Return the names in ``outputs``, ``counters`` or ``measures``."""
        return tuple(self.document.get(section, {}))

    def output(self, name: str, channel: object = None) -> OutputPoint | MqttOutput:
        """Return one of its outputs.

        Raises:
            ProfileError: if there is none of this name, or not on this channel.
        """
        with self._part("outputs", name) as table:
            return output_point(table, channel) if self.wire == "modbus" else mqtt_output(table, channel)

    def counter(self, name: str, channel: object = None) -> CounterPoint:
        """Return one of its counters.

        Raises:
            ProfileError: if there is none of this name, or not on this channel.
        """
        with self._part("counters", name) as table:
            return counter_point(table, channel)

    def measure(self, name: str, channel: object = None) -> ModbusPoints | PayloadPoints:
        """Return one of its measures, whose number is in the measure's own unit (read with `NEUTRAL`).

        Raises:
            ProfileError: if there is none of this name, or not on this channel.
        """
        with self._part("measures", name) as table:
            if self.wire == "modbus":
                return measure_points(table, channel, self.limits)
            return payload_measure(table, channel)

    def tags(self) -> TagPoints:
        """Return where its tags are.

        Raises:
            ProfileError: if it reads none.
        """
        if "tags" not in self.document:
            raise self._refused("tags", "a reader of tags", Sentence("one of kind {kind}", kind=self.kind))
        return tag_points(self.document["tags"])

    @contextmanager
    def _part(self, section: str, name: str) -> Iterator[Mapping[str, Any]]:
        tables = self.document.get(section, {})
        if name not in tables:
            right = one_of(tables, name) if tables else Sentence("a device with {section}", section=section)
            raise self._refused(section, right, shown(name))
        try:
            yield tables[name]
        except KeyFault as fault:
            raise self._refused(f"{section}.{name}.{fault.key}", fault.expected, fault.got) from None

    def _made(self, table: Mapping[str, object]) -> ModbusPoints | PayloadPoints:
        return modbus_points(table, self.limits) if self.wire == "modbus" else payload_points(table)

    def _refused(self, key: str, expected: str, got: str) -> ProfileError:
        return ProfileError(file=self.id, line=None, key=key, expected=expected, got=got)


def load(name_or_path: str, base: Path | None = None) -> Profile:
    """Return a shipped profile by name, or a site profile by path (relative to `base`).

    Raises:
        ProfileError: if there is no such profile, or its file cannot be used.
    """
    path, name = found(name_or_path, base)
    text, document = read(path, name)
    try:
        return _profile(document)
    except KeyFault as fault:
        raise ProfileError(
            file=name, line=line_of(text, fault.key), key=fault.key, expected=fault.expected, got=fault.got
        ) from None


def read_limits(line: Mapping[str, Any]) -> ReadLimits:
    """Return what one read may span, from the keys of ``[line]``."""
    usual = ReadLimits()
    return ReadLimits(
        max_registers=line.get("max_registers", usual.max_registers),
        max_bits=line.get("max_bits", usual.max_bits),
        max_gap=line.get("max_gap", usual.max_gap),
        holes=tuple((first, last) for first, last in line.get("holes", ())),
        exact=tuple((first, count) for first, count in line.get("exact_reads", ())),
    )


def _under(table: Mapping[str, object], settings: Mapping[str, object]) -> dict[str, Any]:
    """Return the profile's keys under the installation's: those of the head joined, the others replaced."""
    head, own = settings.get("head"), table.get("head")
    if isinstance(head, dict) and isinstance(own, dict):
        if any(name.startswith("range_") for name in head):
            own = {name: value for name, value in own.items() if not name.startswith("range_")}
        settings = {**settings, "head": {**own, **head}}
    found = {**table, **settings}
    if "register" in settings or "address" in settings:
        for other in {"register", "address"} - set(settings):
            found.pop(other, None)
    if "two_point" in settings:
        found = {name: value for name, value in found.items() if name not in ("scale", "offset") or name in settings}
    return found


def _profile(document: Mapping[str, Any]) -> Profile:
    wire = document.get("wire")
    if "format" not in document or document["format"] != 1:
        raise KeyFault("format", "1", document.get("format", NOTHING))
    if wire not in ("modbus", "mqtt"):
        raise KeyFault("wire", "'modbus' or 'mqtt'", document.get("wire", NOTHING))
    TableOf({**TOP, **SECTIONS[wire]}, required=("id",)).check("", document)
    keys = (*(MODBUS_KEYS if wire == "modbus" else PAYLOAD_KEYS), "refresh_s")
    table = document.get("points", {})
    requires, accepts = _names(document, "requires", keys), _names(document, "accepts", keys)
    timing, provenance = document.get("timing", {}), document.get("provenance", {})
    profile = Profile(
        id=document["id"],
        wire="modbus" if wire == "modbus" else "mqtt",
        refresh_s=timing.get("refresh_s"),
        detects_silence_s=timing.get("detects_silence_s"),
        provenance=Provenance(
            provenance.get("verification", "site"), tuple(provenance.get("sources", ())), provenance.get("note", "")
        ),
        accepts=accepts,
        requires=(*requires, *(name for name in _missing(table) if name not in requires)),
        table=table,
        points=None,
        document=document,
    )
    _prove_parts(profile)
    if not profile.is_detector or not (table or set(requires) & {"register", "value"}):
        return profile
    try:
        if profile.requires:
            profile._made(_under(table, example_settings(profile)))  # noqa: SLF001 - its own file: would it be well once installed?
            return profile
        return replace(profile, points=profile._made(table))  # noqa: SLF001 - as above
    except KeyFault as fault:
        raise fault.under("points") from None


def _prove_parts(profile: Profile) -> None:
    """Make every part once, on its first channel, so that a mistake shows when the file is read."""
    for section, make in (("outputs", profile.output), ("counters", profile.counter), ("measures", profile.measure)):
        for name, table in profile.document.get(section, {}).items():
            first = table["channels"].get("first", 1) if "channels" in table else None
            try:
                make(name, first)
            except ProfileError as error:
                fault = KeyFault(error.key, error.expected, NOTHING)
                fault.got = error.got
                raise fault from None
    if "tags" in profile.document:
        try:
            profile.tags()
        except KeyFault as fault:
            raise fault.under("tags") from None


def _missing(table: Mapping[str, Any]) -> tuple[str, ...]:
    """What only the site can know: which channel, and which head hangs on an analogue input."""
    inner = table.get("registers", table)
    unit = inner.get("unit_of_value") if isinstance(inner, Mapping) else None
    needs_head = isinstance(unit, str) and UNITS.get(unit) in NEEDS_HEAD
    head = table.get("head", inner.get("head") if isinstance(inner, Mapping) else None)
    knows_range = isinstance(head, Mapping) and any(name.startswith("range_") for name in head)
    found = ["channel"] if "channels" in table and "channel" not in table else []
    return tuple([*found, "head"] if needs_head and not knows_range else found)


def example_settings(profile: Profile) -> dict[str, object]:
    """Return something for each required key, so that the rest of the profile can be proved and rehearsed."""
    channels = profile.table.get("channels")
    first = channels.get("first", 1) if isinstance(channels, Mapping) else 1
    words = {"on": "alarm", "off": "measuring"}
    state = {"register": 0, "bits": {"fault": 0}} if profile.wire == "modbus" else {"pointer": "/state", "words": words}
    given: dict[str, object] = {
        "register": 0,
        "address": 1,
        "base": 1,
        "value": "/value",
        "metric": "Gas/LEL",
        "when": [{"pointer": "/unit", "equals": 9}],
        "channel": first,
        "head": {"range_lel_pct": [0, 100]},
        "states": [state],
        "carrier": {"form": "hex"},
        "registers": {"register": 0},
        "unit_of_value": "lel_pct",
        "two_point": [[0, 0], [1, 1]],
        "scale": 1,
        "full_scale": 100,
        "trip": 20,
        "topic": "{topic...}",
    }
    return {name: given[name] for name in profile.requires if name in given}


def _names(document: Mapping[str, Any], key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    for name in document.get(key, ()):
        if name not in known:
            raise KeyFault(key, one_of(known, str(name)), name)
    return tuple(document.get(key, ()))


def _assumptions(point: str, value: object) -> list[Assumption]:
    found: list[Assumption] = []
    if isinstance(value, Mapping):
        note = value.get("note", "")
        found += [Assumption(point, key, str(note)) for key in value.get("assumed", ())]
        for name, inner in value.items():
            found += _assumptions(f"{point}.{name}" if point else str(name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += _assumptions(f"{point}.{index}", inner)
    return found
