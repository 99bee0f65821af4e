"""Installed heads: each ``[[detector]]`` with its profile applied. Knows how profile errors become the file's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import DetectorTable
from gateway.configuration.tables import Entry, Tables
from sensors import profiles
from sensors.profiles import Profile, ProfileError
from sensors.sentences import Sentence
from sensors.toml_lines import Path as TomlPath
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import ModbusPoints
from sensors.wire.topics import TopicError
from sensors.wire.units import Basis

BLIND_AFTER_S = 2.5
"""Oldest good reading of a head that still counts as watching, unless its bus is too slow for that or the file says."""


@dataclass(frozen=True, slots=True)
class Head:
    """One installed head.

    Attributes:
        line: of its table in the file.
        slowest_s: the longest regular pause between two of its readings, one lost poll included; 0 where nobody knows.
    """

    table: DetectorTable
    profile: Profile
    basis: Basis
    line: int
    slowest_s: float


class _Shelf:
    """The profiles of one file: each is read once, and heads with the same settings share one installed profile.

    A thousand heads of one model take a thousandth of the time and of the memory so.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._general: dict[str, Profile] = {}
        self._installed: dict[tuple[str, str], Profile] = {}

    def general(self, name: str) -> Profile:
        """Return the profile of this name or file.

        Raises:
            ProfileError, ValueError: as `profiles.load`.
        """
        known = self._general.get(name)
        if known is None:
            known = self._general[name] = profiles.load(name, self._folder)
        return known

    def installed(self, sheet: Sheet, entry: Entry[DetectorTable]) -> Profile | None:
        """Return the head's own profile; None where its settings are not well, which is noted for each head."""
        key = entry.table.profile, repr(entry.rest)
        known = self._installed.get(key)
        if known is None:
            known = _with_settings(sheet, entry, self.general(entry.table.profile))
            if known is not None:
                self._installed[key] = known
        return known


def heads_of(sheet: Sheet, tables: Tables, folder: Path) -> tuple[Head, ...]:
    """Return every head that can be installed, noting what is wrong with the others."""
    shelf = _Shelf(folder)
    pairs = [(entry, head) for entry in tables.detectors for head in _installed(sheet, tables, entry, shelf)]
    _no_two_read_the_same(sheet, [pair for pair in pairs if pair[0].path not in sheet.unread])
    return tuple(head for _, head in pairs)


def max_age_s(head: Head) -> float:
    """How old the last good reading of a head may be before it counts as not watching."""
    if head.table.max_age_ms is not None:
        return head.table.max_age_ms / 1000
    return max(BLIND_AFTER_S, head.slowest_s)


def _installed(sheet: Sheet, tables: Tables, entry: Entry[DetectorTable], shelf: _Shelf) -> Iterator[Head]:
    table, at = entry.table, (*entry.path, "profile")
    try:
        general = shelf.general(table.profile)
    except ProfileError as error:
        _note_profile(sheet, at, table.profile, error)
        return
    except ValueError:  # a name that no file can have
        sheet.refuse(at, "unknown_profile", profile=shown(table.profile), near=", ".join(profiles.names()))
        return
    if table.bus is not None and general.wire != "modbus":
        sheet.refuse(at, "profile_wire", profile=shown(table.profile), wire=general.wire, word="bus")
    elif table.mqtt is not None and general.wire != "mqtt":
        sheet.refuse(at, "profile_wire", profile=shown(table.profile), wire=general.wire, word="mqtt")
    if not general.is_detector:
        sheet.refuse(at, "profile_kind", profile=shown(table.profile), got=general.kind)
        return
    installed = shelf.installed(sheet, entry)
    if installed is None:
        return
    _topic_fits(sheet, entry, installed)
    reference = tables.depot.table.lel_reference_vol_pct if tables.depot else 1.0
    basis = Basis(table.lel_vol_pct, reference, table.factor)
    bus = next((bus.table for bus in tables.buses if bus.table.id == table.bus), None)
    lost_poll_s = 2 * (bus.period_ms + bus.timeout_ms) / 1000 if bus else 0.0
    slowest = lost_poll_s or general.detects_silence_s or 0.0
    yield Head(table, installed, basis, sheet.lines.nearest(entry.path), slowest)


def _with_settings(sheet: Sheet, entry: Entry[DetectorTable], profile: Profile) -> Profile | None:
    """Apply the detector's own keys; a profile names one mistake at a time, so each is noted and left out in turn."""
    rest, well = dict(entry.rest), True
    while True:
        try:
            installed = profile.installed(rest)
        except ProfileError as error:
            well = False
            _note_setting(sheet, entry, profile, error)
            name = error.key.partition(".")[0]
            if rest.pop(name, None) is None or name in profile.requires:
                return None  # without it the rest cannot be judged, and "missing" would be said of what is there
        else:
            return installed if well else None


def _topic_fits(sheet: Sheet, entry: Entry[DetectorTable], installed: Profile) -> None:
    """A profile may ask for a certain shape of topic, since it works out other topics from it."""
    points, topic = installed.points, entry.table.mqtt
    if isinstance(points, PayloadPoints) and topic is not None:
        try:
            points.topics(topic)
        except TopicError:
            at = (*entry.path, "mqtt")
            template = points.topic
            sheet.refuse(at, "topic_template", got=shown(topic), profile=shown(installed.id), template=template)


def _note_profile(sheet: Sheet, at: TomlPath, name: str, error: ProfileError) -> None:
    if name not in profiles.names() and "/" not in name and not name.endswith(".toml"):
        sheet.refuse(at, "unknown_profile", profile=shown(name), near=near(name, [*profiles.names()]))
    else:
        place = error.file if error.line is None else f"{error.file}:{error.line}"
        values = {"place": place, "word": error.key, "expected": error.expected, "got": error.got}
        sheet.refuse(at, "profile_file", profile=shown(name), **values)


def _note_setting(sheet: Sheet, entry: Entry[DetectorTable], profile: Profile, error: ProfileError) -> None:
    """A key that the profile does not take, or a value it cannot use; dotted keys reach into the file's own tables."""
    steps = tuple(error.key.split(".")) if error.key else ()
    known = [*DetectorTable.model_fields, *profile.setting_names()]
    first = steps[0] if steps else ""
    at: TomlPath = (*entry.path, *steps)
    if len(steps) == 1 and first in entry.rest and first not in profile.setting_names():
        close = get_close_matches(first, known, n=1, cutoff=0.6)
        sheet.refuse(at, "unknown_key", word=shown(first, quoted=False), near=", ".join(close or known))
    elif first not in entry.rest:
        example = Sentence("{key} = ({expected})", key=first, expected=error.expected)
        sheet.refuse(at, "missing_setting", profile=shown(profile.id), word=error.key, example=example)
    else:
        sheet.refuse(at, "profile_setting", profile=shown(profile.id), got=error.got, expected=error.expected)


def _no_two_read_the_same(sheet: Sheet, pairs: list[tuple[Entry[DetectorTable], Head]]) -> None:
    first: dict[object, Entry[DetectorTable]] = {}
    for entry, head in pairs:
        place: object
        match head.profile.points:
            case ModbusPoints() as points:
                place = (head.table.bus, head.table.unit, points.function, points.register, points.part, points.at_byte)
            case PayloadPoints() as points:
                place = (head.table.mqtt, points.fields(), points.when, points.carrier)
            case _:
                continue
        if place in first:
            other = first[place]
            sheet.refuse(
                entry.path, "same_place", first=sheet.at(other.path), second=sheet.at(entry.path), id=other.table.id
            )
        else:
            first[place] = entry
